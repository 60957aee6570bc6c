"""Arms in contexts: random instances, and the program of their bound written down anew."""

import cvxpy
import numpy as np

from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.linear import Linear
from ossb.structures.polytope import Polytope

EXAMPLE = {
    "phi": [1.0, 0.0],
    "contexts": [
        {"name": "a", "arms": [[1.0, 0.0], [0.0, 1.0], [0.9, 0.2]]},
        {"name": "b", "arms": [[0.5, 1.0], [0.2, -1.0]]},
    ],
}
SHARED = {"arms": [[1.0, 0.2], [0.3, 0.9], [-0.4, 0.5]], "phi": [0.5, 0.2, -0.3, 0.4]}
CONTEXTS = {
    "linear": Linear(**EXAMPLE, sigma=0.7),
    "by products": Linear(
        **SHARED,
        interaction="product",
        contexts=[{"features": [1.0, 0.0]}, {"features": [0.4, 1.0]}, {"features": [1.0, -1.0]}],
        goal="minimize",
    ),
    "alone": Linear(contexts=EXAMPLE["contexts"][:1], phi=EXAMPLE["phi"]),
    "logistic": GeneralizedLinear(**EXAMPLE, link="logistic", observation="bernoulli"),
    "shown indices": GeneralizedLinear(**EXAMPLE, link="log", observation="gaussian"),
}


def dyadic(rng, *shape):
    """Numbers whose products are exact: the generic engine is told what best arms show exactly."""
    return (rng.integers(-160, 161, shape) / 64.0).tolist()


def random_keys(rng):
    """Fewer contexts than dimensions, so that something is left to explore."""
    dimension = int(rng.integers(2, 6))
    count = int(rng.integers(1, dimension))
    contexts = [{"arms": dyadic(rng, int(rng.integers(1, 7)), dimension)} for _ in range(count)]
    contexts[0]["arms"] += dyadic(rng, 2, dimension)
    return {"phi": dyadic(rng, dimension), "contexts": contexts}


def value_by_cvxpy(instance):
    """Interior points of others: minimise Σ Δ η over zᵀ G(η)⁻¹ z ≤ Δ²/2σ²."""
    arms, phi, sign = np.asarray(instance.arms), np.asarray(instance.phi), instance.sign
    rows = np.split(np.arange(len(arms)), instance.layout.starts[1:-1])
    best = [int(block[np.argmax(sign * arms[block] @ phi)]) for block in rows]
    leader = np.repeat(best, [len(block) for block in rows])
    left, sizes, _ = np.linalg.svd(arms[best].T, full_matrices=True)
    across = left[:, int((sizes > 1e-10).sum()) :]
    others = [x for x in range(len(arms)) if x != leader[x]]
    z = arms[others] @ across
    kept = [k for k in range(len(others)) if np.linalg.norm(z[k]) > 1e-10]
    if not kept:
        return 0.0
    _, sizes, right = np.linalg.svd(z[kept])
    z = z @ right[: int((sizes > 1e-10).sum())].T
    gaps = np.array([sign * (arms[leader[x]] - arms[x]) @ phi for x in others])
    eta = cvxpy.Variable(len(others), nonneg=True)
    gram = sum(eta[k] * np.outer(z[k], z[k]) for k in kept)
    # Gram matrices and rates in the unit of the gaps keep the cone programs well scaled
    limits = [
        cvxpy.matrix_frac(z[k], gram) <= gaps[k] ** 2 / (2.0 * instance.sigma**2) for k in kept
    ]
    problem = cvxpy.Problem(cvxpy.Minimize(gaps[kept] @ eta[kept]), limits)
    problem.solve(solver=cvxpy.CLARABEL)
    return float(problem.value)


def as_polytope(instance):
    """The same for the generic engine: what best arms show is known, and a new arm is best.

    It shows nothing and brings 0; any other brings less by its gap, and best arms need no plays.
    """
    arms, phi = np.asarray(instance.arms), np.asarray(instance.phi)
    leaders = instance.leaders
    others = [x for x in range(len(arms)) if x != leaders[x]]
    known = arms[instance.bests]
    return Polytope(
        A=np.zeros((0, phi.size)),
        b=[],
        A_eq=known,
        b_eq=known @ phi,
        means=arms[others],
        reveals=[[], *([k] for k in range(len(others)))],
        rewards=np.vstack([np.zeros(phi.size), arms[others] - arms[leaders[others]]]),
        theta=phi,
        sigma=instance.sigma,
        goal=instance.goal,
    )


def random_instance(seed):
    rng = np.random.default_rng(seed)
    goal = "minimize" if seed % 3 == 0 else "maximize"
    return Linear(**random_keys(rng), sigma=float(rng.choice([0.3, 1.0, 4.0])), goal=goal)
