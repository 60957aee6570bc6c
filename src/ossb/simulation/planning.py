"""``plan``: before a test begins, how long it will take, what it costs, and what could be saved.

At a believed parameter θ, play by the weights w* of the characteristic time T*(θ) and let every
mean be what θ says: the plan's length is the round at which the stop that is really in use would be
met, but for what chance brings forward.  It solves t = T* (β(t, δ) − ``LUCK``), β the threshold.

Evidence Z that grows by 1 in a round, as that of one gap in Gaussian noise does, is ½ S²/t with S a
walk of drift √2.  It reaches β where S reaches √(2 β t), a curve whose tangent at t = β has half
that drift and is reached after a time of mean β and median β − 1 or so; the curve lies below it.
By simulation the median is β − 0.9 to β − 1.1 for β from 4 to 18.  Items of duels are ruled out by
duels of their own, of which the unluckiest ends the test: there nothing is taken off.

The weights w* are those of the smallest δ.  What is paid beside ln(1/δ) is more for arms that are
played seldom, and with ε > 0 some arms that w* leaves out have to be looked at.  So the shares that
``top-two`` comes to where every observation is its mean are tried too, and those taken that cost
less.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ossb.errors import InputError, OssbError
from ossb.families import Exponential
from ossb.families.bernoulli import bernoulli_kl
from ossb.fields import integer, number
from ossb.graves_lai.answers import BEST, Answer, read_answer
from ossb.kernels import kernel
from ossb.models.rivals import CHARGE, STATISTIC
from ossb.policies import POLICIES
from ossb.policies.base import make
from ossb.records import can_compile
from ossb.simulation.chosen import test_parameters
from ossb.simulation.result import Stops
from ossb.simulation.simulate import simulate as play
from ossb.simulation.stops import Stop, readable_delta, readable_epsilon, rivals_or_reason, stop_of
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.tally import Tally, empty_tally

EXTRAS = (1.0, 0.3, 0.1, 0.03, 0.01)  # c of the frontier, in units of the largest gap
POWERS = (0.8, 0.9)
LONGEST = 1e15
AT_ONCE = 100
REHEARSED, AN_ARM, FEW = 2_000, 50, 200  # rounds without noise; few where each is a program
LUCK = 1.0  # evidence by which half of all tests are ahead of their means
PATIENCE = 20  # times the planned length that a simulated test may take


@dataclass(frozen=True, eq=False)
class Plan:
    """A test that was thought through."""

    instance: Any
    delta: float
    epsilon: float
    per_day: float | None
    characteristic_time: float | None  # None where several arms are best, and ε > 0
    rounds: int
    plays: np.ndarray  # float64 (n_arms,)
    regret: float
    frontier: list[tuple[int, float]]  # rounds and regret, the fastest test first
    without_structure: int | None
    fixed_sample: dict[float, int]  # by power; empty where there is no such test
    simulated: Stops | None = None
    answer: Answer = BEST

    @property
    def lower_bound(self) -> float | None:
        """T* kl(δ, 1 − δ): no test that is wrong that seldom is shorter on average.

        None where ε > 0, when several answers may be right.
        """
        if self.epsilon > 0.0 or self.characteristic_time is None:
            return None
        return self.characteristic_time * bernoulli_kl(self.delta, 1.0 - self.delta)

    @property
    def days(self) -> float | None:
        return None if self.per_day is None else self.rounds / self.per_day

    def to_dict(self) -> dict[str, Any]:
        arms = [self.instance.arm_at(x) for x in range(self.plays.size)]
        plain = [list(arm) if isinstance(arm, tuple) else arm for arm in arms]
        fixed = {f"rounds_{100 * power:.0f}": length for power, length in self.fixed_sample.items()}
        return {
            "delta": self.delta,
            "epsilon": self.epsilon,
            **({} if self.answer.is_best else {"answer": self.answer.plain}),
            "characteristic_time": self.characteristic_time,
            "lower_bound": self.lower_bound,
            "rounds": self.rounds,
            "days": self.days,
            "plays": [
                {"arm": arm, "plays": float(plays)}
                for arm, plays in zip(plain, self.plays, strict=True)
            ],
            "regret": self.regret,
            "frontier": [{"rounds": rounds, "regret": cost} for rounds, cost in self.frontier],
            "without_structure": {"rounds": self.without_structure},
            "fixed_sample": {"rounds": self.fixed_sample.get(POWERS[0]), **fixed},
            **({} if self.simulated is None else {"simulated": self.simulated.to_dict()}),
        }

    def table(self) -> str:
        """The plan in words."""
        took = f"about {self.rounds:,} rounds"
        if self.days is not None:
            took += f", {duration(self.days)} at {self.per_day:,.6g} a day"
        good = self.answer.sought(self.epsilon)
        spent = f"regret on the way {self.regret:.4g}"
        if self.lower_bound is not None:
            spent += f"; no test is shorter than {self.lower_bound:,.0f} rounds on average, "
            spent += f"T*(θ) = {self.characteristic_time:.6g}"
        lines = [f"to find {good}, sure to {1 - self.delta:.6g}: {took}", spent]
        if self.without_structure is not None:
            lines.append(f"if arms told nothing of one another: {self.without_structure:,} rounds")
        for power, length in self.fixed_sample.items():
            lines.append(f"a test of fixed samples, power {power:.0%}: {length:,} rounds")
        names = [self.instance.arm_name(self.instance.arm_at(x)) for x in range(self.plays.size)]
        order = sorted(np.flatnonzero(self.plays >= 0.5), key=lambda x: -self.plays[x])[:12]
        lines.append("plays: " + ", ".join(f"{names[x]} {self.plays[x]:,.0f}" for x in order))
        spent = ", ".join(f"{cost:.4g} in {rounds:,}" for rounds, cost in self.frontier)
        lines.append(f"regret against rounds: {spent}")
        if self.simulated is not None:
            found = self.simulated.to_dict()
            lines.append(
                f"simulated: median {found['median']:,.0f} rounds, "
                f"90 % within {found['p90']:,.0f}, errors {found['errors']:.2%}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Plan rounds={self.rounds}>\n{self.table()}"

    def _repr_html_(self) -> str:
        from ossb.notebook import curves, table

        rows = [tuple(line.partition(": ")[::2]) for line in self.table().splitlines()]
        drawn = {"frontier": ([r for r, _ in self.frontier], [c for _, c in self.frontier])}
        return table("a test, planned", ("what", "how much"), rows) + curves(
            "regret over rounds", drawn
        )


def duration(days: float) -> str:
    """Days as people say them."""
    if days < 2:
        return f"{24 * days:.1f} hours"
    return f"{days:.1f} days" if days < 21 else f"about {days / 7:.0f} weeks"


def plan(
    instance: Any,
    delta: float = 0.05,
    epsilon: float = 0.0,
    per_day: float | None = None,
    simulate: int = 0,
    seed: int = 0,
    progress: Callable[[str, int], None] | None = None,
    answer: Any = "best",
) -> Plan:
    """How long a test of an instance believed takes, until its leader is best with confidence 1 −
    δ.

    Parameters
    ----------
    epsilon
        How much worse than the best arm is good enough.
    per_day
        Rounds a day.
    simulate
        Trials of ``top-two`` to check the plan with.
    answer
        What the test is asked for: ``"best"``; ``{"top": m}``, the m best arms; ``{"above":
        level}``, those whose means exceed a level, of classical and linear arms.

    Examples
    --------
    >>> import ossb
    >>> plan = ossb.plan(ossb.Classical(observation="bernoulli", theta=[0.5, 0.6, 0.7]), delta=0.05)
    >>> round(plan.characteristic_time, 2)
    194.78
    """
    delta, epsilon = readable_delta(delta), readable_epsilon(epsilon)
    asked = read_answer(answer, instance.n_arms)
    rivals, reason = rivals_or_reason(instance, asked)
    if rivals is None:
        raise InputError("instance", f"have a test that ends: {reason}")
    end = Stop(rivals, delta, epsilon, answer=asked)
    if not instance.known:
        raise InputError(instance.parameter, "be given: a plan is about a believed parameter")
    if per_day is not None and not 0 < (per_day := number(per_day, "per_day")) < math.inf:
        raise InputError("per_day", "be positive", per_day)
    trials = integer(simulate, "simulate")
    gaps = np.asarray(instance.gaps, dtype=np.float64)
    found = _bound(instance, end, "samples")
    weights, rounds = _cheapest(instance, end, found, "samples")
    plays = np.maximum(rounds * weights, 0.0)
    stops = None
    if trials:
        horizon = min(PATIENCE * rounds, 2**53)
        stops = play(
            *(instance, "top-two", horizon, trials, seed),
            until=end.delta,
            epsilon=end.epsilon,
            answer=asked,
            progress=progress,
        )["top-two"].stops
    return Plan(
        instance,
        end.delta,
        end.epsilon,
        per_day,
        None if found is None else float(found.value),
        rounds,
        plays,
        float(plays @ gaps),
        _frontier(instance, end, gaps, (rounds, float(plays @ gaps))),
        _without_structure(instance, end),
        _fixed_sample(instance, end) if asked.is_best else {},
        stops,
        asked,
    )


def _weights(instance: Any, found: Any) -> np.ndarray:
    """The share of every arm in the rates of a bound."""
    rates = np.zeros(len(instance.showing()))
    for arm, rate in found.support:
        rates[instance.position(arm)] += rate
    total = rates.sum()
    if not 0.0 < total < math.inf:
        raise InputError("instance", "leave something to find out: its best arm is certain")
    return np.asarray(rates / total)


def _bound(instance: Any, end: Stop, cost: float | str, gap: float = 1e-6) -> Any:
    """The bound of a test; None where several arms are best, of which ε > 0 takes any."""
    try:
        return bound(instance, gap, cost=cost, answer=end.answer)
    except OssbError:
        if end.epsilon > 0.0 and np.count_nonzero(instance.gaps == 0.0) > 1:
            return None
        raise


def _cheapest(instance: Any, end: Stop, found: Any, cost: float | str) -> tuple[np.ndarray, int]:
    """The shares of a test and its rounds: by a bound's rates or, with ε, by ``top-two``'s."""
    best, least, fault = None, math.inf, None
    tried = []
    if found is not None:
        tried.append(_weights(instance, found))  # where the best arm is certain there are none
    if end.epsilon > 0.0 or can_compile(end.rivals):
        tried.append(shares(instance, end, cost))
    prices = 1.0 if isinstance(cost, str) else np.asarray(instance.gaps) + cost
    for weights in tried:
        try:
            rounds = length(instance, end, weights)
        except InputError as error:
            fault = error
            continue
        spent = float((rounds * weights * prices).sum())
        if spent < least:
            best, least = (weights, rounds), spent
    if best is None:
        assert fault is not None
        raise fault
    return best


@kernel
def rehearse(
    policy: Any,
    tally: Tally,
    memory: Any,
    means: np.ndarray,
    starts: np.ndarray,
    shown: np.ndarray,
    rounds: int,
    rng: np.random.Generator,
) -> None:
    """Play rounds in which every observation is its mean."""
    for _ in range(rounds):
        arm = policy.select(tally, memory, rng).arm
        for place in range(starts[arm], starts[arm + 1]):
            tally.counts[shown[place]] += 1
            tally.means[shown[place]] = means[shown[place]]
        tally.plays[arm] += 1
        tally.clock[0] += 1


def shares(
    instance: Any, end: Stop, cost: float | str = "samples", rounds: int = REHEARSED
) -> np.ndarray:
    """The shares of the arms in a test by ``top-two`` whose observations are their means."""
    policy = make(
        POLICIES,
        "top-two",
        instance,
        cost=cost,
        **test_parameters("top-two", end.epsilon, end.answer),
    )
    reveals = instance.showing()
    tally, memory = empty_tally(instance.component_count(), len(reveals)), policy.start()
    rng = np.random.default_rng(0)  # which it does not use
    starts = np.cumsum([0, *(len(components) for components in reveals)])
    shown = np.array([c for components in reveals for c in components], dtype=np.int64)
    means = np.ascontiguousarray(instance.components, dtype=np.float64)
    quick = can_compile(end.rivals)
    rounds = max(rounds, AN_ARM * len(reveals)) if quick else FEW
    play_rounds = rehearse.run_as(None if quick else False)
    for _ in range(0, rounds, AT_ONCE):  # compiled code is taken when it is there
        play_rounds(policy, tally, memory, means, starts, shown, AT_ONCE, rng)
    return np.asarray(tally.plays / tally.plays.sum())


def length(instance: Any, end: Stop, weights: np.ndarray) -> int:
    """The round at which half of all tests have met their stop, about."""
    reveals, luck = instance.showing(), 0.0 if instance.has_pairs else LUCK
    level = max(-math.log(end.delta) - luck, 0.0)
    tally = empty_tally(instance.component_count(), len(reveals))
    tally.clock[0] = 1
    contest = end.rivals.start()
    seen = np.array([len(shown) > 0 for shown in reveals])

    def met(t: float) -> bool:
        plays = np.where(seen, np.maximum(np.round(t * weights), 1.0), 0.0)
        tally.counts[:] = 0
        for shown, count in zip(reveals, plays.tolist(), strict=True):
            tally.counts[shown] += int(count)
        tally.plays[:] = plays.astype(np.int64)
        tally.means[:] = np.where(tally.counts > 0, instance.components, 0.0)
        end.rivals.judge(end.epsilon, level, tally, contest)
        return bool(contest.verdict[STATISTIC] - contest.verdict[CHARGE] >= level)

    high = float(seen.sum() + 1)
    while not met(high):
        high *= 2.0
        if high > LONGEST:
            raise InputError("instance", "have a test that ends: arms are too close to one another")
    low = 0.5 * high
    while high - low > max(1e-4 * high, 1.0):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if met(middle) else (middle, high)
    return math.ceil(high)


def _frontier(
    instance: Any, end: Stop, gaps: np.ndarray, fastest: tuple[int, float]
) -> list[tuple[int, float]]:
    """Tests that pay less on the way, and take longer; those that something beats are left out."""
    points = [fastest]
    for extra in EXTRAS:
        try:
            cost = extra * float(gaps.max())
            found = _bound(instance, end, cost, 1e-4)
            weights, rounds = _cheapest(instance, end, found, cost)
        except OssbError:
            continue
        regret = float(rounds * (weights @ gaps))
        if rounds > points[-1][0] and regret < points[-1][1]:
            points.append((rounds, regret))
    return points


def _alone(instance: Any) -> Classical | None:
    """Independent arms of these means; None where what an arm shows is not its own reward."""
    if not instance.shows_rewards() or getattr(instance, "observes", "reward") == "index":
        return None
    if not all(shown == [arm] for arm, shown in enumerate(instance.showing())):
        return None
    keys: dict[str, Any] = {"observation": instance.observation, "goal": instance.goal}
    if instance.observation == "gaussian":
        keys["sigma"] = instance.sigma
    return Classical(theta=(instance.sign * np.asarray(instance.components)).tolist(), **keys)


def _without_structure(instance: Any, end: Stop) -> int | None:
    alone = _alone(instance)
    if alone is None:
        return None
    try:
        its_end = stop_of(alone, end.delta, end.epsilon, answer=end.answer)
        return _cheapest(alone, its_end, _bound(alone, its_end, "samples"), "samples")[1]
    except OssbError:
        return None


def _fixed_sample(instance: Any, end: Stop) -> dict[float, int]:
    """How many plays of each arm, alike for all, tell the best from every other one.

    One-sided z tests, δ shared by Bonferroni, at the gap (and ε) of each.
    """
    alone = _alone(instance)
    if alone is None or isinstance(alone.family, Exponential):
        return {}
    rewards = np.asarray(alone.rewards)
    best = int(np.argmax(rewards))
    others = np.flatnonzero(np.arange(rewards.size) != best)
    variance = np.array([alone.family.variance(float(mean)) for mean in rewards])
    gaps = rewards[best] - rewards[others] + end.epsilon
    spread = float(((variance[others] + variance[best]) / (gaps * gaps)).max())
    normal = NormalDist()
    sure = normal.inv_cdf(1.0 - max(end.delta / others.size, 1e-300))
    lengths = {}
    for power in POWERS:
        each = math.ceil((sure + normal.inv_cdf(power)) ** 2 * spread)
        lengths[power] = each * rewards.size
    return lengths
