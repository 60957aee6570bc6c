"""Linear programs, by HiGHS: the one module that imports it.

minimise costs · x subject to lower ≤ matrix x ≤ upper and bounds on x.  ``Master`` keeps its
model, so that rows can be added and the program solved again from the last basis.  Nothing
here is trusted by the bounds: their two sides are recomputed from primal and dual values.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ossb import deadlines

Status = Literal["optimal", "infeasible", "unbounded", "failed"]
Side = np.ndarray | float

_FEASIBILITY = 1e-10  # the least that HiGHS accepts
# rows with entries from 1e15 on are refused by HiGHS, and it takes programs for unbounded that
# only a row with entries from 1e6 on bounds: such rows are multiplied by a power of 2
_LARGEST = 2.0**17


@dataclass(frozen=True, eq=False)
class Solution:
    """What the solver says of a program.

    Parameters
    ----------
    status
        Its status word; the vectors are meaningful only if it is ``optimal``.  ``failed`` where
        HiGHS refused a row as well.
    point
        The minimiser.
    duals
        One multiplier for each row: ≥ 0 where its lower side binds, ≤ 0 where its upper does.
    """

    status: Status
    value: float
    point: np.ndarray
    duals: np.ndarray


class Master:
    """A linear program whose rows come one after another.

    Parameters
    ----------
    costs
        One for each column.
    lower, upper
        Bounds of the columns.
    """

    def __init__(self, costs: np.ndarray, lower: Side = 0.0, upper: Side = np.inf) -> None:
        import highspy

        self._statuses: dict[Any, Status] = {
            highspy.HighsModelStatus.kOptimal: "optimal",
            highspy.HighsModelStatus.kInfeasible: "infeasible",
            highspy.HighsModelStatus.kUnbounded: "unbounded",
        }
        self._late = highspy.HighsModelStatus.kTimeLimit
        make: Any = highspy.Highs
        self._model = make()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "off"),
            ("primal_feasibility_tolerance", _FEASIBILITY),
            ("dual_feasibility_tolerance", _FEASIBILITY),
        ):
            self._model.setOptionValue(option, value)
        costs = np.ascontiguousarray(costs, dtype=np.float64)
        size = costs.size
        self._columns = np.arange(size, dtype=np.int32)
        nothing = np.zeros(0)
        self._model.addCols(
            size,
            costs,
            np.broadcast_to(np.asarray(lower, dtype=np.float64), size).copy(),
            np.broadcast_to(np.asarray(upper, dtype=np.float64), size).copy(),
            0,
            np.zeros(0, dtype=np.int32),
            np.zeros(0, dtype=np.int32),
            nothing,
        )
        self._error = highspy.HighsStatus.kError
        self._refused = False
        self._units = np.ones(0)  # what each row is multiplied by

    def add_rows(self, matrix: np.ndarray, lower: Side = -np.inf, upper: Side = np.inf) -> None:
        """Add lower ≤ matrix x ≤ upper."""
        matrix = np.asarray(matrix, dtype=np.float64).reshape(-1, self._columns.size)
        count = matrix.shape[0]
        if count == 0:
            return
        rows, columns = np.nonzero(matrix)
        units = _units(np.abs(matrix).max(axis=1, initial=0.0))
        matrix = matrix * units[:, None]
        status = self._model.addRows(
            count,
            np.asarray(lower, dtype=np.float64) * units,
            np.asarray(upper, dtype=np.float64) * units,
            rows.size,
            np.searchsorted(rows, np.arange(count)).astype(np.int32),
            columns.astype(np.int32),
            np.ascontiguousarray(matrix[rows, columns]),
        )
        self._refused = self._refused or status == self._error
        self._units = np.append(self._units, units)

    @property
    def n_rows(self) -> int:
        return int(self._units.size)

    def solve(self) -> Solution:
        """Solve from the last basis."""
        deadlines.check()
        if self._refused:
            return Solution("failed", np.nan, np.zeros(0), np.zeros(0))
        self._model.setOptionValue("time_limit", self._model.getRunTime() + deadlines.left())
        self._model.run()
        word = self._model.getModelStatus()
        if word == self._late:
            deadlines.check()
        solution = self._model.getSolution()
        value = float(self._model.getInfo().objective_function_value)
        point, duals = np.array(solution.col_value), np.array(solution.row_dual)
        if duals.size != self.n_rows:  # it has none to offer where it found nothing
            return Solution(self._unanswered(word), value, point, duals)
        return Solution(self._statuses.get(word, "failed"), value, point, duals * self._units)

    def _unanswered(self, word: Any) -> Status:
        """The status of a program without multipliers: it cannot be optimal."""
        status = self._statuses.get(word, "failed")
        return "failed" if status == "optimal" else status


def _units(largest: np.ndarray) -> np.ndarray:
    """Powers of 2 that bring rows of such largest entries to where HiGHS is right."""
    exponents = np.frexp(np.where(largest > _LARGEST, largest, 1.0))[1] - 1
    return np.asarray(np.ldexp(1.0, -exponents))


def solve_lp(
    costs: np.ndarray,
    matrix: np.ndarray,
    row_lower: Side = -np.inf,
    row_upper: Side = np.inf,
    lower: Side = 0.0,
    upper: Side = np.inf,
) -> Solution:
    """Minimise costs · x over row_lower ≤ matrix x ≤ row_upper, lower ≤ x ≤ upper."""
    program = Master(costs, lower, upper)
    program.add_rows(matrix, row_lower, row_upper)
    return program.solve()
