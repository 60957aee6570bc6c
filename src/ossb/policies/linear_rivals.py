"""Rivals of the leader among linear arms, and how sure an estimate of them is.

In a Gaussian linear model the parameters nearest to θ̂ in the norm of V at which arm z is no worse
than the leader b lie at ν(z) = θ̂ + Δ(z) V⁻¹u / uᵀV⁻¹u, u = z − b, at the squared distance
Δ(z)² / uᵀV⁻¹u.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.models.within import leader_within
from ossb.numerics.dense import cholesky, inverse_of_factored

SINGULAR = 1e-9  # ridge of a design, relative to its mean eigenvalue


class Rivals(NamedTuple):
    """For every arm, the nearest parameter at which it is no worse than the leader."""

    directions: np.ndarray  # float64 (d, n_arms): ν(z) − θ̂
    distances: np.ndarray  # float64 (n_arms,): ‖ν(z) − θ̂‖² in the norm of V, ∞ for the leader
    scales: np.ndarray  # float64 (n_arms,): Δ(z) / uᵀV⁻¹u
    designs: np.ndarray  # float64 (4, d, d): scratch


def new_rivals(features: np.ndarray) -> Rivals:
    d, n = features.shape
    return Rivals(np.zeros((d, n)), np.zeros(n), np.zeros(n), np.zeros((4, d, d)))


@kernel
def face_within(
    features: np.ndarray,
    rewards: np.ndarray,
    leader: int,
    low: int,
    high: int,
    inverse: np.ndarray,
    rivals: Rivals,
) -> int:
    """Fill ``rivals`` of some arms, given V⁻¹; returns the nearest one, −1 where there is none.

    Arm by arm in the innermost loops, which is what vector instructions need.
    """
    d = features.shape[0]
    distances, scales = rivals.distances, rivals.scales
    for z in range(low, high):
        distances[z] = 0.0
    for i in range(d):
        direction = rivals.directions[i]
        for z in range(low, high):
            direction[z] = 0.0
        for l in range(d):  # noqa: E741
            weight, base = inverse[i, l], features[l, leader]
            for z in range(low, high):
                direction[z] += weight * (features[l, z] - base)
        base = features[i, leader]
        for z in range(low, high):
            distances[z] += direction[z] * (features[i, z] - base)
    nearest, least = -1, math.inf
    for z in range(low, high):
        gap, square = rewards[leader] - rewards[z], distances[z]
        distances[z], scales[z] = math.inf, 0.0
        if square > 0.0:
            scales[z] = gap / square
            distances[z] = gap * scales[z]
            if distances[z] < least:
                nearest, least = z, distances[z]
    for i in range(d):
        direction = rivals.directions[i]
        for z in range(low, high):
            direction[z] *= scales[z]
    return nearest


@kernel
def face_rivals(
    features: np.ndarray, rewards: np.ndarray, leader: int, inverse: np.ndarray, rivals: Rivals
) -> int:
    """Nearest rivals of the leader among all arms, as `face_within` finds them in one context."""
    return face_within(features, rewards, leader, 0, features.shape[1], inverse, rivals)


@kernel
def face_each(
    features: np.ndarray,
    rewards: np.ndarray,
    starts: np.ndarray,
    inverse: np.ndarray,
    rivals: Rivals,
) -> int:
    """Fill ``rivals``, arms held against the leader of their own block; the nearest of all."""
    nearest = -1
    for z in range(starts.shape[0] - 1):
        low, high = starts[z], starts[z + 1]
        leader = leader_within(rewards, low, high)
        found = face_within(features, rewards, leader, low, high, inverse, rivals)
        if found >= 0 and (nearest < 0 or rivals.distances[found] < rivals.distances[nearest]):
            nearest = found
    return nearest


@kernel
def answer_design(
    features: np.ndarray, weights: np.ndarray, rewards: np.ndarray, leader: int, rivals: Rivals
) -> int:
    """Face the rivals with V = Σ w(x) x xᵀ, up to a tiny ridge; returns the nearest one."""
    if not invert_design(features, weights, rivals):
        return -1
    return face_rivals(features, rewards, leader, rivals.designs[2], rivals)


@kernel
def invert_design(features: np.ndarray, weights: np.ndarray, rivals: Rivals) -> bool:
    """V⁻¹ of V = Σ w(x) x xᵀ, up to a tiny ridge, in the third of the designs."""
    d = features.shape[0]
    gram, scratch, inverse = rivals.designs[0], rivals.designs[1], rivals.designs[2]
    trace = 0.0
    for i in range(d):
        for l in range(d):  # noqa: E741
            gram[i, l] = 0.0
    for x in range(weights.shape[0]):
        for i in range(d):
            share = weights[x] * features[i, x]
            for l in range(d):  # noqa: E741
                gram[i, l] += share * features[l, x]
    for i in range(d):
        trace += gram[i, i]
    for i in range(d):
        gram[i, i] += SINGULAR * trace / d
    if not trace > 0.0 or not cholesky(gram, d):
        return False
    inverse_of_factored(gram, d, scratch, inverse)
    return True


@kernel
def difference_along(features: np.ndarray, x: int, rival: int, rivals: Rivals) -> float:
    """⟨ν(z) − θ̂, x⟩."""
    total = 0.0
    for i in range(features.shape[0]):
        total += rivals.directions[i, rival] * features[i, x]
    return total


@kernel
def confidence_level(logarithm: float, t: float, dimension: int, c: float) -> float:
    """2 (1 + 1/ln t) ln(1/δ) + c d ln(d ln t), given ln(1/δ); ln t is taken as at least 1.

    The squared distance, in units of σ, that θ̂ keeps from the truth with probability 1 − δ:
    Lattimore and Szepesvári (2017), who do not name c.
    """
    log = max(math.log(t), 1.0)
    return 2.0 * (1.0 + 1.0 / log) * logarithm + c * dimension * math.log(max(dimension * log, 1.0))
