"""Forged certificates: right ones with their numbers changed, at random and by a search.

The instance stays, so that its C(θ) is known; everything else in the file is the forger's.  What
the check proves from a forgery must be true, whatever the file claims: a proved lower side above
C, or a proved upper side below it, is a false claim that passes.
"""

import copy
import functools
import json
import math
from typing import Any, NamedTuple

import numpy as np

from ossb import certificates
from ossb.errors import InputError
from ossb.graves_lai.answers import read_answer
from ossb.graves_lai.bound import problem_of
from ossb.instances import from_dict
from ossb.structures import bound
from ossb.structures.base import cost_of
from ossb.structures.convex import Convex
from ossb.structures.oracle import Oracle

DUELS = [[0.5, 0.6, 0.7, 0.8], [0.4, 0.5, 0.9, 0.3], [0.3, 0.1, 0.5, 0.6], [0.2, 0.7, 0.4, 0.5]]
ARMS = [[1.0, 0.0, 0.2], [0.6, 0.8, 0.0], [0.1, 0.9, -0.4], [-0.5, 0.3, 0.8], [0.3, 0.3, 0.3]]
SETS = [[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 0, 0, 1, 1]]
GRID = [[0, 1], [0, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 5], [4, 5]]
NEAR = [0.8, 0.5, 0.4]
BOX = {"A": [[0, 1, -1], [0, -1, 1], [1, 0, -1]], "b": [0.4, 0.3, 0.9]}
PIECES = [
    {"A": [[0, 1, -1]], "b": [0.2], "A_eq": [], "b_eq": []},
    {"A": [[0, -1, 1]], "b": [0.1], "A_eq": [], "b_eq": []},
]


FAMILIES = ("gaussian", "bernoulli", "bounded", "poisson", "exponential")


