"""Duels: is the leader the Condorcet winner?

Were item j the winner instead, it would lose no duel: every p_jk ≥ ½.  Duel (j, k) is held against
that by M_k, a mixture of tilts downwards from ½ (from ½ + ε for the leader b), see
``ossb.models.rivals.tilts``.  All duels of j together are

    ½ Π_k (1 + M_k)/2 + ½ Σ_k M_k / (n − 1) :

half of the prior is on any set of them, where a duel that says nothing costs ln 2 at most, and half
on a single one, where others cost nothing.  That is at most the same martingale against the truth
if the winner is j: one test, of the true winner, whichever item is wrongly taken for it.

T* parts into items: a duel tells only against the item that loses it, so that each item but the
winner is ruled out by the one duel that it loses most clearly.  So a test challenges the item of
least evidence, as it will be judged, by the duel that may tell most, at the end of an interval of
its mean: shares in proportion to N_x d_x, as for pairs, would find that duel but slowly.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.families.bernoulli import bernoulli_kl
from ossb.graves_lai.duels import pair_position
from ossb.kernels import kernel
from ossb.models.base import Model
from ossb.models.rivals.base import CHARGE, NUMBERS, RUNNER_UP, STATISTIC, Contest
from ossb.models.rivals.mixture import Mixture
from ossb.models.rivals.tilts import Tilts, new_tilts, tilt_beyond
from ossb.records import Ints, record
from ossb.tally import Tally

FAR = 700.0  # exponents beyond which e^x counts as infinite
DOUBT = 1.0  # evidence against a mean that is still reckoned with
BISECTIONS = 30


class DuelSpace(NamedTuple):
    """What is known of each duel and item."""

    evidence: np.ndarray  # float64 (4, n_items, n_items): ln M of an item by a duel, and of what
    losses: np.ndarray  # float64 (n_items,): Σ N kl(p, ½) over the duels an item loses
    shortfall: np.ndarray  # float64 (n_items,): how much each item loses to the leader by
    tilts: Tilts


@kernel
def halved(evidence: float) -> float:
    """ln((1 + e^x) / 2)."""
    if evidence > FAR:
        return evidence - math.log(2.0)
    return math.log(0.5 + 0.5 * math.exp(evidence))


@record
class DuelRivals(NamedTuple):
    """Pairs i ≤ j of items.

    Parameters
    ----------
    offset
        What turns a component's mean into the chance that its first item wins.
    component
        The component of each arm, −1 for an item with itself.
    """

    model: Model
    mixture: Mixture
    offset: float
    n_items: int
    first: Ints
    second: Ints
    component: Ints

    def start(self) -> Contest:
        n, arms, duels = self.n_items, self.component.shape[0], self.component.max() + 1
        space = DuelSpace(np.full((4, n, n), -1.0), np.zeros(n), np.zeros(n), new_tilts())
        return Contest(
            np.zeros(arms), np.zeros(n), np.zeros(n), np.zeros(duels), np.zeros(NUMBERS), space
        )

    def unseen(self, tally: Tally) -> int:
        """A duel never asked for; until something is told, the one asked for least."""
        least = -1
        for x in range(self.component.shape[0]):
            if self.component[x] >= 0 and (least < 0 or tally.plays[x] < tally.plays[least]):
                least = x
        if least >= 0 and (tally.plays[least] == 0 or tally.clock[0] == 0):
            return least
        return -1

    def won_share(self, i: int, k: int, tally: Tally) -> float:
        """How often i has won against k; ½ where nothing was told."""
        c = self.component[pair_position(i, k, self.n_items)]
        if tally.counts[c] == 0:
            return 0.5
        first = tally.means[c] + self.offset
        return first if i < k else 1.0 - first

    def times_met(self, i: int, k: int, tally: Tally) -> float:
        """How often they met."""
        return float(tally.counts[self.component[pair_position(i, k, self.n_items)]])

    def lead_items(self, tally: Tally, memory: Contest) -> int:
        """The item of least evidence against it, of most wins on ties; fills what each loses."""
        losses, leader, most = memory.space.losses, 0, -1.0
        for i in range(self.n_items):
            losses[i] = 0.0
            memory.masses[i] = 0.0
            wins = 0.0
            for k in range(self.n_items):
                if k != i:
                    p, n = self.won_share(i, k, tally), self.times_met(i, k, tally)
                    memory.masses[i] += n
                    wins += p
                    if p < 0.5:
                        losses[i] += n * bernoulli_kl(p, 0.5)
            if losses[i] < losses[leader] or (losses[i] == losses[leader] and wins > most):
                leader, most = i, wins
        for i in range(self.n_items):
            memory.space.shortfall[i] = 0.0
            if i != leader:
                memory.space.shortfall[i] = max(self.won_share(leader, i, tally) - 0.5, 0.0)
        for x in range(self.component.shape[0]):
            short = memory.space.shortfall[self.first[x]] + memory.space.shortfall[self.second[x]]
            memory.rewards[x] = -0.5 * short
        return leader

    def rank(self, epsilon: float, tally: Tally, memory: Contest) -> int:
        leader = self.lead_items(tally, memory)
        losses = memory.space.losses
        for j in range(self.n_items):
            memory.ratios[j] = max(losses[j] - losses[leader], 0.0) if j != leader else math.inf
        return pair_position(leader, leader, self.n_items)

    def expect_means(self, tally: Tally, memory: Contest, out: np.ndarray) -> None:
        for k in range(out.shape[0]):
            out[k] = tally.means[k]

    def oppose(
        self, rival: int, leader: int, epsilon: float, tally: Tally, memory: Contest
    ) -> None:
        for c in range(memory.news.shape[0]):
            memory.news[c] = 0.0
        for k in range(self.n_items):
            if k != rival:
                p = self.won_share(rival, k, tally)
                if p < 0.5:
                    c = self.component[pair_position(rival, k, self.n_items)]
                    memory.news[c] = bernoulli_kl(p, 0.5)
        if memory.space.losses[rival] <= 0.0:  # nothing speaks against it yet: ask the leader
            memory.news[self.component[pair_position(rival, self.first[leader], self.n_items)]] = (
                1.0
            )

    def bar(self, k: int, leader: int, epsilon: float) -> float:
        """How often an item that is better than the leader by ε wins against k at least."""
        return 0.5 + epsilon if k == leader else 0.5

    def challenge(
        self, leader: int, epsilon: float, prices: np.ndarray, tally: Tally, memory: Contest
    ) -> int:
        rival, least, best = -1, math.inf, self.first[leader]
        for j in range(self.n_items):
            if j != best:
                against = self.weigh_item(j, best, epsilon, tally, memory)
                if against < least:
                    rival, least = j, against
        if rival < 0:
            return rival
        chosen, most, told = best, 0.0, 0.0
        for k in range(self.n_items):
            if k != rival:
                p, n = self.won_share(rival, k, tally), self.times_met(rival, k, tally)
                bar = self.bar(k, best, epsilon)
                thought = self.least_share(p, n)
                if thought < bar:
                    news = bernoulli_kl(thought, bar)
                    worth = news / prices[pair_position(rival, k, self.n_items)]
                    if worth > most:
                        chosen, most, told = k, worth, news
        for c in range(memory.news.shape[0]):
            memory.news[c] = 0.0
        position = pair_position(rival, chosen, self.n_items)
        memory.news[self.component[position]] = told if told > 0.0 else 1.0
        return rival

    def least_share(self, p: float, n: float) -> float:
        """The least chance to win that is not ruled out."""
        if n <= 0.0:
            return 0.0
        low, high = 0.0, p
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if n * bernoulli_kl(p, middle) > DOUBT:
                low = middle
            else:
                high = middle
        return high

    def weigh_item(
        self, item: int, leader: int, epsilon: float, tally: Tally, memory: Contest
    ) -> float:
        """ln of the evidence that an item is not the winner; infinite where it cannot be."""
        if epsilon > 0.5:  # nobody wins more often than always
            return math.inf
        several, largest, mass = 0.0, -math.inf, 0.0
        for k in range(self.n_items):
            if k == item:
                continue
            one = self.weigh_duel(item, k, self.bar(k, leader, epsilon), tally, memory)
            several += halved(one)
            if one > largest:
                mass, largest = mass * math.exp(largest - one) + 1.0, one
            else:
                mass += math.exp(one - largest)
        single = largest + math.log(mass / (self.n_items - 1.0))
        above, below = max(several, single), min(several, single)
        return above + math.log(0.5 + 0.5 * math.exp(below - above))

    def weigh_duel(self, item: int, k: int, bar: float, tally: Tally, memory: Contest) -> float:
        """ln M of an item that would win against k this often at least, from the last look if it is
        of the same.
        """
        p, n, known = self.won_share(item, k, tally), self.times_met(item, k, tally), memory.space
        evidence = known.evidence
        same = evidence[1, item, k] == n and evidence[2, item, k] == p
        if not (same and evidence[3, item, k] == bar):
            evidence[0, item, k] = tilt_beyond(self.mixture, n, p, bar, -1.0, known.tilts)
            evidence[1, item, k], evidence[2, item, k], evidence[3, item, k] = n, p, bar
        return float(evidence[0, item, k])

    def judge(self, epsilon: float, level: float, tally: Tally, memory: Contest) -> int:
        leader, verdict = self.lead_items(tally, memory), memory.verdict
        verdict[STATISTIC], verdict[CHARGE], verdict[RUNNER_UP] = math.inf, 0.0, -1.0
        for j in range(self.n_items):
            if j != leader:
                against = self.weigh_item(j, leader, epsilon, tally, memory)
                if against < verdict[STATISTIC]:
                    verdict[STATISTIC], verdict[RUNNER_UP] = against, float(j)
        return pair_position(leader, leader, self.n_items)
