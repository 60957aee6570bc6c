"""What an implicit set of arms answers: its linear-maximisation oracle.

An arm is a set of items, written as the sorted tuple of their numbers.  Nothing here lists
the arms, except ``arms`` on sets small enough to print.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

Items = tuple[int, ...]


class Rivals(NamedTuple):
    """Arms near a best one, each by the items that tell the two apart."""

    starts: np.ndarray  # int64 (number + 1,): where the items of each begin
    items: np.ndarray  # int64


def in_pairs(pairs: np.ndarray) -> Rivals:
    """Rivals that differ from the best arm by two items each."""
    return Rivals(np.arange(0, pairs.size + 1, 2), np.ascontiguousarray(pairs.ravel()))


class ArmSet(Protocol):
    """A set of arms behind a linear-maximisation oracle."""

    largest: ClassVar[Mapping[str, int]]  # key → the most that a service takes
    slow_items: ClassVar[int | None]  # items from which rates take too long for a service

    @property
    def n_items(self) -> int: ...

    def maximize(self, weights: np.ndarray) -> Items:
        """An arm of largest total weight."""
        ...

    def maximize_with(self, weights: np.ndarray, item: int) -> Items | None:
        """An arm of largest total weight among those that have an item; None if none has."""
        ...

    def maximize_without(self, weights: np.ndarray, item: int) -> Items | None:
        """An arm of largest total weight among those that lack an item; None if none does."""
        ...

    def rivals(self, weights: np.ndarray, best: Items) -> Rivals:
        """For each item, the best arm with its membership changed; each arm once."""
        ...

    def contains(self, items: Items) -> bool:
        """Whether a set of items is an arm."""
        ...

    def runner_up(self, weights: np.ndarray, best: Items) -> Items | None:
        """The best arm other than ``best``; None if there is no other."""
        ...

    def exceeds(self, count: int) -> bool:
        """Whether there are more arms than that; False where only listing them would tell."""
        ...

    def arms(self) -> Iterator[Items]:
        """Every arm; the next one takes polynomial time, however many there are."""
        ...


class WithOracle(Protocol):
    """The part of an arm set that finds arms with an item."""

    @property
    def n_items(self) -> int: ...

    def maximize_with(self, weights: np.ndarray, item: int) -> Items | None: ...


def best_with_another_item(arm_set: WithOracle, weights: np.ndarray, best: Items) -> Items | None:
    """The best arm other than ``best``, where no arm lies inside another."""
    runner: Items | None = None
    value = -np.inf
    inside = set(best)
    for item in range(arm_set.n_items):
        other = arm_set.maximize_with(weights, item) if item not in inside else None
        if other is not None and total(weights, other) > value:
            runner, value = other, total(weights, other)
    return runner


def total(weights: np.ndarray, items: Items) -> float:
    """Total weight of the items of an arm."""
    return float(weights[list(items)].sum())


def indicator(n_items: int, items: Items) -> np.ndarray:
    """The arm as a vector of 0 and 1."""
    vector = np.zeros(n_items)
    vector[list(items)] = 1.0
    return vector
