"""All sets of a given number of items."""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from ossb import fields as read
from ossb.arm_sets.base import Items, Rivals, best_with_another_item, in_pairs
from ossb.errors import InputError


class MSets:
    """Every set of ``size`` of the ``n_items`` items: a uniform matroid."""

    is_matroid = True
    largest: ClassVar[Mapping[str, int]] = {"n_items": 1_000, "size": 1_000}
    slow_items: ClassVar[int | None] = None

    def __init__(self, n_items: int, size: int) -> None:
        self.n_items = read.integer(n_items, "n_items", least=1)
        self.size = read.integer(size, "size", least=1)
        if self.size > self.n_items:
            raise InputError("size", f"be at most n_items, {self.n_items}", self.size)

    def maximize(self, weights: np.ndarray) -> Items:
        order = np.argsort(-weights, kind="stable")
        return tuple(sorted(int(i) for i in order[: self.size]))

    def maximize_with(self, weights: np.ndarray, item: int) -> Items | None:
        order = [int(i) for i in np.argsort(-weights, kind="stable") if i != item]
        return tuple(sorted([item, *order[: self.size - 1]]))

    def maximize_without(self, weights: np.ndarray, item: int) -> Items | None:
        if self.size == self.n_items:
            return None
        order = [int(i) for i in np.argsort(-weights, kind="stable") if i != item]
        return tuple(sorted(order[: self.size]))

    def runner_up(self, weights: np.ndarray, best: Items) -> Items | None:
        return best_with_another_item(self, weights, best)

    def rivals(self, weights: np.ndarray, best: Items) -> Rivals:
        """The worst item inside goes for each outside, the best outside comes for each inside."""
        order = np.argsort(-weights, kind="stable")
        is_inside = np.isin(order, best)
        inside, outside = order[is_inside], order[~is_inside]
        if not outside.size:
            return in_pairs(outside)
        worst, first = np.full_like(outside, inside[-1]), np.full_like(inside[:-1], outside[0])
        pairs = [np.stack([worst, outside]), np.stack([inside[:-1], first])]
        return in_pairs(np.concatenate(pairs, axis=1).T)

    def contains(self, items: Items) -> bool:
        distinct = set(items)
        inside = all(0 <= i < self.n_items for i in distinct)
        return inside and len(distinct) == len(items) == self.size

    def replaceable(self, best: Items) -> dict[int, list[int]]:
        """For each item outside ``best``, the items of ``best`` it can replace."""
        return {i: list(best) for i in range(self.n_items) if i not in set(best)}

    def exceeds(self, count: int) -> bool:
        fewer = min(self.size, self.n_items - self.size)
        # there are at least (n/k)^k sets of k of n items; what is small enough is counted
        logarithm = fewer * math.log(self.n_items / fewer) if fewer else 0.0
        return logarithm > math.log(count) + 1e-3 or math.comb(self.n_items, fewer) > count

    def arms(self) -> Iterator[Items]:
        return itertools.combinations(range(self.n_items), self.size)
