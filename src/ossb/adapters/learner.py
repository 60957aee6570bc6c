"""A policy that decides and learns in this process, with nothing kept on disk.

The bridges to other packages stand on it: they keep their own books, and call a policy as they
call theirs.  Unlike a campaign's, a decision counts once its outcome is told.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ossb.campaigns.player import Player
from ossb.campaigns.rosters import extended
from ossb.errors import InputError
from ossb.fields import integer, number
from ossb.instances import from_dict
from ossb.structures.base import Instance
from ossb.tally import Decision, by_numbers, decide, empty_tally, observe
from ossb.words import counted

UNASKED = Decision(-1, 0)


class Learner:
    """A policy at play on the listed arms of an instance.

    Parameters
    ----------
    instance
        What is known of the arms, or the keys of an instance; its true parameter is not used.
    policy
        A name, or a table with a name and parameters.
    compiled
        Compile the policy first, which takes seconds the first time: its steps are then several
        times as fast, and decide the same.
    """

    def __init__(
        self,
        instance: Instance | Mapping[str, Any],
        policy: str | Mapping[str, Any] = "hgl",
        seed: int = 0,
        compiled: bool = False,
    ) -> None:
        found: Any = from_dict(dict(instance)) if isinstance(instance, Mapping) else instance
        if not isinstance(found, Instance):
            raise InputError("instance", "be an instance, or the keys of one", found)
        if found.n_arms is None:  # type: ignore[attr-defined]
            raise InputError("instance", "list its arms")
        if found.has_contexts:
            raise InputError("instance", "have no contexts: a campaign is asked from one")
        self.instance: Any = found
        self._chosen = {"name": policy} if isinstance(policy, str) else dict(policy)
        self._rng = np.random.default_rng(integer(seed, "seed"))
        self._compiled = compiled
        self.retired: set[int] = set()
        self._last = UNASKED
        self._settle()
        self._begin()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_books"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self._books = by_numbers(self.tally)

    def _begin(self) -> None:
        """With nothing known."""
        n_components = 1 + max(max(shown, default=-1) for shown in self.shown)
        self.tally = empty_tally(n_components, len(self.shown))
        self._books = by_numbers(self.tally)

    def _settle(self) -> None:
        """Make the policy anew: of the arms as they are now, with a fresh memory."""
        self._player = Player(self.instance, self._chosen, sorted(self.retired))
        if self._compiled:
            self._player.compile()
        self._memory = self._player.bind(self._player.start())
        self.shown: list[list[int]] = self.instance.showing()
        self._family = self.instance.observed_family

    @property
    def one_reward_each(self) -> bool:
        """Whether each arm shows one number, its reward."""
        own = all(shown == [arm] for arm, shown in enumerate(self.shown))
        return own and bool(self.instance.shows_rewards())

    def choose(self, available: Sequence[int] | None = None) -> int:
        """The arm to play, of those available."""
        player, memory = self._player, self._memory
        if available is not None:
            wanted = {self._arm(arm) for arm in available} - self.retired
            if not wanted:
                raise InputError("available", "hold an arm that is not retired", list(available))
            if len(wanted) < len(self.shown) - len(self.retired):
                left_out = sorted(set(range(len(self.shown))) - wanted)
                player = Player(self.instance, self._chosen, left_out)
                memory = player.bind(player.start())
        self._last = player.select(self.tally, memory, self._rng)
        return self._last.arm

    def learn(self, arm: int, *values: float) -> None:
        """Enter what a play showed, signed so that more is better where it is a reward."""
        place = self._arm(arm)
        shown = self.shown[place]
        if len(values) != len(shown):
            raise InputError("observation", f"hold {counted(len(shown), 'number')}", list(values))
        family, books = self._family, self._books
        for value in values:
            if not family.covers(number(value, "observation")):
                kind = self.instance.observation
                raise InputError("observation", f"be a possible {kind} observation", value)
        if self._last.arm == place:  # a play that nobody asked for has no phase
            decide.function(books, self._last)
        else:
            books.plays[place] += 1
        self._last = UNASKED
        for place, component in enumerate(shown):
            observe.function(books, component, float(values[place]))
        books.clock[0] += 1

    def forget(self) -> None:
        """Start again, with nothing learnt."""
        self._settle()
        self._begin()

    def add(self, **keys: Any) -> int:
        """Add an arm; what it brings depends on the structure, see ``ossb.campaigns.rosters``."""
        old, before = self.instance, self.tally
        self.instance = extended(old, keys)
        self._settle()
        self._begin()
        moved = old.moves(self.instance)
        for name, places in (("plays", moved["arms"]), ("counts", moved["components"])):
            getattr(self.tally, name)[places] = getattr(before, name)
        self.tally.means[moved["components"]] = before.means
        self.tally.phases[:] = before.phases
        self.tally.clock[:] = before.clock
        return int(self.instance.n_arms) - 1

    def retire(self, arm: int) -> None:
        """Play an arm no more."""
        place = self._arm(arm)
        if len(self.retired | {place}) == len(self.shown):
            raise InputError("arm", "leave one that is not retired", arm)
        self.retired.add(place)
        self._settle()

    def estimates(self) -> np.ndarray:
        """The reward of each arm as it is estimated; NaN where nothing is known of it."""
        instance = self.instance
        if hasattr(instance, "model") and instance.unprojected() is None:
            model = instance.model()
            if model.unseen(self.tally) < 0:  # enough is known for an estimate that uses Θ
                memory = model.start()
                model.project(self.tally, memory)
                return np.array(memory.rewards)
        unseen = np.array([any(self.tally.counts[c] == 0 for c in shown) for shown in self.shown])
        rewards = np.array([self.tally.means[shown].sum() for shown in self.shown])
        return np.where(unseen, np.nan, rewards)

    def _arm(self, arm: Any) -> int:
        place = integer(arm, "arm")
        if place >= len(self.shown):
            raise InputError("arm", f"be below {len(self.shown)}", place)
        return place
