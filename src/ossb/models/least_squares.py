"""Least squares with a prior, kept up to date with a tally.

W = V⁻¹ with V = V₀ + Σ n_x x xᵀ, θ̂ = W Σ n_x m_x x and ln det V follow the tally by rank-one
corrections (Sherman and Morrison, 1950) of what changed since the last look, and are computed
anew after ``OFTEN`` of them, where much has changed, or where observations were taken back.
V₀ is the precision of a normal prior around 0 in units of the noise: unless told otherwise the
ridge of one observation of 0 in every direction that several published policies have.  It depends
on the units of features, and rules out what it has not seen where rewards are large beside the
noise.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.numerics.dense import cholesky, inverse_of_factored
from ossb.tally import Tally

RIDGE = 1.0
OFTEN = 1000
LOSING = 1e6  # times a precision at once: corrections lose as many digits
ROUNDING = 1e-15


# first index of every array: what was told, and that with observations on their way
TOLD, ASKED = 0, 1
# rows of LeastSquares.arm
MEANS, LEVERAGE, ACROSS = 0, 1, 2
# rows of LeastSquares.line
TARGET, THETA, IMAGE = 0, 1, 2
# matrices of LeastSquares.square
GRAM, INVERSE, FACTOR, SCRATCH = 0, 1, 2, 3


class LeastSquares(NamedTuple):
    """What has been entered, and its consequences; arms are the columns of a d × K matrix.

    Few arrays, each of them many things: compiled code passes memories array by array.
    """

    counts: np.ndarray  # int64 (2, K): entered observations
    expected: np.ndarray  # int64 (K,): observations told and on their way
    age: np.ndarray  # int64 (2, 2): corrections since all was computed anew, −1 before the first;
    # and whether xᵀWx has been left behind
    arm: np.ndarray  # float64 (2, 3, K): entered means, xᵀWx, scratch
    line: np.ndarray  # float64 (2, 3, d): Σ n m x, θ̂, scratch
    square: np.ndarray  # float64 (2, 4, d, d): Σ n x xᵀ, W, scratch, scratch
    prior: np.ndarray  # float64 (d, d): V₀
    log_det: np.ndarray  # float64 (2,): ln det V


def new_least_squares(dimension: int, n_arms: int, prior: np.ndarray | None = None) -> LeastSquares:
    return LeastSquares(
        np.zeros((2, n_arms), np.int64),
        np.zeros(n_arms, np.int64),
        np.array([[-1, 0], [-1, 0]]),
        np.zeros((2, 3, n_arms)),
        np.zeros((2, 3, dimension)),
        np.zeros((2, 4, dimension, dimension)),
        RIDGE * np.eye(dimension) if prior is None else np.array(prior),
        np.zeros(2),
    )


@kernel
def follow(
    arms: np.ndarray, counts: np.ndarray, tally: Tally, which: int, wide: bool, state: LeastSquares
) -> None:
    """Bring one of the two regressions up to these counts and the means of the tally.

    xᵀWx, which costs the most, only where it is asked for: ``wide``.
    """
    entered, means = state.counts[which], state.arm[which, MEANS]
    changed, taken_back, last = 0, False, -1
    for x in range(counts.shape[0]):
        if counts[x] != entered[x] or tally.means[x] != means[x]:
            changed += 1
            last = x
            if counts[x] <= entered[x]:
                taken_back = True
    age = state.age[which, 0]
    if age < 0 or taken_back or changed > arms.shape[0] or age >= OFTEN:
        renew(arms, counts, tally.means, which, state)
        return
    if wide and state.age[which, 1] != 0:
        quadratic_form(arms, state.square[which, INVERSE], state.arm[which, LEVERAGE])
        state.age[which, 1] = 0
    if changed == 0:
        return
    for x in range(0 if changed > 1 else last, last + 1):
        if counts[x] != entered[x]:
            if not correct(arms, x, counts[x], tally.means[x], which, wide, state):
                renew(arms, counts, tally.means, which, state)
                return
            state.age[which, 0] += 1
    solve_for_theta(which, state)


@kernel
def follow_tally(arms: np.ndarray, tally: Tally, state: LeastSquares) -> int:
    """Bring the regressions up to a tally; which of them knows of what is on its way.

    θ̂ is that of what was told: provisional observations, each at its expected value, leave it.
    """
    follow(arms, tally.counts, tally, TOLD, True, state)
    waiting = False
    for x in range(tally.pending.shape[0]):
        state.expected[x] = tally.counts[x] + tally.pending[x]
        if tally.pending[x] > 0:
            waiting = True
    if not waiting:
        return TOLD
    follow(arms, state.expected, tally, ASKED, True, state)
    return ASKED


@kernel
def correct(
    arms: np.ndarray,
    x: int,
    count: int,
    mean: float,
    which: int,
    wide: bool,
    state: LeastSquares,
) -> bool:
    """Enter new observations of one arm; θ̂ is left as it was.

    False, and nothing done, where too many digits would be lost.
    """
    dimension = arms.shape[0]
    leverage, across = state.arm[which, LEVERAGE], state.arm[which, ACROSS]
    target, image = state.line[which, TARGET], state.line[which, IMAGE]
    gram, inverse = state.square[which, GRAM], state.square[which, INVERSE]
    before = state.counts[which, x]
    more = float(count - before)
    reach = 0.0
    for i in range(dimension):
        total = 0.0
        for l in range(dimension):  # noqa: E741
            total += inverse[i, l] * arms[l, x]
        image[i] = total
        reach += total * arms[i, x]
    if not 0.0 <= more * reach < LOSING:
        return False
    gained = count * mean - before * state.arm[which, MEANS, x]
    state.counts[which, x] = count
    state.arm[which, MEANS, x] = mean
    factor = more / (1.0 + more * reach)
    state.log_det[which] += math.log1p(more * reach)
    for i in range(dimension):
        target[i] += gained * arms[i, x]
        for l in range(dimension):  # noqa: E741
            gram[i, l] += more * arms[i, x] * arms[l, x]
            inverse[i, l] -= factor * image[i] * image[l]
    if not wide:
        state.age[which, 1] = 1
        return True
    for k in range(across.shape[0]):
        across[k] = 0.0
    for i in range(dimension):
        weight = image[i]
        for k in range(across.shape[0]):
            across[k] += weight * arms[i, k]
    for k in range(across.shape[0]):
        leverage[k] -= factor * across[k] * across[k]
    return True


@kernel
def solve_for_theta(which: int, state: LeastSquares) -> None:
    dimension = state.line.shape[2]
    for i in range(dimension):
        total = 0.0
        for l in range(dimension):  # noqa: E741
            total += state.square[which, INVERSE, i, l] * state.line[which, TARGET, l]
        state.line[which, THETA, i] = total


@kernel
def renew(
    arms: np.ndarray, counts: np.ndarray, means: np.ndarray, which: int, state: LeastSquares
) -> None:
    """Compute everything from the counts and means."""
    dimension = arms.shape[0]
    target, gram = state.line[which, TARGET], state.square[which, GRAM]
    factor, inverse = state.square[which, FACTOR], state.square[which, INVERSE]
    for i in range(dimension):
        target[i] = 0.0
        for l in range(dimension):  # noqa: E741
            gram[i, l] = 0.0
    for x in range(counts.shape[0]):
        state.counts[which, x] = counts[x]
        state.arm[which, MEANS, x] = means[x]
        if counts[x] > 0:
            for i in range(dimension):
                weight = counts[x] * arms[i, x]
                target[i] += weight * means[x]
                for l in range(dimension):  # noqa: E741
                    gram[i, l] += weight * arms[l, x]
    factorise(which, state)
    inverse_of_factored(factor, dimension, state.square[which, SCRATCH], inverse)
    solve_for_theta(which, state)
    quadratic_form(arms, inverse, state.arm[which, LEVERAGE])
    state.age[which, 0] = 0
    state.age[which, 1] = 0


@kernel
def factorise(which: int, state: LeastSquares) -> None:
    """R of V = RᵀR, and ln det V; a prior that drowns in rounding is lifted out of it."""
    factor, gram = state.square[which, FACTOR], state.square[which, GRAM]
    dimension = factor.shape[0]
    trace, lift = 0.0, 0.0
    for i in range(dimension):
        trace += gram[i, i]
    while True:
        for i in range(dimension):
            for l in range(dimension):  # noqa: E741
                factor[i, l] = state.prior[i, l] + gram[i, l]
            factor[i, i] += lift
        if cholesky(factor, dimension) or not lift < trace:
            break
        lift = max(10.0 * lift, ROUNDING * trace)
    state.log_det[which] = 0.0
    for i in range(dimension):
        state.log_det[which] += 2.0 * math.log(max(factor[i, i], 1e-300))


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
