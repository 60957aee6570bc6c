"""Planned lengths of tests beside those played: ``ossb plan`` against ``top-two``, by structure.

    python benchmarks/plans.py [--trials 100] [NAME ...]

One instance or two of each structure, δ = 0.05.  A row has T*(θ), the planned rounds, the median of
the simulated stops and the ratio of the two, which is to lie between 0.8 and 1.2.
"""

import argparse
import time

import ossb
from ossb.instances import from_dict

MEANS = [0.3, 0.45, 0.7, 0.6, 0.35]
ARMS = [[1.0, 0.1], [0.1, 0.9], [0.6, 0.7], [-0.5, 0.4], [0.8, 0.5]]
SETS = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
UTILITIES = [1.0, 0.6, 0.3, 0.1, -0.2]


def choices(utilities):
    """Preferences of the Bradley–Terry model."""
    from math import exp

    return [[1.0 / (1.0 + exp(other - own)) for other in utilities] for own in utilities]


CASES = {
    "classical": {"structure": "classical", "observation": "bernoulli", "theta": MEANS},
    "classical, close": {
        "structure": "classical", "observation": "bernoulli", "theta": [0.5, 0.45, 0.43, 0.4],
    },
    "classical, gaussian": {"structure": "classical", "sigma": 0.5, "theta": MEANS},
    "classical, counts": {"structure": "classical", "observation": "poisson", "theta": MEANS},
    "unimodal": {"structure": "unimodal", "observation": "bernoulli", "theta": MEANS},
    "lipschitz": {
        "structure": "lipschitz", "observation": "bernoulli", "theta": MEANS,
        "points": [0.0, 1.0, 2.0, 3.0, 4.0], "lipschitz_constant": 0.3,
    },
    "linear": {"structure": "linear", "sigma": 0.5, "arms": ARMS, "phi": [0.8, 0.3]},
    "logistic": {
        "structure": "generalized_linear", "link": "logistic", "observes": "reward",
        "observation": "bernoulli", "arms": ARMS, "phi": [1.2, 0.4],
    },
    "duels": {
        "structure": "dueling",
        "preferences": [
            [0.5, 0.6, 0.7, 0.55], [0.4, 0.5, 0.3, 0.6], [0.3, 0.7, 0.5, 0.8], [0.45, 0.4, 0.2, 0.5]
        ],
    },
    "duels, utilities": {"structure": "dueling", "preferences": choices(UTILITIES)},
    "duels, cyclic": {
        "structure": "dueling",
        "preferences": [
            [0.5, 0.6, 0.6, 0.6], [0.4, 0.5, 0.9, 0.1], [0.4, 0.1, 0.5, 0.9], [0.4, 0.9, 0.1, 0.5]
        ],
    },
    "sums": {
        "structure": "combinatorial", "feedback": "bandit", "sigma": 0.5, "observation": "gaussian",
        "arms": SETS, "phi": [0.5, 0.2, 0.9, 0.4],
    },
    "semi-bandit": {
        "structure": "combinatorial", "feedback": "semi_bandit", "observation": "bernoulli",
        "arms": SETS, "phi": [0.5, 0.2, 0.9, 0.4],
    },
    "finite": {
        "structure": "finite", "observation": "bernoulli", "theta": MEANS,
        "parameters": [MEANS, [0.3, 0.8, 0.7, 0.6, 0.35], [0.8, 0.45, 0.7, 0.2, 0.35]],
    },
    "polytope": {
        "structure": "polytope", "observation": "bernoulli", "theta": [0.7, 0.5, 0.3],
        "A": [[1, -1, 0], [0, 1, -1], [-1, 1, 0]], "b": [0.4, 0.4, 0.0],
    },
    "union": {
        "structure": "union", "observation": "bernoulli", "theta": [0.7, 0.5, 0.3],
        "pieces": [
            {"A": [[-1, 1, 0], [0, -1, 1]], "b": [0.0, 0.0]},
            {"A": [[1, -1, 0], [0, 1, -1]], "b": [0.0, 0.0]},
        ],
    },
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(CASES))
    parser.add_argument("--trials", type=int, default=100)
    chosen = parser.parse_args()
    print(f"{'instance':22}{'T*':>9}{'planned':>10}{'median':>10}{'ratio':>7}{'errors':>8}{'s':>7}")
    for name in chosen.names or CASES:
        started = time.perf_counter()
        found = ossb.plan(from_dict(CASES[name]), simulate=chosen.trials)
        stops = found.simulated.to_dict()
        print(
            f"{name:22}{found.characteristic_time:9.4g}{found.rounds:10,}{stops['median']:10,.0f}"
            f"{found.rounds / stops['median']:7.2f}{stops['errors']:8.1%}"
            f"{time.perf_counter() - started:7.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
