"""DMED, deterministic minimum empirical divergence (Honda and Takemura, 2010).

Each arm is played once, then arms are played in turns.  After every play, an arm that is not to
be played any more in this turn joins the next one if

    N(x) kl(mean of x, largest mean) ≤ ln n − ln N(x),   n the rounds played so far.

That is ``threshold="ratio"``, which Garivier and Cappé (2011) call DMED+; ``threshold="time"`` is
ln n alone, which they call DMED.  The paper's divergence is that from the empirical law to the
laws on [0, 1] of a larger mean; here it is that of the family, and for bounded observations the
Bernoulli one, which is smaller.  Within a turn arms come in the order of their numbers: to number
them otherwise changes what is known when each is played.
"""

import math
from typing import Any, NamedTuple

from numpy.random import Generator

from ossb.families import Family
from ossb.fields import choice
from ossb.policies.arms import reward_is_observed, unplayed
from ossb.policies.base import Kind
from ossb.policies.evidence import best_told, evidence_against
from ossb.policies.turns import LAST, Turn, begin_turn, new_turn, next_in_turn, take
from ossb.records import record
from ossb.structures.offers import OWN_COMPONENT
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

THRESHOLDS = ("ratio", "time")


@record
class Dmed(NamedTuple):
    """Play, in turns, the arms that may be the best.

    Parameters
    ----------
    n_arms
        Number of arms.
    per_play
        Whether ln N(x) is taken off the threshold.
    """

    family: Family
    n_arms: int
    per_play: bool

    def start(self) -> Turn:
        return new_turn(self.n_arms)

    def select(self, tally: Tally, memory: Turn, rng: Generator) -> Decision:
        first = unplayed(tally)
        if first >= 0:
            return Decision(first, ESTIMATE)
        leader = best_told(tally)
        if memory.marks[LAST] >= 0:
            self.qualify(tally, tally.means[max(leader, 0)], memory)
        arm = next_in_turn(memory)
        if arm < 0:
            begin_turn(memory, max(leader, 0))
            arm = next_in_turn(memory)
        take(memory, arm)
        return Decision(arm, EXPLOIT if arm == leader else EXPLORE)

    def qualify(self, tally: Tally, top: float, memory: Turn) -> None:
        """Let into the next turn what may be the best."""
        level = math.log(max(tally.clock[0], 1))
        for x in range(self.n_arms):
            if memory.remaining[x] == 0 and memory.following[x] == 0:
                allowed = level - math.log(tally.plays[x]) if self.per_play else level
                if evidence_against(self.family, tally, x, top) <= allowed:
                    memory.following[x] = 1


def build(instance: Any, threshold: str) -> Dmed:
    per_play = choice(threshold, "threshold", THRESHOLDS) == "ratio"
    return Dmed(instance.family, instance.n_arms, per_play)


DMED = Kind(
    name="dmed",
    build=build,
    parameters={"threshold": "ratio"},
    needs=(OWN_COMPONENT,),
    reference="Honda and Takemura (2010)",
    fits=reward_is_observed,
    remembers=True,
    breaks={"relabelling": "arms of a turn are played in the order of their numbers"},
)
