"""Where means lie, all of them together right at all times: what evidence does not rule out."""

import math
from typing import Any

import numpy as np

from ossb.campaigns.looking import View
from ossb.campaigns.stopping import share
from ossb.kernels import kernel
from ossb.models.rivals.mixture import Mixture, mixture_of

STEPS = 60  # bisections to an end
LARGEST = 1e150  # means whose squares are doubles


def intervals(view: View, delta: float) -> dict[str, Any]:
    """Where means lie: all of them together right, at all times, with confidence 1 − δ.

    ``components`` and, where arms are listed, ``arms``, of those that show one component or are
    worth the sum of theirs; in the user's sign, None where something was not told of yet.
    """
    instance: Any = view.player.instance
    own = _of_components(instance, view.tally, delta * share(view.added, instance.can_grow))
    if view.player.described:
        return {"components": own, "arms": None}
    arms = []
    for shown in instance.showing():
        ends = [own[component] for component in shown]
        known = [end for end in ends if end is not None]
        told = len(known) == len(ends) > 0 and (len(ends) == 1 or instance.adds_up)
        arms.append([math.fsum(side) for side in zip(*known, strict=True)] if told else None)
    return {"components": own, "arms": arms}


def _of_components(instance: Any, tally: Any, delta: float) -> list[list[float] | None]:
    mixture, sign = mixture_of(instance.observed_family), float(instance.observed_sign)
    ends = np.full((tally.counts.size, 2), np.nan)
    find_ends.quick(mixture, math.log(tally.counts.size / delta), tally.counts, tally.means, ends)
    return [
        sorted((sign * low, sign * high)) if math.isfinite(low) and math.isfinite(high) else None
        for low, high in ends.tolist()
    ]


@kernel
def find_ends(
    mixture: Mixture, level: float, counts: np.ndarray, means: np.ndarray, ends: np.ndarray
) -> None:
    """The lowest and the highest mean of each component that evidence leaves.

    They are left as they are where nothing is known of it.
    """
    for k in range(counts.size):
        if counts[k] > 0 and abs(means[k]) < LARGEST:
            count, mean = float(counts[k]), float(means[k])
            ends[k, 0] = find_end(mixture, level, count, mean, mixture.family.lowest())
            ends[k, 1] = find_end(mixture, level, count, mean, mixture.family.highest())


@kernel
def find_end(mixture: Mixture, level: float, count: float, mean: float, limit: float) -> float:
    """How far towards a limit of the family means are not ruled out."""
    outer, step = limit, float(mixture.family.yardstick(mean))
    while not math.isfinite(outer) and math.isfinite(step):
        step *= 2.0
        far = mean + math.copysign(step, limit)
        if mixture.evidence_at(count, mean, far) > level:
            outer = far
    if not mixture.evidence_at(count, mean, outer) > level:
        return limit
    inner = mean
    for _ in range(STEPS):
        middle = 0.5 * (inner + outer)
        if mixture.evidence_at(count, mean, middle) > level:
            outer = middle
        else:
            inner = middle
    return outer
