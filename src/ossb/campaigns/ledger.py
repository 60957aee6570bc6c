"""The decisions of a campaign in columns: a few bytes each, so that millions fit in memory."""

import hashlib
import struct
from typing import Any

import numpy as np

PENDING, TOLD, EXPIRED, VOIDED = 0, 1, 2, 3
STATUSES = ("pending", "told", "expired", "voided")

COLUMNS: dict[str, Any] = {
    "arm": np.int32,  # below 0 of a row that the ask brought
    "phase": np.int8,
    "status": np.int8,
    "expires": np.float64,
    "asked": np.float64,  # when
    "told": np.float64,  # when; 0 before
    "value": np.uint64,  # the bits of the number told, or the digest of a list
    "event": np.int64,  # the event that told it; 0 before
    "origin": np.int64,  # the event that asked it
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
        if name.startswith("_") or name not in COLUMNS:
            raise AttributeError(name)
        return self._columns[name][: self._size]

    @property
    def raw(self) -> dict[str, np.ndarray]:
        """The columns with room to spare: quicker to write one entry of."""
        return self._columns

    def add(self, arm: int, phase: int, asked: float, expires: float, origin: int) -> int:
        """Enter a decision that event ``origin`` asked; returns its number."""
        if self._size == self._columns["arm"].size:
            for name, column in self._columns.items():
                self._columns[name] = np.concatenate([column, np.zeros_like(column)])
        place = self._size
        self._size += 1
        columns = self._columns
        columns["arm"][place] = arm
        columns["phase"][place] = phase
        columns["asked"][place] = asked
        columns["expires"][place] = expires
        columns["status"][place] = PENDING
        columns["origin"][place] = origin
        return place

    def cut(self, size: int) -> None:
        """Forget all but the first ones; what is forgotten was never told."""
        self._size = size

    def renumber(self, arms: np.ndarray) -> None:
        """Arm x is called ``arms[x]`` from now on; rows that asks brought are no arms."""
        listed = self.arm >= 0
        self.arm[listed] = arms[self.arm[listed]]

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

    def first_of(self, event: int) -> int:
        """The first decision that an event asked: later events ask later decisions."""
        return int(np.searchsorted(self.origin, event))

    def columns(self) -> dict[str, np.ndarray]:
        return {name: column[: self._size] for name, column in self._columns.items()}

    def load(self, columns: dict[str, np.ndarray]) -> None:
        self._size = int(columns["arm"].size)
        room = max(64, 1 << int(self._size).bit_length())
        for name, dtype in COLUMNS.items():
            self._columns[name] = np.zeros(room, dtype)
            self._columns[name][: self._size] = columns[name]


def value_of(observation: Any) -> int:
    """What the ledger keeps of an observation: a number's bits, a list's digest, 0 for none."""
    if observation is None:
        return 0
    if isinstance(observation, list):
        bits = struct.pack(f"<{len(observation)}d", *observation)
        return int.from_bytes(hashlib.blake2b(bits, digest_size=8).digest(), "little")
    return int.from_bytes(struct.pack("<d", observation), "little")


def number_from(value: int) -> float:
    """The number whose bits the ledger keeps."""
    found: float = struct.unpack("<d", int(value).to_bytes(8, "little"))[0]
    return found
