"""RUCB, relative upper confidence bound for duels (Zoghi, Whiteson, Munos and de Rijke, 2014).

With u_ik = share of wins + √(α ln t / N_ik), 2 before the first duel and ½ for i = k: the
candidates C are the items with u_ik ≥ ½ for all k, and the hypothesised winner B stays while it
is one of them.  One candidate alone becomes B and comes first; of several, B comes first with
probability ½, else one of the others at random; where there is none, any item at random.  Second
comes argmax over k of u_k,first, at random among equals, the first item itself only where no
other attains it.  α > ½ in the proofs, 0.51 in the experiments.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.graves_lai.duels import pair_position
from ossb.models.dueling import DuelingModel
from ossb.policies.base import Kind
from ossb.policies.double_thompson import upper_win
from ossb.records import record
from ossb.structures.offers import DUELS
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally


class RucbMemory(NamedTuple):
    """The candidates, and the winner so far."""

    candidates: np.ndarray  # int64 (n_items,): 1 for an item that may be the winner
    winner: np.ndarray  # int64 (1,): B, or −1


@record
class Rucb(NamedTuple):
    """An optimistic champion against its most optimistic challenger."""

    model: DuelingModel
    alpha: float

    def start(self) -> RucbMemory:
        return RucbMemory(np.zeros(self.model.n_items, np.int64), np.array([-1]))

    def select(self, tally: Tally, memory: RucbMemory, rng: Generator) -> Decision:
        wide = self.alpha * math.log(tally.clock[0] + 1.0)
        champion = self.champion(wide, tally, memory, rng)
        challenger, highest, equals = champion, 0.5, 0
        for k in range(self.model.n_items):
            if k != champion:
                value = upper_win(self.model, tally, k, champion, wide)
                if value > highest or (value == highest and equals == 0):
                    challenger, highest, equals = k, value, 1
                elif value == highest:
                    equals += 1
                    if rng.random() * equals < 1.0:
                        challenger = k
        arm = pair_position(champion, challenger, self.model.n_items)
        return Decision(arm, EXPLOIT if champion == challenger else EXPLORE)

    def champion(self, wide: float, tally: Tally, memory: RucbMemory, rng: Generator) -> int:
        """One of the items that may beat all others."""
        n_items, found, last = self.model.n_items, 0, -1
        for i in range(n_items):
            memory.candidates[i] = 1
            for k in range(n_items):
                if upper_win(self.model, tally, i, k, wide) < 0.5:
                    memory.candidates[i] = 0
                    break
            if memory.candidates[i] == 1:
                found += 1
                last = i
        if found == 0:
            memory.winner[0] = -1
            return int(rng.random() * n_items)
        if memory.winner[0] >= 0 and memory.candidates[memory.winner[0]] == 0:
            memory.winner[0] = -1
        if found == 1:
            memory.winner[0] = last
            return last
        if memory.winner[0] >= 0:
            if rng.random() < 0.5:
                return int(memory.winner[0])
            found -= 1
        left = int(rng.random() * found)
        for i in range(n_items):
            if memory.candidates[i] == 1 and i != memory.winner[0]:
                if left == 0:
                    return i
                left -= 1
        return last


def build(instance: Any, alpha: float) -> Rucb:
    if not 0 < alpha < math.inf:
        raise InputError("alpha", "be positive", alpha)
    return Rucb(instance.model(), alpha)


RUCB = Kind(
    name="rucb",
    build=build,
    parameters={"alpha": 0.51},
    needs=(DUELS,),
    reference="Zoghi, Whiteson, Munos and de Rijke (2014)",
    remembers=True,
)
