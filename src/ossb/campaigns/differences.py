"""By how much arms differ from the leader: right for all of them together, at all times.

The leader depends on what was told, so that all pairs of arms have to be right.

- Arms that show their own mean: the evidence of a pair against its true means, ln M_b + ln M_x,
  ever exceeds ln(1/δ′) with probability at most δ′, and δ is shared out over the K (K − 1)/2 pairs.
  A difference d is left if means that differ by it are not ruled out.
- Linear arms: one mixture rules out parameters, and no union is paid for (``ossb.models.rivals``).
- Sums of items: of the items in which two sets differ, the ends of each.
"""

import math
from typing import Any

import numpy as np

from ossb.campaigns.intervals import LARGEST, find_end, intervals
from ossb.campaigns.looking import View, known_leader
from ossb.campaigns.stopping import share
from ossb.kernels import kernel
from ossb.models.rivals import rivals_for
from ossb.models.rivals.linear import LinearRivals
from ossb.models.rivals.mixture import Mixture, mixture_of
from ossb.models.rivals.pairs import evidence_of_pair, price_of
from ossb.tally import Tally

STEPS = 100  # to an end
MOST = 200  # arms; of more it takes seconds
FINE = 1e-6  # of an end, relative to its distance from the estimate
SEEN = 1e-9  # of a contrast's length, that may lie outside what was seen

Ends = list[list[float] | None]


def differences(view: View, delta: float) -> Ends | None:
    """Ends of every arm's reward less the leader's, in the user's sign.

    None where nothing was told yet, arms are not listed one beside another, or are more than
    ``MOST``; of an arm, where it leads itself or nothing is known.
    """
    instance: Any = view.player.instance
    leader: Any = known_leader(view)
    listed = not (view.player.described or view.player.has_contexts or instance.has_pairs)
    if not listed or leader is None or len(instance.showing()) > MOST:
        return None
    at, delta = int(leader), delta * share(view.added, instance.can_grow)
    rivals = rivals_for(instance)
    if isinstance(rivals, LinearRivals):
        return _of_contrasts(instance, rivals, view.tally, at, delta) if rivals.identity else None
    if instance.adds_up:
        return _of_sums(instance, intervals(view, delta)["components"], at)
    alone = all(shown == [arm] for arm, shown in enumerate(instance.showing()))
    if not alone or not instance.shows_rewards():
        return None
    return _of_pairs(instance, view.tally, at, delta)


def _of_pairs(instance: Any, tally: Tally, leader: int, delta: float) -> Ends:
    n = tally.counts.size
    level = math.log(max(0.5 * n * (n - 1), 1.0) / delta)
    ends = np.full((n, 2), np.nan)
    if tally.counts[leader] > 0 and float(np.abs(tally.means).max()) < LARGEST:
        prices = np.full((3, n), -1.0)
        mixture = mixture_of(instance.observed_family)
        find_differences.quick(mixture, level, leader, prices, tally, ends)
    return [_signed(instance, low, high) for low, high in ends.tolist()]


def _of_sums(instance: Any, components: Ends, leader: int) -> Ends:
    shown, found = [set(items) for items in instance.showing()], Ends()
    for arm, items in enumerate(shown):
        more = [components[item] for item in items - shown[leader]]
        less = [components[item] for item in shown[leader] - items]
        if arm == leader or None in more or None in less:
            found.append(None)
            continue
        up, down = ([end for end in side if end is not None] for side in (more, less))
        low = math.fsum([end[0] for end in up] + [-end[1] for end in down])
        high = math.fsum([end[1] for end in up] + [-end[0] for end in down])
        found.append([low, high])
    return found


def _of_contrasts(
    instance: Any, rivals: LinearRivals, tally: Tally, leader: int, delta: float
) -> Ends:
    """With V singular, of contrasts in its range."""
    features, counts = np.asarray(rivals.features), tally.counts.astype(np.float64)
    gram, prior = (features * counts) @ features.T, np.asarray(rivals.prior)
    inverse = np.linalg.pinv(gram, hermitian=True)
    estimate = inverse @ (features @ (counts * tally.means))
    price = 0.5 * (np.linalg.slogdet(gram + prior)[1] - rivals.volume)
    contrasts = features - features[:, [leader]]
    images = inverse @ contrasts
    lost = np.abs(contrasts - gram @ images).max(axis=0) > SEEN * np.abs(contrasts).max(axis=0)
    spread = (contrasts * images).sum(axis=0) + (images * (prior @ images)).sum(axis=0)
    half = rivals.sigma * np.sqrt(2.0 * (price - math.log(delta)) * np.maximum(spread, 0.0))
    middle = estimate @ contrasts
    half[lost], half[leader] = math.nan, math.nan
    both = zip((middle - half).tolist(), (middle + half).tolist(), strict=True)
    return [_signed(instance, low, high) for low, high in both]


def _signed(instance: Any, low: float, high: float) -> list[float] | None:
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    return sorted((instance.sign * low, instance.sign * high))


@kernel
def find_differences(
    mixture: Mixture, level: float, leader: int, prices: np.ndarray, tally: Tally, ends: np.ndarray
) -> None:
    """The least and the largest difference of each arm to the leader that evidence leaves.

    They are left as they are where nothing is known of one.
    """
    for x in range(ends.shape[0]):
        if x != leader and tally.counts[x] > 0:
            ends[x, 0] = -farthest(mixture, level, x, leader, prices, tally)
            ends[x, 1] = farthest(mixture, level, leader, x, prices, tally)


@kernel
def farthest(
    mixture: Mixture, level: float, b: int, x: int, prices: np.ndarray, tally: Tally
) -> float:
    """The largest d by which x may be better than b."""
    n, m = float(tally.counts[b]), float(tally.counts[x])
    p, q = float(tally.means[b]), float(tally.means[x])
    # evidence is least, and below 0, at the mean: so much more the other may have
    room = level - mixture.evidence_at(n, p, p) - mixture.evidence_at(m, q, q)
    low = find_end(mixture, room, n, p, mixture.family.lowest())
    high = find_end(mixture, room, m, q, mixture.family.highest())
    needed = level + price_of(mixture, prices, b, tally) + price_of(mixture, prices, x, tally)
    inner, outer = q - p, high - low
    if not outer < math.inf:
        return outer
    inside = evidence_of_pair(mixture, b, x, inner, tally) - needed
    outside = evidence_of_pair(mixture, b, x, outer, tally) - needed
    if not inside < 0.0 or not outside > 0.0:
        return outer
    least = FINE * (outer - inner)
    for step in range(STEPS):
        if not outer - inner > least:
            break
        middle = 0.5 * (inner + outer)
        if step % 3 < 2 and outside < math.inf:  # along the chord, and now and then by halves
            middle = inner - inside * (outer - inner) / (outside - inside)
            middle = min(max(middle, inner + 0.25 * least), outer - 0.25 * least)
        if not inner < middle < outer:
            break
        found = evidence_of_pair(mixture, b, x, middle, tally) - needed
        if found > 0.0:
            outer, outside = middle, found
        else:
            inner, inside = middle, found
        least = FINE * max(outer - (q - p), 0.0)
    return outer
