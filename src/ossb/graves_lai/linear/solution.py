"""One bound for linear arms: solve once, certify from the arms themselves."""

from typing import NamedTuple

import numpy as np

from ossb import deadlines
from ossb.errors import InputError
from ossb.graves_lai.linear.certificate import (
    complement,
    lower_bound,
    refuse_extremes,
    refuse_nearly_parallel,
    scale_in,
)
from ossb.graves_lai.linear.memory import (
    DESIGN,
    OMEGA,
    PLAYED,
    RANK,
    WEIGHTED,
    LinearMemory,
    span_basis,
    start,
)
from ossb.graves_lai.linear.rates import resolve
from ossb.graves_lai.linear.workspace import INVERSE_COST, INVERSE_MARGIN, lifted_size


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
    return _solved(arms, best, costs, margins, gap, compiled)


def _solved(
    arms: np.ndarray,
    best: int,
    costs: np.ndarray,
    margins: np.ndarray,
    gap: float,
    compiled: bool | None = None,
) -> LinearSolution:
    """The solution; arms of endless cost are only told apart, those of endless margin played."""
    memory, margin_unit = posed(arms, best, costs, margins)
    if compiled is None and interpreted_seconds(memory) > PATIENCE:
        compiled = True
    # Half of what is asked, so that the bounds recomputed from the arms are close enough too.
    with deadlines.stopping([memory.work.stop]):
        resolve.run_as(compiled)(0, best, 0.5 * gap, 1.0, memory)
    if memory.size[0, RANK] == 0:
        nothing = np.zeros(arms.shape[0])
        none = np.zeros(0, np.int64)
        return LinearSolution(
            nothing, 0.0, 0.0, nothing.copy(), none, np.zeros((0, arms.shape[1])), "certified"
        )
    return certified(arms, best, costs, margins, margin_unit, memory, gap)


def solve_apart(
    played: np.ndarray,
    told: np.ndarray,
    costs: np.ndarray,
    margins: np.ndarray,
    gap: float = 1e-6,
) -> LinearSolution:
    """Minimise Σ η_x cost_x subject to 2 yᵀ V(η)⁻¹ y ≤ margin_y² for every y of ``told``.

    V(η) = Σ η_x x xᵀ over ``played``: no play is free.  Rates are of the arms played; weights,
    alternatives and directions, with ⟨δ, y⟩ = margin_y, of the rows told apart.  The same program
    with a best arm of no features, which therefore shows nothing.
    """
    n_played, n_told = len(played), len(told)
    arms = np.vstack([played, told, np.zeros((1, played.shape[1]))])
    refuse_extremes(arms)
    found = _solved(
        arms,
        n_played + n_told,
        np.concatenate([costs, np.full(n_told, np.inf), [0.0]]),
        np.concatenate([np.full(n_played, np.inf), margins, [0.0]]),
        gap,
    )
    return found._replace(
        rates=found.rates[:n_played],
        weights=found.weights[n_played : n_played + n_told],
        alternatives=found.alternatives - n_played,
    )


def scaled(arms: np.ndarray) -> np.ndarray:
    """The arms with entries up to 1: neither rates nor bounds depend on their common length."""
    return arms / (float(np.abs(arms).max()) or 1.0)


def posed(
    arms: np.ndarray, best: int, costs: np.ndarray, margins: np.ndarray
) -> tuple[LinearMemory, float]:
    """A memory with one slot and the gaps of the problem, each in units of its largest."""
    others = np.arange(arms.shape[0]) != best
    cost_unit, margin_unit = _largest(costs[others]), _largest(margins[others])
    memory = start(scaled(arms), slots=1)
    memory.work.arm[INVERSE_COST, others] = cost_unit / costs[others]
    memory.work.arm[INVERSE_MARGIN, others] = margin_unit / margins[others]
    return memory, margin_unit


def _largest(values: np.ndarray) -> float:
    """The largest of those that end, by which the others are measured; 1 for none."""
    return float(values[np.isfinite(values)].max(initial=0.0)) or 1.0


