"""Rows of features that asks bring, and what was told of those that were chosen.

A decision on such rows is kept beside the tally, which counts arms: in the ledger its arm is
−1 − r, r the place of its row among those brought.
"""

import base64
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.models.brought import Quadratic, Spread, gram
from ossb.structures.lengths import check_lengths
from ossb.structures.offers import OPEN_ROWS

MOST_ROWS = 10_000
NUMBERS_OF = {float, int}  # a truth is of neither
RECENT = 16  # asks whose rows say which contexts are to be expected,
NUMBERS = 100_000  # and how many numbers these may hold
LARGEST = 1e50  # in size, of a feature: squares of what is computed from it are doubles
Features = Sequence[Sequence[float]] | np.ndarray


def is_brought(arm: int) -> bool:
    """Whether an arm of the ledger is a row that its ask brought."""
    return arm < 0


def number_of(arm: int) -> int:
    """The place of a row among those brought, or the arm of the ledger of such a place."""
    return -1 - arm


def has_features(instance: Any) -> bool:
    """Whether the arms of an instance are rows of features that share one parameter."""
    return OPEN_ROWS in instance.offers


def read_rows(value: Any, instance: Any) -> np.ndarray:
    """The rows of an ask, checked against the width of an instance and its longest row."""
    if not has_features(instance):
        must = f"be left out: arms of {instance.kind} structures share no parameter by features"
        raise InputError("features", must)
    if isinstance(value, Mapping):
        raise InputError("features", "be a list of rows", dict(value))
    width = int(instance.arms.shape[1])
    if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str | bytes):
        raise InputError("features", "be a list of rows", value)
    if not 1 <= len(value) <= MOST_ROWS:
        raise InputError("features", f"hold 1 to {MOST_ROWS} rows", len(value))
    rows = _quick_rows(value, width)
    if rows is None:  # one by one, so that what is wrong is named
        rows = np.array([read.vector(row, f"features[{i}]", width) for i, row in enumerate(value)])
    sizes = np.abs(rows)
    for i in np.flatnonzero(~(sizes.max(axis=1) <= LARGEST))[:1]:
        raise InputError(f"features[{i}]", f"lie in [{-LARGEST:g}, {LARGEST:g}]", rows[i].tolist())
    check_lengths(rows, instance.feature_norm, "features")
    return rows


def _quick_rows(value: Any, width: int) -> np.ndarray | None:
    """Rows that are plain lists of finite numbers; None where they are not."""
    for row in value:
        if type(row) is not list or len(row) != width or not set(map(type, row)) <= NUMBERS_OF:
            return None
    try:
        rows = np.array(value, dtype=np.float64)
    except OverflowError:
        return None
    return rows if np.isfinite(rows).all() else None


def written(rows: np.ndarray) -> list[Any]:
    """Rows as an event holds them: how many, and their numbers, eight bytes each."""
    return [len(rows), base64.b64encode(rows.astype("<f8").tobytes()).decode()]


def rows_in(content: Mapping[str, Any]) -> np.ndarray:
    """The rows that an event holds."""
    count, text = content["features"]
    found = np.frombuffer(base64.b64decode(text), "<f8").reshape(count, -1)
    return found.astype(np.float64)


class Sums(NamedTuple):
    """Σ x xᵀ and Σ y x."""

    square: np.ndarray
    line: np.ndarray


