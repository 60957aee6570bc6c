"""Lower bounds of a batch of convex programs, proved by multipliers.

Any slopes p and multipliers u ≥ 0 that cancel, slopesᵀ p + rowsᵀ u = 0, prove
f ≥ Σ_k inf over m of [w_k d(θ_k, m) − p_k (m − θ_k)] + p · start − u · room.
"""

from typing import NamedTuple

import numpy as np

from ossb.graves_lai.generic.convex_programs import ConvexPrograms
from ossb.graves_lai.generic.dual_repair import BINDS
from ossb.graves_lai.generic.iterate import BatchIterate

_RANK = 1e-11  # singular values below this share of the largest are rounding
_STATIONARY = 1e-11  # of the sum of the terms' sizes: what may be left of it is rounding
_CLOSE = 4.0  # times the tolerance: a proof that misses the value by more is looked for again
_REFINED = 4  # each refinement takes off what rounding left of the one before


class Proof(NamedTuple):
    """Slopes and multipliers that cancel, and the lower bounds that they prove."""

    proved: np.ndarray  # (a,)
    slopes: np.ndarray  # (a, C)
    duals: np.ndarray  # (a, m)


def nothing(iterate: BatchIterate) -> Proof:
    """The slopes and multipliers of a solution, which prove nothing as they are."""
    return Proof(np.full(iterate.least.size, -np.inf), iterate.slopes, iterate.dual)


def proof_of(
    batch: ConvexPrograms, weights: np.ndarray, iterate: BatchIterate, tolerance: float
) -> Proof:
    """What the kernel's repaired multipliers prove, if that is good; else the best there is."""
    proof = _at_hand(batch, weights, iterate)
    if (proof.proved >= (1.0 - _CLOSE * tolerance) * iterate.least).all():
        return proof
    return _better(proof, _careful(batch, weights, iterate))


def _at_hand(batch: ConvexPrograms, weights: np.ndarray, iterate: BatchIterate) -> Proof:
    """The better one of what the kernel's two sets of multipliers prove."""
    slopes, duals = iterate.repaired_slopes, iterate.repaired_duals
    each = batch.divergence.least(batch.theta, weights[:, None], slopes)
    proved = each.sum(axis=2) - iterate.spent
    proved = np.where(iterate.off <= _STATIONARY, proved, -np.inf)
    programs, way = np.arange(proved.shape[0]), proved.argmax(axis=1)
    return Proof(proved[programs, way], slopes[programs, way], duals[programs, way])


def _careful(batch: ConvexPrograms, weights: np.ndarray, iterate: BatchIterate) -> Proof:
    """Multipliers made stationary to rounding, and the bound they prove.

    Twice: with all rows, and without the rows that do not bind, whose small multipliers may
    pull along directions in which nothing else holds.  The better proof of each is kept.
    """
    slack, dual = iterate.slack, iterate.dual
    binding = np.where(dual > BINDS * slack, dual, 0.0)
    every = _cancelled(batch, weights, iterate, dual)
    return _better(every, _cancelled(batch, weights, iterate, binding))


def _better(first: Proof, second: Proof) -> Proof:
    """Of each program, the one that proves more."""
    other = second.proved > first.proved
    return Proof(
        np.where(other, second.proved, first.proved),
        np.where(other[:, None], second.slopes, first.slopes),
        np.where(other[:, None], second.duals, first.duals),
    )


def _cancelled(
    batch: ConvexPrograms, weights: np.ndarray, iterate: BatchIterate, dual: np.ndarray
) -> Proof:
    """Slopes and multipliers changed a little so that they cancel, and what they prove.

    The change is the least one, measured by the curvatures of f and of the barrier.
    """
    slope = iterate.slopes
    give = np.sqrt(dual / iterate.slack)
    bend = np.sqrt(iterate.curvatures)
    terms = np.concatenate(
        [batch.slopes * bend[..., None], batch.rows * give[..., None]], axis=1
    ).transpose(0, 2, 1)
    norms = np.sqrt((terms * terms).sum(axis=2, keepdims=True))
    norms = np.where(norms > 0, norms, 1.0)
    inverse = np.linalg.pinv(terms / norms, rcond=_RANK)
    count = bend.shape[1]
    for _ in range(_REFINED):
        residual = _across(batch.slopes, slope) + _across(batch.rows, dual)
        change = (inverse @ (-residual[..., None] / norms))[..., 0]
        slope = slope + bend * change[:, :count]
        dual = np.maximum(dual + give * change[:, count:], 0.0)
    each = batch.divergence.least(np.broadcast_to(batch.theta, slope.shape), weights, slope)
    proved = (each + slope * batch.start).sum(axis=1) - (dual * batch.room).sum(axis=1)
    residual = _across(batch.slopes, slope) + _across(batch.rows, dual)
    size = _across(np.abs(batch.slopes), np.abs(slope)) + _across(np.abs(batch.rows), dual)
    proved = np.where(_largest(residual) <= _STATIONARY * _largest(size), proved, -np.inf)
    return Proof(proved, slope, dual)


def _across(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.asarray((values[:, None, :] @ rows)[:, 0, :])


def _largest(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(values).max(axis=1, initial=0.0))
