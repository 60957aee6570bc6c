"""One program of rates: solve, and say how good the answer is."""

import math
from typing import Any, NamedTuple

import numpy as np

from ossb import deadlines
from ossb.graves_lai.program.generation import generate
from ossb.graves_lai.program.work import work_arrays
from ossb.graves_lai.program.working_set import FEW, WHOLE
from ossb.kernels import separate_kernel

LOOKS = 20.0  # how often a column is looked at on the way to a minimiser
SECOND = 1e-6  # what an interpreted statement over one column takes


class RatesSolution(NamedTuple):
    """Feasible rates, weights of the alternatives, and both sides of the value.

    The minimisers behind the weights are those that the information holds.
    """

    rates: np.ndarray  # (K,)
    weights: np.ndarray  # (J,), which sum to ``lower``
    alternatives: np.ndarray  # bool (J,): which of the rows are alternatives at all
    lower: float
    upper: float


def solve(
    information: Any,
    costs: np.ndarray,
    leader: int,
    gap: float,
    compiled: bool | None = None,
    seconds: float | None = None,
) -> RatesSolution:
    """Minimise costs · η subject to F_j(η) ≥ 1 for every alternative of the information.

    Parameters
    ----------
    information
        What rates tell of each alternative; see ``ossb.graves_lai.information``.
    costs
        One for each column; positive, but for a leader whose plays are free.
    leader
        The best arm.
    compiled
        Whether to run compiled; where not given, if that is large, or at hand after a few calls.
    seconds
        What an interpreted solve takes, where that is known better than by a rule.
    """
    n_rows, degrees = information.n_alternatives(), information.degrees()
    work = work_arrays(costs.size, n_rows, degrees)
    priced = costs[costs > 0.0]
    unit = float(np.exp(np.mean(np.log(priced)))) if priced.size else 1.0
    work.plays.costs[:] = costs / unit
    arguments = (information, leader, 0, 0, gap, math.inf, 0.0, work)
    if compiled is None:
        if seconds is None:
            seconds = interpreted_seconds(costs.size, n_rows, degrees)
        generate.quick.expect(seconds, *arguments)
    with deadlines.stopping([work.stop]):
        _, _, upper, lower = generate.run_as(compiled)(*arguments)
    is_open = work.plays.is_open == 1
    rates = np.zeros(costs.size)
    rates[is_open] = work.plays.spent[is_open] / work.plays.costs[is_open]
    weights = np.array(work.alternatives.weight)
    total = float(weights.sum())
    if total > 0.0:
        weights *= lower * unit / total
    is_alternative = work.alternatives.is_open == 1
    return RatesSolution(rates, weights, is_alternative, float(lower) * unit, float(upper) * unit)


def interpreted_seconds(n_columns: int, n_rows: int, degrees: int) -> float:
    """Rough time of an interpreted solve: some thirty steps on a working set, looked at twice."""
    looked_at = min(n_rows, WHOLE) * min(n_columns, FEW * WHOLE)
    return 60.0 * SECOND * looked_at * (5.0 + math.sqrt(2.0 * degrees))


@separate_kernel
def look_at(information: Any, columns: np.ndarray, rates: np.ndarray) -> None:
    """Leave the information's minimisers of all alternatives at those for rates of columns."""
    information.play(columns, columns.shape[0], rates)
    for row in range(information.n_alternatives()):
        information.inform(row, math.inf)


def look(information: Any, rates: np.ndarray) -> None:
    """Leave the information's minimisers of all alternatives at those for rates of all columns."""
    played = np.flatnonzero(rates > 0.0)
    arguments = information, played, rates[played]
    looks = LOOKS * SECOND * information.n_alternatives() * played.size
    look_at.quick.expect(looks, *arguments)
    look_at.run_as(None)(*arguments)
