"""Drawn parts of the regret grid: families of instances, each a function of a seed.

Every family has two halves, drawn from streams of their own: one to look at while a rule is
changed, and one, held out, that no change is chosen on.  Both are reported, apart.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ossb.experiments.definition import Experiment, parse
from ossb.instances import from_dict
from ossb.structures.base import Instance

SEED = 2029
HALVES = ("drawn", "held-out")
POINTS = 40
LATE = 1_000  # rounds that a late answer is late
TRIALS = 50  # of each instance

Rng = np.random.Generator
Draw = Callable[[Rng], dict[str, Any]]


@dataclass(frozen=True)
class Family:
    """A family of instances.

    Parameters
    ----------
    draw
        One instance of it.
    structure
        Which part of the grid it belongs to.
    count
        How many are drawn for each half.
    delay
        Rounds before an observation is known.
    horizon
        Rounds.
    noise
        What policies are told of the noise, over what it is.
    """

    draw: Draw
    structure: str
    count: int = 10
    delay: int = 0
    horizon: int = 10_000
    noise: float = 1.0

    @property
    def part(self) -> str:
        """What its part is called, without the half."""
        ends = [f"late-{self.delay}"] if self.delay else []
        ends += [f"noise-{self.noise:g}"] if self.noise != 1.0 else []
        return "-".join([self.structure, *ends])


# By structure; the consistent ones, whose regret is o(T^a) for every a > 0, are named apart.
CONSISTENT = {
    "classical": ("hgl", "thompson", "imed", "kl-ucb"),
    "counts": ("hgl", "imed", "kl-ucb"),
    "unimodal": ("hgl", "imed-ub", "osub", "thompson", "imed"),
    "lipschitz": ("hgl", "oslb", "thompson", "imed", "ckl-ucb"),
    "linear": ("hgl", {"name": "linear-thompson", "scale": "posterior"}),
    "generalized_linear": ("hgl", "thompson", "imed"),
    "dueling": ("hgl", "double-thompson", "rmed1"),
    "semi-bandit": ("hgl", "combinatorial-thompson", "escb"),
    "finite": ("hgl", "ossb", "thompson", "imed"),
    "polytope": ("hgl", "thompson", "imed", "kl-ucb"),
    "union": ("hgl", "thompson", "imed", "kl-ucb"),
    "oracle": ("hgl", "combinatorial-thompson", "cucb"),
}
OTHERS: dict[str, tuple[Any, ...]] = {
    "linear": ("glm-ucb",),
    "generalized_linear": ("glm-ucb",),
}


def _listed(structure: str, observation: str, theta: Any, **more: Any) -> dict[str, Any]:
    means = [float(mean) for mean in theta]
    return {"structure": structure, "observation": observation, **more, "theta": means}


def _arms(rng: Rng, least: int, most: int) -> int:
    """A number of arms, evenly on the scale of its logarithm."""
    return round(least * (most / least) ** rng.random())


def _scale(rng: Rng, low: float, high: float) -> float:
    return float(low * (high / low) ** rng.random())


def bernoulli(rng: Rng) -> dict[str, Any]:
    return _listed("classical", "bernoulli", rng.random(_arms(rng, 2, 20)))


def rare(rng: Rng) -> dict[str, Any]:
    """Successes as rare as one in a thousand."""
    return _listed(
        "classical", "bernoulli", _scale(rng, 0.005, 0.1) * rng.random(_arms(rng, 2, 20))
    )


def gaussian(rng: Rng) -> dict[str, Any]:
    """At levels and of scales of many sizes beside the noise."""
    level, scale = 100.0 * rng.standard_normal(), _scale(rng, 0.1, 10.0)
    means = level + scale * rng.standard_normal(_arms(rng, 2, 20))
    return _listed("classical", "gaussian", means, sigma=1.0)


def gaussian_easy(rng: Rng) -> dict[str, Any]:
    """Two to five arms, three to ten standard deviations apart."""
    steps = rng.uniform(3.0, 10.0, _arms(rng, 2, 5))
    return _listed("classical", "gaussian", rng.permutation(np.cumsum(steps)), sigma=1.0)


def gaussian_many(rng: Rng) -> dict[str, Any]:
    return _listed("classical", "gaussian", rng.standard_normal(_arms(rng, 50, 1000)), sigma=1.0)


def poisson(rng: Rng) -> dict[str, Any]:
    return _listed("classical", "poisson", _scale(rng, 0.1, 30.0) * rng.random(_arms(rng, 2, 10)))


def exponential(rng: Rng) -> dict[str, Any]:
    n = _arms(rng, 2, 10)
    return _listed("classical", "exponential", _scale(rng, 0.1, 30.0) * rng.uniform(0.05, 1.0, n))


def _peak(rng: Rng, n: int) -> np.ndarray:
    """Falling away from a peak on both sides, between 0 and 1."""
    top = int(rng.integers(n))
    means = rng.random(n)
    order = np.sort(np.delete(means, int(np.argmax(means))))
    side = rng.permutation(n - 1)[:top]
    left = np.sort(order[side])
    right = np.sort(np.delete(order, side))[::-1]
    return np.concatenate([left, [means.max()], right])


def line(rng: Rng) -> dict[str, Any]:
    return _listed("unimodal", "bernoulli", _peak(rng, _arms(rng, 4, 30)))


def line_rare(rng: Rng) -> dict[str, Any]:
    means = _scale(rng, 0.005, 0.1) * _peak(rng, _arms(rng, 4, 30))
    return _listed("unimodal", "bernoulli", means)


def line_prices(rng: Rng) -> dict[str, Any]:
    """Revenue of prices over the highest one: fewer buy the dearer it is."""
    prices = np.linspace(0.3, 1.0, _arms(rng, 6, 20))
    middle, width = rng.uniform(0.4, 1.0), rng.uniform(0.05, 0.3)
    buying = _scale(rng, 0.01, 0.6) / (1.0 + np.exp((prices - middle) / width))
    return _listed("unimodal", "bernoulli", prices * buying)


def line_climb(rng: Rng) -> dict[str, Any]:
    """A long way up from next to nothing."""
    n = _arms(rng, 10, 30)
    means = np.sort(rng.random(n)) ** 2 * rng.uniform(0.3, 1.0)
    return _listed("unimodal", "bernoulli", means if rng.random() < 0.5 else means[::-1])


def line_gaussian(rng: Rng) -> dict[str, Any]:
    means = 10.0 * rng.standard_normal() + _scale(rng, 0.3, 10.0) * _peak(rng, _arms(rng, 4, 30))
    return _listed("unimodal", "gaussian", means, sigma=1.0)


def _reflected(mean: float) -> float:
    """A mean that went too far, as far on this side of the end."""
    low, high = 0.01, 0.99
    folded = abs((mean - low) % (2.0 * (high - low)))
    return float(low + min(folded, 2.0 * (high - low) - folded))


def lipschitz(rng: Rng) -> dict[str, Any]:
    n = _arms(rng, 5, 20)
    points = np.sort(rng.random(n))
    constant = _scale(rng, 0.3, 3.0)
    theta = np.empty(n)
    theta[0] = rng.random()
    for k in range(1, n):
        reach = constant * (points[k] - points[k - 1])
        theta[k] = _reflected(theta[k - 1] + reach * rng.uniform(-0.99, 0.99))
    more = {"lipschitz_constant": constant, "points": points.tolist()}
    return _listed("lipschitz", "bernoulli", theta, **more)


def linear(rng: Rng) -> dict[str, Any]:
    """Unit arms, with rewards from a tenth to ten times the noise, and at any level."""
    d = int(rng.integers(2, 9))
    arms = rng.standard_normal((_arms(rng, d + 2, 80), d))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    phi = rng.standard_normal(d)
    phi /= np.linalg.norm(phi)
    return _linear(arms, phi, _scale(rng, 0.1, 10.0))


def linear_apart(rng: Rng) -> dict[str, Any]:
    """Unit arms well apart in 4 to 20 dimensions."""
    d = int(rng.integers(4, 21))
    arms = rng.standard_normal((int(rng.uniform(2.0, 4.0) * d), d))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    phi = rng.standard_normal(d)
    return _linear(arms, phi / np.linalg.norm(phi), 1.0)


def linear_level(rng: Rng) -> dict[str, Any]:
    """Arms of 0 and 1, with a level."""
    d = int(rng.integers(3, 7))
    every = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
    arms = every[rng.permutation(2**d)[: max(d + 2, 2 ** (d - 1))]].astype(float)
    phi = np.append(_scale(rng, 0.1, 3.0) * rng.standard_normal(d), 20.0 * rng.standard_normal())
    return _linear(np.column_stack([arms, np.ones(len(arms))]), phi, 1.0)


def _linear(arms: np.ndarray, phi: np.ndarray, signal: float) -> dict[str, Any]:
    return {
        "structure": "linear",
        "observation": "gaussian",
        "sigma": 1.0 / signal,
        "arms": arms.tolist(),
        "phi": phi.tolist(),
    }


def logistic(rng: Rng) -> dict[str, Any]:
    d = int(rng.integers(2, 6))
    arms = rng.standard_normal((_arms(rng, d + 2, 40), d))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    phi = _scale(rng, 0.5, 3.0) * rng.standard_normal(d)
    return {
        "structure": "generalized_linear",
        "observation": "bernoulli",
        "link": "logistic",
        "observes": "reward",
        "arms": arms.tolist(),
        "phi": phi.tolist(),
    }


def duels(rng: Rng) -> dict[str, Any]:
    """The better one wins more often; by how much differs from pair to pair."""
    n = int(rng.integers(3, 13))
    upper = np.triu(0.5 + rng.beta(1.0, 2.0, (n, n)) * 0.45 + 0.01, 1)
    wins = upper + np.tril(1.0 - upper.T, -1)
    np.fill_diagonal(wins, 0.5)
    order = rng.permutation(n)
    return {
        "structure": "dueling",
        "observation": "bernoulli",
        "preferences": wins[np.ix_(order, order)].tolist(),
    }


def duels_cyclic(rng: Rng) -> dict[str, Any]:
    """One item beats all others, which beat one another at random."""
    n = int(rng.integers(4, 10))
    upper = np.triu(rng.uniform(0.1, 0.9, (n, n)), 1)
    upper[0, 1:] = rng.uniform(0.55, 0.75, n - 1)
    wins = upper + np.tril(1.0 - upper.T, -1)
    np.fill_diagonal(wins, 0.5)
    order = rng.permutation(n)
    return {
        "structure": "dueling",
        "observation": "bernoulli",
        "preferences": wins[np.ix_(order, order)].tolist(),
    }


def sets(rng: Rng) -> dict[str, Any]:
    """All sets of a size of a few items, each item seen."""
    from itertools import combinations

    n = int(rng.integers(4, 9))
    chosen = list(combinations(range(n), int(rng.integers(2, n - 1))))
    observation = "gaussian" if rng.random() < 0.5 else "bernoulli"
    return {
        "structure": "combinatorial",
        "feedback": "semi_bandit",
        "observation": observation,
        "arms": [[int(item in arm) for item in range(n)] for arm in chosen],
        "phi": rng.random(n).tolist(),
    }


def finite(rng: Rng) -> dict[str, Any]:
    n = _arms(rng, 3, 10)
    rows = rng.random((_arms(rng, 3, 30), n))
    return _listed("finite", "bernoulli", rows[0], parameters=rows.tolist())


def concave(rng: Rng) -> dict[str, Any]:
    """Means that are concave along a line."""
    n = _arms(rng, 4, 10)
    slopes = np.sort(rng.standard_normal(n - 1))[::-1] * _scale(rng, 0.1, 1.0)
    rows = np.zeros((n - 2, n))
    for k in range(n - 2):
        rows[k, k : k + 3] = 1.0, -2.0, 1.0
    theta = np.concatenate([[0.0], np.cumsum(slopes)])
    sides = np.zeros(n - 2).tolist()
    return _listed("polytope", "gaussian", theta, A=rows.tolist(), b=sides, sigma=1.0)


def steps(rng: Rng) -> dict[str, Any]:
    """Neighbours differ by a bounded step: Bernoulli means."""
    n, reach = _arms(rng, 4, 10), _scale(rng, 0.05, 0.3)
    theta = [rng.uniform(0.2, 0.8)]
    for _ in range(n - 1):
        theta.append(_reflected(theta[-1] + reach * rng.uniform(-0.99, 0.99)))
    rows = np.zeros((2 * n - 2, n))
    for k in range(n - 1):
        rows[2 * k, k : k + 2] = 1.0, -1.0
        rows[2 * k + 1, k : k + 2] = -1.0, 1.0
    sides = np.full(2 * n - 2, reach).tolist()
    return _listed("polytope", "bernoulli", theta, A=rows.tolist(), b=sides)


def falling_or_rising(rng: Rng) -> dict[str, Any]:
    """Means rise, or fall, along the arms; it is not known which."""
    n = _arms(rng, 3, 8)
    rises = np.zeros((n - 1, n))
    for k in range(n - 1):
        rises[k, k : k + 2] = 1.0, -1.0
    pieces = [{"A": (sign * rises).tolist(), "b": np.zeros(n - 1).tolist()} for sign in (1.0, -1.0)]
    theta = np.sort(_scale(rng, 0.3, 3.0) * rng.standard_normal(n))
    theta = theta if rng.random() < 0.5 else theta[::-1]
    return _listed("union", "gaussian", theta, pieces=pieces, sigma=1.0)


def _behind_an_oracle(rng: Rng, n_items: int, **arm_set: Any) -> dict[str, Any]:
    return {
        "structure": "combinatorial",
        "feedback": "semi_bandit",
        "observation": "gaussian",
        **arm_set,
        "phi": rng.random(n_items).tolist(),
    }


def trees(rng: Rng) -> dict[str, Any]:
    """Spanning trees of a graph of 6 to 12 nodes, one edge in two of all more than a path has."""
    n = int(rng.integers(6, 13))
    every = [[i, j] for i in range(n) for j in range(i + 1, n)]
    edges = [e for e in every if e[1] == e[0] + 1 or rng.random() < 0.5]
    return _behind_an_oracle(rng, len(edges), arm_set="spanning_trees", n_nodes=n, edges=edges)


def matchings(rng: Rng) -> dict[str, Any]:
    """All matchings of 4 to 8 on each side."""
    n = int(rng.integers(4, 9))
    edges = [[i, j] for i in range(n) for j in range(n)]
    return _behind_an_oracle(rng, len(edges), arm_set="matchings", n_left=n, n_right=n, edges=edges)


def paths(rng: Rng) -> dict[str, Any]:
    """Paths through a grid of 4 × 4 to 7 × 7, to the right and down."""
    n = int(rng.integers(4, 8))
    across = [[n * i + j, n * i + j + 1] for i in range(n) for j in range(n - 1)]
    down = [[n * i + j, n * i + j + n] for i in range(n - 1) for j in range(n)]
    edges = across + down
    return _behind_an_oracle(
        rng, len(edges), arm_set="paths", edges=edges, source=0, target=n * n - 1
    )


FAMILIES: dict[str, Family] = {
    "Bernoulli": Family(bernoulli, "classical", 20),
    "rare successes": Family(rare, "classical", 20),
    "Gaussian": Family(gaussian, "classical", 20),
    "Gaussian, easy": Family(gaussian_easy, "classical", 20),
    "Gaussian, many arms": Family(gaussian_many, "classical"),
    "Poisson": Family(poisson, "counts", 20),
    "exponential": Family(exponential, "counts", 20),
    "Bernoulli, told late": Family(bernoulli, "classical", delay=LATE),
    "Gaussian, told late": Family(gaussian, "classical", delay=LATE),
    "Gaussian, noise taken for half": Family(gaussian, "classical", noise=0.5),
    "Gaussian, noise taken for twice": Family(gaussian, "classical", noise=2.0),
    "line": Family(line, "unimodal", 20),
    "line, rare successes": Family(line_rare, "unimodal", 20),
    "line, prices": Family(line_prices, "unimodal", 20),
    "line, long climb": Family(line_climb, "unimodal", 20),
    "line, Gaussian": Family(line_gaussian, "unimodal", 20),
    "Lipschitz": Family(lipschitz, "lipschitz"),
    "linear": Family(linear, "linear", 20),
    "linear, apart": Family(linear_apart, "linear", 20),
    "linear, corners and a level": Family(linear_level, "linear", 20),
    "logistic": Family(logistic, "generalized_linear"),
    "duels": Family(duels, "dueling", 20),
    "duels, cyclic": Family(duels_cyclic, "dueling", 20),
    "sets": Family(sets, "semi-bandit", 20),
    "finite": Family(finite, "finite", 20),
    "polytope, concave": Family(concave, "polytope"),
    "polytope, steps": Family(steps, "polytope"),
    "union, rising or falling": Family(falling_or_rising, "union"),
    "spanning trees": Family(trees, "oracle", 5, horizon=1_000),
    "matchings": Family(matchings, "oracle", 5, horizon=1_000),
    "paths": Family(paths, "oracle", 5, horizon=1_000),
}


def drawn_names() -> list[str]:
    """The drawn parts of the grid, each half of them."""
    parts = dict.fromkeys(family.part for family in FAMILIES.values())
    return [f"{half}-{part}" for half in HALVES for part in parts]


def drawn_part(name: str, share: float = 1.0, only: Sequence[str] = ()) -> Experiment:
    """A drawn part of the grid, its instances written out; of some policies only, if wished."""
    half = next(half for half in HALVES if name.startswith(f"{half}-"))
    part = name.removeprefix(f"{half}-")
    families = {name: family for name, family in FAMILIES.items() if family.part == part}
    first = next(iter(families.values()))
    policies: list[Any] = [*CONSISTENT[first.structure], *OTHERS.get(first.structure, ())]
    policies = [p for p in policies if not only or _name(p) in only]
    if first.noise != 1.0:
        told = {"name": "regret_grid.told_noise:ToldNoise", "factor": first.noise}
        policies = [{**told, "policy": _name(p), "label": _name(p)} for p in policies]
    trials = max(1, round(share * TRIALS))
    return parse(
        {
            "name": f"regret-{name}",
            "title": f"Regret grid: {part}, {'held out' if half == HALVES[1] else 'drawn'}",
            "horizon": first.horizon,
            "horizons": [first.horizon // 10, first.horizon],
            "checkpoints": POINTS,
            "trials": trials,
            "block": min(trials, TRIALS),
            "seed": SEED,
            "delay": first.delay,
            "policies": policies,
            "instances": [
                {"group": f"{group}, {half.replace('-', ' ')}", **content}
                for group, family in families.items()
                for content in _drawn(group, family, half)
            ],
        }
    )


def _name(policy: Any) -> str:
    return str(policy if isinstance(policy, str) else policy["name"])


def drawn_instances(family: str, half: str) -> list[Instance]:
    """The instances of one half of a family."""
    return [from_dict(content) for content in _drawn(family, FAMILIES[family], half)]


def _drawn(group: str, family: Family, half: str) -> Iterator[dict[str, Any]]:
    for number in range(family.count):
        words = [ord(letter) for letter in group]
        yield family.draw(np.random.default_rng([SEED, HALVES.index(half), number, *words]))
