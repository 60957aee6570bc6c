"""LSE, line search elimination for unimodal arms on a line (after Yu and Mannor, 2011).

A golden section search: of the arms from ``low`` to ``high``, two inside, B < C, are played until
each has n observations; if B is the better one the best arm is left of C, else right of B, and
the rest is dropped.  The arm that is left in the end is played from there on.

As in the paper, the least difference D of the means of neighbouring arms is known
(``slope``).  What could not be established, no text of the paper being at hand: its numbers.
Here n ≥ 4 v ln T / (D (C − B))², v the variance proxy of the observations (¼ for values in
[0, 1]), with which a comparison drops the best arm with probability at most 1/T: if that does not
lie between B and C, their means differ by D (C − B) at least, and the difference of two means of n
observations has the proxy 2v / n.

Departures: past the planned horizon T, this is squared and the search starts again, with all
observations kept; while observations are on their way, the one of B and C played less is played.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.fields import integer
from ossb.policies.base import Kind
from ossb.records import Ints, record
from ossb.structures.offers import NEIGHBOURS
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally

SECTION = 0.5 * (3.0 - math.sqrt(5.0))  # 0.382…, the shorter part of a golden section
LOW, HIGH = 0, 1  # places in LseMemory.bracket


class LseMemory(NamedTuple):
    """What is left of the line, and the horizon that is planned for."""

    bracket: np.ndarray  # int64 (2,): the first and the last place left
    plan: np.ndarray  # float64 (1,)


@record
class Lse(NamedTuple):
    """Search the line for its peak, then stay there.

    Parameters
    ----------
    path
        The arms along the line.
    proxy
        v, the variance proxy of the observations.
    least_drop
        D, the least difference of the means of neighbouring arms.
    horizon
        T, the first planned horizon.
    """

    path: Ints
    proxy: float
    least_drop: float
    horizon: int

    def start(self) -> LseMemory:
        return LseMemory(np.array([0, self.path.shape[0] - 1]), np.array([float(self.horizon)]))

    def select(self, tally: Tally, memory: LseMemory, rng: Generator) -> Decision:
        while tally.clock[0] + 1.0 > memory.plan[0]:
            memory.plan[0] *= memory.plan[0]
            memory.bracket[LOW] = 0
            memory.bracket[HIGH] = self.path.shape[0] - 1
        while memory.bracket[LOW] < memory.bracket[HIGH]:
            inset = int(SECTION * (memory.bracket[HIGH] - memory.bracket[LOW]))
            left, right = memory.bracket[LOW] + inset, memory.bracket[HIGH] - inset
            one, other = self.path[left], self.path[right]
            wanted = self.enough(right - left, memory.plan[0])
            if tally.counts[one] < wanted or tally.counts[other] < wanted:
                arm = one if tally.plays[one] <= tally.plays[other] else other
                return Decision(arm, EXPLORE)
            if tally.means[one] > tally.means[other]:
                memory.bracket[HIGH] = right - 1
            else:
                memory.bracket[LOW] = left + 1
        return Decision(self.path[memory.bracket[LOW]], EXPLOIT)

    def enough(self, apart: int, horizon: float) -> float:
        """n, the observations with which two arms that far apart are compared."""
        drop = self.least_drop * apart
        return 4.0 * self.proxy * math.log(horizon) / (drop * drop)


def build(instance: Any, slope: float, horizon: int) -> Lse:
    if not 0 < slope < math.inf:
        raise InputError("slope", "be positive", slope)
    horizon = integer(horizon, "horizon", least=2)
    proxy = instance.sigma * instance.sigma if instance.observation == "gaussian" else 0.25
    return Lse(instance.model().path, proxy, slope, horizon)


def fits(instance: Any) -> str | None:
    if instance.observation not in ("gaussian", "bernoulli", "bounded"):
        return "is for gaussian, bernoulli and bounded observations"
    return None if instance.model().path.size else "needs arms in a line"


LSE = Kind(
    name="lse",
    build=build,
    parameters={"slope": 0.1, "horizon": 10_000},
    needs=(NEIGHBOURS,),
    reference="after Yu and Mannor (2011)",
    fits=fits,
    remembers=True,
    breaks={"units": "slope, the least difference of neighbouring means, has the unit of rewards"},
)
