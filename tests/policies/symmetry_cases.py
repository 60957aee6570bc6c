"""Instances in general position, for every structure with every family, as their files hold them.

No two numbers of them stand in a simple ratio, so that two arms seldom tie for good.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.policies import POLICIES, policy
from ossb.policies.base import refusal
from ossb.structures import STRUCTURES
from policies.symmetries import feature_tables, has_features, with_features

SIGMA = 0.5
MEANS = [0.33, 0.52, 0.81, 0.64, 0.27]
ARMS = [[1.0, 0.13], [0.07, 0.94], [0.61, 0.72], [-0.53, 0.41], [0.88, -0.36]]
AFFINE = [[1.0, 0.83], [1.0, -0.24], [1.0, 0.46], [1.0, 0.11], [1.0, -0.67]]
PAIRS = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
SETS = [[1, 1, 0, 0], [1, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 0, 1]]
ITEMS = [0.53, 0.21, 0.87, 0.42]
BOX = {
    "A": [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, 1], [1, -1, 0]],
    "b": [0.93, -0.12, 0.81, 0.72, 0.54],
}
OTHER = {"A": [[1, -1, 0], [0, 0, 1]], "b": [0.03, 0.24]}
SUMS = {"structure": "combinatorial", "feedback": "bandit", "phi": ITEMS}
SEMI = {"structure": "combinatorial", "feedback": "semi_bandit", "phi": ITEMS}
ROADS = {
    "arm_set": "paths",
    "edges": [[0, 1], [0, 2], [1, 3], [2, 3], [1, 2]],
    "source": 0,
    "target": 3,
    "phi": [0.41, 0.66, 0.53, 0.37, 0.18],
}
GROUPS = {
    "arm_set": "matchings",
    "n_left": 2,
    "n_right": 3,
    "edges": [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]],
    "phi": [0.41, 0.66, 0.53, 0.37, 0.71],
}
TREES = {
    "arm_set": "spanning_trees",
    "n_nodes": 4,
    "edges": [[0, 1], [1, 2], [0, 2], [2, 3], [0, 3]],
    "phi": [0.41, 0.66, 0.53, 0.37, 0.71],
}
M_SETS = {"arm_set": "m_sets", "n_items": 4, "size": 2}
SHAPES: dict[str, dict[str, Any]] = {
    "classical": {"structure": "classical", "theta": MEANS},
    "unimodal": {"structure": "unimodal", "theta": MEANS},
    "tree": {
        "structure": "unimodal",
        "theta": [0.33, 0.81, 0.64, 0.52, 0.27],
        "edges": [[0, 1], [1, 2], [1, 3], [3, 4]],
    },
    "cycle": {
        "structure": "unimodal",
        "theta": [0.33, 0.81, 0.64, 0.52],
        "edges": [[0, 1], [1, 2], [2, 3], [3, 0]],
    },
    "lipschitz": {
        "structure": "lipschitz",
        "theta": MEANS,
        "points": [0.0, 1.13, 1.92, 3.24, 4.31],
        "lipschitz_constant": 0.43,
    },
    "plane": {
        "structure": "lipschitz",
        "theta": MEANS,
        "points": [[0.0, 0.1], [1.13, 0.7], [1.92, -0.4], [2.24, 0.3], [0.31, 1.9]],
        "lipschitz_constant": 0.53,
    },
    "dueling": {
        "structure": "dueling",
        "preferences": [
            [0.5, 0.62, 0.71, 0.57],
            [0.38, 0.5, 0.33, 0.64],
            [0.29, 0.67, 0.5, 0.81],
            [0.43, 0.36, 0.19, 0.5],
        ],
    },
    "finite": {
        "structure": "finite",
        "theta": MEANS,
        "parameters": [
            MEANS,
            [0.33, 0.91, 0.81, 0.64, 0.27],
            [0.86, 0.52, 0.81, 0.23, 0.31],
            [0.36, 0.49, 0.74, 0.83, 0.22],
        ],
    },
    "sums of pairs": {**SUMS, "arms": PAIRS},
    "sums": {**SUMS, "arms": SETS},
    "pairs": {**SEMI, "arms": PAIRS},
    "sets": {**SEMI, "arms": SETS},
    "m-sets": {**SEMI, **M_SETS},
    "paths": {**SEMI, **ROADS},
    "matchings": {**SEMI, **GROUPS},
    "spanning trees": {**SEMI, **TREES},
    "linear": {"structure": "linear", "arms": ARMS, "phi": [0.83, 0.31]},
    "affine": {"structure": "linear", "arms": AFFINE, "phi": [0.31, 0.47]},
    "polytope": {"structure": "polytope", **BOX, "theta": [0.61, 0.32, 0.23]},
    "union": {"structure": "union", "pieces": [BOX, OTHER], "theta": [0.61, 0.32, 0.23]},
}
for observes in ("index", "reward"):
    for link in ("identity", "logistic", "log"):
        SHAPES[f"{link} {observes}"] = {
            "structure": "generalized_linear",
            "arms": ARMS,
            "phi": [0.83, 0.31],
            "link": link,
            "observes": observes,
        }
SHAPES["affine identity"] = {**SHAPES["identity reward"], "arms": AFFINE, "phi": [0.31, 0.47]}
WHO = [{"arms": ARMS}, {"arms": [[0.34, 0.91], [-0.72, 0.25]]}, {"arms": [[0.47, -0.12]]}]
AFFINE_WHO = [{"arms": AFFINE[:3]}, {"arms": [*AFFINE[3:], [1.0, 0.92]]}]
IN_CONTEXTS: dict[str, dict[str, Any]] = {
    "linear in contexts": {"structure": "linear", "contexts": WHO, "phi": [0.83, 0.31]},
    "affine in contexts": {"structure": "linear", "contexts": AFFINE_WHO, "phi": [0.31, 0.47]},
    "logistic in contexts": {
        "structure": "generalized_linear",
        "contexts": WHO,
        "phi": [0.83, 0.31],
        "link": "logistic",
        "observes": "reward",
    },
}


def contents(shapes: dict[str, Any] = SHAPES) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, content) of every shape with every family that fits it."""
    for name, shape in shapes.items():
        for family in STRUCTURES[shape["structure"]].observations:
            content = {**shape, "observation": family}
            if family == "gaussian":
                content["sigma"] = SIGMA
            try:
                from_dict(content)
            except InputError:
                continue  # the structure's table of families says so
            yield f"{name} {family}", content


