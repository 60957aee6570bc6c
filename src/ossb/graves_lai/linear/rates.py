"""Rates of linear arms at estimates that move, from what is held; see ``program.warm``."""

from typing import NamedTuple

import numpy as np

from ossb.graves_lai.information.quadratic import Quadratic, quadratic
from ossb.graves_lai.linear.slots import MOST, Slots, change_leader, slots
from ossb.graves_lai.program.warm import LEADER, Held, follow, held
from ossb.graves_lai.program.work import symmetric, work_arrays
from ossb.kernels import inlined_kernel


class LinearMemory(NamedTuple):
    """What rates tell at the last estimate, the solution that is held, and those of before."""

    information: Quadratic
    held: Held
    slots: Slots

    @property
    def renewable(self) -> bool:
        """A memory that is saved may begin it anew: it only saves work."""
        return True


def start(arms: np.ndarray, most: int = MOST) -> LinearMemory:
    """An empty memory for these arms, (K, d), which holds at most so many leaders."""
    arms = np.ascontiguousarray(arms, np.float64)
    n_arms, dimension = arms.shape
    work = work_arrays(n_arms, n_arms, symmetric(dimension))
    return LinearMemory(quadratic(arms, arms), held(work), slots(n_arms, dimension, most))


@inlined_kernel
def rates(
    means: np.ndarray,
    rewards: np.ndarray,
    leader: int,
    kappa: float,
    memory: LinearMemory,
    out: np.ndarray,
) -> float:
    """Fill ``out`` with feasible rates at the means and return their certified relative gap.

    Parameters
    ----------
    means
        ⟨φ, x⟩ of every arm.
    rewards
        What regret is counted in: the means again for linear arms, g(means) for a
        generalised linear model observed through its index.
    leader
        The arm of the largest mean.
    kappa
        Largest gap at which a held solution is kept.
    """
    if memory.held.sizes[LEADER] != leader:
        change_leader(leader, memory.information, memory.held, memory.slots)
    memory.information.take_means(means, rewards, leader, memory.held.work.plays)
    return follow(memory.information, leader, kappa, memory.held, out)
