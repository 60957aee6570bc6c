"""Regret of ``hgl`` on dueling, semi-bandit, Lipschitz and logistic bandits, and µs per round.

    python benchmarks/regret_structured.py [--horizon 10000] [--trials 200] [--policy hgl]
        [--only dueling] [--references DIR] [--quick]

Mean regret ± standard error beside the reference numbers published for the same rule and the
same instances at 10⁵ rounds, and for 10⁴ those of an independent implementation.  Times are
CPU time per round, compilation excluded.  The public preference matrices and one Lipschitz
instance are read from the folder of reference values, and left out where that is absent.
"""

import argparse
import itertools
import json
import pathlib

import numpy as np

from ossb.simulation import simulate
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.dueling import Dueling
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.lipschitz import Lipschitz

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "tests" / "golden_data"
# mean and standard error at 10⁴ (200 runs for dueling, 60 for Lipschitz, 100 for others), at 10⁵
REFERENCE = {
    "arxiv6": ("81 ± 5", "128 ± 4"),
    "arithmetic8": ("65 ± 2", "103 ± 3"),
    "cyclic4": ("8.0 ± .4", "9.8 ± .4"),
    "sushi16": ("130 ± 3", "224 ± 8"),
    "m-sets (6, 3)": ("105 ± 15", "146 ± 12"),
    "m-sets (10, 3)": ("235 ± 23", "356 ± 16"),
    "4 × 4 grid paths": ("270 ± 23", "428 ± 28"),
    "line of 12": ("100 ± 6", "132 ± 4"),
    "line of 20": ("161 ± 6", "249 ± 7"),
    "reference 19": ("52 ± 3", "65 ± 2"),
    "logistic 20 × 3": ("48 ± 4", "64 ± 4"),
    "logistic 40 × 5": ("41 ± 3", "58 ± 5"),
    "click-like": ("56 ± 3", "97 ± 5"),
}


def dueling(folder):
    path = folder / "dueling_public.json"
    for entry in json.loads(path.read_text()) if path.exists() else []:
        yield entry["name"], [Dueling(preferences=entry["instance"]["preferences"])]


def m_sets(n_items, size):
    sets = itertools.combinations(range(n_items), size)
    return np.array([[float(i in chosen) for i in range(n_items)] for chosen in sets])


def grid_paths(side):
    """Monotone paths on a square grid, as sets of edges."""
    edges, paths = {}, []
    for down in itertools.combinations(range(2 * side - 2), side - 1):
        place, path = (0, 0), []
        for step in range(2 * side - 2):
            move = (1, 0) if step in down else (0, 1)
            following = (place[0] + move[0], place[1] + move[1])
            path.append(edges.setdefault((place, following), len(edges)))
            place = following
        paths.append(path)
    return np.array([[float(e in path) for e in range(len(edges))] for path in paths])


def semi_bandit(folder):
    for name, arms, key in (
        ("m-sets (6, 3)", m_sets(6, 3), 7),
        ("m-sets (10, 3)", m_sets(10, 3), 8),
        ("4 × 4 grid paths", grid_paths(4), 5),
    ):
        means = np.random.default_rng(7 * key + arms.shape[1]).uniform(0, 1, (5, arms.shape[1]))
        yield name, [Combinatorial(feedback="semi_bandit", arms=arms, phi=phi) for phi in means]


def lipschitz(folder):
    x = np.arange(12) / 11
    theta = 0.75 - 0.6 * np.abs(x - 4 / 11)
    yield "line of 12", [on_a_line(theta, x)]
    x = np.arange(20) / 19
    peaks = np.maximum(0.7 - 0.9 * np.abs(x - 5 / 19), 0.65 - 0.9 * np.abs(x - 15 / 19))
    yield "line of 20", [on_a_line(np.maximum(peaks, 0.1), x)]
    path = folder / "graves_lai.json"
    for entry in json.loads(path.read_text()) if path.exists() else []:
        if entry["name"] == "lipschitz_bernoulli_19":
            keys = {k: v for k, v in entry["instance"].items() if k != "structure"}
            yield "reference 19", [Lipschitz(**keys)]


def on_a_line(theta, points):
    return Lipschitz(observation="bernoulli", theta=theta, points=points, lipschitz_constant=1.0)


def logistic(folder):
    rng = np.random.default_rng(5)

    def unit(rows):
        return rows / np.linalg.norm(rows, axis=-1, keepdims=True)

    def instances(arms, parameters):
        return [
            GeneralizedLinear(arms=x, phi=phi, link="logistic", observation="bernoulli")
            for x, phi in zip(arms, parameters, strict=True)
        ]

    for name, n_arms, d, length in (("20 × 3", 20, 3, 2), ("40 × 5", 40, 5, 3)):
        arms = [unit(rng.normal(size=(n_arms, d))) for _ in range(5)]
        yield (
            f"logistic {name}",
            instances(arms, [length * unit(rng.normal(size=d)) for _ in range(5)]),
        )
    arms = [np.hstack([np.ones((20, 1)), rng.uniform(-1, 1, (20, 3))]) for _ in range(5)]
    yield "click-like", instances(arms, [np.r_[-3.0, rng.normal(size=3) * 0.7] for _ in range(5)])


GROUPS = {
    "dueling": dueling,
    "semi_bandit": semi_bandit,
    "lipschitz": lipschitz,
    "logistic": logistic,
}


def measure(instances, policy, horizon, trials):
    """Regrets over all instances, and CPU seconds."""
    regrets, seconds = [], 0.0
    for instance in instances:
        share = max(trials // len(instances), 2)
        answer = simulate(instance, [policy], horizon, share).policies[0]
        regrets.append(answer.regret)
        seconds += answer.seconds
    return np.concatenate(regrets), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--horizon", type=int, default=10_000)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--policy", default="hgl")
    parser.add_argument("--only", choices=GROUPS)
    parser.add_argument("--references", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--quick", action="store_true", help="20 trials of 1000 rounds")
    options = parser.parse_args()
    if options.quick:
        options.horizon, options.trials = 1000, 20
    print(f"{options.policy}, {options.horizon} rounds, {options.trials} trials")
    heads = ("regret", "max", "10⁴", "10⁵", "µs")
    print(
        f"{'instance':18} {heads[0]:>16} {heads[1]:>7} {heads[2]:>11} {heads[3]:>11} {heads[4]:>6}"
    )
    for name in [options.only] if options.only else GROUPS:
        for label, instances in GROUPS[name](options.references):
            regrets, seconds = measure(instances, options.policy, options.horizon, options.trials)
            error = regrets.std(ddof=1) / np.sqrt(regrets.size)
            near, far = REFERENCE[label]
            micro = 1e6 * seconds / (options.horizon * regrets.size)
            print(
                f"{label:18} {regrets.mean():9.1f} ± {error:4.1f} {regrets.max():7.0f} "
                f"{near:>11} {far:>11} {micro:6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
