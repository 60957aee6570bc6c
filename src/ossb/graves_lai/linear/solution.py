"""One bound for linear arms: solve once, certify from the arms themselves."""

from typing import NamedTuple

import numpy as np

from ossb.errors import InputError
from ossb.graves_lai import program
from ossb.graves_lai.information.index_minimiser import RANK
from ossb.graves_lai.information.quadratic import quadratic
from ossb.graves_lai.linear.certificate import (
    complement,
    lower_bound,
    refuse_extremes,
    refuse_nearly_dependent,
    refuse_nearly_parallel,
    scale_in,
)
from ossb.graves_lai.linear.span import span_basis
from ossb.graves_lai.program.warm import NOBODY

INSIDE = 0.5  # share of the gap to which it is solved, so that bounds found anew are close enough
SHARES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)  # of the cost, below which a rate may be left out
PATIENCE = 3.0  # seconds after which a compiler, which may need as long, is the better choice
SECOND = 2e-7  # what an interpreted statement takes, about


class LinearSolution(NamedTuple):
    """Feasible rates with their cost ``upper``, and the alternatives that prove ``lower``.

    Alternative k says that arm ``alternatives[k]`` would be as good as the best one under the
    parameter φ + ``directions[k]``: ⟨δ, x*⟩ = 0 and ⟨δ, x⟩ = margin_x.  ``weights`` (one per
    arm) sum to ``lower``: Σ_k y_k ½⟨δ_k, x⟩² ≤ cost_x for every x ≠ x*.
    """

    rates: np.ndarray  # (K,)
    upper: float
    lower: float
    weights: np.ndarray  # (K,)
    alternatives: np.ndarray  # int64 (n,)
    directions: np.ndarray  # (n, d)
    status: str  # "certified" if the gap asked for was reached, else "open"


def solve(
    arms: np.ndarray,
    best: int,
    costs: np.ndarray,
    margins: np.ndarray,
    gap: float = 1e-6,
    compiled: bool | None = None,
) -> LinearSolution:
    """Minimise Σ η_x cost_x subject to 2 z_xᵀ G(η)⁻¹ z_x ≤ margin_x² for every x ≠ best.

    Parameters
    ----------
    arms
        K × d.
    best
        The best arm, which costs nothing: z is the part of x orthogonal to it.
    costs, margins
        Positive for every other arm; both are the gaps for plain linear bandits with σ = 1.
    gap
        Relative gap to certify.
    compiled
        Run compiled code; by default where interpreting would take seconds, and where it is at
        hand after a few calls.
    """
    arms = np.ascontiguousarray(arms, np.float64)
    costs = np.array(costs, np.float64)
    margins = np.array(margins, np.float64)
    check(arms, best, costs, margins, gap)
    z = complement(arms, best)
    return _solved(arms, arms, z, z, arms[best], costs, margins, gap, compiled)


def solve_apart(
    played: np.ndarray,
    told: np.ndarray,
    costs: np.ndarray,
    margins: np.ndarray,
    gap: float = 1e-6,
) -> LinearSolution:
    """Minimise Σ η_x cost_x subject to 2 yᵀ V(η)⁻¹ y ≤ margin_y² for every y of ``told``.

    V(η) = Σ η_x x xᵀ over ``played``: no play is free.  Rates are of the arms played; weights,
    alternatives and directions, with ⟨δ, y⟩ = margin_y, of the rows told apart.
    """
    both = np.vstack([played, told])
    refuse_extremes(both)
    span = span_basis(both)
    if span.shape[1] < both.shape[1]:
        refuse_nearly_dependent(both)
    nothing = np.zeros(both.shape[1])
    return _solved(played, told, played @ span, told @ span, nothing, costs, margins, gap)


