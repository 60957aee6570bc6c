"""The interface of a store: read and append, with snapshots only as a speed-up."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Protocol

from ossb.campaigns.events import Event
from ossb.errors import InputError, OssbError


class Conflict(OssbError):
    """Somebody else appended first."""


class InUse(OssbError):
    """Another process has the store."""


class Unavailable(OssbError):
    """The store cannot be written or reached now; nothing was changed, and it may pass."""


class Corrupt(OssbError):
    """A journal's chain of hashes is broken."""


class Storage(Protocol):
    """Journals by campaign name. Methods may be called from any thread."""

    def names(self) -> list[str]:
        """Campaigns, in order of creation."""
        ...

    def read(self, name: str, after: int = 0) -> Iterator[Event]:
        """Events of a campaign with a number above ``after``, in order."""
        ...

    def append(self, name: str, events: Sequence[Event]) -> Future[None]:
        """Append events, in the order of the calls; the answer is there once they are on disk.

        It is ``Conflict`` if the campaign does not end right before the first of them, and
        ``Unavailable`` if the store fails; either way nothing is written.
        """
        ...

    def snapshot(self, name: str) -> tuple[int, bytes] | None:
        """The newest snapshot: the number of its last event, and its content."""
        ...

    def keep_snapshot(self, name: str, number: int, content: bytes) -> None:
        """Replace the snapshot."""
        ...

    def close(self) -> None: ...


def open_storage(url: str) -> Storage:
    """The store of a URL: ``sqlite:///file``, ``postgresql://…`` or ``memory://``."""
    if url.startswith("sqlite:///"):
        from ossb.campaigns.storage.sqlite import SQLiteStorage

        return SQLiteStorage(url.removeprefix("sqlite:///"))
    if url.startswith(("postgresql://", "postgres://")):
        from ossb.campaigns.storage.postgresql import PostgreSQLStorage

        return PostgreSQLStorage(url)
    if url.startswith("memory://"):
        from ossb.campaigns.storage.memory import MemoryStorage

        return MemoryStorage()
    raise InputError("storage", "be sqlite:///FILE, postgresql://… or memory://", url)
