"""The interface of a store: read and append, with snapshots only as a speed-up."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import NamedTuple, Protocol

from ossb.campaigns.events import GENESIS, Event
from ossb.errors import Conflict as Conflict
from ossb.errors import Corrupt as Corrupt
from ossb.errors import InputError
from ossb.errors import InUse as InUse  # of the command line too, which loads nothing heavy
from ossb.errors import Unavailable as Unavailable

NO_END = 2**62


class Head(NamedTuple):
    """The last event of a campaign."""

    number: int
    digest: str


class Storage(Protocol):
    """Journals by campaign name. Methods may be called from any thread."""

    shared: bool  # whether other processes may append to the same journals

    def names(self) -> list[str]:
        """Campaigns, in order of creation."""
        ...

    def heads(self) -> dict[str, Head]:
        """Where every campaign ends, all at one moment, in order of creation."""
        ...

    def last(self, name: str) -> int:
        """The number of a campaign's last event by the store's own account; 0 for none."""
        ...

    def read(self, name: str, after: int = 0, until: int = NO_END) -> Iterator[Event]:
        """Events of a campaign numbered above ``after`` and up to ``until``, in order.

        ``Corrupt`` if the store finds itself damaged, ``Unavailable`` if it cannot be read now.
        """
        ...

    def append(self, name: str, events: Sequence[Event], after: str = GENESIS) -> Future[None]:
        """Append events, in the order of the calls; the answer is there once they are on disk.

        ``after`` is the digest of the event that they follow.  It is ``Conflict``, with nothing
        written, if the campaign does not end with that event and the number before theirs (two
        servers may have made different events of one number), and ``Unavailable`` if the store
        fails.
        """
        ...

    def snapshot(self, name: str) -> tuple[int, bytes] | None:
        """The newest snapshot: the number of its last event, and its content."""
        ...

    def keep_snapshot(self, name: str, number: int, content: bytes) -> None:
        """Replace the snapshot, unless there is a newer one."""
        ...

    def drop(self, names: Sequence[str]) -> None:
        """Forget campaigns for good, and give back the room that is not needed."""
        ...

    def check_whole(self) -> None:
        """``Corrupt`` if the store itself shows that events which it held are missing."""
        ...

    def check_ready(self) -> None:
        """``Unavailable``, with the reason, if events could not be read and appended now."""
        ...

    def close(self) -> None:
        """Write what is waiting, and let go; closing twice does nothing."""
        ...


def open_storage(url: str, read_only: bool = False) -> Storage:
    """The store of a URL: ``sqlite:///file``, ``postgresql://…`` or ``memory://``.

    Parameters
    ----------
    read_only
        To look only, beside whatever writes: of a SQLite file the lock is not taken.  So is a file
        opened that cannot be written, such as one on a read-only disk.
    """
    if url.startswith("sqlite:///"):
        from ossb.campaigns.storage.sqlite import SQLiteStorage, is_read_only

        path = url.removeprefix("sqlite:///")
        return SQLiteStorage(path, read_only or is_read_only(path))
    if url.startswith(("postgresql://", "postgres://")):
        from ossb.campaigns.storage.postgresql import PostgreSQLStorage

        return PostgreSQLStorage(url)
    if url.startswith("memory://"):
        from ossb.campaigns.storage.memory import MemoryStorage

        return MemoryStorage()
    raise InputError("storage", "be sqlite:///FILE, postgresql://… or memory://", url)
