"""Track and stop (Garivier and Kaufmann, 2016): play by the best shares at the estimate.

w* are the shares of plays that tell most of the leader's strongest rival, max_w min_j Z_j(w), found
by cutting planes over the structure's rivals (``ossb.models.rivals.shares``), to a thousandth of
their value.

- ``tracking="C"``: the sums of the shares of all rounds are tracked, each with ε_t = ½ / √(s² + t)
  for every arm of a set of s arms that together show everything: play what is most behind.
- ``tracking="D"``: play an arm of the set with fewer than √t − s/2 plays; else what is most behind
  t w*, of the arms with a share.

``top=m`` and ``above=level`` ask for more than the best arm, see ``ossb.policies.top_two``.
With costs κ (Qin and Russo, 2024) what a play tells is counted per cost: ``cost``, see
``ossb.policies.telling``.  As for the other policies, when to stop is not for it to say.

Of generalised linear arms whose rewards are observed Z_j is that of the quadratic at the estimate,
by which shares are within 8 % of the best value: an exact Z_j is a convex program for each rival at
each of the shares that are tried.

Departures: the paper's arms are independent, and its set is all of them; w* is solved for anew when
the leader changes and after every fiftieth part more rounds, not in each of them; shares are mixed
with ε_t, which the paper cuts them off at.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.fields import choice
from ossb.models.rivals import Contest, Rivals, Showing
from ossb.models.rivals.shares import SHARES, Imagined
from ossb.policies.arms import overdue
from ossb.policies.base import Kind
from ossb.policies.telling import (
    TEST,
    Pricing,
    begin_targets,
    check_test,
    fits_solved,
    most_behind,
    opponents,
    read_cost,
)
from ossb.records import record
from ossb.structures.offers import MODEL
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

LAZY = 50  # of so many rounds one may pass before shares are solved for again
NEAREST = "of shares as good to a thousandth, those that the search meets first are taken"
# places in Tracking.plan
BEGUN, LEADER, NEXT = 0, 1, 2


class Tracking(NamedTuple):
    """What the rivals hold, the shares, and what is due."""

    contest: Contest
    imagined: Imagined
    plan: np.ndarray  # int64 (3,): whether targets are set, 1 + the leader, when to solve again
    targets: np.ndarray  # float64 (n_arms,): shares summed
    shares: np.ndarray  # float64 (n_arms,): w*
    mixed: np.ndarray  # float64 (n_arms,): shares of this round
    prices: np.ndarray  # float64 (n_arms,)


@record
class TrackAndStop(NamedTuple):
    """Track the best shares.

    Parameters
    ----------
    model
        The rivals of the structure.
    showing
        What the arms show.
    pricing
        What their plays cost.
    epsilon
        How much worse than the best arm, or than the border of what is asked for, is good enough.
    cumulated
        Whether sums of shares are tracked, or the last ones.
    n_forced
        How many arms together show everything.
    """

    model: Rivals
    showing: Showing
    pricing: Pricing
    epsilon: float
    cumulated: bool
    n_forced: int

    def start(self) -> Tracking:
        n = self.showing.starts.shape[0] - 1
        imagined, plan = self.showing.start_imagined(self.model, True), np.zeros(3, np.int64)
        return Tracking(self.model.start(), imagined, plan, *np.zeros((4, n)))

    def select(self, tally: Tally, memory: Tracking, rng: Generator) -> Decision:
        first = self.model.unseen(tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        begin_targets(tally, memory.plan, memory.targets)
        leader = self.model.rank(self.epsilon, tally, memory.contest)
        if self.n_forced == 0:  # there is nothing to see
            return Decision(leader, EXPLOIT)
        played = 0
        for x in range(tally.plays.shape[0]):
            played += tally.plays[x]
        if memory.plan[LEADER] != 1 + leader or played >= memory.plan[NEXT]:
            memory.plan[LEADER] = 1 + leader
            memory.plan[NEXT] = played + 1 + played // LAZY
            self.solve_shares(leader, tally, memory)
        size = float(self.n_forced)
        if self.cumulated:
            self.mix_shares(0.5 / math.sqrt(size * size + played), memory)
            best = most_behind(memory.targets, memory.mixed, 0, memory.mixed.shape[0], tally)
        else:
            best = overdue(self.model.model, math.sqrt(float(played)) - 0.5 * size, tally)
            if best >= 0:
                return Decision(best, ESTIMATE)
            behind = -math.inf
            for x in range(memory.shares.shape[0]):
                lacks = played * memory.shares[x] - tally.plays[x]
                if memory.shares[x] > 0.0 and lacks > behind:
                    best, behind = x, lacks
        if best < 0:
            best = leader
        return Decision(best, EXPLOIT if best == leader else EXPLORE)

    def solve_shares(self, leader: int, tally: Tally, memory: Tracking) -> None:
        """w* at the estimate."""
        imagined, total = memory.imagined, 0.0
        self.model.expect_means(tally, memory.contest, imagined.tally.means)
        self.pricing.price_arms(
            memory.contest.rewards, leader, 0, memory.prices.shape[0], memory.prices
        )
        self.showing.best_shares(self.model, self.epsilon, memory.prices, imagined)
        spent = imagined.line[SHARES]
        for x in range(spent.shape[0]):
            memory.shares[x] = spent[x] / memory.prices[x]
            total += memory.shares[x]
        for x in range(spent.shape[0]):
            memory.shares[x] /= total

    def mix_shares(self, least: float, memory: Tracking) -> None:
        """The shares of this round, with so much for each arm of the set."""
        place, arm = 0, self.model.model.informative(0)
        for x in range(memory.mixed.shape[0]):
            memory.mixed[x] = (1.0 - self.n_forced * least) * memory.shares[x]
        while arm >= 0:
            memory.mixed[arm] += least
            place += 1
            arm = self.model.model.informative(place)


def build(
    instance: Any, cost: Any, tracking: str, epsilon: float, top: Any, above: Any, delta: float
) -> TrackAndStop:
    check_test(epsilon, delta)
    rivals, showing = opponents(instance, top, above)
    cumulated = choice(tracking, "tracking", ("C", "D")) == "C"
    return TrackAndStop(
        rivals, showing, read_cost(cost), epsilon, cumulated, forced_arms(rivals.model)
    )


def forced_arms(model: Any) -> int:
    """How many arms the set has that together shows everything."""
    place = 0
    while model.informative(place) >= 0:
        place += 1
    return place


TRACK_AND_STOP = Kind(
    name="track-and-stop",
    build=build,
    parameters={**TEST, "tracking": "C"},
    needs=(MODEL,),
    reference="Garivier and Kaufmann (2016); Qin and Russo (2024)",
    fits=fits_solved,
    remembers=True,
    mixed=("cost",),
    breaks={
        "units (polytope)": NEAREST,
        "units (union)": NEAREST,
    },
)
