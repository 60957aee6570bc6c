"""Rates for policies: feasible, and near optimal, at estimates of item means."""

from typing import NamedTuple

import numpy as np

from ossb.graves_lai import program
from ossb.graves_lai.information.items import SetItems, set_items
from ossb.graves_lai.program.warm import follow
from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.kernels import separate_kernel
from ossb.records import record


@record
class SemiBanditMemory(NamedTuple):
    """The program at the last estimate, and the solution held."""

    information: SetItems
    held: program.Held


def start(arms: np.ndarray, items: ItemFamily) -> SemiBanditMemory:
    """Nothing held yet, for a 0/1 matrix of floats with a row for each arm."""
    n_arms, n_items = arms.shape
    unknown = np.zeros(n_items)
    information = set_items(items, arms, unknown, np.zeros(n_arms), unknown)
    return SemiBanditMemory(information, program.held(program.work_arrays(n_arms, n_arms, n_items)))


@separate_kernel
def rates(phi: np.ndarray, kappa: float, memory: SemiBanditMemory, out: np.ndarray) -> float:
    """Write feasible rates within 1 + gap of optimal; returns the certified relative gap.

    Parameters
    ----------
    phi
        Item means; the leader is the best arm, the first one on ties.
    kappa
        Gap up to which the held rates are kept; 0 solves every time.
    memory
        From ``start``; changed in place.
    out
        One rate per arm; 0 for the leader.
    """
    leader = memory.information.take_estimate(phi, memory.held.work.plays)
    return follow(memory.information, leader, kappa, memory.held, out)
