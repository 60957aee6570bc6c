"""One program of rates: solve, and say how good the answer is."""

from typing import Any, NamedTuple

import numpy as np

from ossb.graves_lai.program.barrier import SOLVED
from ossb.graves_lai.program.generation import FEW, WHOLE, generate, look_at_rows
from ossb.graves_lai.program.work import work_arrays

LOOKS = 20.0  # how often a column is looked at on the way to a minimiser
SECOND = 1e-6  # what an interpreted statement over one column takes


class RatesSolution(NamedTuple):
    """Feasible rates, weights of the alternatives, and both sides of the value."""

    rates: np.ndarray  # (K,)
    weights: np.ndarray  # (J,), which sum to ``lower``
    below: np.ndarray  # (K,) the rates for which the weights are of the minimisers
    lower: float
    upper: float
    solved: bool


def solve(
    information: Any,
    costs: np.ndarray,
    n_rows: int,
    rank: int,
    gap: float,
    compiled: bool | None = None,
) -> RatesSolution:
    """Minimise costs · η subject to F_j(η) ≥ 1 for every alternative of the information.

    Parameters
    ----------
    information
        What rates tell of each alternative; see ``ossb.graves_lai.information``.
    costs
        Positive, one for each column.
    n_rows, rank
        How many alternatives there are, and the largest rank of their curvature.
    """
    unit = float(np.exp(np.mean(np.log(costs))))
    rates, below, weights = np.zeros(costs.size), np.zeros(costs.size), np.zeros(n_rows)
    work = work_arrays(costs.size, n_rows, rank)
    arguments = (information, unit / costs, gap, work, rates, weights, below)
    if compiled is None:
        generate.quick.expect(interpreted_seconds(costs.size, n_rows, rank), *arguments)
    upper, lower, status = generate.run_as(compiled)(*arguments)
    return RatesSolution(rates, weights * unit, below, lower * unit, upper * unit, status == SOLVED)


def look(information: Any, rows: np.ndarray, rates: np.ndarray) -> None:
    """Leave the information's minimisers of some alternatives at those for rates of all columns."""
    played = np.flatnonzero(rates > 0.0)
    arguments = (information, rows, played, rates[played], np.zeros(played.size), np.zeros((1, 1)))
    look_at_rows.quick.expect(LOOKS * SECOND * rows.size * played.size, *arguments)
    look_at_rows.run_as(None)(*arguments)


def interpreted_seconds(n_columns: int, n_rows: int, rank: int) -> float:
    """Rough time of an interpreted solve: some thirty steps on a working set, looked at twice."""
    looked_at = min(n_rows, WHOLE) * min(n_columns, FEW * WHOLE)
    return 60.0 * SECOND * looked_at * (5 + rank)
