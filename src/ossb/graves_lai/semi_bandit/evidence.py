"""How sure the leader of a set of arms is: the least likelihood ratio, through an oracle.

Every item of an arm is observed, N_i times with mean m_i, and x leads.  The ratio against the
arms is the least Σ N_i d(m_i, λ_i) over the λ under which some other arm is at least as good.

Matroids: between two bases there is a bijection such that every single exchange is a basis, so
if another basis is better under λ, some basis that differs by one exchange is.  The ratio is the
least over exchanges of j for i of N_i d(m_i, w) + N_j d(m_j, w), with w their common mean; exact
for every family.

Otherwise, for Gaussian items, it is the least Δ_y² / 2V_y over arms y, Δ_y the estimated gap and
V_y = Σ σ²/N_i over the items that tell y from x.  Δ²/V is the largest 2τΔ − τ²V over τ, and for
one τ that is linear in y: the oracle's answer bounds every arm from below.  Branching on items
closes what the best τ leaves; the search stops early with an honest bound.
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np

from ossb.graves_lai.semi_bandit.implicit_solution import Items, Oracle

MOST_NODES = 2000
CLOSE = 1e-9  # relative distance of bound and arm at which the search ends
CUTS = 60


def least_evidence(arms: Any, family: Any, counts: np.ndarray, means: np.ndarray) -> float:
    """The least likelihood ratio of the leader, or a lower bound on it; +∞ if it is alone.

    Parameters
    ----------
    arms
        The set, with its oracle.
    family
        The observations of an item; Gaussian where the set is no matroid.
    counts, means
        Of each item, signed so that more is better.
    """
    leader: Items = arms.maximize(means)
    if _is_open(arms, counts, means, leader):
        return 0.0
    if arms.is_matroid:
        return _least_exchange(arms, family, counts, means, leader)
    doubts = np.array([family.variance(float(mean)) for mean in means]) / np.maximum(counts, 1)
    return 0.5 * least_ratio(arms, means, doubts, leader)


def _is_open(arms: Any, counts: np.ndarray, means: np.ndarray, leader: Items) -> bool:
    """Whether an item that was never seen may change who leads."""
    inside = set(leader)
    for item in np.flatnonzero(counts == 0).tolist():
        flip = arms.maximize_without if item in inside else arms.maximize_with
        if flip(means, item) is not None:
            return True
    return False


def _least_exchange(
    arms: Any, family: Any, counts: np.ndarray, means: np.ndarray, leader: Items
) -> float:
    least = math.inf
    for new, replaced in arms.replaceable(leader).items():
        for old in replaced:
            least = min(least, _ratio_of_two(family, counts, means, old, new))
    return least


def _ratio_of_two(
    family: Any, counts: np.ndarray, means: np.ndarray, better: int, worse: int
) -> float:
    """Of one item's mean being above another's."""
    n, k = float(counts[better]), float(counts[worse])
    high, low = float(means[better]), float(means[worse])
    if high <= low:
        return 0.0
    common = (n * high + k * low) / (n + k)
    return float(n * family.kl(high, common) + k * family.kl(low, common))


class _Node(NamedTuple):
    bound: float
    inside: frozenset[int]
    outside: frozenset[int]
    split: int  # the item to branch on; −1 where the bound is attained


class _Arm(NamedTuple):
    gap: float
    doubt: float

    @property
    def ratio(self) -> float:
        return self.gap * self.gap / self.doubt

    def height(self, tau: float) -> float:
        return 2.0 * tau * self.gap - tau * tau * self.doubt


def least_ratio(arms: Oracle, means: np.ndarray, doubts: np.ndarray, leader: Items) -> float:
    """A lower bound on the least Δ_y² / V_y over arms, attained unless the search is cut short.

    No arm may lie inside another: every arm but the leader has an item that the leader lacks.
    """
    found: dict[Items, _Arm] = {}
    queue: list[tuple[float, int, _Node]] = []
    before: frozenset[int] = frozenset()
    count = 0
    for item in range(means.size):  # the arms whose first item outside the leader is this one
        if item in leader:
            continue
        node = _relaxed(arms, means, doubts, leader, frozenset([item]), before, found)
        heapq.heappush(queue, (node.bound, count, node))
        before |= {item}
        count += 1
    while queue:
        bound, _, node = queue[0]
        best = min((arm.ratio for arm in found.values()), default=math.inf)
        if bound >= best * (1.0 - CLOSE) or node.split < 0 or count >= MOST_NODES:
            return min(bound, best)
        heapq.heappop(queue)
        for inside, outside in (
            (node.inside | {node.split}, node.outside),
            (node.inside, node.outside | {node.split}),
        ):
            child = _relaxed(arms, means, doubts, leader, inside, outside, found)
            heapq.heappush(queue, (max(child.bound, bound), count, child))
            count += 1
    return math.inf


def _relaxed(
    arms: Oracle,
    means: np.ndarray,
    doubts: np.ndarray,
    leader: Items,
    inside: frozenset[int],
    outside: frozenset[int],
    found: dict[Items, _Arm],
) -> _Node:
    """The largest bound over τ under forced items: cutting planes in one dimension."""
    signed = doubts.copy()
    signed[list(leader)] *= -1.0  # V_y is a constant plus the sum of these over y
    force = np.zeros(means.size)
    force[list(inside)] = 1.0
    force[list(outside)] = -1.0
    cuts: dict[Items, _Arm] = {}
    bound, tau = 0.0, 1e-3 / float(np.sqrt(doubts.max()))
    for _ in range(CUTS):
        linear = 2.0 * tau * means + tau * tau * signed
        # heavy enough to outweigh everything else, and no heavier: digits are lost to it
        arm = arms.maximize(linear + 2.0 * float(np.abs(linear).sum()) * force)
        if not inside <= set(arm) or outside & set(arm):
            return _Node(math.inf, inside, outside, -1)
        if arm not in found:
            found[arm] = _measured(means, doubts, leader, arm)
        bound = max(bound, found[arm].height(tau))
        if arm in cuts:
            break
        cuts[arm] = found[arm]
        tau = _highest(list(cuts.values()))
        if tau <= 0.0:  # an arm as good as the leader
            break
    split = -1
    if bound < min(cut.ratio for cut in cuts.values()) * (1.0 - CLOSE):
        split = _disputed(list(cuts), inside | outside, doubts)
    return _Node(bound, inside, outside, split)


def _measured(means: np.ndarray, doubts: np.ndarray, leader: Items, arm: Items) -> _Arm:
    lost, won = sorted(set(leader) - set(arm)), sorted(set(arm) - set(leader))
    gap = math.fsum([*means[lost].tolist(), *(-means[won]).tolist()])
    return _Arm(max(gap, 0.0), math.fsum(doubts[[*lost, *won]].tolist()))


def _highest(cuts: list[_Arm]) -> float:
    """The τ at which the least of the cuts is highest."""
    candidates = [cut.gap / cut.doubt for cut in cuts]
    for k, one in enumerate(cuts):
        for other in cuts[:k]:
            apart = one.doubt - other.doubt
            if apart != 0.0 and (one.gap - other.gap) / apart > 0.0:
                candidates.append(2.0 * (one.gap - other.gap) / apart)
    return max(candidates, key=lambda tau: min(cut.height(tau) for cut in cuts))


def _disputed(met: list[Items], forced: frozenset[int], doubts: np.ndarray) -> int:
    """The item of largest doubt in which the last arms met differ, not yet forced; or −1."""
    for k in range(len(met) - 1, 0, -1):
        difference = (set(met[k]) ^ set(met[k - 1])) - forced
        if difference:
            return max(sorted(difference), key=lambda item: float(doubts[item]))
    return -1
