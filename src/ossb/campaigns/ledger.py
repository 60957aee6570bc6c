"""The decisions of a campaign in columns: a few bytes each, so that millions fit in memory."""

import hashlib
from typing import Any

import numpy as np

PENDING, TOLD, EXPIRED, VOIDED = 0, 1, 2, 3
STATUSES = ("pending", "told", "expired", "voided")

COLUMNS: dict[str, Any] = {
    "arm": np.int32,
    "phase": np.int8,
    "status": np.int8,
    "expires": np.float64,
    "value": np.uint64,  # digest of the observation told
}


class Decisions:
    """Decision n has the id ``n-check``; the check keeps a mistyped id from being another's."""

    def __init__(self, salt: str) -> None:
        self._salt = salt
        self._size = 0
        self._columns = {name: np.zeros(64, dtype) for name, dtype in COLUMNS.items()}

    def __len__(self) -> int:
        return self._size

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._columns[name][: self._size]

    def add(self, arm: int, phase: int, expires: float) -> int:
        """Enter a decision; returns its number."""
        if self._size == self._columns["arm"].size:
            for name, column in self._columns.items():
                self._columns[name] = np.concatenate([column, np.zeros_like(column)])
        place = self._size
        self._size += 1
        self.arm[place] = arm
        self.phase[place] = phase
        self.expires[place] = expires
        self.status[place] = PENDING
        return place

    def id_of(self, number: int) -> str:
        check = hashlib.blake2b(f"{self._salt}:{number}".encode(), digest_size=4).hexdigest()
        return f"{number}-{check}"

    def number_of(self, id_: str) -> int | None:
        """The number of an id, or None if it is not one of ours."""
        head, _, _ = id_.partition("-")
        if not head.isascii() or not head.isdigit() or len(head) > 12:
            return None
        number = int(head)
        if number >= self._size or self.id_of(number) != id_:
            return None
        return number

    def columns(self) -> dict[str, np.ndarray]:
        return {name: column[: self._size].copy() for name, column in self._columns.items()}

    def load(self, columns: dict[str, np.ndarray]) -> None:
        self._size = int(columns["arm"].size)
        room = max(64, 1 << int(self._size).bit_length())
        for name, dtype in COLUMNS.items():
            self._columns[name] = np.zeros(room, dtype)
            self._columns[name][: self._size] = columns[name]


def value_digest(observation: Any) -> int:
    """A number that two different observations do not share."""
    text = repr(observation if isinstance(observation, list) else float(observation))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
