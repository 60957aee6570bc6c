"""Two runs of a policy, of an instance and of its image, on the same values carried over.

Both decide on states that are images of one another.  Where their decisions are not, the state is
looked at closer, since a tie may be settled by the last bit or by the numbers of the arms:

- *another draw*: the policy drew, the order of its draws follows the numbers of the arms, and from
  this state the decisions have the same law (compared ever more rarely);
- *value tie*: with all means moved by 10⁻⁹, in directions drawn at random, they agree;
- *order tie*: both arms have as many plays, and with plays added so that no two such arms have
  the same number, they agree; with all means moved by 10⁻⁴ they may still differ, or values were
  nearly level and one side favours an arm.  Or they are one arm for two reasons, where nothing was
  told of how the rows of its context differ, so that any of them may lead;
- *another plan*: the policy follows rates, and those of both solve the same program: feasible, with
  a gap that is certified at the estimate, and at the same cost.  Shares of plays are as good where
  they take as long.

Anything else breaks the symmetry.  What was a tie is settled in the same way on both sides, so
that they go on from states that are images again.
"""

import copy
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ossb.models.rivals.shares import SCALE
from ossb.policies import policy
from ossb.policies.base import Kind
from ossb.tally import ESTIMATE, EXPLOIT, Decision, Tally, decide, empty_tally, observe
from policies.symmetries import Image

NUDGE, PUSH = 1e-9, 1e-4  # by how much means are moved, in σ or as a share
DRAWN = ("random", "standard_normal", "beta")
SAME_LAW = 1e-6  # difference of the parameters of two laws that are one
TRIES = 3
DRAWS = 200  # with which laws are compared
SURE = 6.0  # standard deviations by which laws differ
SAME_COST = 2e-2  # held rates may be that far from the best ones
CERTIFIED = 1e-3  # gap of rates that are solved for anew
SETS = ("informative_arms", "spanning", "spanner", "covering")
APART = 1e-6  # whole numbers are told apart by so much


class Recorder:
    """A generator that keeps what it gave."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.given = rng, []

    def _give(self, name: str, arguments: tuple[float, ...], value: float) -> float:
        self.given.append((name, arguments, value))
        return value

    def random(self) -> float:
        return self._give("random", (), self.rng.random())

    def standard_normal(self) -> float:
        return self._give("standard_normal", (), self.rng.standard_normal())

    def beta(self, a: float, b: float) -> float:
        return self._give("beta", (a, b), self.rng.beta(a, b))


class Echo:
    """A generator for the twin: what the original drew, arm by arm, draw by draw.

    A draw from a Beta law is found by its parameters, those of the mirrored law in the other
    order.  Normal draws, one for each arm or item, follow their numbers.
    """

    def __init__(self, given: list[Any], image: Image, rng: np.random.Generator) -> None:
        self.rng, self.turned = rng, image.turned
        self.left = {name: [draw for draw in given if draw[0] == name] for name in DRAWN}
        for name in ("standard_normal", "beta"):
            draws = self.left[name]
            for places in (image.arms, image.components):
                if places.size == len(draws):
                    self.left[name] = [draws[i] for i in np.argsort(places)]
                    break

    def random(self) -> float:
        return self.left["random"].pop(0)[2] if self.left["random"] else self.rng.random()

    def standard_normal(self) -> float:
        draws = self.left["standard_normal"]
        return draws.pop(0)[2] if draws else self.rng.standard_normal()

    def beta(self, a: float, b: float) -> float:
        for place, (_, (one, other), value) in enumerate(self.left["beta"]):
            if max(abs(one - a), abs(other - b)) < SAME_LAW and not self.turned:
                del self.left["beta"][place]
                return value
            if max(abs(one - b), abs(other - a)) < SAME_LAW:
                del self.left["beta"][place]
                return 1.0 - value
        return self.rng.beta(a, b)


class Even:
    """A generator whose first number is the k-th of n evenly spread ones."""

    def __init__(self, k: int, n: int, seed: int) -> None:
        self.first, self.rng = (k + 0.5) / n, np.random.default_rng((seed, k))

    def random(self) -> float:
        value, self.first = self.first, None
        return self.rng.random() if value is None else value

    def standard_normal(self) -> float:
        return self.rng.standard_normal()

    def beta(self, a: float, b: float) -> float:
        return self.rng.beta(a, b)


@dataclass
class Side:
    """One of the two: a policy, what it was told, what it remembers."""

    instance: Any
    record: Any
    tally: Tally
    memory: Any
    rows: range | None = None  # those of the present context, where there are several

    def copied(self) -> "Side":
        tally, memory = copy_of(self.tally), copy_of(self.memory)
        return Side(self.instance, self.record, tally, memory, self.rows)

    def select(self, rng: Any) -> tuple[Any, Decision]:
        """The arm, as the tuple of its items where it is not listed, and the decision."""
        if self.rows is None:
            decision = self.record.select(self.tally, self.memory, rng)
        else:
            low, high = self.rows.start, self.rows.stop
            decision = self.record.choose(low, high, self.tally, self.memory, rng)
        arm: Any = int(decision.arm)
        if self.instance.n_arms is None:
            arm = self.memory.table.arms[arm]
        return arm, decision

    def shown(self, arm: Any) -> list[int]:
        return list(arm) if isinstance(arm, tuple) else self.instance.showing()[arm]

    def plays(self, arm: Any) -> int:
        return int(self.tally.plays[self.place(arm)])

    def place(self, arm: Any) -> int:
        place = self.memory.table.place(arm) if isinstance(arm, tuple) else arm
        while place >= self.tally.plays.size:
            more = np.concatenate([self.tally.plays, np.zeros_like(self.tally.plays)])
            self.tally = self.tally._replace(plays=more)
        return place

    def enter(self, arm: Any, phase: int, values: dict[int, float]) -> None:
        decide(self.tally, Decision(self.place(arm), phase))
        for component, value in values.items():
            observe(self.tally, component, value)
        self.tally.clock[0] += 1


def copy_of(value: Any) -> Any:
    """A memory or tally of its own."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(copy_of(part) for part in value))
    return value if isinstance(value, int | float) else copy.deepcopy(value)


