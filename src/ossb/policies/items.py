"""What policies for semi-bandit feedback share: arms that are sets of items, each observed."""

from typing import Any, NamedTuple

import numpy as np

from ossb.arm_sets.base import ArmSet, Items, total
from ossb.arm_sets.table import ArmTable
from ossb.kernels import kernel
from ossb.structures.base import Instance
from ossb.tally import Tally


class ItemMemory(NamedTuple):
    """What each item is worth to the round."""

    scores: np.ndarray  # float64 (n_items,)


class TableMemory(NamedTuple):
    """The arms met, where they are not listed."""

    table: ArmTable


class Membership(NamedTuple):
    """Arm x has the items ``members[starts[x]:starts[x + 1]]``."""

    starts: np.ndarray  # int64 (n_arms + 1,)
    members: np.ndarray  # int64


def membership_of(arms: np.ndarray) -> Membership:
    """The items of each row of a 0/1 matrix."""
    rows = [np.flatnonzero(row) for row in arms]
    return Membership(np.cumsum([0, *(row.size for row in rows)]), np.concatenate(rows))


@kernel
def total_of(starts: np.ndarray, members: np.ndarray, scores: np.ndarray, arm: int) -> float:
    """Total score of the items of an arm."""
    value = 0.0
    for place in range(starts[arm], starts[arm + 1]):
        value += scores[members[place]]
    return value


@kernel
def heaviest(starts: np.ndarray, members: np.ndarray, scores: np.ndarray) -> int:
    """The arm of the largest total score, lowest on ties."""
    best = 0
    most = total_of(starts, members, scores, 0)
    for x in range(1, starts.shape[0] - 1):
        value = total_of(starts, members, scores, x)
        if value > most:
            best, most = x, value
    return best


@kernel
def uncovered(starts: np.ndarray, members: np.ndarray, tally: Tally) -> int:
    """The arm with most items neither seen nor on their way, or −1 where all are.

    Until something is told, that with most of the items asked for least often.
    """
    if members.shape[0] == 0:
        return -1
    least = tally.counts[members[0]] + tally.pending[members[0]]
    for place in range(1, members.shape[0]):
        item = members[place]
        least = min(least, tally.counts[item] + tally.pending[item])
    if least > 0 and tally.clock[0] > 0:
        return -1
    best, most = -1, 0
    for x in range(starts.shape[0] - 1):
        fresh = 0
        for place in range(starts[x], starts[x + 1]):
            item = members[place]
            if tally.counts[item] + tally.pending[item] == least:
                fresh += 1
        if fresh > most:
            best, most = x, fresh
    return best


def uncovered_arm(arm_set: ArmSet, tally: Tally) -> Items | None:
    """An arm behind an oracle with most items not seen; None where all are."""
    asked = tally.counts + tally.pending
    if tally.clock[0] > 0 and asked.min() > 0:
        return None
    missing = (asked == asked.min()).astype(np.float64)
    arm = arm_set.maximize(missing)
    return arm if total(missing, arm) > 0 else None


def looks(tally: Tally) -> np.ndarray:
    """Observations of each item, those on their way included, at least 1."""
    return np.maximum(tally.counts + tally.pending, 1).astype(np.float64)


def shows_items(instance: Instance) -> str | None:
    """Why an instance does not show the items of an arm; None where it does."""
    return None if instance.shows_lists else "needs semi-bandit feedback"


def in_unit_interval_or_gaussian(instance: Instance) -> str | None:
    """Why widths of the sub-Gaussian kind do not fit an instance; None where they do."""
    if instance.observation not in ("gaussian", "bernoulli", "bounded"):
        return "is for gaussian, bernoulli and bounded observations"
    return shows_items(instance)


def through_oracle(instance: Any) -> str | None:
    """Why a policy behind an oracle only does not fit an instance; None where it does."""
    if instance.n_arms is not None:
        return "is for arms given by an arm_set"
    return in_unit_interval_or_gaussian(instance)