def _cases():
    """Instances of every structure and family that a file can hold, by name."""
    cases = {}
    for family in FAMILIES:
        goal = "minimize" if family in ("poisson", "bounded") else "maximize"
        means = {"observation": family, "goal": goal}
        cases[f"classical {family}"] = {"theta": [0.7, 0.4, 0.55, 0.2], **means}
        hill = [0.2, 0.5, 0.8, 0.6] if goal == "maximize" else [0.8, 0.5, 0.2, 0.4]
        cases[f"unimodal {family}"] = {"theta": hill, **means}
        points = {"points": [0.0, 0.3, 0.5, 1.0], "lipschitz_constant": 1.5}
        cases[f"lipschitz {family}"] = {"theta": hill, **points, **means}
        best = max(hill) if goal == "maximize" else min(hill)
        better = 0.95 if goal == "maximize" else 0.1
        others = [[better if x == k else mean for x, mean in enumerate(hill)] for k in (0, 1, 3)]
        near = [mean + 1e-10 if mean == best else mean for mean in others[0]]
        cases[f"finite {family}"] = {"theta": hill, "parameters": [hill, *others, near], **means}
    table = [[0.0, 0.4, 0.9], [0.4, 0.0, 0.6], [0.9, 0.6, 0.0]]
    cases["lipschitz table"] = {"theta": [0.9, 0.6, 0.4], "distances": table}
    cases["unimodal graph"] = {
        "theta": [0.9, 0.5, 0.4, 0.3], "edges": [[0, 1], [0, 2], [1, 3], [2, 3]]
    }  # fmt: skip
    cases["dueling"] = {"preferences": DUELS}
    cases["linear"] = {"arms": ARMS, "phi": [0.9, 0.3, -0.2]}
    flat = [[*row[:2], row[0] + row[1]] for row in ARMS]
    cases["linear that do not span"] = {"arms": flat, "phi": [0.9, 0.3, -0.2], "goal": "minimize"}
    near = [*ARMS, [0.999999, 0.0003, 0.2]]
    cases["linear near tie"] = {"arms": near, "phi": [0.9, 0.3, -0.2]}
    links = [("logistic", "gaussian"), ("logistic", "bounded"), ("log", "poisson")]
    for link, family in (*links, ("logistic", "bernoulli")):
        keys = {"link": link, "observation": family, "phi": [0.9, 0.3, -0.2]}
        cases[f"generalized_linear {link} {family}"] = {"arms": ARMS, **keys}
    phi = [0.8, 0.7, 0.5, 0.45, 0.3]
    cases["combinatorial bandit"] = {"feedback": "bandit", "arms": SETS, "phi": phi}
    for family in ("gaussian", "bernoulli", "bounded", "poisson"):
        keys = {"feedback": "semi_bandit", "observation": family}
        cases[f"combinatorial {family}"] = {"arms": SETS, "phi": phi, **keys}
        goal = {"goal": "minimize"}
        cases[f"combinatorial {family} minimize"] = {"arms": SETS, "phi": phi, **keys, **goal}
    semi = {"feedback": "semi_bandit"}
    cases["combinatorial m_sets"] = {
        "arm_set": "m_sets", "n_items": 5, "size": 2, "phi": phi, "observation": "exponential",
        **semi,
    }  # fmt: skip
    trees = {
        "arm_set": "spanning_trees",
        "n_nodes": 4,
        "edges": [[0, 1], [1, 2], [2, 3], [0, 3], [0, 2]],
    }
    cases["combinatorial trees"] = {**trees, "phi": phi, **semi}
    ways = {"arm_set": "paths", "edges": GRID, "source": 0, "target": 5}
    cases["combinatorial paths"] = {**ways, "phi": [*phi, 0.2, 0.65, 0.1], **semi}
    edges = [[i, j] for i in range(2) for j in range(3)]
    pairs = {"arm_set": "matchings", "n_left": 2, "n_right": 3, "edges": edges}
    cases["combinatorial matchings"] = {**pairs, "phi": [0.9, 0.2, 0.1, 0.3, 0.7, 0.2], **semi}
    for family in ("gaussian", "bernoulli", "bounded", "poisson"):
        keys = {"theta": [0.8, 0.5, 0.4], "observation": family}
        cases[f"polytope {family}"] = {**BOX, **keys}
        cases[f"union {family}"] = {"pieces": PIECES, **keys}
        less = {"goal": "minimize", "theta": [0.3, 0.5, 0.6], "observation": family}
        cases[f"polytope {family} minimize"] = {**BOX, **less}
    described = {"arm_set": "m_sets", "n_items": 5, "size": 2, "feedback": "bandit"}
    cases["combinatorial bandit m_sets"] = {**described, "phi": phi}
    cases["generalized_linear identity"] = {
        "link": "identity", "observes": "reward", "arms": ARMS, "phi": [0.9, 0.3, -0.2]
    }  # fmt: skip
    # what an arm shows is not what it brings, and an equality ties the means
    cases["polytope monitoring"] = {
        "A": [[0, 0, 1, -1]], "b": [0.3], "A_eq": [[1, 1, -1, -1]], "b_eq": [0.5],
        "means": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        "reveals": [[0], [1, 2], [], [3]], "theta": [0.8, 0.5, 0.5, 0.3],
        "rewards": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -1], [0, 0, 1.2, 0]],
    }  # fmt: skip
    own = [
        {"A": [[0, 1]], "b": [0.5]},
        {"A": [[0, -1]], "b": [-0.5], "rewards": [[1, 0], [0, 2]]},
        {"A": [[1, 0], [-1, 0]], "b": [0.9, -0.9], "rewards": [[1, 0], [0.4, 1]]},
    ]
    contexts = [{"arms": ARMS[:2]}, {"arms": ARMS[2:], "weight": 3.0}]
    shared = {"arms": ARMS, "interaction": "product", "phi": [0.9, 0.3, -0.2, 0.1, 0.4, -0.3]}
    shared["contexts"] = [{"features": [1.0, 0.5]}, {"features": [1.0, -0.3], "available": [1, 3]}]
    cases["linear contexts"] = {"contexts": contexts, "phi": [0.9, 0.3, -0.2]}
    cases["linear contexts product"] = {**shared, "goal": "minimize"}
    cases["linear one context"] = {"contexts": contexts[1:], "phi": [0.9, 0.3, -0.2]}
    for link, family in (("logistic", "bernoulli"), ("log", "poisson"), ("identity", "gaussian")):
        keys = {"link": link, "observation": family, "contexts": contexts}
        cases[f"generalized_linear contexts {link}"] = {**keys, "phi": [0.9, 0.3, -0.2]}
    means = [{"theta": [0.7, 0.4]}, {"theta": [0.2, 0.5, 0.8], "weight": 2.0}]
    cases["classical segments"] = {"segments": means, "observation": "bernoulli"}
    cases["linear segments"] = {
        "arms": ARMS, "segments": [{"phi": [0.9, 0.3, -0.2]}, {"phi": [-0.1, 0.3, 0.5]}]
    }  # fmt: skip
    cases["polytope segments"] = {**BOX, "segments": [{"theta": NEAR}, {"theta": [0.85, 0.5, 0.4]}]}
    # level but for the last digits, beside arms that are exactly level
    level = [0.7, 0.7 - 1e-9, 0.4, 0.4 - 1e-12, 0.4]
    for family in ("gaussian", "bernoulli", "poisson"):
        cases[f"classical near ties {family}"] = {"theta": level, "observation": family}
    cases["linear twins"] = {
        "arms": [*ARMS, ARMS[4], [0.3, 0.3, 0.3 + 1e-9]],
        "phi": [0.9, 0.3, -0.2],
    }
    cases["union rewards"] = {"pieces": own[:2], "theta": [0.9, 0.3]}
    cases["union rewards that meet"] = {"pieces": own[1:], "theta": [0.9, 0.3]}
    return {name: {"structure": name.split()[0], **keys} for name, keys in cases.items()}