def _solved(
    arms: np.ndarray,
    contrasts: np.ndarray,
    shown: np.ndarray,
    told: np.ndarray,
    free: np.ndarray,
    costs: np.ndarray,
    margins: np.ndarray,
    gap: float,
    compiled: bool | None = None,
) -> LinearSolution:
    """The solution, with both bounds recomputed from the arms.

    Parameters
    ----------
    shown, told
        What plays show and contrasts ask for beyond what is free, in one basis.
    free
        What plays that cost nothing show; 0 where there are none.
    """
    size = float(np.abs(arms).max(initial=0.0)) or 1.0  # neither rates nor bounds depend on it
    unit = float(margins.max(initial=0.0)) or 1.0
    information = quadratic(arms / size, contrasts / size)
    information.is_free[:] = ~(costs > 0.0)
    information.margins[:] = margins / unit
    seconds = interpreted_seconds(*arms.shape)
    if compiled is None and seconds > PATIENCE:
        compiled = True
    found = program.solve(information, costs, NOBODY, INSIDE * gap, compiled, seconds)
    chosen = np.flatnonzero(found.weights > 0.0)
    if not found.alternatives.any():
        nothing, none = np.zeros(len(arms)), np.zeros(0, np.int64)
        directions = np.zeros((0, arms.shape[1]))
        return LinearSolution(
            nothing, 0.0, 0.0, np.zeros(len(contrasts)), none, directions, "certified"
        )
    rank = int(information.sizes[RANK])
    directions = information.kept[chosen, :rank] @ information.frame[:rank]
    square = float(free @ free)
    if square > 0.0:
        directions -= np.outer(directions @ free / square, free)
    reach = (directions * contrasts[chosen]).sum(axis=1)
    directions *= (margins[chosen] / reach)[:, None]
    raw = found.weights[chosen] / found.weights.max()
    lower, factor = lower_bound(arms, costs, directions, raw)
    rates, upper = sparsest(shown, told, costs, margins, found.rates / (unit * unit), lower, gap)
    weights = np.zeros(len(contrasts))
    weights[chosen] = raw * factor
    lower = min(lower, upper)  # they may cross by a rounding error
    reached = np.isfinite(upper) and upper - lower <= gap * upper
    status = "certified" if reached else "open"
    return LinearSolution(rates, upper, lower, weights, chosen, directions, status)


def sparsest(
    shown: np.ndarray,
    told: np.ndarray,
    costs: np.ndarray,
    margins: np.ndarray,
    rates: np.ndarray,
    lower: float,
    gap: float,
) -> tuple[np.ndarray, float]:
    """Feasible rates and their cost, without those next to nothing as long as the gap allows it."""
    with np.errstate(invalid="ignore"):
        rates = rates * scale_in(shown, told, margins, rates)
        spent = np.where(rates > 0.0, rates * costs, 0.0)
        upper = float(spent.sum())
        for share in SHARES:
            fewer = np.where(spent > share * upper, rates, 0.0)
            scale = scale_in(shown, told, margins, fewer)
            if np.isfinite(scale):
                fewer = fewer * scale
                value = float((fewer * costs).sum())
                if value - lower <= max(0.9 * gap * value, upper - lower):
                    return fewer, value
    return rates, upper


def interpreted_seconds(n_arms: int, dimension: int) -> float:
    """Rough time of an interpreted solve: about 6 passes over the arms and 25 small solves."""
    size = program.symmetric(dimension)
    working = min(n_arms, max(24, 2 * size))
    passes = 30.0 * n_arms * dimension * dimension
    solves = 25.0 * (working * size * size / 2 + 3.0 * size**3 + 20.0 * working * size)
    return SECOND * (passes + solves)


def check(arms: np.ndarray, best: int, costs: np.ndarray, margins: np.ndarray, gap: float) -> None:
    """Refuse what cannot be solved."""
    if arms.ndim != 2 or arms.shape[0] < 1 or arms.shape[1] < 1:
        raise InputError("arms", "be K rows of d numbers", arms.shape)
    if not np.isfinite(arms).all():
        raise InputError("arms", "be finite")
    if not 0 <= best < arms.shape[0]:
        raise InputError("best", f"lie in 0..{arms.shape[0] - 1}", best)
    refuse_nearly_parallel(arms, best)
    if not 0.0 < gap < 1.0:
        raise InputError("gap", "lie in (0, 1)", gap)
    for name, values in (("costs", costs), ("margins", margins)):
        if values.shape != (arms.shape[0],):
            raise InputError(name, f"be {arms.shape[0]} numbers", values.shape)
        others = np.delete(values, best)
        if not (np.isfinite(others).all() and (others > 0.0).all()):
            raise InputError(name, "be positive for every arm but the best")
        values[best] = 0.0
