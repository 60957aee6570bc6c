"""One program of rates: solve, and say how good the answer is."""

from typing import Any, NamedTuple

import numpy as np

from ossb.graves_lai.program.barrier import SOLVED
from ossb.graves_lai.program.generation import generate
from ossb.graves_lai.program.work import work_arrays


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
    upper, lower, status = generate.run_as(compiled)(
        information, unit / costs, gap, work, rates, weights, below
    )
    return RatesSolution(rates, weights * unit, below, lower * unit, upper * unit, status == SOLVED)
