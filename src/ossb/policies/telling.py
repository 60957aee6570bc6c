"""What policies that identify share: the rivals, what plays cost, and what they are due.

``cost`` is ``samples`` (κ = 1, the fastest test), a number c (κ = gap + c, a trade) or ``regret``,
which is c = a hundredth of the largest gap: with c = 0 the leader would be played for ever (Qin and
Russo, 2024).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ossb.errors import InputError
from ossb.fields import is_whole
from ossb.graves_lai.answers import answer_of, read_answer
from ossb.kernels import kernel
from ossb.models.rivals import Rivals, Showing, rivals_for, showing_of
from ossb.policies.arms import lists_arms
from ossb.records import record
from ossb.structures.base import Instance
from ossb.structures.offers import NEIGHBOURS
from ossb.tally import Tally

MOST_ARMS = 300
LEVEL = 1e-9  # of a play: what is due is a sum of rounded shares
SAMPLES, REGRET, MIXED = 0, 1, 2
# what policies that play for a test are told of it, and what plays cost
TEST = {"cost": "samples", "epsilon": 0.0, "top": None, "above": None, "delta": 0.05}
LEAST_SHARE = 0.01  # of the largest gap, that a play costs beside its regret


@record
class Pricing(NamedTuple):
    """Which cost, and c."""

    kind: int
    extra: float

    def price_arms(
        self, rewards: np.ndarray, leader: int, low: int, high: int, out: np.ndarray
    ) -> None:
        """κ of the arms low, …, high − 1, in units of the largest gap where it has their unit."""
        top, largest = rewards[leader], 0.0
        for x in range(low, high):
            largest = max(largest, top - rewards[x])
        for x in range(low, high):
            out[x] = 1.0
            if self.kind != SAMPLES and largest > 0.0:
                extra = self.extra if self.kind == MIXED else LEAST_SHARE * largest
                out[x] = (max(top - rewards[x], 0.0) + extra) / largest


@kernel
def begin_targets(tally: Tally, begun: np.ndarray, targets: np.ndarray) -> None:
    """What was played before anything was due counts as due."""
    if begun[0] == 0:
        begun[0] = 1
        for x in range(targets.shape[0]):
            targets[x] = float(tally.plays[x])


@kernel
def most_behind(targets: np.ndarray, shares: np.ndarray, low: int, high: int, tally: Tally) -> int:
    """Enter the shares of a round; returns the arm, of those with one, most behind what is due.

    Of the arms low, …, high − 1; of several that are level the one played least.
    """
    best, behind = -1, -math.inf
    for x in range(low, high):
        if shares[x] > 0.0:
            targets[x] += shares[x]
            lacks = targets[x] - tally.plays[x]
            level = best >= 0 and lacks > behind - LEVEL and tally.plays[x] < tally.plays[best]
            if lacks > behind + LEVEL or level:
                best, behind = x, lacks
    return best


@kernel
def least_telling(starts: np.ndarray, low: int, high: int, leader: int, tally: Tally) -> int:
    """The arm played least of those that show something; the leader where none does."""
    least = leader
    for x in range(low, high):
        if starts[x] == starts[x + 1]:
            continue
        silent = starts[least] == starts[least + 1]
        if silent or tally.plays[x] < tally.plays[least]:
            least = x
    return least


@kernel
def waits_for_a_tie(ratios: np.ndarray, tally: Tally) -> bool:
    """Whether answers are on their way while a rival is as good as the leader.

    By what was told no shares tell the two apart, so that all asks would go to the same arm.
    """
    waiting, tied = False, False
    for component in range(tally.pending.shape[0]):
        waiting = waiting or tally.pending[component] > 0
    for j in range(ratios.shape[0]):
        tied = tied or ratios[j] <= 0.0
    return waiting and tied


def read_cost(cost: Any) -> Pricing:
    """The cost that a user's value stands for."""
    if cost == "samples":
        return Pricing(SAMPLES, 0.0)
    if cost == "regret":
        return Pricing(REGRET, 0.0)
    if not (is_whole(cost) or isinstance(cost, float)) or not 0 < cost < math.inf:
        raise InputError("cost", 'be "samples", "regret" or a positive number', cost)
    return Pricing(MIXED, float(cost))


def opponents(instance: Any, top: Any = None, above: Any = None) -> tuple[Rivals, Showing]:
    """The rivals of an instance, by what is asked for, and what its arms show."""
    rivals = rivals_for(instance, read_answer(answer_of(top, above), instance.n_arms))
    if rivals is None:
        raise InputError("policy", f"fit the instance: the rivals of {instance.kind} are not known")
    return rivals, showing_of(instance.showing())


def check_test(epsilon: float, delta: float) -> None:
    """Refuse what no test can have; decisions do not depend on δ, those who ask when to stop do."""
    if not 0 <= epsilon < math.inf:
        raise InputError("epsilon", "be non-negative", epsilon)
    if not 0 < delta < 1:
        raise InputError("delta", "lie in (0, 1)", delta)


def fits(instance: Instance) -> str | None:
    """Arms have to be listed, and alternatives to be at hand."""
    listed = lists_arms(instance)
    if listed is not None or NEIGHBOURS in instance.offers:  # these are the rivals, on any graph
        return listed
    return instance.unprojected()


def fits_solved(instance: Any) -> str | None:
    """For policies that solve over the arms: what they remember grows with the square of these."""
    found = fits(instance)
    if found is None and instance.n_arms > MOST_ARMS:
        return f"is for at most {MOST_ARMS} arms"
    return found
