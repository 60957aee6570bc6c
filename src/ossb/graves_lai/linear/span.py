"""The span of some arms."""

import numpy as np

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
