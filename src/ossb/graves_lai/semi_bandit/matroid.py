"""Matroids (m-sets, spanning trees): the program in closed form, for every family.

For an item i outside the best basis x*, let j be the worst item of x* that i can replace and
δ_i = φ_j − φ_i > 0.  Any basis x pairs its items outside x* with items of x* they can replace,
so Δ_x ≥ Σ_{i∈x∖x*} δ_i.  Hence a confusing λ raises some item i by δ_i or more, and w_i d(φ_i,
φ_i + δ_i) ≥ 1 for every i is necessary and sufficient; and no play collects more per unit of
regret than x* − j + i does.  So c(x* − j + i) = 1/d(φ_i, φ_j) and C = Σ_i δ_i / d(φ_i, φ_j)
(Talebi and Proutiere 2016 for Gaussian and Bernoulli items).
"""

import math
from typing import Any, Protocol

import numpy as np

from ossb.graves_lai.semi_bandit.implicit_solution import ImplicitSolution, Items, Oracle


class Matroid(Oracle, Protocol):
    """Bases of a matroid."""

    def replaceable(self, best: Items) -> dict[int, list[int]]: ...


def swaps(matroid: Matroid, phi: np.ndarray, leader: Items) -> dict[int, tuple[int, Items]]:
    """For each item outside the leader that some basis has: what it replaces, and the basis."""
    found = {}
    for item, replaced in matroid.replaceable(leader).items():
        if replaced:
            worst = min(replaced, key=lambda j: (phi[j], j))
            found[item] = (worst, tuple(sorted((set(leader) - {worst}) | {item})))
    return found


def least_information(
    matroid: Matroid, phi: np.ndarray, leader: Items, weights: np.ndarray, family: Any
) -> float:
    """F(w), exactly: min over items i of w_i d(φ_i, φ_j); +∞ where nothing is confusing."""
    least = math.inf
    for item, (worst, _) in swaps(matroid, phi, leader).items():
        divergence = family.kl(phi[item], phi[worst])
        if divergence < math.inf:
            least = min(least, weights[item] * divergence)
    return least


def solve_matroid(matroid: Matroid, phi: np.ndarray, family: Any) -> ImplicitSolution:
    """The closed form, with the confusing parameters that prove it."""
    leader = matroid.maximize(phi)
    support, alternatives, confusing, weights = [], [], [], []
    value = 0.0
    for item, (worst, arm) in swaps(matroid, phi, leader).items():
        divergence = family.kl(phi[item], phi[worst])
        if divergence == math.inf:
            continue  # the mean of the replaced item is the largest there is
        gap = phi[worst] - phi[item]
        parameter = np.array(phi, dtype=np.float64)
        parameter[item] = phi[worst]
        support.append((arm, 1.0 / divergence))
        alternatives.append(arm)
        confusing.append(parameter)
        weights.append(gap / divergence)
        value += gap / divergence
    shape = (len(confusing), phi.size)
    return ImplicitSolution(
        leader, support, value, value, alternatives, np.array(confusing).reshape(shape),
        np.array(weights),
    )  # fmt: skip
