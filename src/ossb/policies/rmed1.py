"""RMED1, relative minimum empirical divergence for duels (Komiyama et al., 2015).

I_i = Σ over k with m_ik ≤ ½ of N_ik kl(m_ik, ½) is the evidence that item i is not the Condorcet
winner, and the leader is argmin I.  Every pair is played once, then items are taken in turns,
item l against the leader if that beats it (m_l,leader ≤ ½) or nobody does, else against
argmin m_lk.  After every duel, an item that does not come any more in this turn joins the next one
if I_i − min I ≤ ln t + f(K), f(K) = ``scale`` K^``power``: 0.3 K^1.01 in the paper's experiments.

The order within a turn, arbitrary in the paper, is ascending; so are ties settled.  To number the
items otherwise changes what is known when each is taken.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.graves_lai.duels import pair_position
from ossb.kernels import kernel
from ossb.models.dueling import DuelingMemory, DuelingModel
from ossb.policies.base import Kind
from ossb.policies.duels import scarce_pair, win_rate
from ossb.policies.turns import LAST, Turn, begin_turn, new_turn, next_in_turn, take
from ossb.records import record
from ossb.structures.offers import DUELS
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

STEEPEST = 10.0  # power of K: 1.01 in the paper, and doubles hold 10³⁰⁸


class RmedMemory(NamedTuple):
    """The evidence, and the turn."""

    model: DuelingMemory
    turn: Turn


def new_memory(model: DuelingModel) -> RmedMemory:
    return RmedMemory(model.start(), new_turn(model.n_items))


@kernel
def least_evidence(losses: np.ndarray) -> int:
    """argmin I, lowest on ties."""
    leader = 0
    for i in range(losses.shape[0]):
        if losses[i] < losses[leader]:
            leader = i
    return leader


@kernel
def next_item(tally: Tally, leader: int, slack: float, memory: RmedMemory) -> int:
    """The next item in turn, after the last duel has let others into the next turn."""
    turn, losses = memory.turn, memory.model.losses
    if turn.marks[LAST] >= 0:
        turn.marks[LAST] = -1
        level = math.log(max(tally.clock[0], 1)) + slack
        for i in range(losses.shape[0]):
            if turn.remaining[i] == 0 and losses[i] - losses[leader] <= level:
                turn.following[i] = 1
    item = next_in_turn(turn)
    if item < 0:
        begin_turn(turn, leader)
        item = next_in_turn(turn)
    return item


@kernel
def usual_opponent(model: DuelingModel, tally: Tally, item: int, leader: int) -> int:
    """The leader if it beats the item or nobody does, else who beats it most."""
    hardest, lowest, is_beaten = leader, math.inf, False
    for k in range(model.n_items):
        if k != item:
            rate = win_rate(model, tally, item, k)
            if rate <= 0.5:
                if k == leader:
                    return leader
                is_beaten = True
            if rate < lowest:
                hardest, lowest = k, rate
    return hardest if is_beaten else leader


@record
class Rmed1(NamedTuple):
    """Duels, in turns, of the items that may be the winner.

    Parameters
    ----------
    slack
        f(K).
    """

    model: DuelingModel
    slack: float

    def start(self) -> RmedMemory:
        return new_memory(self.model)

    def select(self, tally: Tally, memory: RmedMemory, rng: Generator) -> Decision:
        first = scarce_pair(self.model, tally, 1.0)
        if first >= 0:
            return Decision(first, ESTIMATE)
        self.model.recall(tally, memory.model)
        leader = least_evidence(memory.model.losses)
        item = next_item(tally, leader, self.slack, memory)
        take(memory.turn, item)
        opponent = usual_opponent(self.model, tally, item, leader)
        arm = pair_position(item, opponent, self.model.n_items)
        return Decision(arm, EXPLOIT if item == opponent else EXPLORE)


def slack_of(n_items: int, scale: float, power: float) -> float:
    """f(K)."""
    if not 0 <= scale < math.inf:
        raise InputError("scale", "be non-negative", scale)
    if not 0 <= power <= STEEPEST:
        raise InputError("power", f"lie in [0, {STEEPEST:g}]", power)
    return float(scale) * float(n_items) ** float(power)


def build(instance: Any, scale: float, power: float) -> Rmed1:
    return Rmed1(instance.model(), slack_of(instance.n_items, scale, power))


RMED1 = Kind(
    name="rmed1",
    build=build,
    parameters={"scale": 0.3, "power": 1.01},
    needs=(DUELS,),
    reference="Komiyama, Honda, Kashima and Nakagawa (2015)",
    remembers=True,
    breaks={"relabelling": "items of a turn are taken in the order of their numbers"},
)
