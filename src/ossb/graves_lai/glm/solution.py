"""One-off solves: the program at one parameter, with what proves both sides in the arms' terms."""

from typing import NamedTuple

import numpy as np

from ossb.graves_lai import program
from ossb.graves_lai.information.index_minimiser import RANK
from ossb.graves_lai.information.indices import indices
from ossb.graves_lai.program.warm import NOBODY


class GlmSolution(NamedTuple):
    """Rates and both bounds, with what proves them.

    Directions are changes δ of φ in its own coordinates, with ⟨δ, x − x*⟩ = u* − u_x: φ + δ makes
    arm x as good as the best.  ⟨δ, x⟩ = 0 where plays of x are free.
    """

    rates: np.ndarray  # (K,)
    upper: float
    lower: float
    alternatives: np.ndarray  # (a,) arms of the lower bound
    weights: np.ndarray  # (a,) their weights
    directions: np.ndarray  # (a, d)
    open_arms: np.ndarray  # (o,) every arm that can be told from the best
    most_confusing: np.ndarray  # (o, d) its most confusing direction at the rates


def solve(
    arms: np.ndarray,
    index: np.ndarray,
    best: int | np.ndarray,
    costs: np.ndarray,
    link: int,
    gap: float = 1e-6,
    compiled: bool | None = None,
    margins: np.ndarray | None = None,
) -> GlmSolution:
    """Minimise Σ η_x costs_x so that every alternative is told apart.

    Parameters
    ----------
    arms
        Features, (K, d).
    index
        u = ⟨φ, x⟩ of every arm.
    best
        The best arm, of the largest index or the least; or, for each arm, the one it has to catch
        up with.
    costs
        What a play of each arm costs; positive, but for best arms whose plays are free.
    link
        The family observed: LOGISTIC, LOG or IDENTITY of ``information.links``.
    compiled
        Whether to run compiled; where not given, if that is large, or at hand after a few calls.
    margins
        u_best − u, to more digits than the difference of ``index`` has near ties.
    """
    information = indices(link, arms)
    information.index_of[:] = index
    information.leaders[:] = best
    information.is_free[:] = ~(costs > 0.0)
    apart = index[information.leaders] - index if margins is None else margins
    information.margins[:] = apart
    found = program.solve(information, costs, NOBODY, gap, compiled)
    rank = int(information.sizes[RANK])
    frame = information.frame[:rank]
    chosen, told = np.flatnonzero(found.weights > 0.0), np.flatnonzero(found.alternatives)
    return GlmSolution(
        rates=found.rates,
        upper=found.upper,
        lower=found.lower,
        alternatives=chosen,
        weights=found.weights[chosen],
        directions=information.kept[chosen, :rank] @ frame,
        open_arms=told,
        most_confusing=information.deltas[told, :rank] @ frame,
    )
