"""A small instance of every structure with every family that fits it."""

from functools import cache
from typing import Any

from ossb.errors import InputError
from ossb.structures import STRUCTURES, Instance

MEANS = [0.35, 0.55, 0.8, 0.6, 0.3]
ARMS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.7], [-0.5, 0.4]]
SETS = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
BOX = {
    "A": [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, 1], [1, -1, 0]],
    "b": [0.9, -0.1, 0.8, 0.7, 0.5],
}
OTHER = {"A": [[1, -1, 0], [0, 0, 1]], "b": [0.0, 0.2]}
SUMS = {"arms": SETS, "phi": [0.5, 0.2, 0.9, 0.4]}
FEATURES = {"arms": ARMS, "phi": [0.8, 0.3]}
# name → keys; of keys that do not go together, as an index that is not Gaussian, nothing is made
SHAPES: dict[str, dict[str, Any]] = {
    "classical": {"theta": MEANS},
    "unimodal": {"theta": MEANS},
    "lipschitz": {
        "theta": MEANS, "points": [0.0, 1.0, 2.0, 3.0, 4.0], "lipschitz_constant": 0.4,
    },
    "finite": {
        "parameters": [MEANS, [0.35, 0.9, 0.8, 0.6, 0.3], [0.85, 0.5, 0.8, 0.2, 0.3]],
        "theta": MEANS,
    },
    "linear": FEATURES,
    "dueling": {
        "preferences": [
            [0.5, 0.6, 0.7, 0.55], [0.4, 0.5, 0.3, 0.6], [0.3, 0.7, 0.5, 0.8], [0.45, 0.4, 0.2, 0.5]
        ],
    },
    "polytope": {**BOX, "theta": [0.6, 0.3, 0.2]},
    "union": {"pieces": [BOX, OTHER], "theta": [0.6, 0.3, 0.2]},
    "generalized_linear index": {**FEATURES, "observes": "index"},
    "generalized_linear reward": {**FEATURES, "observes": "reward"},
    "combinatorial bandit": {**SUMS, "feedback": "bandit"},
    "combinatorial semi_bandit": {**SUMS, "feedback": "semi_bandit"},
}  # fmt: skip
LINKS = {"gaussian": "identity", "bernoulli": "logistic", "bounded": "logistic", "poisson": "log"}


@cache
def examples() -> dict[str, Instance]:
    """Name → instance, for every structure of this package and every family that fits it."""
    found: dict[str, Instance] = {}
    for name, keys in SHAPES.items():
        structure: Any = STRUCTURES[name.split()[0]]
        for family in structure.observations:
            link = {"link": LINKS[family]} if "observes" in keys else {}
            try:
                found[f"{name} {family}"] = structure(**keys, **link, observation=family)
            except InputError:
                continue
    return found
