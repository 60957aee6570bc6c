"""Copies of stores: whole, checked, and of one moment although the source goes on.

Journals only grow, so where all of them end at one moment says all that there was then.
"""

from collections.abc import Callable
from typing import NamedTuple

from ossb.campaigns.events import GENESIS, Event, follows
from ossb.campaigns.storage.base import Conflict, Corrupt, Head, Storage

GROUP = 500  # events in one commit of the copy

Progress = Callable[[int], None]  # events since the last call


class Checked(NamedTuple):
    """A journal as it was found: how many of its events are as written, and what is wrong."""

    name: str
    events: int
    problem: str | None


def copy_store(source: Storage, target: Storage, progress: Progress = lambda events: None) -> int:
    """Bring a store up to where another one is now; returns how many events were copied.

    What the target holds already is kept, so that a copy that was cut off goes on, and a later
    one adds what is new.  ``Conflict`` if the target holds something else under a name, with
    nothing of that campaign copied; ``Corrupt`` if an event of the source is not what was written.
    """
    there, copied = target.heads(), 0
    for name, end in source.heads().items():
        done = there.get(name, Head(0, GENESIS))
        if done.number > end.number or not _is_prefix(source, name, done):
            message = f"campaign {name!r} is another one in the target: it has another history"
            raise Conflict(message)
        number, digest, group = done.number, done.digest, list[Event]()
        for event in source.read(name, done.number, end.number):
            if not follows(event, number, digest):
                break
            number, digest = event.number, event.digest
            group.append(event)
            if len(group) == GROUP:
                copied += _append(target, name, group, progress)
                group = []
        if group:
            copied += _append(target, name, group, progress)
        if (number, digest) != end:
            raise Corrupt(f"campaign {name!r} is damaged: event {number + 1} is not as written")
    return copied


def check_store(store: Storage, progress: Progress = lambda events: None) -> list[Checked]:
    """Check the hashes of all events of a store, and that none is missing at the end."""
    found = []
    for name, end in store.heads().items():
        number, digest = 0, GENESIS
        try:
            for event in store.read(name, 0, end.number):
                if not follows(event, number, digest):
                    break
                number, digest = event.number, event.digest
                progress(1)
        except Corrupt:
            pass  # what stands before the damage was counted
        whole = (number, digest) == end
        problem = None if whole else f"event {number + 1} is not what was written"
        found.append(Checked(name, number, problem))
    return found


def _is_prefix(source: Storage, name: str, done: Head) -> bool:
    if done.number == 0:
        return True
    same = next(iter(source.read(name, done.number - 1, done.number)), None)
    return same is not None and same.digest == done.digest


def _append(target: Storage, name: str, group: list[Event], progress: Progress) -> int:
    first = group[0]
    after = GENESIS if first.number == 1 else _digest_before(target, name, first.number)
    target.append(name, group, after).result()
    progress(len(group))
    return len(group)


def _digest_before(target: Storage, name: str, number: int) -> str:
    return next(iter(target.read(name, number - 2, number - 1))).digest
