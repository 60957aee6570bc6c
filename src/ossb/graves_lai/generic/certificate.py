"""The upper side of a bound from multipliers, as far as doubles tell: what the search goes by.

``upper`` proves it.

For a region (piece, arm) and multipliers p of the means, u ≥ 0 of the rows, v of the
equalities and tau ≥ 0 of the advantage, with means ᵀ p + matrixᵀ u + equal_matrixᵀ v = tau · gain,
every λ of the region has, with w_k the weight of component k,

    Σ w_k d(θ_k, m_k) ≥ tau · Δ − u · (b − A θ) − v · (e − E θ)
                        + Σ inf over m of [w_k d(θ_k, m) − p_k (m − θ_k)]

and the components that the best arm reveals do not move.  With all weights 0 the same
inequality shows that a region is empty: its right side is positive, or it is 0 and tau is
positive, so that no advantage is strict.  If it is 0 and a mean is thereby forced to an end
of the mean space, infinitely far from θ_k, any rate however small tells the region apart.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ossb.graves_lai.generic.duals import Dual
from ossb.graves_lai.generic.program import Program

# of the size of each column: the proof is then exact for entries changed by this share
STATIONARY = 1e-12
ROUNDING = 1e-9


def plain(duals: Sequence[Dual]) -> list[dict[str, Any]]:
    """Multipliers as a certificate file holds them."""
    return [
        {
            "piece": dual.piece,
            "arm": dual.arm,
            "tau": float(dual.tau),
            "bounds": dual.bounds.tolist(),
            "equal": dual.equal.tolist(),
            "means": dual.means.tolist(),
        }
        for dual in duals
    ]


def is_empty(program: Program, dual: Dual) -> bool:
    """Whether the multipliers say that a region holds no confusing parameter."""
    if not stationary(program, dual):
        return False
    unseen, size = lagrangian(program, dual, np.zeros(program.truth.size))
    return math.isfinite(unseen) and _empty(program, dual, unseen, size)


def told_by(program: Program, dual: Dual, weights: np.ndarray) -> float:
    """A lower bound of the information in one region that holds confusing parameters."""
    return lagrangian(program, dual, weights)[0] if stationary(program, dual) else -math.inf


def _empty(program: Program, dual: Dual, unseen: float, size: float) -> bool:
    """Whether the inequality without weights leaves no confusing parameter in the region."""
    if unseen > ROUNDING * size:
        return True
    if dual.tau > 0:
        return unseen >= -ROUNDING * dual.tau * abs(program.need(dual.piece, dual.arm))
    return unseen >= -ROUNDING * size and _excluded(program, dual)


def stationary(program: Program, dual: Dual) -> bool:
    """Whether the multipliers have the right shapes and signs, and their rows cancel."""
    piece = program.pieces[dual.piece]
    shapes = (piece.bounds.shape, piece.equal_bounds.shape, program.truth.shape)
    if (dual.bounds.shape, dual.equal.shape, dual.means.shape) != shapes:
        return False
    together = np.concatenate([dual.bounds, dual.equal, dual.means, [dual.tau]])
    if not np.isfinite(together).all() or dual.tau < 0 or (dual.bounds < 0).any():
        return False
    terms = program.rows_of(dual.piece, dual.arm)
    terms = terms * np.concatenate([dual.means, dual.bounds, dual.equal, [dual.tau]])[:, None]
    size = np.abs(terms).sum(axis=0)
    # what is left of a column multiplies an entry of λ, which nothing need bound
    return bool((np.abs(terms.sum(axis=0)) <= STATIONARY * size).all())


def lagrangian(program: Program, dual: Dual, weights: np.ndarray) -> tuple[float, float]:
    """The right side of the inequality, and the size of its terms."""
    need = program.need(dual.piece, dual.arm)
    rows = dual.bounds * program.slacks[dual.piece]
    equal = dual.equal * program.rests[dual.piece]
    hidden = ~program.shown
    means = program.divergence.least(program.truth[hidden], weights[hidden], dual.means[hidden])
    terms = np.concatenate([[dual.tau * need], -rows, -equal, means])
    return float(terms.sum()), float(np.abs(terms).sum())


def _excluded(program: Program, dual: Dual) -> bool:
    """Whether the multipliers force a revealed mean infinitely far away."""
    slope = dual.means[program.informative]
    if not np.abs(slope).max(initial=0.0) > 0:
        return False
    forced = np.abs(slope) > 1e-3 * np.abs(dual.means).max()
    ends = np.where(slope > 0, program.divergence.highest, program.divergence.lowest)
    far = program.divergence.value(program.truth[program.informative], ends)
    return bool((forced & np.isinf(far)).any())
