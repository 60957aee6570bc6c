"""A small master program, by pivots on the inverse of its basis.

minimise Σ v(x) over v ≥ 0 with rows v ≥ lower, for rows ≥ 0 with an entry of 1 and lower > 0.  The
simplex method goes over the weights of the rows (maximise lower · y with rowsᵀ y ≤ 1), of which
0 is feasible; rows that come later leave it so.  A few rows and columns take less time here than
to hand them to a solver.  As there, what is returned is not trusted by the bounds.
"""

import numpy as np

from ossb.graves_lai.linprog import Solution, Status

PIVOTS = 200
FEASIBLE = 1e-10  # a row may lack so much
FLAT = 1e-11  # an entry below this is no pivot


class SmallMaster:
    """The program with its rows and its basis.

    Parameters
    ----------
    size
        The number of columns.
    """

    def __init__(self, size: int) -> None:
        self._rows, self._lower = np.eye(size), np.zeros(size)  # v ≥ 0, then what is added
        self._basis, self._inverse = np.arange(size), np.eye(size)
        self._weights = np.ones(size)  # of the rows in the basis
        self._point = np.zeros(size)

    def add_rows(self, matrix: np.ndarray, lower: np.ndarray) -> None:
        """Add matrix v ≥ lower."""
        self._rows = np.concatenate([self._rows, matrix])
        self._lower = np.concatenate([self._lower, lower])

    def solve(self) -> Solution:
        """Solve from the last basis."""
        for _ in range(PIVOTS):
            lacks = self._lower - self._rows @ self._point
            enters = int(lacks.argmax())
            if lacks[enters] <= FEASIBLE:
                return self._solution("optimal")
            column = self._inverse @ self._rows[enters]
            steps = np.where(column > FLAT, self._weights, np.inf) / np.maximum(column, FLAT)
            leaves = int(steps.argmin())
            if not steps[leaves] < np.inf:
                break
            self._pivot(enters, leaves, column, float(steps[leaves]))
            self._point = self._point + lacks[enters] * self._inverse[leaves]
        return self._solution("failed")

    def _pivot(self, enters: int, leaves: int, column: np.ndarray, step: float) -> None:
        row = self._inverse[leaves] / column[leaves]
        self._inverse -= column[:, None] * row
        self._inverse[leaves] = row
        self._weights = np.maximum(self._weights - step * column, 0.0)
        self._weights[leaves] = step
        self._basis[leaves] = enters

    def _solution(self, status: Status) -> Solution:
        weights = np.zeros(self._lower.size)
        weights[self._basis] = self._weights
        return Solution(status, float(self._point.sum()), self._point, weights[self._point.size :])