def side(name: str, instance: Any, parameters: dict[str, Any]) -> Side:
    record = policy(name, instance, **parameters)
    n_arms = 16 if instance.n_arms is None else instance.n_arms
    return Side(instance, record, empty_tally(instance.components.size, n_arms), record.start())


def with_image_of_set(record: Any, twin: Any, image: Image) -> Any:
    """The twin with the image of the small set of arms that the original takes to show everything.

    There are several such sets, and which one is taken follows the order of the arms.
    """
    for name in getattr(record, "_fields", ()):
        if name in SETS:
            twin = twin._replace(**{name: image.arms[getattr(record, name)]})
        if name == "model":
            twin = twin._replace(model=with_image_of_set(record.model, twin.model, image))
    return twin


@dataclass
class Course:
    """What became of a run."""

    kinds: Counter = field(default_factory=Counter)
    broken: str = ""
    laws: int = 0
    distance: float = 0.0  # Σ (n − m)² / (n + m) over the decisions of all laws compared
    freedom: int = 0


def cost_of_plan(one: Side) -> float | None:
    """What the rates cost that a policy follows; None where it follows none, or none that hold."""
    held = getattr(one.memory, "held", None)
    if hasattr(held, "cost"):  # made feasible when they were found
        return float(held.cost[0])
    if hasattr(one.memory, "imagined"):
        return time_of_shares(one)
    if not hasattr(one.record, "kappa"):
        return None
    look, found = copy_of(one.memory.model), one.memory.targets.copy()
    leader = int(np.argmax(look.rewards))
    gap = one.record.model.rates(leader, one.record.kappa, look, found)
    same = np.allclose(found, one.memory.targets, rtol=1e-9)
    cost = float(found @ (look.rewards[leader] - look.rewards))
    return cost if same and gap <= max(one.record.kappa, CERTIFIED) else None


def time_of_shares(one: Side) -> float:
    """What it costs to tell the leader from its nearest rival by the shares of plays held."""
    record, imagined = one.record, copy_of(one.memory.imagined)
    spent, prices = one.memory.shares * one.memory.prices, one.memory.prices
    each = record.showing.imagine_plays(spent, prices, imagined.tally)
    record.model.rank(record.epsilon, imagined.tally, imagined.contest)
    least = float(imagined.contest.ratios.min())
    return SCALE * each / least if least > 0.0 else np.inf


