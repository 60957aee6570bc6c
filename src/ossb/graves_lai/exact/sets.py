"""Sets of arms that are not listed: which arm is the best, and the heaviest one, exactly.

A path is the longest if no edge leads past the longest ways to its ends; a matching is the
heaviest if prices of the right nodes support it.  Both are settled in rational arithmetic.
"""

from collections.abc import Callable, Sequence
from typing import Any

from flint import arb, fmpq

from ossb.graves_lai.exact.balls import INFINITE, up
from ossb.graves_lai.exact.items import Items, Moved
from ossb.graves_lai.proof import ProofError

Reduced = Callable[[Any, Sequence[fmpq], frozenset[int]], list[fmpq] | None]
WIDER = (1e-14, 1e-12, 1e-10, 1e-8)  # how much above a ratio found in doubles one is proved


def rational(number: float) -> fmpq:
    """A double, exactly."""
    return fmpq(*float(number).as_integer_ratio())


def of_paths(paths: Any, weights: Sequence[fmpq], best: frozenset[int]) -> list[fmpq] | None:
    """Costs ≥ 0 of the edges that add up to a path's gap, 0 on the best; None if it is not."""
    far: dict[int, fmpq] = {paths.source: fmpq(0)}
    for node in paths.order:
        for k in paths.leaving(node):
            if node in far:
                end = int(paths.edges[k, 1])
                way = far[node] + weights[k]
                if end not in far or way > far[end]:
                    far[end] = way
    costs = []
    for k, (tail, head) in enumerate(paths.edges.tolist()):
        costs.append(far[head] - far[tail] - weights[k] if tail in far else fmpq(0))
    return None if any(costs[k] != 0 for k in best) else costs


def of_matchings(
    matchings: Any, weights: Sequence[fmpq], best: frozenset[int]
) -> list[fmpq] | None:
    """Costs as ``of_paths``, of edges of matchings, and of leaving each right node."""
    ends = matchings.edges.tolist()
    partner = {ends[k][0]: k for k in best}
    taken = {ends[k][1] for k in best}
    price = [fmpq(0)] * matchings.n_right
    for _ in range(matchings.n_left + 1):
        value = {u: weights[k] - price[ends[k][1]] for u, k in partner.items()}
        changed = False
        for k, (u, v) in enumerate(ends):
            asked = weights[k] - value[u]
            if asked > price[v]:
                if v not in taken:
                    return None
                price[v], changed = asked, True
        if not changed:
            return [value[u] + price[v] - weights[k] for k, (u, v) in enumerate(ends)] + price
    return None


def gaps_of(reduced: Reduced, arm_set: Any, truth: Items) -> list[fmpq]:
    """The reduced costs of the true means; raises ``ProofError`` if another arm is better."""
    signed = [rational(truth.sign * mean) for mean in truth.phi]
    costs = reduced(arm_set, signed, truth.best)
    if costs is None:
        raise ProofError("instance: another arm is better than the best one")
    return costs


def heaviest(reduced: Reduced, arm_set: Any, truth: Items, pull: Moved, ratio: float) -> arb:
    """Maximum over arms of Σ pull / Δ, at most: some ratio just above the one found in doubles.

    Σ pull ≤ L Δ for all arms if the best one is also that of the means times L, plus pull.
    """
    more = {i: rational(up(ball)) for i, ball in pull.items()}
    signed = [rational(truth.sign * mean) for mean in truth.phi]
    for wider in WIDER:
        limit = float(ratio) * (1.0 + wider)
        if not 0.0 < limit < float("inf"):
            break
        factor = rational(limit)
        weights = [factor * mean + more.get(i, fmpq(0)) for i, mean in enumerate(signed)]
        if reduced(arm_set, weights, truth.best) is not None:
            return arb(limit)
    return INFINITE
