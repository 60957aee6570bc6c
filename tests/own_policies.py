"""Policies as a user writes them: a record, and plain classes."""

import time
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.records import record
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally


class Last(NamedTuple):
    """What the policy remembers."""

    arm: np.ndarray


@record
class Sometimes(NamedTuple):
    """Explore with a fixed chance."""

    chance: float

    def start(self) -> Last:
        return Last(np.zeros(1, np.int64))

    def select(self, tally: Tally, memory: Last, rng: Generator) -> Decision:
        if rng.random() < self.chance:
            memory.arm[0] = (memory.arm[0] + 1) % tally.plays.shape[0]
            return Decision(memory.arm[0], EXPLORE)
        best = 0
        for x in range(tally.plays.shape[0]):
            if tally.means[x] > tally.means[best]:
                best = x
        return Decision(best, EXPLOIT)


@record
class Hopeful(NamedTuple):
    """Optimism, written with arrays that each call allocates."""

    scale: float = 1.0

    def start(self) -> Last:
        return Last(np.zeros(1, np.int64))

    def widths(self, counts: np.ndarray) -> np.ndarray:
        return self.scale / np.sqrt(1.0 + counts)

    def select(self, tally: Tally, memory: Last, rng: Generator) -> Decision:
        index = tally.means + self.widths(tally.counts)
        return Decision(int(np.argmax(index)), EXPLORE)


class RoundRobin:
    """A plain class, made for an instance."""

    def __init__(self, n_arms, step):
        self.n_arms, self.step = n_arms, step

    @classmethod
    def of(cls, instance, step=1):
        return cls(instance.n_arms, step)

    def start(self):
        return {"next": 0}

    def select(self, tally, memory, rng):
        memory["next"] = (memory["next"] + self.step) % self.n_arms
        return Decision(memory["next"], EXPLORE)


class Sleepy(RoundRobin):
    """Takes hours, unless it is trial after trial of one round."""

    def select(self, tally, memory, rng):
        time.sleep(0.2)
        return super().select(tally, memory, rng)


class Counting:
    """Two methods, made for as many arms as there are; whatever a play shows."""

    def __init__(self, n_arms):
        self.n_arms, self.told = n_arms, 0

    def select(self):
        return self.told % self.n_arms

    def update(self, arm, value):
        self.told += 1


class Adding(Counting):
    """Fails where a play shows several values, or none."""

    sum = 0.0

    def update(self, arm, value):
        super().update(arm, value)
        self.sum += value


class Picky(Counting):
    """Made from the instance, and not from every one."""

    def __init__(self, instance, n_arms=0):
        if instance.kind != "classical":
            raise ValueError("only for classical arms")
        super().__init__(n_arms)
