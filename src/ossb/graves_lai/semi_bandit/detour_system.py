"""The linear system of one Newton step over flows: a dense one, in as many cycles as there are."""

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lu_factor, lu_solve
from scipy.linalg.blas import dsyrk

IDLE = 1e-3  # rows that would change the direction by less than this are left out of it


class System:
    """cycles (diag(curvature) + gradientᵀ diag(stiffness) gradient) cyclesᵀ, factorised."""

    def __init__(
        self,
        cycles: sparse.csr_array,
        gradient: sparse.csr_array,
        curvature: np.ndarray,
        stiffness: np.ndarray,
    ) -> None:
        self.cycles = cycles
        felt = np.abs(stiffness) * (gradient.power(2) @ (1.0 / curvature)) > IDLE
        bent = sparse.csr_array(cycles.multiply(curvature[None, :]))
        upper = (bent @ cycles.T).toarray(order="F")
        for sign in (1.0, -1.0):
            some = np.flatnonzero(felt & (sign * stiffness > 0.0))
            if some.size:
                root = sparse.diags_array(np.sqrt(sign * stiffness[some]))
                rows = (root @ (gradient[some] @ cycles.T)).toarray(order="F")
                upper = dsyrk(sign, rows, trans=1, beta=1.0, c=upper, overwrite_c=1)
        self.scale = 1.0 / np.sqrt(np.abs(np.diag(upper)))
        upper *= self.scale[:, None]
        upper *= self.scale
        try:
            self._factor, self._backward = cho_factor(upper, check_finite=False), cho_solve
        except LinAlgError:  # rows far from tight bend the other way
            self._factor = lu_factor(np.triu(upper) + np.triu(upper, 1).T)
            self._backward = lu_solve

    def direction(self, right: np.ndarray) -> np.ndarray:
        """The circulation that solves the system for ``right``, given by edges."""
        moved = self.scale * self._backward(self._factor, self.scale * (self.cycles @ right))
        step: np.ndarray = self.cycles.T @ moved
        return step
