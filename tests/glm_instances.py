"""Generalised linear instances, and a second way to solve them that shares nothing with ours."""

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import expit

PARTITION = {
    "logistic": (lambda u: np.logaddexp(0.0, u), expit),
    "log": (np.exp, np.exp),
    "identity": (lambda u: 0.5 * u * u, lambda u: u),
}
OBSERVED = {"logistic": "bernoulli", "log": "poisson", "identity": "gaussian"}


def unit_arms(rng, n_arms, dimension):
    arms = rng.standard_normal((n_arms, dimension))
    return arms / np.linalg.norm(arms, axis=1)[:, None]


def rewarding(arms, phi, link, **others):
    """Keys of an instance that observes its rewards."""
    keys = {"arms": arms, "phi": phi, "link": link, "observes": "reward"}
    return {**keys, "observation": OBSERVED[link], **others}


def reference(arms, phi, link, sign=1.0, reward=None, gap=1e-7):
    """C(θ) by cutting planes: HiGHS over the rates, BFGS for every alternative, in-out points."""
    partition, mean = PARTITION[link]
    index = arms @ phi
    rewards = sign * PARTITION[reward or link][1](index)
    best = int(np.argmax(rewards))
    others = np.array([x for x in range(len(arms)) if x != best])
    costs = rewards[best] - rewards[others]

    def spread(shift):
        u = index[others]
        return partition(u + shift) - partition(u) - mean(u) * shift

    def cut(rates, x):
        conditions = np.array([arms[best], arms[x]])
        aim = np.array([0.0, index[best] - index[x]])
        base = np.linalg.lstsq(conditions, aim, rcond=None)[0]
        free = np.linalg.svd(conditions)[2][2:]

        def confusion(w):
            shift = arms[others] @ (base + w @ free)
            pull = rates * (mean(index[others] + shift) - mean(index[others]))
            return rates @ spread(shift), free @ (arms[others].T @ pull)

        start = np.zeros(len(free))
        if len(free):
            start = minimize(confusion, start, jac=True, method="BFGS", options={"gtol": 1e-11}).x
        shift = arms[others] @ (base + start @ free)
        return spread(shift)

    centre = np.ones(len(others)) / costs
    rows, upper, lower = [], np.inf, 0.0
    for _ in range(400):
        cuts = [cut(centre, x) for x in others]
        information = min(row @ centre for row in cuts)
        if costs @ centre / information < upper:
            upper, inside = costs @ centre / information, centre / information
        rows += cuts
        answer = linprog(costs, A_ub=-np.array(rows), b_ub=-np.ones(len(rows)), method="highs")
        lower = max(lower, answer.fun)
        if upper - lower <= gap * upper:
            break
        centre = 0.5 * (answer.x + inside)
    return 0.5 * (lower + upper)
