"""Policies of two methods, ``select`` and ``update``, as anybody writes them.

    class Greedy:
        def select(self): ...             # the number of an arm; ``select(self, rng)`` may draw
        def update(self, arm, value): ... # what a play of it showed

The object that is given is a model of which each trial has a copy of its own.  Values are signed so
that more is better, as all policies see them.  What comes of an arm that shows several components
is a list, and of one that shows nothing None.
"""

import copy
import inspect
from collections.abc import Sequence
from typing import Any

from numpy.random import Generator

from ossb.errors import InputError, PolicyError, brief
from ossb.fields import is_whole
from ossb.policies.checked import failed_in, whole_in, within
from ossb.structures.base import Instance
from ossb.structures.segments import refuse_segments
from ossb.tally import EXPLORE, Decision

NO_POLICY = (
    "have `start` and `select(tally, memory, rng)`, or `select` and `update(arm, value)`: an "
    "object of a class, the class, or its name as module:Class"
)


def playable(policy: Any, instance: Instance, name: str) -> Any:
    """A policy that can be played: a plain one is wrapped, others are as they are."""
    refuse_segments(instance)
    has = {method: callable(getattr(policy, method, None)) for method in ("select", "update")}
    if has["select"] and callable(getattr(policy, "start", None)):
        return policy
    if has["select"] and has["update"]:
        return Plain(policy, instance)
    raise InputError("policy", NO_POLICY, name)


class Plain:
    """A plain policy for an instance, and how it is asked and told in one trial."""

    def __init__(self, policy: Any, instance: Any) -> None:
        if instance.n_arms is None:
            raise InputError("policy", "be one for arms that are not listed: `start`, `select`")
        self._policy = policy
        self._n_arms = int(instance.n_arms)
        self._draws = _takes_rng(policy)
        arms = (instance.arm_at(place) for place in range(self._n_arms))
        self._places = {arm: place for place, arm in enumerate(arms) if isinstance(arm, tuple)}

    def start(self) -> Any:
        """The copy of a trial."""
        return copy.deepcopy(self._policy)

    def select(self, policy: Any, rng: Generator, name: str, round: int) -> tuple[Any, Decision]:
        """The arm as the policy wrote it, and the decision."""
        try:
            arm = policy.select(rng) if self._draws else policy.select()
        except Exception as error:
            raise failed_in(error, name, round) from error
        return arm, within(self._read(arm, name, round), self._n_arms, name, round)

    def _read(self, arm: Any, name: str, round: int) -> Decision:
        if hasattr(arm, "arm") and hasattr(arm, "phase"):
            return whole_in(arm, name, round)
        if isinstance(arm, list | tuple) and tuple(arm) in self._places:
            return Decision(self._places[tuple(arm)], EXPLORE)
        if not is_whole(arm):
            must = f"`select` must return the number of an arm, got {brief(repr(arm))}"
            raise PolicyError(name, round, must)
        return Decision(int(arm), EXPLORE)

    def update(self, policy: Any, arm: Any, values: Sequence[float], name: str, round: int) -> None:
        """Tell what a play showed."""
        shown = None if len(values) == 0 else values[0] if len(values) == 1 else list(values)
        try:
            policy.update(getattr(arm, "arm", arm), shown)
        except Exception as error:
            raise failed_in(error, name, round, "update") from error


def _takes_rng(policy: Any) -> bool:
    try:
        return len(inspect.signature(policy.select).parameters) > 0
    except (TypeError, ValueError):  # of a built-in nothing is known
        return False
