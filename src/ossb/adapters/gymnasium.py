"""Every structure as a Gymnasium environment: ``gymnasium.make("ossb/Bandit-v0", …)``.

The environment is registered when this module is imported, also by
``gymnasium.make("ossb.adapters.gymnasium:ossb/Bandit-v0", instance=…)``.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.extras import with_extra
from ossb.fields import integer
from ossb.instances import from_dict
from ossb.structures.base import Instance

try:
    import gymnasium
    from gymnasium import spaces
except ModuleNotFoundError as error:
    raise with_extra(error) from None

ID = "ossb/Bandit-v0"
FARTHEST = float(np.finfo(np.float32).max)  # spaces want finite ends that can be sampled between


class BanditEnv(gymnasium.Env):
    """A bandit: every action is the play of an arm, and there is no state.

    An action is the number of an arm.  Where arms are sets of items that are not listed, it is a
    score for each item, and the arm of largest total score is played.

    An observation tells which components the play has shown, and their values (0 for the
    others).  The reward is what was observed, summed over items and negated where the goal is to
    minimise; where an arm does not show its reward, as in a duel, it is minus its gap Δ(x).
    ``info`` holds the ``gap`` of the play, the ``regret`` so far, and the ``arm``.

    Parameters
    ----------
    instance
        With its true parameter; or the keys of one.
    horizon
        Rounds after which an episode is truncated; never by default.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as the base class has it)

    def __init__(
        self,
        instance: Instance | Mapping[str, Any],
        horizon: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            raise InputError("render_mode", "be None: there is nothing to see", render_mode)
        found: Any = from_dict(dict(instance)) if isinstance(instance, Mapping) else instance
        if not found.known:
            raise InputError(found.parameter, "be given: an environment needs a true parameter")
        if found.has_contexts:
            raise InputError("instance", "have no contexts: there is no state that could hold one")
        if found.n_arms is None and not found.shows_lists:
            raise InputError("instance", "list its arms where only their sum is shown")
        self.render_mode = render_mode
        self.instance = found
        self.horizon = None if horizon is None else integer(horizon, "horizon", least=1)
        self._means = np.asarray(found.components)
        self._family = found.observed_family
        if found.n_arms is None:
            self._shown: list[list[int]] | None = None
            self.action_space: spaces.Space = spaces.Box(-1.0, 1.0, (self._means.size,))
        else:
            self._shown = found.showing()
            self.action_space = spaces.Discrete(found.n_arms)
        self._adds_up = self._reward_is_shown()
        plain = found.plain_family
        low, high = max(plain.lowest(), -FARTHEST), min(plain.highest(), FARTHEST)
        size = self._means.size
        self.observation_space = spaces.Dict(
            shown=spaces.MultiBinary(size),
            values=spaces.Box(min(low, 0.0), max(high, 0.0), (size,), np.float64),
        )
        self._round, self._regret = 0, 0.0

    def _reward_is_shown(self) -> bool:
        """Whether the components of an arm sum to its reward."""
        if self._shown is None or self.instance.shows_lists:
            return True
        own = all(shown == [arm] for arm, shown in enumerate(self._shown))
        return own and bool(self.instance.shows_rewards())

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin an episode; what is observed before the first play is nothing."""
        super().reset(seed=seed)
        self._round, self._regret = 0, 0.0
        return self._observed([], []), {"regret": 0.0}

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Play an arm."""
        arm, shown = self._play(action)
        values = [self._family.sample(float(self._means[c]), self.np_random) for c in shown]
        gap = float(self.instance.gap_of(arm))
        self._round += 1
        self._regret += gap
        sign = self.instance.sign * self.instance.observed_sign
        reward = sign * float(sum(values)) if self._adds_up else -gap
        truncated = self.horizon is not None and self._round >= self.horizon
        plain = [int(item) for item in arm] if isinstance(arm, tuple) else int(arm)
        info = {"gap": gap, "regret": self._regret, "arm": plain}
        return self._observed(shown, values), reward, False, truncated, info

    def _play(self, action: Any) -> tuple[Any, list[int]]:
        if self._shown is None:
            scores = np.asarray(action, dtype=np.float64)
            if scores.shape != self._means.shape or not np.isfinite(scores).all():
                raise InputError("action", f"be {self._means.size} finite scores", action)
            items = self.instance.implicit_set.maximize(scores)
            return items, list(items)
        place = integer(action, "action")
        if place >= len(self._shown):
            raise InputError("action", f"be below {len(self._shown)}", place)
        return self.instance.arm_at(place), self._shown[place]

    def _observed(self, shown: list[int], values: list[float]) -> dict[str, np.ndarray]:
        size = self._means.size
        seen, told = np.zeros(size, np.int8), np.zeros(size)
        seen[shown] = 1
        told[shown] = np.array(values) * self.instance.observed_sign
        return {"shown": seen, "values": np.clip(told, -FARTHEST, FARTHEST)}


if ID not in gymnasium.registry:
    gymnasium.register(ID, entry_point=f"{__name__}:{BanditEnv.__name__}")
