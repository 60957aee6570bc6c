"""The linear system of one Newton step over flows: a dense one, in as many cycles as there are."""

import numpy as np

from ossb.graves_lai.semi_bandit.circulations import Circulations
from ossb.graves_lai.semi_bandit.detour_table import Table

IDLE = 1e-3  # rows that would change the direction by less than this are left out of it
BLOCK = 64  # numpy has no triangular solves: blocks of this size are inverted instead


class System:
    """cycles (diag(curvature) + gradientᵀ diag(stiffness) gradient) cyclesᵀ, factorised."""

    def __init__(
        self, cycles: Circulations, gradient: Table, curvature: np.ndarray, stiffness: np.ndarray
    ) -> None:
        self.cycles = cycles
        felt = np.abs(stiffness) * gradient.squared().times(1.0 / curvature) > IDLE
        whole = cycles.bent(curvature)
        for sign in (1.0, -1.0):
            some = np.flatnonzero(felt & (sign * stiffness > 0.0))
            if some.size:
                rows = cycles.along(gradient.rows(some))
                rows *= np.sqrt(sign * stiffness[some])[:, None]
                whole += sign * (rows.T @ rows)
        self.scale = 1.0 / np.sqrt(np.abs(np.diag(whole)))
        whole *= self.scale[:, None]
        whole *= self.scale
        self._inverse: np.ndarray | None = None
        try:
            self._factor = Factor(whole)
        except np.linalg.LinAlgError:  # rows far from tight bend the other way
            self._inverse = np.linalg.inv(whole)

    def direction(self, right: np.ndarray) -> np.ndarray:
        """The circulation that solves the system for ``right``, given by edges."""
        asked = self.scale * self.cycles.times(right)
        if self._inverse is not None:
            return self.cycles.flow(self.scale * (self._inverse @ asked))
        return self.cycles.flow(self.scale * self._factor.solve(asked))


class Factor:
    """Solves with a positive definite matrix, by blocks of its Cholesky factor."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.lower = np.linalg.cholesky(matrix)
        starts = range(0, len(matrix), BLOCK)
        self.blocks = [slice(start, min(start + BLOCK, len(matrix))) for start in starts]
        self.inverses = [np.linalg.inv(self.lower[block, block]) for block in self.blocks]

    def solve(self, right: np.ndarray) -> np.ndarray:
        answer = right.copy()
        for block, inverse in zip(self.blocks, self.inverses, strict=True):
            before = slice(0, block.start)
            answer[block] = inverse @ (answer[block] - self.lower[block, before] @ answer[before])
        for block, inverse in zip(self.blocks[::-1], self.inverses[::-1], strict=True):
            after = slice(block.stop, right.size)
            answer[block] = inverse.T @ (answer[block] - self.lower[after, block].T @ answer[after])
        return answer
