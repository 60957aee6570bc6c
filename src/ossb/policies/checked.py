"""Policies played with care: one may be anybody's, and what it does wrong is said of it.

A fault is a ``PolicyError`` that names the policy, the round and the value.
"""

from typing import Any

from numpy.random import Generator

from ossb.errors import InputError, PolicyError, brief
from ossb.fields import is_whole
from ossb.tally import PHASES, Decision, Tally

NO_DECISION = "`select` must return a Decision(arm, phase)"
PHASES_TEXT = ", ".join(f"{number} ({name})" for number, name in enumerate(PHASES))


def fresh_memory(policy: Any, name: str) -> Any:
    """A fresh memory of a policy."""
    try:
        return policy.start()
    except MemoryError as error:
        must = f"be small enough for the memory of {name} here: {error}"
        raise InputError("instance", must) from error
    except Exception as error:
        raise PolicyError(name, 0, f"`start` failed: {_said(error)}") from error


def selected(policy: Any, name: str, tally: Tally, memory: Any, rng: Generator) -> Decision:
    """What a policy decides, two whole numbers; whether there is such an arm is not looked at."""
    try:
        decision = policy.select(tally, memory, rng)
    except Exception as error:
        raise failed(error, name, tally) from error
    return whole(decision, name, tally)


def failed(error: Exception, name: str, tally: Tally) -> PolicyError:
    """The error of a policy that raised another one while it played."""
    return failed_in(error, name, round_of(tally))


def failed_in(error: Exception, name: str, round: int, method: str = "select") -> PolicyError:
    """The error of a policy whose method raised another one in some round."""
    return PolicyError(name, round, f"`{method}` failed: {_said(error)}")


def whole(decision: Any, name: str, tally: Tally) -> Decision:
    """A decision as two whole numbers."""
    if type(decision) is Decision and type(decision.arm) is type(decision.phase) is int:
        return decision
    return whole_in(decision, name, round_of(tally))


def whole_in(decision: Any, name: str, round: int) -> Decision:
    """A decision of some round as two whole numbers."""
    if not (hasattr(decision, "arm") and hasattr(decision, "phase")):
        raise PolicyError(name, round, f"{NO_DECISION}, got {brief(repr(decision))}")
    for key in ("arm", "phase"):
        value = getattr(decision, key)
        if not is_whole(value):
            fault = f"`{key}` must be a whole number, got {brief(repr(value))}"
            raise PolicyError(name, round, fault)
    return Decision(int(decision.arm), int(decision.phase))


def within(decision: Decision, n_arms: int, name: str, round: int) -> Decision:
    """A decision for an arm that there is, in a phase that there is."""
    if not 0 <= decision.arm < n_arms:
        must = f"be 0, …, {n_arms - 1}" if n_arms else "have been met: the table of arms is empty"
        raise PolicyError(name, round, f"`arm` must {must}, got {decision.arm}")
    if not 0 <= decision.phase < len(PHASES):
        raise PolicyError(name, round, f"`phase` must be {PHASES_TEXT}, got {decision.phase}")
    return decision


def member(arm: Any, instance: Any, name: str, round: int) -> None:
    """Refuse an arm in a policy's table that is not of the instance's set."""
    items = arm if isinstance(arm, tuple) and all(type(item) is int for item in arm) else ()
    if not items or list(items) != sorted(items) or not instance.implicit_set.contains(items):
        must = f"be the sorted numbers of the items of one of the {instance.arm_set}"
        raise PolicyError(name, round, f"`arm` must {must}, got {brief(arm)}")


def round_of(tally: Tally) -> int:
    """The round that is decided on: every decision before it was in some phase."""
    return int(tally.phases.sum()) + 1


class Checked:
    """A policy on listed arms, played in Python, whose decisions are checked one by one."""

    def __init__(self, policy: Any, name: str) -> None:
        self._policy, self._name = policy, name

    def select(self, tally: Tally, memory: Any, rng: Generator) -> Decision:
        decision = selected(self._policy, self._name, tally, memory, rng)
        return within(decision, tally.plays.size, self._name, round_of(tally))

    def choose(self, low: int, high: int, tally: Tally, memory: Any, rng: Generator) -> Decision:
        try:
            decision = self._policy.choose(low, high, tally, memory, rng)
        except Exception as error:
            raise failed(error, self._name, tally) from error
        found = whole(decision, self._name, tally)
        return within(found, tally.plays.size, self._name, round_of(tally))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {brief(str(error))}" if str(error) else type(error).__name__
