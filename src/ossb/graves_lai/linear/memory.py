"""What the warm solver remembers: one held solution for each of the last leaders.

A slot holds, for its leader s, the arms in coordinates of the complement of s (K columns, then
the images of the unit vectors, so that directions can be carried back), the design η with
ρ_x = z_xᵀG(η)⁻¹z_x, the weights ω_x = w_x · margin_x² of the alternatives with the price
zᵀQz of every arm, Q = Σ ω_x (G₁⁻¹z_x)(G₁⁻¹z_x)ᵀ/(z_xᵀG₁⁻¹z_x)², and the shape G₁⁻¹.
"""

from typing import NamedTuple

import numpy as np

from ossb.graves_lai.linear.workspace import Workspace, workspace

# Entries of LinearMemory.size[slot].
SUPPORT, ACTIVE, HELD_COLUMNS, HELD_ROWS, PLAYED, WEIGHTED, RANK, LEADER, STAMP = range(9)
# Rows of LinearMemory.held[slot].
DESIGN, OMEGA, RHO, ARM_COST = range(4)
# Entries of LinearMemory.statistic: how the rounds were answered.
CLOCK, VERIFIED, NEWTON, WARM, COLD, FAILURES = range(6)

MOST_SLOTS = 32
BUDGET = 2**25  # entries of the coordinate array: 256 MiB


class LinearMemory(NamedTuple):
    """Held solutions and work arrays; ``start`` makes one, ``rates`` changes it in place."""

    arms: np.ndarray  # (span, K), coordinates in the span of the arms
    coordinates: np.ndarray  # (slots, span, K + 2 span); the last span columns are G₁⁻¹
    held: np.ndarray  # (slots + 1, 4, K): η/2, ω, ρ, prices; the last is Newton's trial
    lists: np.ndarray  # int64 (slots + 1, 2, capacity): columns and rows, active ones first
    size: np.ndarray  # int64 (slots, 9)
    slot_of: np.ndarray  # int64 (K,), the slot of each leader or -1
    statistic: np.ndarray  # int64 (6,)
    work: Workspace


def start(arms: np.ndarray, slots: int = MOST_SLOTS) -> LinearMemory:
    """An empty memory for these arms, K × d.

    At most ``slots`` leaders are held, fewer where K is so large that their coordinates would
    take more than BUDGET numbers; the least recently used one is replaced.
    """
    reduced = span_coordinates(np.asarray(arms, np.float64))
    span, n_arms = reduced.shape
    slots = max(1, min(slots, n_arms, BUDGET // max(1, n_arms * span)))
    work = workspace(span, n_arms)
    size = np.zeros((slots, 9), np.int64)
    size[:, LEADER] = -1
    return LinearMemory(
        arms=reduced,
        coordinates=np.zeros((slots, span, n_arms + 2 * span)),
        held=np.zeros((slots + 1, 4, n_arms)),
        lists=np.zeros((slots + 1, 2, work.row.shape[1]), np.int64),
        size=size,
        slot_of=np.full(n_arms, -1, np.int64),
        statistic=np.zeros(6, np.int64),
        work=work,
    )


SAMPLE = 2000  # arms looked at first: most often they span everything


def span_basis(arms: np.ndarray) -> np.ndarray:
    """Orthonormal basis (d, span) of the span of the arms; the identity if they span ℝᵈ.

    Arms are first scaled to unit length, so that short ones count; a direction counts as
    absent below 1e-12 of the largest singular value.
    """
    dimension = arms.shape[1]
    if arms.shape[0] > 2 * SAMPLE:
        some = span_basis(arms[:: arms.shape[0] // SAMPLE])
        if some.shape[1] == dimension:
            return some  # what spans everything in part does so as a whole
    length = np.sqrt(np.einsum("ij,ij->i", arms, arms))
    present = length > 0.0
    if not present.any():
        return np.zeros((dimension, 0))
    unit = arms / length[:, None] if present.all() else arms[present] / length[present, None]
    squares = np.linalg.eigvalsh(unit.T @ unit)
    if squares[0] > 1e-10 * squares[-1]:
        return np.eye(dimension)
    _, values, basis = np.linalg.svd(unit, full_matrices=False)
    rank = int((values > 1e-12 * values[0]).sum())
    if rank == dimension:
        return np.eye(dimension)
    return np.ascontiguousarray(basis[:rank].T)


def span_coordinates(arms: np.ndarray) -> np.ndarray:
    """The arms in an orthonormal basis of their span, one column each; span at least 1."""
    basis = span_basis(arms)
    if basis.shape[1] == 0:
        return np.zeros((1, arms.shape[0]))
    if basis.shape[1] == arms.shape[1]:
        return np.ascontiguousarray(arms.T)
    return np.ascontiguousarray((arms @ basis).T)
