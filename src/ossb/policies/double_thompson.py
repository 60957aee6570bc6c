"""Double Thompson sampling for duels (Wu and Liu, 2016).

With u_ik, l_ik = share of wins ± √(α ln t / N_ik), both far out before the first duel:

- the candidates are the items with u_ik > ½ for most k; preferences are drawn from their
  Beta(1 + wins, 1 + losses) posteriors, and the candidate that beats most others there, at random
  among equals, comes first;
- preferences against it are drawn again, ½ for itself, and the item of the largest draw among
  those with l_i,first ≤ ½ comes second, itself included.

α > ½ in the proofs, 0.51 in the experiments.  Draws that decide nothing are left out: those of
pairs without a candidate, all where there is one candidate only, and those of excluded items.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.graves_lai.duels import pair_position
from ossb.kernels import kernel
from ossb.models.dueling import DuelingModel
from ossb.policies.base import Kind
from ossb.policies.duels import duels_told, win_rate
from ossb.records import record
from ossb.structures.offers import DUELS
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally

HOPES, WINS = 0, 1  # rows of Scores.table


class Scores(NamedTuple):
    """What is counted in a round."""

    table: np.ndarray  # int64 (2, n_items): items that each may beat, and beats in a draw


@kernel
def upper_win(model: DuelingModel, tally: Tally, i: int, k: int, wide: float) -> float:
    """u_ik, with ``wide`` = α ln t; 2 before the first duel, as x/0 is 1 in the paper."""
    if i == k:
        return 0.5
    arm = pair_position(i, k, model.n_items)
    if tally.plays[arm] == 0:
        return 2.0
    rate, component = 0.5, model.component[arm]
    if tally.counts[component] > 0:
        rate = tally.means[component] + model.offset
        if i > k:
            rate = 1.0 - rate
    return rate + math.sqrt(wide / tally.plays[arm])


@kernel
def drawn_preference(model: DuelingModel, tally: Tally, i: int, k: int, rng: Generator) -> float:
    """The chance that i beats k, drawn from its posterior."""
    told = duels_told(model, tally, i, k)
    wins = win_rate(model, tally, i, k) * told
    return rng.beta(max(wins, 0.0) + 1.0, max(told - wins, 0.0) + 1.0)


@record
class DoubleThompson(NamedTuple):
    """Draw a champion and a challenger."""

    model: DuelingModel
    alpha: float

    def start(self) -> Scores:
        return Scores(np.zeros((2, self.model.n_items), np.int64))

    def select(self, tally: Tally, memory: Scores, rng: Generator) -> Decision:
        wide = self.alpha * math.log(tally.clock[0] + 1.0)
        champion = self.champion(wide, tally, memory, rng)
        challenger, highest = champion, 0.5
        for i in range(self.model.n_items):
            # l_i,champion = 1 − u_champion,i
            if i != champion and upper_win(self.model, tally, champion, i, wide) >= 0.5:
                drawn = drawn_preference(self.model, tally, i, champion, rng)
                if drawn > highest:
                    challenger, highest = i, drawn
        arm = pair_position(champion, challenger, self.model.n_items)
        return Decision(arm, EXPLOIT if champion == challenger else EXPLORE)

    def champion(self, wide: float, tally: Tally, memory: Scores, rng: Generator) -> int:
        """Of the items that may beat most others, the one that does in a draw."""
        n_items, hopes, wins = self.model.n_items, memory.table[HOPES], memory.table[WINS]
        most = 0
        for i in range(n_items):
            hopes[i], wins[i] = 0, 0
            for k in range(n_items):
                if upper_win(self.model, tally, i, k, wide) > 0.5:
                    hopes[i] += 1
            most = max(most, hopes[i])
        best, found = 0, 0
        for i in range(n_items):
            if hopes[i] == most:
                best = i
                found += 1
        if found == 1:
            return best
        for i in range(n_items):
            for k in range(i + 1, n_items):
                if hopes[i] == most or hopes[k] == most:
                    drawn = drawn_preference(self.model, tally, i, k, rng)
                    wins[i if drawn > 0.5 else k] += 1
        record_wins, equals = -1, 0
        for i in range(n_items):
            if hopes[i] == most:
                if wins[i] > record_wins:
                    best, record_wins, equals = i, wins[i], 1
                elif wins[i] == record_wins:
                    equals += 1
                    if rng.random() * equals < 1.0:
                        best = i
        return best


def build(instance: Any, alpha: float) -> DoubleThompson:
    if not 0 < alpha < math.inf:
        raise InputError("alpha", "be positive", alpha)
    return DoubleThompson(instance.model(), alpha)


DOUBLE_THOMPSON = Kind(
    name="double-thompson",
    build=build,
    parameters={"alpha": 0.51},
    needs=(DUELS,),
    reference="Wu and Liu (2016)",
)
