"""What every model answers, in Python and in compiled code.

A model is a record made by ``instance.model()``; everything it computes goes to its memory, a
named tuple of plain arrays made by ``start()``.  Every memory has the fields of ``Look``.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from ossb.kernels import kernel
from ossb.tally import Tally

# places in Look.numbers
NU, TOP_SHARE, WEAKEST, SETTLED = 0, 1, 2, 3


class Look(NamedTuple):
    """What a model has seen in a tally."""

    estimate: np.ndarray  # float64 (n_components,): θ̂, or the means as they stand
    rewards: np.ndarray  # float64 (n_arms,): estimated rewards, larger is better
    gain: np.ndarray  # float64 (n_arms,): what one play of each arm buys, per unit of horizon
    numbers: np.ndarray  # float64 (4,), see the methods that fill them


class Model(Protocol):
    """One structure with one family."""

    n_arms: int
    n_components: int

    def start(self) -> Any:
        """A fresh memory (Python only)."""
        ...

    def unseen(self, tally: Tally) -> int:
        """An arm to play before the estimate makes sense, or −1."""
        ...

    def informative(self, place: int) -> int:
        """The arm at a place of a small set that together shows everything, −1 past its end."""
        ...

    def is_informative(self, arm: int) -> bool:
        """Whether playing the arm shows anything."""
        ...

    def plug_in(self, tally: Tally, memory: Any) -> int:
        """Take the means as they stand for the estimate; returns the leader, lowest on ties."""
        ...

    def project(self, tally: Tally, memory: Any) -> int:
        """Take the maximum-likelihood point of Θ for the estimate; returns the leader."""
        ...

    def rates(self, leader: int, kappa: float, memory: Any, out: np.ndarray) -> float:
        """Feasible rates c(x) at the estimate in ``memory``, 0 at the leader.

        Returns their certified relative gap, at most ``kappa`` (or the solver's own tolerance);
        infinite where no feasible rates were found.
        """
        ...

    def test(self, leader: int, level: float, tally: Tally, memory: Any) -> None:
        """The likelihood ratio of the leader against every alternative.

        ``numbers[WEAKEST]`` is min_j GLR_j, from what was told alone, and ``numbers[SETTLED]``
        the same with all that the leader shows taken as known, N(leader) = ∞.  They are exact
        where ``level`` is infinite; otherwise they need only be on the right side of it, and
        SETTLED may be left alone where WEAKEST is not below.
        """
        ...

    def weigh(self, tally: Tally, memory: Any) -> int:
        """What one play of each arm buys, at the estimate and with plays pending counted.

        Fills ``rewards``; ``gain`` with ½ c_x Σ_j φ(z_j) s_j ρ_j(x); ``numbers[NU]`` with
        1 / (1 + Σ_j Φ(−z_j)) and ``numbers[TOP_SHARE]`` with the largest expected improvement
        over their sum.  Returns the leader.
        """
        ...


class Doubting(Model, Protocol):
    """A model that also says what stands against each arm by itself."""

    def doubt(self, tally: Tally, memory: Any, order: np.ndarray, out: np.ndarray) -> None:
        """The likelihood ratio of the best parameter against the best one with arm x optimal.

        From what was told alone; 0 for an arm that nothing speaks against.  ``order`` is room
        for the arms in some order, kept from round to round.
        """
        ...


@kernel
def take_means(tally: Tally, estimate: np.ndarray, rewards: np.ndarray) -> int:
    """Take the means as they stand for estimate and rewards; returns the leader, lowest on ties."""
    leader = 0
    for x in range(rewards.shape[0]):
        estimate[x] = tally.means[x]
        rewards[x] = tally.means[x]
        if tally.means[x] > tally.means[leader]:
            leader = x
    return leader
