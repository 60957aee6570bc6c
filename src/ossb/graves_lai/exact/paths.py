"""What rates tell of paths: the largest Σ spread / Δ² over detours, by labels in doubles.

Costs are rounded down and spreads up.  Labels compare sums of positive numbers, and a tangent
that prunes one is right to a share of N u, N the number of nodes and u = 2⁻⁵³: sums of doubles
are monotone, so that a label which is dominated stays so, and a detour P with U_P − 2faΔ_P + fa²
at most its rounding has U_P ≤ f Δ_P² to a few such shares.  64 (N + 8) u covers all of them.
"""

from typing import Any

import numpy as np
from flint import arb, fmpq

from ossb.graves_lai.exact.balls import INFINITE, down, up
from ossb.graves_lai.semi_bandit.detour_search import cheapest, largest_ratio, tangents
from ossb.graves_lai.semi_bandit.longest_paths import LongestPaths

UNIT = 2.0**-53


def information(
    paths: Any,
    best: tuple[int, ...],
    signed: np.ndarray,
    costs: list[fmpq],
    seen: dict[int, arb],
    unit: arb,
) -> arb:
    """1 / max over paths of Σ unit/w / Δ²; 0 where the search runs out of room."""
    graph = paths.detours(best, signed)
    if graph.items.size == 0:
        return INFINITE
    items = graph.items.tolist()
    if any(k not in seen for k in items):
        return arb(0)
    exact = [arb(costs[k]) for k in items]
    graph = graph._replace(cost=np.array([max(down(cost), 0.0) for cost in exact]))
    spread = np.array([up(unit / seen[k]) for k in items])
    sweeps = LongestPaths(graph)
    near = [list(detour) for detour in cheapest(sweeps)]
    with np.errstate(all="ignore"):
        floor = max(float(spread[d].sum() / graph.cost[d].sum() ** 2) for d in near)
    if not 0.0 < floor < np.inf:
        return arb(0)
    search = largest_ratio(sweeps, spread, tangents(sweeps), floor)
    if not search.complete:
        return arb(0)
    return 1 / (arb(search.ratio) * (1 + arb(64.0 * (graph.n_nodes + 8) * UNIT)))
