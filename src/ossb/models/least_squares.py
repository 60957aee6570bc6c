"""Least squares with a ridge, kept up to date with a tally.

W = (λI + Σ n_x x xᵀ)⁻¹ and θ̂ = W Σ n_x m_x x follow the tally by rank-one corrections
(Sherman and Morrison, 1950) of what changed since the last look, and are computed anew after
``OFTEN`` of them, where much has changed, or where observations were taken back.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.linear.algebra import cholesky, inverse_of_factored
from ossb.kernels import kernel

RIDGE = 1.0  # one observation of 0 in every direction
OFTEN = 1000


class LeastSquares(NamedTuple):
    """What has been entered, and its consequences; arms are the columns of a d × K matrix."""

    counts: np.ndarray  # int64 (K,): entered observations
    means: np.ndarray  # float64 (K,): and their means
    gram: np.ndarray  # float64 (d, d): Σ n x xᵀ
    target: np.ndarray  # float64 (d,): Σ n m x
    inverse: np.ndarray  # float64 (d, d): W
    theta: np.ndarray  # float64 (d,): W target
    leverage: np.ndarray  # float64 (K,): xᵀWx
    image: np.ndarray  # float64 (d,): scratch
    across: np.ndarray  # float64 (K,): scratch
    small: np.ndarray  # float64 (2, d, d): scratch
    age: np.ndarray  # int64 (1,): corrections since all was computed anew, −1 before the first


def new_least_squares(dimension: int, n_arms: int) -> LeastSquares:
    return LeastSquares(
        np.zeros(n_arms, np.int64),
        np.zeros(n_arms),
        np.zeros((dimension, dimension)),
        np.zeros(dimension),
        np.zeros((dimension, dimension)),
        np.zeros(dimension),
        np.zeros(n_arms),
        np.zeros(dimension),
        np.zeros(n_arms),
        np.zeros((2, dimension, dimension)),
        np.full(1, -1, np.int64),
    )


@kernel
def follow(arms: np.ndarray, counts: np.ndarray, means: np.ndarray, state: LeastSquares) -> None:
    """Bring the state up to the counts and means of a tally."""
    changed, taken_back = 0, False
    for x in range(counts.shape[0]):
        if counts[x] != state.counts[x] or means[x] != state.means[x]:
            changed += 1
            if counts[x] <= state.counts[x]:
                taken_back = True
    if state.age[0] < 0 or taken_back or changed > arms.shape[0] or state.age[0] >= OFTEN:
        renew(arms, counts, means, state)
        return
    if changed == 0:
        return
    for x in range(counts.shape[0]):
        if counts[x] != state.counts[x]:
            correct(arms, x, counts[x], means[x], state)
            state.age[0] += 1
    solve_for_theta(state)


@kernel
def correct(arms: np.ndarray, x: int, count: int, mean: float, state: LeastSquares) -> None:
    """Enter new observations of one arm; θ̂ is left as it was."""
    dimension = arms.shape[0]
    more = float(count - state.counts[x])
    gained = count * mean - state.counts[x] * state.means[x]
    state.counts[x] = count
    state.means[x] = mean
    reach = 0.0
    for i in range(dimension):
        total = 0.0
        for l in range(dimension):  # noqa: E741
            total += state.inverse[i, l] * arms[l, x]
        state.image[i] = total
        reach += total * arms[i, x]
    factor = more / (1.0 + more * reach)
    for k in range(state.across.shape[0]):
        state.across[k] = 0.0
    for i in range(dimension):
        state.target[i] += gained * arms[i, x]
        for l in range(dimension):  # noqa: E741
            state.gram[i, l] += more * arms[i, x] * arms[l, x]
            state.inverse[i, l] -= factor * state.image[i] * state.image[l]
        weight = state.image[i]
        for k in range(state.across.shape[0]):
            state.across[k] += weight * arms[i, k]
    for k in range(state.across.shape[0]):
        state.leverage[k] -= factor * state.across[k] * state.across[k]


@kernel
def solve_for_theta(state: LeastSquares) -> None:
    for i in range(state.theta.shape[0]):
        total = 0.0
        for l in range(state.theta.shape[0]):  # noqa: E741
            total += state.inverse[i, l] * state.target[l]
        state.theta[i] = total


@kernel
def renew(arms: np.ndarray, counts: np.ndarray, means: np.ndarray, state: LeastSquares) -> None:
    """Compute everything from the counts and means."""
    dimension = arms.shape[0]
    for i in range(dimension):
        state.target[i] = 0.0
        for l in range(dimension):  # noqa: E741
            state.gram[i, l] = 0.0
    for x in range(counts.shape[0]):
        state.counts[x] = counts[x]
        state.means[x] = means[x]
        if counts[x] > 0:
            for i in range(dimension):
                weight = counts[x] * arms[i, x]
                state.target[i] += weight * means[x]
                for l in range(dimension):  # noqa: E741
                    state.gram[i, l] += weight * arms[l, x]
    factor = state.small[0]
    for i in range(dimension):
        for l in range(dimension):  # noqa: E741
            factor[i, l] = state.gram[i, l]
        factor[i, i] += RIDGE
    cholesky(factor, dimension)
    inverse_of_factored(factor, dimension, state.small[1], state.inverse)
    solve_for_theta(state)
    quadratic_form(arms, state.inverse, state.leverage)
    state.age[0] = 0


@kernel
def quadratic_form(arms: np.ndarray, matrix: np.ndarray, out: np.ndarray) -> None:
    """Write xᵀMx of every arm, M symmetric."""
    for k in range(out.shape[0]):
        out[k] = 0.0
    for i in range(arms.shape[0]):
        for l in range(i, arms.shape[0]):  # noqa: E741
            weight = matrix[i, l] if i == l else 2.0 * matrix[i, l]
            for k in range(out.shape[0]):
                out[k] += weight * (arms[i, k] * arms[l, k])


@kernel
def predict(arms: np.ndarray, theta: np.ndarray, out: np.ndarray) -> int:
    """Write ⟨θ, x⟩ of every arm; returns the best, lowest on ties."""
    for k in range(out.shape[0]):
        out[k] = 0.0
    for i in range(arms.shape[0]):
        weight = theta[i]
        for k in range(out.shape[0]):
            out[k] += weight * arms[i, k]
    leader, top = 0, -math.inf
    for k in range(out.shape[0]):
        if out[k] > top:
            leader, top = k, out[k]
    return leader
