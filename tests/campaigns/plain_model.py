"""A campaign written plainly: every decision in a list, everything counted from it."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from campaign_instances import ROUTES
from ossb.instances import from_dict

ZERO_OR_ONE = st.sampled_from([0.0, 1.0])
ANY = st.sampled_from([-1.0, 0.25, 2.0])


class World:
    """What an instance's arms are, and what they show.

    An arm is a number or a tuple; a unit is what may be retired, an arm or an item.
    """

    def __init__(self, instance, policies, values=ZERO_OR_ONE, new_arm=None):
        self.instance, self.policies = instance, policies
        self.values, self.new_arm = values, new_arm
        self.n_units = self.count_units(from_dict(instance))

    def count_units(self, known):
        return known.n_arms

    def arms(self, n_units):
        """All of them."""
        return list(range(n_units))

    def units(self, arm):
        """Those that an arm needs."""
        return {arm}

    def components(self, n_units):
        """In the order of the tally."""
        return list(range(n_units))

    def shows(self, arm):
        """The components that a play of an arm shows."""
        return [arm]

    def observation(self, arm):
        """What may be told of it."""
        return self.values


class Duels(World):
    def count_units(self, known):
        return known.n_items

    def arms(self, n_units):
        return [(i, j) for i in range(n_units) for j in range(i, n_units)]

    def units(self, arm):
        return set(arm)

    def components(self, n_units):
        return [(i, j) for i, j in self.arms(n_units) if i < j]

    def shows(self, arm):
        return [arm] if arm[0] < arm[1] else []


class Sets(World):
    def count_units(self, known):
        self._arms = list(known.implicit_set.arms())
        return known.item_count

    def arms(self, n_units):
        return self._arms

    def units(self, arm):
        return set(arm)

    def shows(self, arm):
        return list(arm)

    def observation(self, arm):
        return st.lists(self.values, min_size=len(arm), max_size=len(arm))


WORLDS = {
    "classical": World(
        {"structure": "classical", "observation": "bernoulli", "n_arms": 3},
        ("hgl", "ucb1", "thompson"),
        new_arm={},
    ),
    "linear": World(
        {"structure": "linear", "sigma": 1.0, "arms": [[1, 0], [0, 1], [0.8, 0.7]]},
        ("hgl", "linear-thompson", "oful"),
        ANY,
        new_arm={"features": [0.5, 0.9]},
    ),
    "dueling": Duels({"structure": "dueling", "n_items": 3}, ("hgl", "rmed1", "rucb"), new_arm={}),
    "paths": Sets(
        ROUTES,
        ("hgl", "combinatorial-thompson", "aescb", "glpg"),
        ANY,
    ),
    "spanning trees": Sets(
        {
            "structure": "combinatorial",
            "feedback": "semi_bandit",
            "observation": "bernoulli",
            "arm_set": "spanning_trees",
            "n_nodes": 3,
            "edges": [[0, 1], [1, 2], [2, 0]],
        },
        ("hgl", "combinatorial-thompson", "cucb"),
    ),
}


@dataclass
class Expected:
    """What a decision must be."""

    arm: Any
    lease: float
    status: str = "pending"
    value: Any = None


@dataclass
class Model:
    """All that was asked of a campaign."""

    world: World
    n_units: int
    now: float = 1000.0
    decisions: dict = field(default_factory=dict)
    imported: list = field(default_factory=list)
    keys: dict = field(default_factory=dict)
    retired: set = field(default_factory=set)
    closed: bool = False

    def expire(self):
        for decision in self.decisions.values():
            if decision.status == "pending" and decision.lease <= self.now:
                decision.status = "expired"

    def playable(self, kept):
        """The arms that need no other units."""
        return [arm for arm in self.world.arms(self.n_units) if self.world.units(arm) <= set(kept)]

    def active(self):
        return sorted(set(range(self.n_units)) - self.retired)

    def told(self):
        """Pairs of an arm and what was told of it."""
        told = [(d.arm, d.value) for d in self.decisions.values() if d.status == "told"]
        return told + self.imported

    def plays(self):
        """How often each arm was told of."""
        found = dict.fromkeys(self.world.arms(self.n_units), 0)
        for arm, _ in self.told():
            found[arm] += 1
        return found

    def values(self):
        """What each component showed, in the order of the tally."""
        found = {component: [] for component in self.world.components(self.n_units)}
        for arm, value in self.told():
            shown, values = self.world.shows(arm), value if isinstance(value, list) else [value]
            for component, one in zip(shown, values, strict=bool(shown)):
                found[component].append(one)
        return list(found.values())

    def waiting(self):
        """Components on their way, in the order of the tally."""
        found = dict.fromkeys(self.world.components(self.n_units), 0)
        for decision in self.decisions.values():
            for component in self.world.shows(decision.arm):
                found[component] += decision.status == "pending"
        return list(found.values())

    def count(self, status, freed=True):
        """Decisions of a status; those whose lease has ended are not pending, once ``freed``."""
        ended = [
            d
            for d in self.decisions.values()
            if freed and d.status == "pending" and d.lease <= self.now
        ]
        found = sum(d.status == status for d in self.decisions.values())
        return found + len(ended) * ((status == "expired") - (status == "pending"))
