"""RMED2, relative minimum empirical divergence with the best opponents (Komiyama et al., 2015).

As RMED1, with two additions.  Before every turn, each pair is played until it has α ln ln t
duels.  And item l meets the opponent b that tells most for its regret, argmin over k with
m_lk < ½ of (m_leader,l + m_leader,k − 1) / kl(m_lk, ½), if N_l,leader ≥ N_l,b / ln ln t; where
not, or where nobody beats l, its opponent is that of RMED1.  α = 3 in the paper's experiments.
The price has the sign of the lower bound; programs by others have its negative.
"""

import math
from typing import Any, NamedTuple

from numpy.random import Generator

from ossb.errors import InputError
from ossb.families.bernoulli import bernoulli_kl
from ossb.graves_lai.duels import pair_position
from ossb.kernels import kernel
from ossb.models.dueling import DuelingModel
from ossb.policies.base import Kind
from ossb.policies.duels import duels_held, scarce_pair, win_rate
from ossb.policies.rmed1 import (
    RmedMemory,
    least_evidence,
    new_memory,
    next_item,
    slack_of,
    usual_opponent,
)
from ossb.policies.turns import NEXT, take
from ossb.records import record
from ossb.structures.offers import DUELS
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally


@kernel
def cheapest_teacher(model: DuelingModel, tally: Tally, item: int, leader: int) -> int:
    """Who beats an item at the least regret for the information, or −1 where nobody does."""
    opponent, least = -1, math.inf
    regret = win_rate(model, tally, leader, item)
    for k in range(model.n_items):
        rate = win_rate(model, tally, item, k)
        if k != item and rate < 0.5:
            price = regret + win_rate(model, tally, leader, k) - 1.0
            price /= bernoulli_kl(rate, 0.5)
            if price < least:
                opponent, least = k, price
    return opponent


@record
class Rmed2(NamedTuple):
    """Duels, in turns, of the items that may be the winner, against the best opponents.

    Parameters
    ----------
    slack
        f(K).
    alpha
        Every pair has ``alpha`` ln ln t duels.
    """

    model: DuelingModel
    slack: float
    alpha: float

    def start(self) -> RmedMemory:
        return new_memory(self.model)

    def select(self, tally: Tally, memory: RmedMemory, rng: Generator) -> Decision:
        first = scarce_pair(self.model, tally, 1.0)
        if first >= 0:
            return Decision(first, ESTIMATE)
        self.model.recall(tally, memory.model)
        leader = least_evidence(memory.model.losses)
        item = next_item(tally, leader, self.slack, memory)
        doubly = math.log(math.log(max(tally.clock[0] + 1.0, 3.0)))
        if memory.turn.marks[NEXT] == 0:
            scarce = scarce_pair(self.model, tally, self.alpha * doubly)
            if scarce >= 0:
                return Decision(scarce, ESTIMATE)
        take(memory.turn, item)
        opponent = cheapest_teacher(self.model, tally, item, leader)
        if opponent >= 0:
            met = duels_held(self.model, tally, item, leader)
            if met * doubly < duels_held(self.model, tally, item, opponent):
                opponent = -1
        if opponent < 0:
            opponent = usual_opponent(self.model, tally, item, leader)
        arm = pair_position(item, opponent, self.model.n_items)
        return Decision(arm, EXPLOIT if item == opponent else EXPLORE)


def build(instance: Any, scale: float, power: float, alpha: float) -> Rmed2:
    if not 0 < alpha < math.inf:
        raise InputError("alpha", "be positive", alpha)
    return Rmed2(instance.model(), slack_of(instance.n_items, scale, power), alpha)


RMED2 = Kind(
    name="rmed2",
    build=build,
    parameters={"scale": 0.3, "power": 1.01, "alpha": 3.0},
    needs=(DUELS,),
    reference="Komiyama, Honda, Kashima and Nakagawa (2015)",
    remembers=True,
    breaks={"relabelling": "items of a turn are taken in the order of their numbers"},
)