def certified(
    arms: np.ndarray,
    best: int,
    costs: np.ndarray,
    margins: np.ndarray,
    margin_unit: float,
    memory: LinearMemory,
    gap: float,
) -> LinearSolution:
    """The solution that slot 0 holds, with both bounds recomputed from the original arms."""
    rates = np.zeros(arms.shape[0])
    played = memory.lists[0, 0, : memory.size[0, PLAYED]]
    rates[played] = 2.0 * memory.held[0, DESIGN, played] / (margin_unit * margin_unit)
    alternatives = memory.lists[0, 1, : memory.size[0, WEIGHTED]]
    alternatives = np.sort(alternatives[memory.held[0, OMEGA, alternatives] > 0.0])
    directions, raw = confusing(arms, best, margins, alternatives, memory)
    lower, factor = lower_bound(arms, best, costs, directions, raw)
    z = complement(arms, best)
    scale = scale_in(z, margins, rates)
    with np.errstate(invalid="ignore"):
        rates, upper = sparsest(z, best, costs, margins, rates * scale, lower, gap)
    weights = np.zeros(arms.shape[0])
    weights[alternatives] = raw * factor
    lower = min(lower, upper)  # they may cross by a rounding error
    reached = np.isfinite(upper) and upper - lower <= gap * upper
    status = "certified" if reached else "open"
    return LinearSolution(rates, upper, lower, weights, alternatives, directions, status)


def sparsest(
    z: np.ndarray,
    best: int,
    costs: np.ndarray,
    margins: np.ndarray,
    rates: np.ndarray,
    lower: float,
    gap: float,
) -> tuple[np.ndarray, float]:
    """Leave out rates that are next to nothing, as long as the gap allows it."""
    spent = rates * np.where(rates > 0.0, costs, 0.0)
    spent[best] = 0.0
    upper = float(spent.sum())
    for share in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
        fewer = np.where(spent > share * upper, rates, 0.0)
        scale = scale_in(z, margins, fewer)
        if np.isfinite(scale):
            fewer = fewer * scale
            value = float((fewer * np.where(fewer > 0.0, costs, 0.0)).sum())
            if value - lower <= max(0.9 * gap * value, upper - lower):
                return fewer, value
    return rates, upper


def confusing(
    arms: np.ndarray,
    best: int,
    margins: np.ndarray,
    alternatives: np.ndarray,
    memory: LinearMemory,
) -> tuple[np.ndarray, np.ndarray]:
    """The directions of the held alternatives in the original coordinates, and raw weights."""
    n_arms = arms.shape[0]
    rank = memory.size[0, RANK]
    coordinates = memory.coordinates[0, :rank]
    span = memory.coordinates.shape[1]
    shape = coordinates[:, n_arms + span : n_arms + span + rank]
    images = coordinates[:, alternatives].T @ shape  # (n, r)
    in_span = images @ coordinates[:, n_arms : n_arms + span]
    directions: np.ndarray = in_span
    if span < arms.shape[1]:  # else the arms span everything, and the basis is the identity
        directions = in_span @ span_basis(scaled(arms)).T
    leader = arms[best]
    square = float(leader @ leader)
    if square > 0.0:
        directions = directions - np.outer(directions @ leader / square, leader)
    reach = (directions * arms[alternatives]).sum(axis=1)
    directions = directions * (margins[alternatives] / reach)[:, None]
    raw = memory.held[0, OMEGA, alternatives] * memory.work.arm[INVERSE_MARGIN, alternatives] ** 2
    return directions, raw / raw.max(initial=1e-300)


# Interpreted statements cost about SECOND each; a one-off answer may take PATIENCE before
# a compiler that may need as long on a new machine is the better choice.
PATIENCE = 3.0
SECOND = 2e-7


def interpreted_seconds(memory: LinearMemory) -> float:
    """Rough time of an interpreted solve: about 6 passes over the arms and 25 small solves."""
    span, n_arms = memory.arms.shape
    size = lifted_size(span)
    working = min(n_arms, max(24, 2 * size))
    passes = 6.0 * n_arms * (span * span + 4.0 * span * span)
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
