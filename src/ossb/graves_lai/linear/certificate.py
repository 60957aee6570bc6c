"""Both sides of a linear bound, recomputed from the arms alone.

Nothing here knows how a solution was found.  Upper: rates scaled to satisfy
2 z_xᵀ G(η)⁻¹ z_x ≤ margin_x² for all x.  Lower: for directions δ_k with ⟨δ_k, x*⟩ = 0 and
weights y_k ≥ 0, Σ y / max_x (Σ_k y_k ½⟨δ_k, x⟩² / cost_x), the maximum over x ≠ x*.
"""

import numpy as np

from ossb.errors import InputError
from ossb.graves_lai.linear.span import span_basis

PARALLEL = 1e-12  # sine below which an arm counts as parallel to the best one
ROUNDING = 4e-15  # what rounding the features of a parallel arm may leave of it
SMALL = 1e-140  # entries below this have no squares
ABSENT = 1e-14  # singular value that rounding alone explains, relative to the largest
LOOK = 1e-6  # 1 − cosine² from which on a sine is not looked at closely
NEARLY = 1e-11  # sine up to which doubles cannot say what an arm that is not parallel costs


def refuse_nearly_parallel(arms: np.ndarray, best: int) -> None:
    """Refuse an arm that is not parallel to the best one, but nearly."""
    refuse_extremes(arms)
    close = np.flatnonzero(may_be_parallel(arms, best))
    unit = float(np.abs(arms[close]).max(initial=0.0)) or 1.0
    rest, length = without(arms[close] / unit, arms[best] / unit)
    for place in np.flatnonzero((rest > ROUNDING * length) & (rest <= NEARLY * length)):
        raise InputError(
            f"arms[{int(close[place])}]",
            f"be parallel to the best arm, arms[{best}], or further from that: their directions "
            f"differ by {rest[place] / length[place]:.1e} only, too little for double precision",
        )


def may_be_parallel(arms: np.ndarray, best: int) -> np.ndarray:
    """Which other arms are so close to the best one's direction that it takes a closer look."""
    leader = arms[best]
    size = max(float(arms.max(initial=0.0)), -float(arms.min(initial=0.0)))
    if not 1e-100 < size < 1e100:  # squares may leave the range of doubles
        close = np.ones(arms.shape[0], dtype=bool)
    else:
        along, square = arms @ leader, np.einsum("ij,ij->i", arms, arms)
        close = along * along >= (1.0 - LOOK) * square * square[best]
    close[best] = False
    return close


def refuse_extremes(arms: np.ndarray) -> None:
    """Refuse arms whose lengths cannot be squared, and that would look like 0 or infinite."""
    sizes = np.abs(arms).max(axis=1)
    least = max(SMALL, SMALL * min(float(sizes.max(initial=0.0)), 1.0 / SMALL))
    for arm in np.flatnonzero((sizes > 0.0) & ((sizes < least) | (sizes > 1.0 / SMALL))):
        raise InputError(
            f"arms[{int(arm)}]",
            f"be 0 or have its largest entry between {least:.0e} and {1.0 / SMALL:.0e}: give "
            "features in other units",
            float(sizes[arm]),
        )


def without(arms: np.ndarray, leader: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The length of each arm's part orthogonal to the best one, and its own length."""
    square = float(leader @ leader)
    rest = np.array(arms)
    for _ in range(2 if square > 0.0 else 0):  # twice: what rounding left
        rest -= np.outer(rest @ leader / square, leader)
    return np.linalg.norm(rest, axis=1), np.linalg.norm(arms, axis=1)


def complement(arms: np.ndarray, best: int) -> np.ndarray:
    """The arms in an orthonormal basis (K, r) of the complement of the best one in their span.

    Arms parallel to the best one become exactly 0.
    """
    refuse_nearly_parallel(arms, best)
    leader = arms[best]
    coordinates = arms
    if leader.any():
        basis = np.ascontiguousarray(np.linalg.svd(leader[None, :])[2][1:].T)
        coordinates = arms @ basis
    length = np.einsum("ij,ij->i", coordinates, coordinates)
    parallel = length <= PARALLEL * PARALLEL * np.einsum("ij,ij->i", arms, arms)
    parallel[best] = True
    coordinates = np.where(parallel[:, None], 0.0, coordinates)
    span = span_basis(coordinates)
    if span.shape[1] < coordinates.shape[1]:
        refuse_nearly_dependent(coordinates)
        coordinates = coordinates @ span
    return coordinates


def refuse_nearly_dependent(z: np.ndarray) -> None:
    """Refuse vectors that lie in a smaller space up to little more than rounding."""
    length = np.linalg.norm(z, axis=1)
    if not (length > 0.0).any():
        return
    unit = z[length > 0.0] / length[length > 0.0, None]
    values = np.linalg.svd(unit, compute_uv=False)
    between = values[(values > ABSENT * values[0]) & (values <= PARALLEL * values[0])]
    if between.size:
        raise InputError(
            "arms",
            "be linearly dependent or further from that: some depend on others up to "
            f"{between.max() / values[0]:.1e} only, too little for double precision",
        )


def feasible_scale(arms: np.ndarray, best: int, margins: np.ndarray, rates: np.ndarray) -> float:
    """The factor by which these rates must be multiplied to be feasible; inf if none does."""
    z = complement(arms, best)
    return scale_in(z, z, margins, rates)


def scale_in(shown: np.ndarray, told: np.ndarray, margins: np.ndarray, rates: np.ndarray) -> float:
    """Like ``feasible_scale``, from what plays show and what is to be told, in one basis."""
    if not told.any():
        return 0.0
    played = rates > 0.0
    weighted = np.sqrt(rates[played])[:, None] * shown[played]
    scale = np.sqrt((weighted * weighted).sum(axis=0))
    if weighted.shape[0] < shown.shape[1] or not (scale > 0.0).all():
        return np.inf
    factor = np.asarray(np.linalg.qr(weighted / scale, mode="r"))
    pivots = np.abs(np.diag(factor))
    if not pivots.min() > 1e-14 * pivots.max():
        return np.inf
    images = np.ascontiguousarray(told.T) / scale[:, None]
    for i in range(factor.shape[0]):  # forward substitution with the transposed factor
        images[i] -= factor[:i, i] @ images[:i]
        images[i] /= factor[i, i]
    needed = (told != 0.0).any(axis=1)
    ratio = 2.0 * np.einsum("ij,ij->j", images, images)[needed] / margins[needed] ** 2
    return float(ratio.max())


def lower_bound(
    arms: np.ndarray, costs: np.ndarray, directions: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """The bound these alternatives prove, and the factor that makes their weights sum to it."""
    seen = arms @ directions.T
    information = np.einsum("ij,ij,j->i", seen, seen, 0.5 * weights)
    costly = costs > 0.0
    dearest = float((information[costly] / costs[costly]).max(initial=0.0))
    if not dearest > 0.0:
        return 0.0, 0.0
    return float(weights.sum()) / dearest, 1.0 / dearest
