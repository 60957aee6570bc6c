"""One Lipschitz program, solved once."""

from typing import NamedTuple

import numpy as np

from ossb import deadlines
from ossb.errors import InputError
from ossb.graves_lai.linprog import solve_lp
from ossb.graves_lai.lipschitz.certificate import OPTIMAL
from ossb.graves_lai.lipschitz.memory import (
    COLUMN_FIRST,
    COLUMN_LAST,
    MATRIX,
    PRICES,
    ROW_FIRST,
    ROW_LAST,
    SPEND,
    TRANSPOSE,
    UNIT,
    LipschitzMemory,
    blank,
)
from ossb.graves_lai.lipschitz.repair import repair
from ossb.graves_lai.lipschitz.tableau import cold

INTERPRETED = 64  # rows up to which the interpreter answers before a compiler could
TRUSTED = 1e-7  # certified gap at which the answer of HiGHS is taken


class LPSolution(NamedTuple):
    """Feasible rates η, dual weights y, and the bounds they prove: lower ≤ C ≤ upper."""

    rates: np.ndarray  # (n,) feasible: M η ≥ 1
    weights: np.ndarray  # (n,) feasible: Mᵀ y ≤ c
    upper: float
    lower: float
    rows: np.ndarray  # tight rows of the final basis
    columns: np.ndarray  # columns of the final basis

    @property
    def gap(self) -> float:
        """Relative gap between the two bounds."""
        return (self.upper - self.lower) / self.upper if self.upper > self.lower else 0.0


def solve(matrix: np.ndarray, costs: np.ndarray, compiled: bool | None = None) -> LPSolution:
    """min c · η subject to M η ≥ 1, η ≥ 0, for M ≥ 0 with a positive diagonal and c > 0.

    Parameters
    ----------
    matrix
        M, one row per alternative and one column per arm, the same arms in both.
    costs
        c, the gaps.
    compiled
        Whether to run compiled.  Left out, small programs run interpreted until compiled code is
        at hand, and large ones through HiGHS: neither waits for a compiler.
    """
    matrix, costs = _checked(matrix, costs)
    n = costs.size
    if n == 0:
        empty = np.zeros(0)
        return LPSolution(empty, empty, 0.0, 0.0, empty.astype(int), empty.astype(int))
    if compiled is None and n > INTERPRETED:
        answer = _by_highs(matrix, costs)
        if answer.gap <= TRUSTED:
            return answer
        compiled = True
    memory = _laid_out(matrix, costs)
    with deadlines.stopping([memory.stop]):
        cold.run_as(compiled)(memory)
    answer = certified(matrix, costs, memory.vectors[SPEND] / costs, memory.vectors[PRICES])
    if answer.gap > OPTIMAL:  # pivots add up rounding: factor the last basis anew
        repair.run_as(compiled)(memory, 4 * n + 20)
        again = certified(matrix, costs, memory.vectors[SPEND] / costs, memory.vectors[PRICES])
        answer = min(answer, again, key=lambda solution: solution.gap)
    return answer._replace(
        rows=np.flatnonzero(memory.free[n:]), columns=np.flatnonzero(~memory.free[:n])
    )


def certified(
    matrix: np.ndarray, costs: np.ndarray, rates: np.ndarray, weights: np.ndarray
) -> LPSolution:
    """Scale any η ≥ 0 and y ≥ 0 to feasibility, and the bounds they prove.

    upper = c · η / min(M η), lower = Σ y / max(Mᵀ y / c).
    """
    least = float((matrix @ rates).min())
    greatest = float((matrix.T @ weights / costs).max())
    rates = rates / least if least > 0 else np.full(costs.size, np.inf)
    weights = weights / greatest if greatest > 0 else np.zeros(costs.size)
    upper = float(costs @ rates)
    return LPSolution(
        rates,
        weights,
        upper,
        min(float(weights.sum()), upper),  # at the optimum rounding may cross them
        np.flatnonzero(weights > 0),
        np.flatnonzero(rates > 0),
    )


def _checked(matrix: np.ndarray, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    costs = np.ascontiguousarray(costs, dtype=np.float64)
    if matrix.shape != (costs.size, costs.size):
        raise InputError("matrix", f"have {costs.size} rows and columns", matrix.shape)
    if not (np.isfinite(costs).all() and (costs > 0).all()):
        raise InputError("costs", "be positive and finite", costs.tolist())
    if not (np.isfinite(matrix).all() and (matrix >= 0).all() and (np.diag(matrix) > 0).all()):
        raise InputError("matrix", "be finite, non-negative, and positive on its diagonal")
    return matrix, costs


def _laid_out(matrix: np.ndarray, costs: np.ndarray) -> LipschitzMemory:
    memory = blank(costs.size)
    memory.active[:] = True
    memory.squares[MATRIX] = matrix / costs
    memory.squares[TRANSPOSE] = memory.squares[MATRIX].T
    memory.sides[UNIT, costs.size :] = 1 / memory.squares[MATRIX].max(axis=1)
    for plane, first, last in (
        (MATRIX, ROW_FIRST, ROW_LAST),
        (TRANSPOSE, COLUMN_FIRST, COLUMN_LAST),
    ):
        there = memory.squares[plane] > 0
        memory.indices[first] = there.argmax(axis=1)
        memory.indices[last] = costs.size - there[:, ::-1].argmax(axis=1)
    return memory


def _by_highs(matrix: np.ndarray, costs: np.ndarray) -> LPSolution:
    """The program in money, solved by HiGHS and certified as our own solution is."""
    solution = solve_lp(np.ones(costs.size), matrix / costs, row_lower=1.0)
    spend, prices = np.maximum(solution.point, 0.0), np.maximum(solution.duals, 0.0)
    return certified(matrix, costs, spend / costs, prices)
