"""HGL, the horizon-aware Graves–Lai rule: the default policy.

OSSB tracks the rates of a noisy estimate, which explode with small estimated gaps.  HGL keeps
the Graves–Lai logic and drops the tracking: play an arm when what one play buys, over a horizon
as long as the time elapsed, exceeds its gap.  With B(x) the fall of the summed expected
improvement of all alternatives over the leader that one play of x brings,

    play argmax over x of  h_t ν B(x) − (r_leader − r_x),   h_t = κ_t t + P m² √t,

κ_t = k max(1, ln t / 8), m the largest share of one alternative in the expected improvement, and
ν = 1 / (1 + Σ_j Φ(−z_j)) so that correlated alternatives are not counted twice.  The second part
of h_t buys early what would be bought later anyway.  While the leader is the answer, the rule
looks again after floor(N_leader / 100) rounds, and at every ask while observations are on their
way, since time stands still between tells; a leader that shows nothing (a duel of an item
with itself) is played until h_t has grown enough for another arm, or something is told.

For independent arms this attains the Lai–Robbins constant, and its threshold is, where they are
Gaussian, the Chang–Lai expansion of the Gittins index with discount 1 − 1/h_t.  For linear arms it
is consistent: regret is at most a power of ln T (``docs/hgl/proofs.md``).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.kernels import kernel
from ossb.models.base import NU, TOP_SHARE, Model
from ossb.policies.base import Kind
from ossb.policies.hgl_contexts import HglInContexts, hgl_in_contexts
from ossb.policies.hgl_implicit import ImplicitHgl, implicit_hgl
from ossb.records import record
from ossb.structures.offers import FEATURES, INDEPENDENT, ITEMS, MODEL, NEIGHBOURS
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally, is_waiting

PATIENCE = 0.01
LONGEST_NAP = 1000
CAUTIOUS_FRONT = 100.0  # at least, also where the structure brings nothing forward by itself
UNBOUNDED = ("poisson", "exponential")  # counts and waiting times, of which a few may be far off


class HglMemory(NamedTuple):
    """What the model holds, and until when the last answer stands."""

    model: Any
    held: np.ndarray  # int64 (3,): rounds told until which the leader is held, the leader, and,
    # where it shows nothing, how much was told when that began; −1 where it does


@record
class Hgl(NamedTuple):
    """Play what one play buys most of, net of its gap.

    Parameters
    ----------
    model
        The structure.
    horizon_factor
        k: the horizon looked ahead to, in units of the time elapsed; little changes from 1 to 2.
    front
        P: how much of the exploration is brought forward.
    cautious
        m in place of m² in h_t, and three times the front, for smaller tails; a front that was
        not given is taken as 100 at least.  The default on independent arms that show counts or
        waiting times: the first few may be far off, and no prior holds them.
    """

    model: Model
    horizon_factor: float
    front: float
    cautious: bool

    def start(self) -> HglMemory:
        return HglMemory(self.model.start(), np.zeros(3, np.int64))

    def select(self, tally: Tally, memory: HglMemory, rng: Generator) -> Decision:
        t = tally.clock[0] + 1.0
        waiting = is_waiting(tally)
        if waiting:
            memory.held[0] = 0  # what is on its way may change the answer
        elif t < memory.held[0]:
            if memory.held[2] < 0 or memory.held[2] == told_in_all(tally):
                return Decision(memory.held[1], EXPLOIT)
        first = self.model.unseen(tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        leader = self.model.weigh(tally, memory.model)
        share = memory.model.numbers[TOP_SHARE]
        if not self.cautious:
            share *= share
        scale = self.look_ahead(t, share) * memory.model.numbers[NU]
        top = memory.model.rewards[leader]
        best, value = leader, scale * memory.model.gain[leader]
        for x in range(memory.model.rewards.shape[0]):
            net = scale * memory.model.gain[x] - (top - memory.model.rewards[x])
            if net > value:
                best, value = x, net
        if best != leader:
            return Decision(best, EXPLORE)
        if waiting:
            return Decision(leader, EXPLOIT)
        if self.model.is_informative(leader):
            memory.held[0] = int(t) + 1 + int(PATIENCE * tally.plays[leader])
            memory.held[2] = -1
        else:
            memory.held[0] = self.wake(t, share, cheapest(leader, memory.model))
            memory.held[2] = told_in_all(tally)
        memory.held[1] = leader
        return Decision(leader, EXPLOIT)

    def look_ahead(self, t: float, share: float) -> float:
        """h_t, the horizon a play is bought for."""
        ahead = self.horizon_factor * max(1.0, math.log(t) / 8.0) * t
        return ahead + self.front * share * math.sqrt(t)

    def wake(self, t: float, share: float, price: float) -> int:
        """The first round after t whose horizon exceeds a price; within twice the time passed."""
        low = int(t)
        high = 2 * low + LONGEST_NAP
        if self.look_ahead(float(high), share) <= price:
            return high
        while high - low > 1:
            middle = (low + high) // 2
            if self.look_ahead(float(middle), share) > price:
                high = middle
            else:
                low = middle
        return high


@kernel
def told_in_all(tally: Tally) -> int:
    """The number of observations; a leader that shows nothing adds none."""
    total = 0
    for k in range(tally.counts.shape[0]):
        total += tally.counts[k]
    return total


@kernel
def cheapest(leader: int, look: Any) -> float:
    """The least horizon at which an arm is worth its gap."""
    price = math.inf
    top = look.rewards[leader]
    for x in range(look.rewards.shape[0]):
        gain = look.numbers[NU] * look.gain[x]
        if x != leader and gain > 0.0:
            price = min(price, (top - look.rewards[x]) / gain)
    return price


def foresight(instance: Any) -> tuple[float, float]:
    """The ``horizon_factor`` and ``front`` that an instance is played with by itself.

    Where there are contexts nothing is brought forward: each is met again and again, and what
    others show meanwhile may be enough.
    """
    if instance.has_contexts:
        return 1.0, 0.0
    if INDEPENDENT in instance.offers or NEIGHBOURS in instance.offers:
        return 1.0, 100.0
    if FEATURES in instance.offers and not instance.shows_lists:
        return 1.0, 10.0
    return 2.0, 30.0 if ITEMS in instance.offers else 0.0


def settings(
    instance: Any, horizon_factor: float | None, front: float | None, cautious: bool | None
) -> tuple[float, float, bool]:
    """The parameters, those that were left to the policy filled in."""
    usual_factor, usual_front = foresight(instance)
    if horizon_factor is None:
        horizon_factor = usual_factor
    if cautious is None:
        cautious = INDEPENDENT in instance.offers and instance.observation in UNBOUNDED
    if front is None:
        front = max(usual_front, CAUTIOUS_FRONT) if cautious else usual_front
    if not 0 < horizon_factor < math.inf:
        raise InputError("horizon_factor", "be positive", horizon_factor)
    if not 0 <= front < math.inf:
        raise InputError("front", "be non-negative", front)
    return horizon_factor, 3.0 * front if cautious else front, cautious


def build(
    instance: Any, horizon_factor: float | None, front: float | None, cautious: bool | None
) -> Hgl | HglInContexts | ImplicitHgl:
    horizon_factor, front, cautious = settings(instance, horizon_factor, front, cautious)
    if instance.has_contexts:
        return hgl_in_contexts(instance, horizon_factor, front, cautious)
    if instance.n_arms is None:
        return implicit_hgl(instance, horizon_factor, front, cautious)
    return Hgl(instance.weighing(), horizon_factor, front, cautious)


def fits(instance: Any) -> str | None:
    """Arms that are not listed are told of item by item."""
    if instance.n_arms is None and not instance.shows_lists:
        return "needs its arms listed where only their sum is shown"
    unprojected: str | None = instance.unprojected()
    return unprojected


HGL = Kind(
    name="hgl",
    build=build,
    parameters={"horizon_factor": None, "front": None, "cautious": None},
    needs=(MODEL,),
    reference="this package, after Graves and Lai (1997) and Combes et al. (2017)",
    fits=fits,
    switches=("cautious",),
    in_contexts=True,
)
