"""The rates that GLPG holds, in arrays of a fixed size: a campaign saves them as they are."""

from typing import NamedTuple

import numpy as np

from ossb.arm_sets.base import Items
from ossb.policies.glpg_program import Plan


class Held(NamedTuple):
    """A plan; the leader has no items before the first.

    There is room for as many arms as least squares over the items and the cost can mix.
    """

    leader: np.ndarray  # bool (n_items,)
    arms: np.ndarray  # bool (n_items + 1, n_items)
    shares: np.ndarray  # float64 (n_items + 1,): rates of the arms, 0 where there is none
    rates: np.ndarray  # float64 (n_items,)
    cost: np.ndarray  # float64 (1,)


def no_plan(n_items: int) -> Held:
    """Before the first solution."""
    return Held(
        np.zeros(n_items, np.bool_),
        np.zeros((n_items + 1, n_items), np.bool_),
        np.zeros(n_items + 1),
        np.zeros(n_items),
        np.zeros(1),
    )


def hold(plan: Plan, held: Held) -> None:
    """Keep a plan in place of the one before."""
    for array in held:
        array[:] = 0
    held.leader[list(plan.leader)] = True
    for place, (arm, rate) in enumerate(plan.support):
        held.arms[place, list(arm)] = True
        held.shares[place] = rate
    held.rates[:] = plan.rates
    held.cost[0] = plan.cost


def plan_of(held: Held) -> Plan | None:
    """The plan that is held, if there is one."""
    if not held.leader.any():
        return None
    support = [
        (_items(held.arms[place]), float(held.shares[place]))
        for place in np.flatnonzero(held.shares > 0.0)
    ]
    return Plan(leader_of(held), support, held.rates.copy(), float(held.cost[0]))


def leader_of(held: Held) -> Items:
    """The arm that the rates are about."""
    return _items(held.leader)


def heaviest_with(held: Held, item: int) -> Items:
    """Of the arms that make up the rates, the one played most that has an item."""
    having = np.flatnonzero(held.arms[:, item])
    return _items(held.arms[having[np.argmax(held.shares[having])]])


def _items(flags: np.ndarray) -> Items:
    return tuple(np.flatnonzero(flags).tolist())