class Twins:
    """An instance and its image under one policy."""

    def __init__(
        self, kind: Kind, original: Any, image: Image, seed: int, **parameters: Any
    ) -> None:
        self.image = image
        self.a = side(kind.name, original, parameters)
        self.b = side(kind.name, image.instance, parameters)
        self.b.record = with_image_of_set(self.a.record, self.b.record, image)
        self.noise, self.rng = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        self.spare, self.seed = np.random.default_rng(seed + 2), seed
        self.visits = np.random.default_rng(seed + 3)
        self.course = Course()
        if image.permutes and original.n_arms is None:
            self.warm_up()
        elif image.permutes and kind.remembers:
            self.play_all()

    def play_all(self) -> None:
        """Play every arm, no two equally often: what is remembered of a tie cannot be undone."""
        for arm in range(self.a.instance.n_arms):
            for _ in range(arm + 1):
                self.enter(arm, ESTIMATE)

    def warm_up(self) -> None:
        """Tell both of every item, of no two equally often: first looks are ties all over."""
        for item in range(self.a.tally.counts.size):
            for _ in range(item + 2):
                values = {item: self.drawn(item)}
                for one, told in ((self.a, values), (self.b, self.carried(values))):
                    for component, value in told.items():
                        observe(one.tally, component, value)
                    one.tally.clock[0] += 1

    def run(self, rounds: int) -> Course:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # as compiled code does
            for t in range(rounds):
                self.step(t)
                if self.course.broken:
                    break
        return self.course

    def carried(self, values: dict[int, float]) -> dict[int, float]:
        image = self.image
        return {
            int(image.components[k]): image.slopes[k] * v + image.shifts[k]
            for k, v in values.items()
        }

    def decide(self, a: Side, b: Side, stream: Any) -> tuple[Any, Decision, Any, Decision, list]:
        """What both decide; the second draws what the first drew."""
        recorder = Recorder(stream)
        arm, one = a.select(recorder)
        other, two = b.select(Echo(recorder.given, self.image, self.spare))
        return arm, one, other, two, recorder.given

    def visit(self) -> None:
        """Who comes in this round: a context, and on the other side its image."""
        if not self.a.instance.has_contexts:
            return
        ours, theirs = self.a.instance.layout, self.b.instance.layout
        self.a.rows = ours.rows(int(self.visits.integers(ours.n_contexts)))
        first = int(self.image.arms[self.a.rows.start])
        self.b.rows = theirs.rows(theirs.context_of(first))

    def step(self, t: int) -> None:
        self.visit()
        before = None if self.image.exact else (self.a.copied(), self.b.copied())
        arm, one, other, two, given = self.decide(self.a, self.b, self.rng)
        if self.image.arm(arm) != other or one.phase != two.phase:
            why = None
            if before is not None:
                why, arm, phase = self.settle(before, arm, one, other, two, given)
            if why is None:
                self.course.broken = (
                    f"round {t + 1}: {arm} in phase {one.phase}, whose image is "
                    f"{self.image.arm(arm)}; {other} in phase {two.phase}"
                )
                return
            self.course.kinds[why] += 1
        else:
            phase = one.phase
        self.enter(arm, phase)

    def drawn(self, component: int) -> float:
        """What a component shows; whole numbers are moved a little, so that no two means tie."""
        instance = self.a.instance
        family = instance.observed_family
        value = family.sample(float(instance.components[component]), self.noise)
        if instance.observation in ("bernoulli", "bounded", "poisson"):
            low, high = family.lowest(), family.highest()
            move = APART * (1.0 + self.noise.random())
            value += move if value - low < high - value else -move
        return value

    def enter(self, arm: Any, phase: int) -> None:
        """Play an arm on both sides."""
        values = {k: self.drawn(k) for k in self.a.shown(arm)}
        self.a.enter(arm, phase, values)
        self.b.enter(self.image.arm(arm), phase, self.carried(values))

    def settle(
        self, before: tuple[Side, Side], arm: Any, one: Decision, other: Any, two: Decision, given
    ) -> tuple[str | None, Any, int]:
        """Why the two differ, and how both go on."""
        if given and self.by_law(before, given):
            return "another draw", arm, one.phase
        found = self.by_tie(before)
        if found is not None:
            return found
        if self.by_plan():
            return "another plan", arm, one.phase
        return None, arm, one.phase

    def nudged(self, before: tuple[Side, Side], k: int, size: float = NUDGE) -> tuple[Side, Side]:
        """Both sides with all means moved a little, in directions of the k-th draw."""
        a, b = before[0].copied(), before[1].copied()
        family, tally = a.instance.observed_family, a.tally
        directions = np.random.default_rng((self.seed, k)).standard_normal(tally.means.size)
        for component in np.flatnonzero(tally.counts).tolist():
            mean = float(tally.means[component])
            step = size * max(a.instance.sigma, abs(mean)) * float(directions[component])
            if not family.lowest() < mean + step < family.highest():
                step = -step
            if family.lowest() <= mean + step <= family.highest():
                tally.means[component] = mean + step
        for component, value in self.carried(dict(enumerate(tally.means.tolist()))).items():
            if b.tally.counts[component] > 0:
                b.tally.means[component] = value
        return a, b

    def by_tie(self, before: tuple[Side, Side]) -> tuple[str, Any, int] | None:
        """Nudge all means; the first nudge settles the tie for both."""
        why, settled = "value tie", None
        for k in range(TRIES):
            a, b = self.nudged(before, k)
            arm, one, other, two, _ = self.decide(a, b, np.random.default_rng((self.seed, 7, k)))
            if self.image.arm(arm) != other or one.phase != two.phase:
                if not self.are_level(before, k, arm, other) or self.are_near(before):
                    return None
                why = "order tie"
            if settled is None:
                settled = (a, b, arm, one.phase)
        a, b, arm, phase = settled
        self.a.memory, self.b.memory = a.memory, b.memory
        return why, arm, phase

    def are_near(self, before: tuple[Side, Side]) -> bool:
        """Whether it depends on the means that they differ: all agree once these are moved."""
        if before[0].tally.clock[0] == 0:
            return False
        for k in range(2 * TRIES):
            a, b = self.nudged(before, k, PUSH)
            arm, one, other, two, _ = self.decide(a, b, np.random.default_rng((self.seed, 13, k)))
            if self.image.arm(arm) != other or one.phase != two.phase:
                return False
        return True

    def are_level(self, before: tuple[Side, Side], k: int, arm: Any, other: Any) -> bool:
        """Whether two arms of equally many plays are told apart by more plays."""
        if isinstance(arm, tuple):
            return False
        back = int(np.flatnonzero(self.image.arms == other)[0])
        plays = before[0].tally.plays
        if back != arm and self.look_alike(before[0], arm, back):
            return True
        if back == arm:  # for another reason: before anything is told all arms lead
            return bool(before[0].tally.clock[0] == 0) or self.is_untold(before[0])
        if plays[back] != plays[arm]:
            return False
        a, b = self.nudged(before, k)
        rng = np.random.default_rng((self.seed, 11, k))
        order, most = rng.permutation(plays.size), -1
        for x in order[np.argsort(plays[order], kind="stable")].tolist():
            more = max(most + 1 - int(plays[x]), 0)
            most = int(plays[x]) + more
            for _ in range(more):
                values = {
                    c: float(a.tally.means[c] if a.tally.counts[c] else a.instance.components[c])
                    for c in a.shown(x)
                }
                a.enter(x, EXPLOIT, values)
                b.enter(self.image.arm(x), EXPLOIT, self.carried(values))
        x, _, y, _, _ = self.decide(a, b, rng)
        return bool(self.image.arm(x) == y)

    def is_untold(self, a: Side) -> bool:
        """Whether rows of the present context differ in what nothing was told of."""
        if a.rows is None:
            return False
        arms = np.asarray(a.instance.arms)
        told, rows = arms[a.tally.counts > 0], arms[a.rows.start : a.rows.stop]
        known = np.linalg.matrix_rank(told) if told.size else 0
        return bool(np.linalg.matrix_rank(np.vstack([told, rows - rows[0]])) > known)

    def look_alike(self, a: Side, x: int, y: int) -> bool:
        """Whether both are at the end of the mean space, where an index can rise no further."""
        if not len(a.shown(x)) == len(a.shown(y)) == 1:
            return False
        (one,), (two,) = a.shown(x), a.shown(y)
        mean, counts = float(a.tally.means[one]), a.tally.counts
        if min(counts[one], counts[two]) == 0:
            return False
        return min(mean, float(a.tally.means[two])) >= a.instance.observed_family.highest() - 1e-5

    def by_law(self, before: tuple[Side, Side], given: list[Any]) -> bool:
        """Whether decisions from this state have the same law on both sides."""
        self.course.laws += 1
        if self.course.laws & (self.course.laws - 1):
            return True  # the first is compared, the second, the fourth, the eighth, …
        # sums of items that nothing was told of are level, and so is all before the first round
        counts, sums = before[0].tally.counts, before[0].instance.kind == "combinatorial"
        led = bool((counts > 0).all() if sums else (counts > 0).any())
        ones: Counter = Counter()
        twos: Counter = Counter()
        for k in range(DRAWS):
            a, b = before[0].copied(), before[1].copied()
            arm, one = a.select(Even(k, DRAWS, self.seed))
            other, two = b.select(Even(k, DRAWS, self.seed + 1))
            ones[self.image.arm(arm), one.phase * led] += 1
            twos[other, two.phase * led] += 1
        met = set(ones) | set(twos)
        if len(given) == 1:  # one even draw: the same shares, to within rounding
            return all(abs(ones[key] - twos[key]) <= 4 for key in met)
        course = self.course
        course.distance += sum((ones[x] - twos[x]) ** 2 / (ones[x] + twos[x]) for x in met)
        course.freedom += len(met) - 1
        return bool(course.distance <= course.freedom + SURE * np.sqrt(2.0 * course.freedom + 1.0))

    def by_plan(self) -> bool:
        """Whether both follow rates that solve the same program, to the gap that each certifies."""
        costs = [cost_of_plan(side) for side in (self.a, self.b)]
        return None not in costs and 0.0 < max(costs) <= (1.0 + SAME_COST) * min(costs) < np.inf
