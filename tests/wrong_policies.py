"""Policies that go wrong in some round: records, plain classes, and some on sets of arms."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.arm_sets.table import ArmTable
from ossb.records import record
from ossb.tally import EXPLOIT, Decision, Tally


class Nothing(NamedTuple):
    """What a policy remembers that remembers nothing."""

    nothing: np.ndarray


def nothing() -> Nothing:
    return Nothing(np.zeros(1, np.int64))


@record
class Wrong(NamedTuple):
    """Decides for arm 0 until a round, and then for what it is told to."""

    arm: int = 0
    phase: int = EXPLOIT
    round: int = 1

    def start(self) -> Nothing:
        return nothing()

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        if tally.phases.sum() + 1 < self.round:
            return Decision(0, EXPLOIT)
        return Decision(self.arm, self.phase)


@record
class Raising(NamedTuple):
    """Fails in some round."""

    round: int = 1

    def start(self) -> Nothing:
        return nothing()

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        if tally.phases.sum() + 1 >= self.round:
            raise ValueError("a fault of its own")
        return Decision(0, EXPLOIT)


@record
class Real(NamedTuple):
    """Decides for a real number."""

    arm: float = 1.5

    def start(self) -> Nothing:
        return nothing()

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        return Decision(self.arm, EXPLOIT)


@record
class Bare(NamedTuple):
    """Decides for a bare number."""

    arm: int = 1

    def start(self) -> Nothing:
        return nothing()

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        return self.arm


@record
class Undecided(NamedTuple):
    """Decides for no arm, some day."""

    round: int = 70

    def start(self) -> Nothing:
        return nothing()

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        if tally.phases.sum() + 1 < self.round:
            return Decision(0, EXPLOIT)
        return (0, EXPLOIT, 0)


@record
class Truth(NamedTuple):
    """Decides for true."""

    chance: float = 1.0

    def start(self) -> Nothing:
        return nothing()

    def select(self, tally: Tally, memory: Nothing, rng: Generator) -> Decision:
        return Decision(rng.random() < self.chance, EXPLOIT)


class Plain:
    """Decides for anything, in plain Python."""

    def __init__(self, answer: Any = None, round: int = 1) -> None:
        self.answer, self.round = answer, round

    def start(self) -> Nothing:
        return nothing()

    def select(self, tally: Tally, memory: Any, rng: Generator) -> Any:
        return Decision(0, EXPLOIT) if tally.phases.sum() + 1 < self.round else self.answer


class NoStart(Plain):
    """Fails before the first round."""

    def start(self) -> Nothing:
        raise RuntimeError("a fault of its own")


class OnSets:
    """Does as it is told with the table of arms."""

    def __init__(self, act: Callable[[Any], Any]) -> None:
        self.act = act

    def start(self) -> Any:
        return Met(ArmTable())

    def select(self, tally: Tally, memory: Any, rng: Generator) -> Any:
        return self.act(memory.table)


class Met(NamedTuple):
    """What a policy on sets of arms remembers."""

    table: ArmTable
