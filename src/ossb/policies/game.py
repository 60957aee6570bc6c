"""Pure exploration as a game (Degenne, Ménard, Shang and Valko, 2020): learner against rivals.

A learner plays shares of plays w against whoever chooses the alternative: in each round w_t is that
of AdaHedge (de Rooij, van Erven, Grünwald and Koolen, 2014), λ_t is the alternative least ruled out
at w_t, and the learner is told what an arm may tell against λ_t at most, (√d_x + √(ln t / N_x))²,
d_x the divergence at the estimate and N_x its observations, or what others tell of it in such a
number.  The arm played is that most behind the sums of the shares.

``top=m`` and ``above=level`` ask for more than the best arm, see ``ossb.policies.top_two``.
With costs κ (Qin and Russo, 2024) w are shares of what is spent, and what is told is per cost:
``cost``, see ``ossb.policies.telling``.  When to stop is not for it to say.

Departures: the arms are any structure's, through its rivals; there is one learner, which begins
anew when the leader changes, where the paper has one for each answer; the bonus has ln t where the
paper's is a bound that holds with a given confidence.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.models.rivals import Contest, Rivals, Showing
from ossb.models.rivals.shares import SHARES, Imagined
from ossb.policies.base import Kind
from ossb.policies.telling import (
    TEST,
    Pricing,
    begin_targets,
    check_test,
    fits,
    least_telling,
    most_behind,
    opponents,
    read_cost,
    waits_for_a_tie,
)
from ossb.records import record
from ossb.structures.offers import MODEL
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

# places in Playing.plan
BEGUN, LEADER = 0, 1


class Playing(NamedTuple):
    """What the rivals hold, the learner, and what is due."""

    contest: Contest
    imagined: Imagined
    plan: np.ndarray  # int64 (2,): whether targets are set, 1 + the leader
    mixability: np.ndarray  # float64 (1,): the learner's Δ, which sets its rate ln K / Δ
    losses: np.ndarray  # float64 (n_arms,): its losses, summed
    targets: np.ndarray  # float64 (n_arms,): shares summed
    shares: np.ndarray  # float64 (n_arms,): of this round
    told: np.ndarray  # float64 (n_arms,)
    prices: np.ndarray  # float64 (n_arms,)


@record
class Game(NamedTuple):
    """Play what a learner of shares learns against the strongest rival.

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
    """

    model: Rivals
    showing: Showing
    pricing: Pricing
    epsilon: float

    def start(self) -> Playing:
        n = self.showing.starts.shape[0] - 1
        imagined, plan = self.showing.start_imagined(self.model, False), np.zeros(2, np.int64)
        return Playing(self.model.start(), imagined, plan, np.zeros(1), *np.zeros((5, n)))

    def select(self, tally: Tally, memory: Playing, rng: Generator) -> Decision:
        first = self.model.unseen(tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        begin_targets(tally, memory.plan, memory.targets)
        leader = self.model.rank(self.epsilon, tally, memory.contest)
        if waits_for_a_tie(memory.contest.ratios, tally):
            starts = self.showing.starts
            best = least_telling(starts, 0, memory.targets.shape[0], leader, tally)
            memory.targets[best] += 1.0
            return Decision(best, EXPLORE)
        if memory.plan[LEADER] != 1 + leader:
            memory.plan[LEADER] = 1 + leader
            memory.mixability[0] = 0.0
            for x in range(memory.losses.shape[0]):
                memory.losses[x] = 0.0
        spent, shares, total = memory.imagined.line[SHARES], memory.shares, 0.0
        self.pricing.price_arms(
            memory.contest.rewards, leader, 0, memory.prices.shape[0], memory.prices
        )
        self.learn_shares(memory, spent)
        self.play_round(tally, memory, spent)
        for x in range(shares.shape[0]):
            shares[x] = spent[x] / memory.prices[x]
            total += shares[x]
        for x in range(shares.shape[0]):
            shares[x] /= total
        best = most_behind(memory.targets, shares, 0, shares.shape[0], tally)
        return Decision(best, EXPLOIT if best == leader else EXPLORE)

    def learn_shares(self, memory: Playing, spent: np.ndarray) -> None:
        """The learner's shares of what is spent."""
        losses, least, total, n = memory.losses, math.inf, 0.0, spent.shape[0]
        for x in range(n):
            least = min(least, losses[x])
        for x in range(n):
            if memory.mixability[0] > 0.0:
                rate = math.log(max(float(n), 2.0)) / memory.mixability[0]
                spent[x] = math.exp(-rate * (losses[x] - least))
            else:
                spent[x] = 1.0 if losses[x] == least else 0.0
            total += spent[x]
        for x in range(n):
            spent[x] /= total

    def play_round(self, tally: Tally, memory: Playing, spent: np.ndarray) -> None:
        """The rival's answer, and what the learner is told of it."""
        imagined, told, n = memory.imagined, memory.told, spent.shape[0]
        contest = imagined.contest
        self.model.expect_means(tally, memory.contest, imagined.tally.means)
        self.showing.imagine_plays(spent, memory.prices, imagined.tally)
        leader, rival = self.model.rank(self.epsilon, imagined.tally, contest), 0
        for j in range(contest.ratios.shape[0]):
            if contest.ratios[j] < contest.ratios[rival]:
                rival = j
        if not contest.ratios[rival] < math.inf:
            return
        self.showing.oppose_fully(
            self.model, rival, leader, self.epsilon, imagined.tally, contest, memory.prices, told
        )
        level = math.log(max(tally.clock[0] + 1.0, 2.0))
        largest = 0.0
        for x in range(n):
            root = math.sqrt(max(told[x] * memory.prices[x], 0.0))
            root += math.sqrt(level / self.looks_at(x, tally, memory))
            told[x] = root * root / memory.prices[x]
            largest = max(largest, told[x])
        if not largest < math.inf:
            return
        self.lose(told, spent, memory)

    def looks_at(self, x: int, tally: Tally, memory: Playing) -> float:
        """How many observations there are of an arm, at least 1."""
        masses, least = memory.contest.masses, math.inf
        for place in range(self.showing.starts[x], self.showing.starts[x + 1]):
            least = min(least, float(tally.counts[self.showing.shown[place]]))
        if masses.shape[0] == memory.shares.shape[0]:
            least = max(least, masses[x]) if least < math.inf else least
        return max(least, 1.0)

    def lose(self, gains: np.ndarray, spent: np.ndarray, memory: Playing) -> None:
        """Enter a round's gains into the learner: its loss beside the mix loss adds to Δ."""
        n, own, mixed, most = gains.shape[0], 0.0, 0.0, 0.0
        for x in range(n):
            own -= spent[x] * gains[x]
            if spent[x] > 0.0:
                most = max(most, gains[x])
        if memory.mixability[0] > 0.0:
            rate = math.log(max(float(n), 2.0)) / memory.mixability[0]
            for x in range(n):
                mixed += spent[x] * math.exp(rate * (gains[x] - most))
            mixed = -most - math.log(mixed) / rate
        else:
            mixed = -most
        memory.mixability[0] += max(own - mixed, 0.0)
        for x in range(n):
            memory.losses[x] -= gains[x]


def build(instance: Any, cost: Any, epsilon: float, top: Any, above: Any, delta: float) -> Game:
    check_test(epsilon, delta)
    rivals, showing = opponents(instance, top, above)
    return Game(rivals, showing, read_cost(cost), epsilon)


GAME = Kind(
    name="game",
    build=build,
    parameters=TEST,
    needs=(MODEL,),
    reference="Degenne, Ménard, Shang and Valko (2020)",
    fits=fits,
    remembers=True,
    mixed=("cost",),
)
