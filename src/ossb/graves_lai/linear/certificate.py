"""Both sides of a linear bound, recomputed from the arms alone.

Nothing here knows how a solution was found.  Upper: rates scaled to satisfy
2 z_xᵀ G(η)⁻¹ z_x ≤ margin_x² for all x.  Lower: for directions δ_k with ⟨δ_k, x*⟩ = 0 and
weights y_k ≥ 0, Σ y / max_x (Σ_k y_k ½⟨δ_k, x⟩² / cost_x), the maximum over x ≠ x*.
"""

import numpy as np

from ossb.graves_lai.linear.memory import span_basis

PARALLEL = 1e-12  # sine below which an arm counts as parallel to the best one


def complement(arms: np.ndarray, best: int) -> np.ndarray:
    """The arms in an orthonormal basis (K, r) of the complement of the best one in their span.

    Arms parallel to the best one become exactly 0.
    """
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
        coordinates = coordinates @ span
    return coordinates


def feasible_scale(arms: np.ndarray, best: int, margins: np.ndarray, rates: np.ndarray) -> float:
    """The factor by which these rates must be multiplied to be feasible; inf if none does."""
    return scale_in(complement(arms, best), margins, rates)


def scale_in(z: np.ndarray, margins: np.ndarray, rates: np.ndarray) -> float:
    """The same, from the arms in the complement of the best one."""
    if not z.any():
        return 0.0
    played = rates > 0.0
    weighted = np.sqrt(rates[played])[:, None] * z[played]
    scale = np.sqrt((weighted * weighted).sum(axis=0))
    if weighted.shape[0] < z.shape[1] or not (scale > 0.0).all():
        return np.inf
    factor = np.asarray(np.linalg.qr(weighted / scale, mode="r"))
    pivots = np.abs(np.diag(factor))
    if not pivots.min() > 1e-14 * pivots.max():
        return np.inf
    images = np.ascontiguousarray(z.T) / scale[:, None]
    for i in range(factor.shape[0]):  # forward substitution with the transposed factor
        images[i] -= factor[:i, i] @ images[:i]
        images[i] /= factor[i, i]
    needed = (z != 0.0).any(axis=1)
    ratio = 2.0 * np.einsum("ij,ij->j", images, images)[needed] / margins[needed] ** 2
    return float(ratio.max())


def lower_bound(
    arms: np.ndarray,
    best: int,
    costs: np.ndarray,
    directions: np.ndarray,
    weights: np.ndarray,
) -> tuple[float, float]:
    """The bound these alternatives prove, and the factor that makes their weights sum to it."""
    seen = arms @ directions.T
    information = np.einsum("ij,ij,j->i", seen, seen, 0.5 * weights)
    information[best] = 0.0
    dearest = float((information / np.where(costs > 0.0, costs, 1.0)).max(initial=0.0))
    if not dearest > 0.0:
        return 0.0, 0.0
    return float(weights.sum()) / dearest, 1.0 / dearest
