"""Policies of this package as river's: ``river.bandit.evaluate`` and its friends take them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ossb.adapters.learner import Learner
from ossb.errors import InputError
from ossb.extras import with_extra
from ossb.structures.base import Instance

try:
    from river import bandit, stats
except ModuleNotFoundError as error:
    raise with_extra(error) from None

Arm = int | str


class RiverPolicy(bandit.base.Policy):
    """A policy of this package with river's ``pull`` and ``update``.

    Rewards are told as river tells them, more being better: where an instance's goal is to
    minimise, a reward is minus a cost.

    Parameters
    ----------
    policy
        A name, or a table with a name and parameters.
    instance
        What is known of the arms, or the keys of an instance; classical by default, with as many
        arms as are met.  Arms go by their names where they have some, else by their numbers.
    observation
        How rewards are distributed where no instance is given.
    compiled
        Compile the policy first, which takes seconds the first time.
    """

    def __init__(
        self,
        policy: str | Mapping[str, Any] = "hgl",
        instance: Instance | Mapping[str, Any] | None = None,
        observation: str = "bernoulli",
        burn_in: int = 0,
        seed: int = 0,
        compiled: bool = False,
    ) -> None:
        super().__init__(reward_obj=stats.Mean(), burn_in=burn_in)
        self.policy = policy
        self.instance = instance
        self.observation = observation
        self.seed = seed
        self.compiled = compiled
        self._places: dict[Arm, int] = {}
        self._learner: Learner | None = None
        if instance is not None:
            self._learner = Learner(instance, policy, seed, compiled)
            if not self._learner.one_reward_each:
                raise InputError("instance", "have arms that each show their reward")
            names = self._learner.instance.arm_names or range(len(self._learner.shown))
            self._places = {name: place for place, name in enumerate(names)}

    def _pull(self, arm_ids: Sequence[Arm]) -> Arm:
        learner = self._with(list(arm_ids))
        named = {self._places[arm]: arm for arm in arm_ids}
        return named[learner.choose(list(named))]

    def update(self, arm_id: Arm, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Tell an arm's reward."""
        self._with([arm_id]).learn(self._places[arm_id], float(*reward_args))
        super().update(arm_id, *reward_args, **reward_kwargs)  # type: ignore[no-untyped-call]

    def _with(self, arm_ids: list[Arm]) -> Learner:
        """The learner, once it knows of all these arms."""
        fresh = [arm for arm in dict.fromkeys(arm_ids) if arm not in self._places]
        if fresh and self.instance is not None:
            raise InputError("arm_ids", "be arms of the instance", fresh[0])
        for arm in fresh:
            self._places[arm] = len(self._places)
        if self._learner is None:
            keys = {"structure": "classical", "n_arms": len(self._places)}
            self._learner = Learner(
                {**keys, "observation": self.observation},
                self.policy,
                self.seed,
                self.compiled,
            )
        else:
            for _ in fresh:
                self._learner.add()
        return self._learner
