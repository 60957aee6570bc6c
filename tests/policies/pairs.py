"""Small instances of every structure with every family, and the policies that fit each."""

from ossb.errors import InputError
from ossb.policies import POLICIES, policy
from ossb.policies.base import refusal
from ossb.records import can_compile
from ossb.structures import STRUCTURES
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.generalized_linear import GeneralizedLinear

MEANS = [0.35, 0.55, 0.8, 0.6, 0.3]
ARMS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.7], [-0.5, 0.4]]
SETS = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
LINKS = {"gaussian": "identity", "bernoulli": "logistic", "bounded": "logistic", "poisson": "log"}
BOX = {
    "A": [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, 1], [1, -1, 0]],
    "b": [0.9, -0.1, 0.8, 0.7, 0.5],
}
OTHER = {"A": [[1, -1, 0], [0, 0, 1]], "b": [0.0, 0.2]}
SHAPES = {
    "classical": {"theta": MEANS},
    "unimodal": {"theta": MEANS},
    "lipschitz": {
        "theta": MEANS, "points": [0.0, 1.0, 2.0, 3.0, 4.0], "lipschitz_constant": 0.4,
    },
    "finite": {
        "parameters": [MEANS, [0.35, 0.9, 0.8, 0.6, 0.3], [0.85, 0.5, 0.8, 0.2, 0.3]],
        "theta": MEANS,
    },
    "linear": {"arms": ARMS, "phi": [0.8, 0.3]},
    "dueling": {
        "preferences": [
            [0.5, 0.6, 0.7, 0.55], [0.4, 0.5, 0.3, 0.6], [0.3, 0.7, 0.5, 0.8], [0.45, 0.4, 0.2, 0.5]
        ],
    },
    "polytope": {**BOX, "theta": [0.6, 0.3, 0.2]},
    "union": {"pieces": [BOX, OTHER], "theta": [0.6, 0.3, 0.2]},
}  # fmt: skip


def instances():
    """Name → instance, for every structure and family."""
    found = {}
    for kind, shape in SHAPES.items():
        for family in STRUCTURES[kind].observations:
            found[f"{kind} {family}"] = STRUCTURES[kind](**shape, observation=family)
    for family in GeneralizedLinear.observations:
        for observes in ("index", "reward"):
            keys = {"link": LINKS[family], "observation": family, "observes": observes}
            try:
                found[f"generalized_linear {family} {observes}"] = GeneralizedLinear(
                    arms=ARMS, phi=[0.8, 0.3], **keys
                )
            except InputError:
                continue  # an index is shown in Gaussian noise alone
    for family in Combinatorial.observations:
        for feedback in ("bandit", "semi_bandit"):
            try:
                found[f"{feedback} {family}"] = Combinatorial(
                    arms=SETS, phi=[0.5, 0.2, 0.9, 0.4], feedback=feedback, observation=family
                )
            except InputError:
                continue  # sums of these have no family of their own
    return found


def pairs():
    """(policy, name of the instance, instance) for all that fit."""
    for name, instance in instances().items():
        for kind in POLICIES.values():
            if refusal(kind, instance) is None:
                try:
                    policy(kind.name, instance)
                except InputError:
                    continue
                yield kind.name, name, instance


def compiled_pairs():
    """Those that compile."""
    return (pair for pair in pairs() if can_compile(policy(pair[0], pair[2])))