class Brought:
    """What a campaign knows of rows that asks brought; part of the fold.

    Parameters
    ----------
    width
        How many features a row has.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.numbers: list[int] = []  # decisions on such rows, in their order
        self._rows = np.zeros((16, width))  # the row chosen by each
        self.order: list[int] = []  # of those told, their places above, in the order of tells
        self.values: list[float] = []  # what was told of each, as users say it
        self.sums = Sums(np.zeros((width, width)), np.zeros(width))  # of those told
        self.waiting = np.zeros((width, width))  # Σ x xᵀ of those on their way
        self.n_waiting = 0
        self.spread = Spread(0, np.zeros(width), np.zeros((width, width)))
        self.recent: list[np.ndarray] = []
        self.changes = 0  # tells taken back
        self.early: tuple[int, int, Quadratic] | None = None  # work saved: no part of the fold

    def __bool__(self) -> bool:
        return bool(self.numbers)

    @property
    def rows(self) -> np.ndarray:
        """The rows chosen so far, in the order of the decisions."""
        return self._rows[: len(self.numbers)]

    def place(self, number: int) -> int:
        """Which of its decisions that of a number is."""
        return bisect_left(self.numbers, number)

    def row(self, number: int) -> np.ndarray:
        """The row that a decision chose."""
        return self._rows[self.place(number)]

    def told(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows told and their values, in the order of the tells."""
        return self.rows[self.order], np.array(self.values)

    def offer(self, rows: np.ndarray) -> None:
        """Take note of the rows of an ask."""
        count, total, square = self.spread
        self.spread = Spread(count + len(rows), total + rows.sum(axis=0), square + rows.T @ rows)
        self.recent.append(rows)
        while len(self.recent) > 1 and (
            len(self.recent) > RECENT or sum(one.size for one in self.recent) > NUMBERS
        ):
            del self.recent[0]

    def enter(self, number: int, row: np.ndarray) -> None:
        """A decision on one of the rows of an ask."""
        size = len(self.numbers)
        if size == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[size] = row
        self.numbers.append(number)
        self._wait(row, 1)

    def mark(self) -> tuple[Any, ...]:
        """What ``take_back`` needs."""
        return len(self.numbers), self.waiting, self.n_waiting, self.spread, list(self.recent)

    def take_back(self, mark: tuple[Any, ...]) -> None:
        """Undo what asks that are not to come after all have changed since a mark."""
        size, self.waiting, self.n_waiting, self.spread, self.recent = mark
        del self.numbers[size:]

    def tell(self, number: int, value: float, was_waiting: bool) -> None:
        """What a decision showed."""
        place = self.place(number)
        row = self._rows[place]
        if was_waiting:
            self._wait(row, -1)
        self.order.append(place)
        self.values.append(value)
        self.sums = Sums(self.sums.square + np.outer(row, row), self.sums.line + value * row)

    def expire(self, number: int) -> None:
        """A decision that nobody is waiting for any longer."""
        self._wait(self.row(number), -1)

    def void(self, number: int) -> None:
        """Take what a decision showed back; the sums are made anew, which loses no digits."""
        at = self.order.index(self.place(number))
        del self.order[at], self.values[at]
        self.changes += 1
        rows, values = self.told()
        self.sums = Sums(gram(rows, np.ones(len(rows))), rows.T @ values)

    def _wait(self, row: np.ndarray, times: int) -> None:
        self.n_waiting += times
        self.waiting = self.waiting + times * np.outer(row, row)
        if self.n_waiting == 0:
            self.waiting = np.zeros_like(self.waiting)  # with no rounding left

    # as plain data

    def packed(self) -> dict[str, Any]:
        return {
            "numbers": self.numbers,
            "rows": self.rows.tolist(),
            "order": self.order,
            "values": self.values,
            "sums": [part.tolist() for part in self.sums],
            "waiting": [self.n_waiting, self.waiting.tolist()],
            "spread": [self.spread.n_rows, self.spread.total.tolist(), self.spread.square.tolist()],
            "recent": [rows.tolist() for rows in self.recent],
            "changes": self.changes,
        }

    def unpack(self, found: Mapping[str, Any]) -> None:
        self.numbers, self.order = list(found["numbers"]), list(found["order"])
        self.values = list(found["values"])
        rows = np.array(found["rows"], dtype=np.float64).reshape(-1, self.width)
        self._rows = np.concatenate([rows, np.zeros((16, self.width))])
        self.sums = Sums(*(np.array(part) for part in found["sums"]))
        self.n_waiting, self.waiting = found["waiting"][0], np.array(found["waiting"][1])
        count, total, square = found["spread"]
        self.spread = Spread(count, np.array(total), np.array(square))
        self.recent = [np.array(rows) for rows in found["recent"]]
        self.changes = found["changes"]

    def quadratic(self, sigma: float) -> Quadratic:
        """What was told as a quadratic, in units of the noise, where the mean is the index."""
        return Quadratic(self.sums.square, self.sums.line / sigma)
