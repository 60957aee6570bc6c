"""``fit`` and ``predict``, as MABWiser has them, around the policies of this package.

It needs no other package.  Code written for ``mabwiser.mab.MAB`` without contexts runs with
this one once the learning policy is named.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ossb.adapters.learner import Learner
from ossb.errors import InputError
from ossb.structures.base import Instance
from ossb.words import counted


class MAB:
    """A bandit with named arms.

    Rewards are to be maximised: where an instance's goal is to minimise, a reward is minus a
    cost.

    Parameters
    ----------
    arms
        Their names, in the order of the instance.
    learning_policy
        The name of a policy, or a table with a name and parameters.
    instance
        What is known of the arms, or the keys of an instance; classical by default.
    observation
        How rewards are distributed where no instance is given.
    compiled
        Compile the policy first, which takes seconds the first time.
    """

    def __init__(
        self,
        arms: Sequence[Hashable],
        learning_policy: str | Mapping[str, Any] = "hgl",
        seed: int = 123456,
        *,
        instance: Instance | Mapping[str, Any] | None = None,
        observation: str = "gaussian",
        compiled: bool = False,
    ) -> None:
        names = list(arms)
        if len(set(names)) != len(names):
            raise InputError("arms", "be distinct", names)
        if instance is None:
            instance = {
                "structure": "classical",
                "n_arms": len(names),
                "observation": observation,
            }
        self.learning_policy = learning_policy
        self.seed = seed
        self._learner = Learner(instance, learning_policy, seed, compiled)
        if len(self._learner.shown) != len(names):
            raise InputError("arms", f"be {len(self._learner.shown)}, as in the instance", names)
        if not self._learner.one_reward_each:
            raise InputError("instance", "have arms that each show their reward")
        self._names = names
        self._places = {name: place for place, name in enumerate(names)}

    @property
    def arms(self) -> list[Hashable]:
        """The arms that may be played."""
        return [
            name for place, name in enumerate(self._names) if place not in self._learner.retired
        ]

    @property
    def cold_arms(self) -> list[Hashable]:
        """Arms that were never played."""
        plays = self._learner.tally.plays
        return [arm for arm in self.arms if plays[self._places[arm]] == 0]

    def fit(self, decisions: Any, rewards: Any, contexts: None = None) -> None:
        """Learn from what was played and what it brought, and from nothing else."""
        read = self._read(decisions, rewards, contexts)
        self._learner.forget()
        self._learn(read)

    def partial_fit(self, decisions: Any, rewards: Any, contexts: None = None) -> None:
        """Learn more."""
        self._learn(self._read(decisions, rewards, contexts))

    def predict(self, contexts: None = None) -> Hashable:
        """The arm to play next."""
        _refuse(contexts)
        return self._names[self._learner.choose()]

    def predict_expectations(self, contexts: None = None) -> dict[Hashable, float]:
        """The reward of each arm as it is estimated; NaN where nothing is known of it."""
        _refuse(contexts)
        found = self._learner.estimates()
        return {arm: float(found[self._places[arm]]) for arm in self.arms}

    def add_arm(self, arm: Hashable, **keys: Any) -> None:
        """Add an arm; some structures need to know more of it, such as ``features``."""
        if arm in self._places:
            raise InputError("arm", "be new", arm)
        if len(self._learner.instance.arm_names):
            keys = {"name": str(arm), **keys}
        self._places[arm] = self._learner.add(**keys)
        self._names.append(arm)

    def remove_arm(self, arm: Hashable) -> None:
        """Play an arm no more."""
        self._learner.retire(self._place(arm))

    def _learn(self, read: list[tuple[int, float]]) -> None:
        for place, reward in read:
            self._learner.learn(place, reward)

    def _read(self, decisions: Any, rewards: Any, contexts: None) -> list[tuple[int, float]]:
        """Places and rewards, all checked before anything is learnt."""
        _refuse(contexts)
        names, values = list(decisions), np.asarray(rewards, dtype=np.float64)
        if values.shape != (len(names),):
            must = f"be {counted(len(names), 'number')}, as decisions"
            raise InputError("rewards", must, values.shape)
        return [
            (self._place(name), float(value)) for name, value in zip(names, values, strict=True)
        ]

    def _place(self, arm: Any) -> int:
        if arm not in self._places:
            raise InputError("arm", "be one of the arms", arm)
        return self._places[arm]


def _refuse(contexts: Any) -> None:
    if contexts is not None:
        raise InputError("contexts", "be left out: policies here are not contextual")
