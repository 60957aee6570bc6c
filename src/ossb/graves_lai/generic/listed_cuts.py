"""The Graves–Lai program over listed confusing parameters, a linear program.

minimise Σ η(x) Δ(x) over η ≥ 0 with rows · η ≥ 1.  Solved in the costs v(x) = η(x) Δ(x), with
every row divided by its largest entry, so that gaps and divergences of any size are met by a
program of unit scale.  Both sides are recomputed from what the solver returns.
"""

import numpy as np

from ossb.errors import CertificationError, InputError
from ossb.graves_lai.linprog import Master

NOTHING = 1e-13  # shares of the value below this are rounding, not exploration


def scaled_rows(gaps: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows in costs instead of rates, each divided by its largest entry; and that entry."""
    per_cost = rows / gaps
    largest = per_cost.max(axis=1, initial=0.0)
    if not (largest > 0).all():
        raise InputError(
            "theta",
            "be learnable: a parameter with another best arm looks the same to every arm, "
            "so no exploration can tell them apart and C(θ) is infinite",
        )
    return per_cost / largest[:, None], largest


def sides(
    gaps: np.ndarray, rows: np.ndarray, rates: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, float, float]:
    """Rates rescaled to be feasible for the rows, and both bounds of the program they state."""
    feasible = rates / float((rows @ rates).min())
    upper = float(feasible @ gaps)
    lower = float(weights.sum() / ((weights @ rows) / gaps).max())
    return feasible, min(lower, upper), upper


def solve_listed(gaps: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Rates, weights of the rows, and the two sides of the value.

    Parameters
    ----------
    gaps
        Δ(x) > 0 of every arm but the best.
    rows
        D(θ, λ, x), one row for each confusing λ, one column for each of these arms.
    """
    if not rows.shape[0]:
        return np.zeros(gaps.size), np.zeros(0), 0.0, 0.0
    scaled, largest = scaled_rows(gaps, rows)
    least = largest.min()  # brings the value to the order of one
    master = Master(np.ones(gaps.size))
    master.add_rows(scaled, least / largest)
    solution = master.solve()
    if solution.status != "optimal":
        raise CertificationError(f"the linear program ended as {solution.status}")
    costs = np.maximum(solution.point, 0.0)
    costs[costs < NOTHING * costs.sum()] = 0.0
    weights = np.maximum(solution.duals, 0.0) / largest
    rates, lower, upper = sides(gaps, rows, costs / gaps, weights)
    return rates, weights * (upper / weights.sum()), lower, upper
