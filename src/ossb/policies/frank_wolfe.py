"""Frank–Wolfe sampling, FWS (Wang, Tzeng and Proutiere, 2021): one step up the slope in each round.

What is to be maximised is F(x) = min_j f_j(x) over shares of plays x, f_j what they tell against
rival j.  Each round moves x by 1/t towards the shares z of the largest least slope ⟨z − x, ∇f_j⟩
over the rivals with f_j(x) < F(x) + r_t, r_t = t^(−0.9): a matrix game, solved exactly.  Where
√⌊t/K⌋ is whole, z is the same for all arms.  The arm of the largest x/ω is played, ω the shares of
plays so far.

``top=m`` and ``above=level`` ask for more than the best arm, see ``ossb.policies.top_two``.
With costs κ (Qin and Russo, 2024) x are shares of what is spent and f_j is per cost: ``cost``, see
``ossb.policies.telling``.  When to stop is not for it to say.

Departures: f_j and ∇f_j are those of any structure's rivals, at the plays that were made in place
of x, which they follow; the same for all arms is for those of a small set that together show
everything, of as many as that has in the place of K.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.models.rivals import Contest, Rivals, Showing
from ossb.models.rivals.cover import Cover, begin_cover, cheapest_cover, new_cover, settled
from ossb.policies.base import Kind
from ossb.policies.telling import (
    TEST,
    Pricing,
    check_test,
    fits_solved,
    least_telling,
    opponents,
    read_cost,
    waits_for_a_tie,
)
from ossb.policies.track_and_stop import forced_arms
from ossb.records import record
from ossb.structures.offers import MODEL
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

FIRST = "of several solutions of its game the one that pivots find first is taken"
NEAR = 0.1  # t r_t = t^NEAR
LEVEL = 1e-9  # ratios that differ by rounding are one
STEEPEST = 1e6  # of a slope, in units of F


class Climbing(NamedTuple):
    """What the rivals hold, the game of a round, and what is due."""

    contest: Contest
    cover: Cover
    targets: np.ndarray  # float64 (n_arms,): t x
    told: np.ndarray  # float64 (n_arms,): of one rival
    prices: np.ndarray  # float64 (n_arms,)


@record
class FrankWolfe(NamedTuple):
    """Follow the steepest way up.

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
    n_forced
        How many arms together show everything.
    """

    model: Rivals
    showing: Showing
    pricing: Pricing
    epsilon: float
    n_forced: int

    def start(self) -> Climbing:
        n, contest = self.showing.starts.shape[0] - 1, self.model.start()
        return Climbing(contest, new_cover(n, contest.ratios.shape[0]), *np.zeros((3, n)))

    def select(self, tally: Tally, memory: Climbing, rng: Generator) -> Decision:
        targets, played = memory.targets, 0
        for x in range(targets.shape[0]):
            played += tally.plays[x]
        first = self.model.unseen(tally)
        if first >= 0:
            targets[first] += 1.0
            return Decision(first, ESTIMATE)
        leader = self.model.rank(self.epsilon, tally, memory.contest)
        if self.n_forced == 0:  # there is nothing to see
            return Decision(leader, EXPLOIT)
        if waits_for_a_tie(memory.contest.ratios, tally):
            starts = self.showing.starts
            best = least_telling(starts, 0, targets.shape[0], leader, tally)
            targets[best] += 1.0
            return Decision(best, EXPLORE)
        root = int(math.sqrt(float(played // self.n_forced)) + 0.5)
        if root * root == played // self.n_forced:
            self.raise_set(targets)
        elif not self.climb(leader, float(played), tally, memory):
            targets[leader] += 1.0
        best, most = leader, 0.0
        for x in range(targets.shape[0]):
            if targets[x] > 0.0:
                ratio = targets[x] / tally.plays[x] if tally.plays[x] > 0 else math.inf
                if ratio > most * (1.0 + LEVEL):
                    best, most = x, ratio
        return Decision(best, EXPLOIT if best == leader else EXPLORE)

    def raise_set(self, targets: np.ndarray) -> None:
        """Raise the targets of the arms played by force, all alike."""
        for place in range(self.n_forced):
            targets[self.model.model.informative(place)] += 1.0 / self.n_forced

    def climb(self, leader: int, played: float, tally: Tally, memory: Climbing) -> bool:
        """Enter z into what is due; False where nothing stands against the leader."""
        contest, cover, told, prices = memory.contest, memory.cover, memory.told, memory.prices
        targets, least, spent, total = memory.targets, math.inf, 0.0, 0.0
        self.pricing.price_arms(contest.rewards, leader, 0, prices.shape[0], prices)
        for x in range(targets.shape[0]):
            spent += tally.plays[x] * prices[x]
        for j in range(contest.ratios.shape[0]):
            least = min(least, contest.ratios[j])
        if least == math.inf:
            return False
        room = math.pow(played, NEAR)
        begin_cover(cover)
        unit = (least + room) / spent
        for j in range(contest.ratios.shape[0]):
            if contest.ratios[j] < least + room:
                ratio = self.showing.oppose_fully(
                    self.model, j, leader, self.epsilon, tally, contest, prices, told
                )
                # ⟨z − x, ∇f⟩ = ⟨z, ∇f⟩ − f, f of degree 1; raised by F + r_t to be positive
                raised = (least + room - ratio) / spent
                row = cover.rows[cover.sizes[0]]
                for x in range(told.shape[0]):
                    row[x] = min((told[x] + raised) / unit, STEEPEST)
                cover.sizes[0] += 1
        if not cheapest_cover(cover) > 0.0:
            return False
        settled(cover, told)  # an arm that is owed nothing is not played for rounding
        for x in range(targets.shape[0]):
            told[x] /= prices[x]
            total += told[x]
        for x in range(targets.shape[0]):
            targets[x] += told[x] / total
        return True


def build(
    instance: Any, cost: Any, epsilon: float, top: Any, above: Any, delta: float
) -> FrankWolfe:
    check_test(epsilon, delta)
    rivals, showing = opponents(instance, top, above)
    return FrankWolfe(rivals, showing, read_cost(cost), epsilon, forced_arms(rivals.model))


FRANK_WOLFE = Kind(
    name="frank-wolfe",
    build=build,
    parameters=TEST,
    needs=(MODEL,),
    reference="Wang, Tzeng and Proutiere (2021); Qin and Russo (2024)",
    fits=fits_solved,
    remembers=True,
    mixed=("cost",),
    breaks={"relabelling": FIRST, "mirror (lipschitz)": FIRST},
)
