"""The most optimistic arm: max over x of ⟨gain, x⟩ + √⟨variance, x⟩, proved by branch and bound.

The index of ESCB (Combes et al. 2015).  It is not linear and can peak off the convex hull.
For any θ > 0, √V ≤ θ V + 1/(4θ), so one linear maximisation bounds every arm at once; the
least such bound over θ is the relaxation, and branching on items closes what it leaves.
Arms without variance are left out: their index is their gain.
"""

import heapq
import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.semi_bandit.implicit_solution import Items, Oracle


class Best(NamedTuple):
    """The best arm found, its index, an upper bound on every index, and arms met on the way."""

    arm: Items
    value: float
    bound: float
    met: list[Items]


class _Node(NamedTuple):
    bound: float
    inside: frozenset[int]
    outside: frozenset[int]
    split: int


def maximize_index(
    oracle: Oracle,
    gain: np.ndarray,
    variance: np.ndarray,
    threshold: float,
    max_nodes: int = 2000,
) -> Best:
    """The arm of largest index, searched for until none can exceed ``threshold`` or the best.

    Arms of no variance may be met but are not searched for.

    The search stops early, with an honest ``bound``, after ``max_nodes``.
    """
    found: dict[Items, float] = {}
    root = _relax(oracle, gain, variance, frozenset(), frozenset(), found)
    queue = [(-root.bound, 0, root)]
    count = 1
    best = max(found.values())
    while queue:
        bound = -queue[0][0]
        best = max(found.values())
        if bound <= max(threshold, best) or count >= max_nodes or queue[0][2].split < 0:
            break
        node = heapq.heappop(queue)[2]
        for inside, outside in (
            (node.inside | {node.split}, node.outside),
            (node.inside, node.outside | {node.split}),
        ):
            child = _relax(oracle, gain, variance, inside, outside, found)
            count += 1
            if child.bound > max(threshold, best):
                heapq.heappush(queue, (-child.bound, count, child))
    best = max(found.values())
    bound = max(best, -queue[0][0]) if queue else max(best, min(threshold, root.bound))
    arm = max(found, key=lambda items: found[items])
    return Best(arm, best, bound, list(found))


def _relax(
    oracle: Oracle,
    gain: np.ndarray,
    variance: np.ndarray,
    inside: frozenset[int],
    outside: frozenset[int],
    found: dict[Items, float],
) -> _Node:
    """Least bound over θ under forced items: cutting planes in one dimension."""
    if not set(np.flatnonzero(variance > 0).tolist()) - outside:
        return _Node(-math.inf, inside, outside, -1)
    force = np.zeros(gain.size)
    force[list(inside)] = 1.0
    force[list(outside)] = -1.0
    lines: dict[Items, tuple[float, float]] = {}
    bound = math.inf
    theta = 0.5 / max(math.sqrt(float(variance.mean())), 1e-300)
    for _ in range(60):
        linear = gain + theta * variance
        # heavy enough to outweigh everything else, and no heavier: digits are lost to it
        arm = oracle.maximize(linear + 2.0 * float(np.abs(linear).sum()) * force)
        if not inside <= set(arm) or outside & set(arm):
            return _Node(-math.inf, inside, outside, -1)
        g = float(sum(gain[i] for i in arm))
        v = float(sum(variance[i] for i in arm))
        found[arm] = g + math.sqrt(v)
        bound = min(bound, g + theta * v + 0.25 / theta)
        if arm in lines:
            break
        lines[arm] = (g, v)
        theta = _least(list(lines.values()))
    split = -1
    if bound > max(found[arm] for arm in lines) + 1e-15 * abs(bound):
        split = _disputed(list(lines), inside | outside, variance)
    return _Node(bound, inside, outside, split)


def _least(lines: list[tuple[float, float]]) -> float:
    """The θ at which max over lines of g + θ v, plus 1/(4θ), is least."""
    candidates = [0.5 / math.sqrt(v) for _, v in lines if v > 0]
    for k, (g, v) in enumerate(lines):
        for h, u in lines[:k]:
            if (g - h) * (u - v) > 0:
                candidates.append((g - h) / (u - v))
    if not candidates:
        return 1e8  # an arm without variance: tilt far towards those that have some

    def height(theta: float) -> float:
        return max(g + theta * v for g, v in lines) + 0.25 / theta

    return min(candidates, key=height)


def _disputed(arms: list[Items], forced: frozenset[int], variance: np.ndarray) -> int:
    """The item of largest variance in which the last arms met differ, not yet forced.

    Where they agree, any item with variance; -1 if none is left.
    """
    for k in range(len(arms) - 1, 0, -1):
        difference = (set(arms[k]) ^ set(arms[k - 1])) - forced
        if difference:
            return max(sorted(difference), key=lambda item: variance[item])
    rest = set(np.flatnonzero(variance > 0).tolist()) - forced
    return max(sorted(rest), key=lambda item: variance[item], default=-1)