def drawn(content: dict[str, Any], seed: int) -> dict[str, Any]:
    """The same kind of instance with other numbers, near the first ones."""
    rng, new = np.random.default_rng(seed), dict(content)
    if "theta" in content:
        moves = 0.02 * rng.uniform(-1.0, 1.0, len(content["theta"]))
        for key in ("theta", "parameters"):
            if key in content:
                new[key] = (np.array(content[key]) + moves).tolist()
    if "phi" in content:
        new["phi"] = (
            np.array(content["phi"]) * rng.uniform(0.95, 1.05, len(content["phi"]))
        ).tolist()
    if has_features(content):
        tables = feature_tables(content)
        free = ~(np.vstack(tables) == 1.0).all(axis=0)
        moved = [arms + 0.1 * rng.standard_normal(arms.shape) * free for arms in tables]
        new = with_features(new, moved)
    if "preferences" in content:
        moves = 0.05 * np.triu(rng.uniform(-1.0, 1.0, np.shape(content["preferences"])), 1)
        new["preferences"] = (np.array(content["preferences"]) + moves - moves.T).tolist()
    from_dict(new)
    return new


def fitting(content: dict[str, Any]) -> Iterator[str]:
    """The policies that play it."""
    instance = from_dict(content)
    for kind in POLICIES.values():
        if refusal(kind, instance) is None and kind.suits(instance) is None:
            policy(kind.name, instance)
            yield kind.name