# sets that are functions: no file holds them, and the check asks them again
IN_PYTHON = ("convex ball", "convex cone", "oracle classical")
DESCRIBED = 1e-8  # such sets are described to a precision


class Case(NamedTuple):
    """What a certificate is of: an instance, what its plays cost, and what is asked for."""

    keys: dict[str, Any] | str  # as a file holds them, or the name of a set that is a function
    cost: Any = "regret"
    answer: Any = "best"

    @property
    def instance(self):
        return in_python(self.keys) if isinstance(self.keys, str) else from_dict(self.keys)

    def problem(self):
        """What solves and proves it; refused where the structure does not take the question."""
        instance = self.instance
        asked = read_answer(self.answer, instance.n_arms)
        problem = problem_of(instance, cost_of(instance, self.cost, asked), asked)
        if not asked.is_best:
            _ = problem.pairs
        return problem


def _costs(instance):
    """Everything that plays may cost."""
    yield from (("", "regret"), (", cost samples", "samples"), (", cost regret and 0.3", 0.3))
    if instance.n_arms is not None:
        prices = [0.5 + 0.25 * (arm % 4) for arm in range(instance.n_arms)]
        best = {instance.position(arm) for arm in instance.best_arms()}
        free = [0.0 if arm in best else price for arm, price in enumerate(prices)]
        yield from ((", cost prices", prices), (", cost prices but of the best", free))


def _answers(instance):
    """Everything that may be asked for."""
    yield "", "best"
    means = None if instance.n_arms is None else getattr(instance, "rewards", None)
    yield ", answer top", {"top": 2}
    if means is not None:
        levels = np.unique(instance.sign * means)
        yield ", answer above", {"above": float(levels[:2].mean())}


def _every():
    """Every instance at every cost and with every question that its structure takes."""
    for name, keys in _cases().items():
        first = Case(keys)
        for said, cost in _costs(first.instance):
            for question, answer in _answers(first.instance):
                case = first._replace(cost=cost, answer=answer)
                try:
                    case.problem()
                except InputError:
                    continue
                yield f"{name}{said}{question}", case


@functools.cache
def in_python(name):
    """An instance that a file cannot hold."""
    import cvxpy as cp

    if name == "oracle classical":
        return Oracle(oracle=_raise_one, theta=[0.8, 0.5, 0.4], exact=True)
    if name == "convex ball":
        return Convex(constraints=lambda m: [cp.norm(m - np.array(NEAR)) <= 0.5], theta=NEAR)
    return Convex(
        constraints=lambda m: [cp.norm(m[1:]) <= 1.2 * m[0]], theta=NEAR, observation="bernoulli"
    )


def _raise_one(theta, rates):
    """The most confusing parameter without structure, in Gaussian noise."""
    prices = rates * (theta[0] - theta) ** 2
    least = 1 + int(np.argmin(prices[1:]))
    return np.where(np.arange(len(theta)) == least, theta[0], theta)


EVERY = dict(_every()) | {name: Case(name) for name in IN_PYTHON}
HUGE = (1e300, 1e200, 1e20, 1e13, 1e-13, 1e-20, 1e-200, 1e-300, 5e-324, 1.0, 2.0, 0.5, -1.0)


def honest(name):
    """The right certificate of a case, as a file holds it, and the interval that holds C."""
    keys, cost, asked = case = EVERY[name]
    answer = bound(case.instance, cost=cost, answer=asked)
    room = DESCRIBED * answer.upper if isinstance(keys, str) else 0.0
    entry = {"instance": keys, **certificates.claims(answer)}
    return json.loads(json.dumps(entry)), answer.lower - room, answer.upper + room


def proved(entry):
    """What an entry claims, and the report of its check; None if unreadable."""
    try:
        if isinstance(entry["instance"], str):
            claimed = certificates.claimed(in_python(entry["instance"]), entry, "bounds[0]")
        else:
            claimed = certificates._bound(entry, "bounds[0]")
    except ValueError:  # the file is refused before anything is proved
        return None
    return claimed, claimed.verify()


def proofs(entry):
    """The tables of an entry that hold a proof: of segments those of each, else itself."""
    return (
        [part for one in entry["segments"] for part in proofs(one)]
        if "segments" in entry
        else [entry]
    )


def numbers(node, path=()):
    """The places of all numbers of an entry, but those of its instance and of what is asked."""
    if isinstance(node, dict):
        for key, value in node.items():
            if path or key not in ("instance", "cost", "answer"):
                yield from numbers(value, (*path, key))
    elif isinstance(node, list):
        for k, value in enumerate(node):
            yield from numbers(value, (*path, k))
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield path


def lists(node, path=()):
    """The places of all lists that have entries, but those of the instance and of what is asked."""
    if isinstance(node, dict):
        for key, value in node.items():
            if path or key not in ("instance", "cost", "answer"):
                yield from lists(value, (*path, key))
    elif isinstance(node, list):
        if node:
            yield path
        for k, value in enumerate(node):
            yield from lists(value, (*path, k))


def at(entry, path):
    for step in path:
        entry = entry[step]
    return entry


def put(entry, path, value):
    at(entry, path[:-1])[path[-1]] = value


def changed(value, rng):
    """A number in place of another."""
    if isinstance(value, int):
        return int(rng.integers(0, 6))
    kind = rng.integers(6)
    if kind == 0:
        return value * (1.0 + rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-16, 0))
    if kind == 1:
        return value + rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-16, 1)
    if kind == 2:
        return float(value) * 10.0 ** rng.uniform(-20, 20)
    if kind == 3:
        return 0.0
    if kind == 4:
        return -value
    return float(rng.choice(HUGE))


def _one(some, rng):
    """One of some, drawn; none where there are none."""
    return [some[rng.integers(len(some))]] if some else []


def mutate(entry, rng):
    """An entry changed in one to four places."""
    forged = copy.deepcopy(entry)
    for _ in range(int(rng.integers(1, 5))):
        places = list(numbers(forged))
        kind = rng.integers(8)
        if kind < 4 and places:
            path = places[rng.integers(len(places))]
            put(forged, path, changed(at(forged, path), rng))
        elif kind == 4 and len(places) > 1:
            one, other = (places[k] for k in rng.integers(len(places), size=2))
            a, b = at(forged, one), at(forged, other)
            if isinstance(a, int) == isinstance(b, int):
                put(forged, one, b)
                put(forged, other, a if rng.random() < 0.5 else b)
        elif kind == 5:
            some = list(lists(forged))
            if some:
                found = at(forged, some[rng.integers(len(some))])
                k = int(rng.integers(len(found)))
                found.insert(k, copy.deepcopy(found[k])) if rng.random() < 0.5 else found.pop(k)
        elif kind == 6:
            scale = 10.0 ** rng.uniform(-3, 3)
            for part in _one(proofs(forged), rng):
                for rate in part["rates"]:
                    rate["rate"] = float(rate["rate"]) * scale
        else:
            for alternative in [
                a for part in _one(proofs(forged), rng) for a in part["alternatives"]
            ]:
                alternative["weight"] = float(rng.choice([0.0, 1.0, 1e9, alternative["weight"]]))
    if rng.random() < 0.3:
        forged["lower"] *= 1.0 + 10.0 ** rng.uniform(-12, 0)
    if rng.random() < 0.3:
        forged["upper"] *= 1.0 - 10.0 ** rng.uniform(-12, 0)
    return forged


class Tally:
    """What became of the forgeries of one case.

    ``above`` and ``below`` are how far, relatively, a proved lower side was above C and a proved
    upper side below it: positive for a false proof.
    """

    def __init__(self):
        self.tried = self.accepted = 0
        self.above = self.below = -math.inf
        self.false = []

    def take(self, entry, low, high):
        """Count a forgery; returns what it proves, or None."""
        self.tried += 1
        outcome = proved(entry)
        if outcome is None:
            return None
        claimed, report = outcome
        if report.lower > high or report.upper < low:
            self.false.append(entry)
        if low > 0.0:
            self.above = max(self.above, (report.lower - high) / high)
            self.below = max(self.below, (low - report.upper) / low)
        if report.valid:
            self.accepted += 1
            if claimed.lower > high or claimed.upper < low:
                self.false.append(entry)
        return report


def attack(name, count, rng, tally=None):
    """Random forgeries of one case."""
    tally = tally or Tally()
    entry, low, high = honest(name)
    for _ in range(count):
        tally.take(mutate(entry, rng), low, high)
    return tally


def climb(name, steps, rng, tally=None):
    """Forgeries that prove more and more: a larger lower side, then a smaller upper one.

    Each starts from a spoiled certificate and keeps every change that does not prove less.
    """
    tally = tally or Tally()
    entry, low, high = honest(name)
    for side in ("lower", "upper"):
        current = mutate(entry, rng)
        score = -math.inf
        for _ in range(steps):
            trial = mutate(current, rng)
            report = tally.take(trial, low, high)
            if report is None:
                continue
            reached = report.lower if side == "lower" else -report.upper
            if reached >= score:
                current, score = trial, reached
    return tally
