"""A campaign's journal and its fold, kept in step with the store.

Under the lock an event is made, folded into the state and handed to the store; the caller is
answered once it is on disk.  If the store refuses it, the state is thrown away and folded anew
from what is on disk, so that what was never written is never seen.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from ossb.campaigns import snapshots
from ossb.campaigns.events import GENESIS, Event, chained, follows
from ossb.campaigns.origin import origin
from ossb.campaigns.state import State
from ossb.campaigns.storage import Conflict, Corrupt, Storage, Unavailable
from ossb.campaigns.storage.base import NO_END
from ossb.campaigns.unwaited import leave
from ossb.deadlines import holding
from ossb.errors import NoCampaign as NoCampaign
from ossb.errors import OssbError
from ossb.errors import Unknown as Unknown
from ossb.words import hint

SNAPSHOT_EVERY = 20_000  # events between snapshots, and at least a sixteenth of all
CHECKED_AT_ONCE = 100_000  # events before the snapshot whose hashes are checked at the start
BASE_EVERY = 500  # events folded anew before a nearer start is kept in memory
LABOUR = 1.0  # seconds of a policy's work after which its memory is kept in a snapshot,
DEARER = 20.0  # and how many times as long as writing that took
ATTEMPTS = 200  # at an event that other servers keep coming before
LONELY = 50  # looks that found nothing of other servers, after which they are rarer
LOOKED_THROUGH = 1000  # campaigns whose names are held against a misspelt one
LOOK_EVERY = 0.02  # seconds between such looks

T = TypeVar("T")
Change = Callable[[State], tuple[T, "Future[None] | None"]]


def no_campaign(storage: Storage, name: str) -> NoCampaign:
    """The error where a store has no campaign of a name, with the nearest one it has."""
    # journals of something else have names that cannot be printed
    names = [held for held in storage.names()[:LOOKED_THROUGH] if held.isprintable()]
    return NoCampaign(name, hint(name, names))


class Journal:
    """One campaign in a store, for one process; safe to use from several threads."""

    def __init__(self, storage: Storage, name: str) -> None:
        self._storage = storage
        self._name = name
        self._lock = threading.RLock()
        self._last: Future[None] | None = None  # the newest append
        self._fine: Future[None] | None = None  # one that was found to be on disk
        self._stale = False  # whether the state holds what the store does not
        self._damage: str | None = None
        self._base: bytes | None = None
        self._kept = 0
        self._cost = 0.0  # seconds that writing the last snapshot took
        self._checked = False
        self._loads = 0
        self._lonely = 0  # looks in a row that found nothing of other servers
        self._looked = 0.0
        self._state = self._load()

    @contextmanager
    def look(self) -> Iterator[State]:
        """The state as it stands, nobody changing it meanwhile."""
        with holding(self._lock):
            self._refresh()
            yield self._state

    def seen(self, look: Callable[[State], T]) -> T:
        """What a look at the state shows, once all that it rests on is on disk.

        Looked at again where the store refused some of it.
        """
        while True:
            with self.look() as state:
                found, waiting = look(state), self._last
            if waiting is None:
                return found
            wait([waiting])
            if waiting.exception() is None:
                return found

    @contextmanager
    def remembered(self) -> Iterator[State]:
        """The state as it was last seen, for which the store is not needed."""
        with self._lock:
            yield self._state

    @contextmanager
    def on_disk(self) -> Iterator[State]:
        """The state with nothing on its way that another server's event may come before."""
        with holding(self._lock):
            if self._storage.shared:
                self.settle()
            self._refresh()
            yield self._state

    def events(self, after: int = 0, until: int = NO_END) -> Iterator[Event]:
        """Events on disk numbered above ``after`` and up to ``until``."""
        return self._storage.read(self._name, after, until)

    def event(self, number: int) -> Event:
        """One event on disk."""
        self.settle()
        found = next(self._storage.read(self._name, number - 1, number), None)
        if found is None:
            raise Unavailable(f"event {number} of campaign {self._name!r} was not written")
        return found

    def between(self, first: int, last: int) -> Iterator[Event]:
        """Events from one number to another, once they are on disk."""
        self.settle()
        return self._storage.read(self._name, first - 1, last)

    def settle(self) -> None:
        """Wait until all that was appended is on disk, or refused."""
        if self._last is not None:
            wait([self._last])

    def change(self, make: Change[T]) -> T:
        """Make a change under the lock, and answer once it is on disk.

        ``make`` records events and returns its answer and the append to wait for; it is called
        again where another server came first.  A thread that leaves the waiting to others
        (``unwaited``) is answered at once.
        """
        for attempt in range(ATTEMPTS):
            with holding(self._lock):
                answer, waiting = self._made(make)
                loads = self._loads
            if waiting is None or leave(waiting, partial(self._doubt, loads)):
                return answer
            try:
                waiting.result()
                return answer
            except Conflict:
                self._doubt(loads)
                time.sleep(min(0.05, 0.001 * attempt))
            except OssbError:
                self._doubt(loads)
                raise
        raise Unavailable(f"campaign {self._name!r} is busy: others keep changing it")

    def record(
        self, kind: str, now: float, content: dict[str, Any], folded: bool = False
    ) -> "Future[None]":
        """Fold an event, an ask but for its decisions where they are, and hand it to the store."""
        state, touched = self._state, folded
        after = state.digest
        try:
            event = chained(after, state.number + 1, kind, now, {**content, **origin()})
            touched = True
            if folded:
                state.take_up(event.digest, content, here=True)
                state.number, state.digest = event.number, event.digest
            else:
                state.fold(event)
            appended = self._last = self._storage.append(self._name, [event], after)
        except BaseException:  # what was half folded was never written
            self._stale = self._stale or touched
            raise
        long = state.number - self._kept >= max(SNAPSHOT_EVERY, state.number // 16)
        worth = state.labour > max(LABOUR, DEARER * self._cost)
        if long or (worth and any(course.repeats for course in state.courses().values())):
            self._kept = state.number
            started = time.thread_time()
            number, saved = state.number, snapshots.to_bytes(state)
            state.labour, self._cost = 0.0, time.thread_time() - started
            appended.add_done_callback(
                lambda done: None if done.exception() else self._keep(number, saved)
            )
        return appended

    @property
    def newest(self) -> "Future[None] | None":
        """The newest append: who repeats what was recorded before waits for it."""
        return self._last

    def check(self) -> int:
        """Check every hash on disk; returns how many events there are."""
        self._storage.check_whole()
        number, expected = 0, self._storage.last(self._name)
        for event in self._checked_events(0, GENESIS):
            number = event.number
        if number < expected:
            raise _damaged(self._name, number + 1)
        return number

    def spoil(self) -> None:
        """Say that the state was changed without an event: it is folded anew before next use."""
        self._stale = True

    # inside

    def _made(self, make: Change[T]) -> "tuple[T, Future[None] | None]":
        behind = self._refresh(hasty=True)
        if not self._storage.shared or (self._last is None and not behind):
            return make(self._state)
        # while an event is on its way those of other servers are not seen.  An event made on an
        # old state is refused by the store; a refusal, or an answer that writes nothing, only
        # counts if it stands in what is on disk
        before = self._state.number
        with suppress(OssbError):
            answer, waiting = make(self._state)
            if self._state.number > before or not behind:
                return answer, waiting
        self.settle()
        self._refresh()
        return make(self._state)

    def _keep(self, number: int, saved: bytes) -> None:
        with suppress(OssbError):  # a snapshot is only a speed-up
            self._storage.keep_snapshot(self._name, number, saved)

    def _refresh(self, hasty: bool = False) -> bool:
        """Bring the state to what is on disk and on its way there.

        A ``hasty`` one does without a look at the store where none but this process has
        written for some time, and says so.
        """
        if self._damage is not None:
            raise Corrupt(self._damage)
        last = self._last
        settled = last is None or last is self._fine or last.done()  # looked at once: it changes
        if settled and last is not self._fine:
            if last is not None and last.exception() is not None:
                self._stale = True
            else:
                self._fine = last
        if self._stale:
            self.settle()
            spoilt, self._state = self._state, self._load()
            self._state.go_on_from(spoilt)
            self._last, self._stale = None, False
            self._loads += 1
        elif self._storage.shared and settled:
            now = time.monotonic()
            if hasty and self._lonely >= LONELY and now < self._looked + LOOK_EVERY:
                return True
            self._looked = now
            state, before = self._state, self._state.number
            try:
                for event in self._checked_events(state.number, state.digest):
                    state.fold(event)
            except BaseException:  # perhaps half folded
                self._stale = True
                raise
            self._lonely = self._lonely + 1 if state.number == before else 0
        return False

    def _doubt(self, loads: int) -> None:
        """An append failed: so will all that were made after it on the same state."""
        with self._lock:
            self._lonely = 0
            if self._loads == loads:
                self._stale = True
                with suppress(OssbError):  # the next to come tries again
                    self._refresh()

    def _load(self) -> State:
        """The state on disk: from the nearest snapshot on, every hash checked."""
        expected = self._storage.last(self._name)
        created = next(self._checked_events(0, GENESIS, 1), None)
        if created is None:
            if expected > 0:
                raise _damaged(self._name, 1)
            raise no_campaign(self._storage, self._name)
        state = self._from_snapshot(created)
        since, start = state.number, state.digest
        for event in self._checked_events(state.number, state.digest):
            state.fold(event)
        if state.number < expected:
            raise _damaged(self._name, state.number + 1)
        if self._storage.shared and state.number - since > BASE_EVERY:
            self._base = snapshots.to_bytes(state)
        if state.number - self._kept >= max(SNAPSHOT_EVERY, state.number // 16):
            self._kept = state.number
            self._keep(state.number, snapshots.to_bytes(state))
        if since > 1 and not self._checked:
            self._check_before(since, start)
        self._checked = True
        return state

    def _from_snapshot(self, created: Event) -> State:
        """The nearest state that is kept whole; the first where none can be used."""
        kept = self._storage.snapshot(self._name)
        for saved in (self._base, None if kept is None else kept[1]):
            if saved is not None:
                state = State(created)
                try:
                    snapshots.load(state, saved)
                except snapshots.Unusable:
                    continue
                if kept is not None and saved is kept[1]:
                    self._kept = state.number
                return state
        return State(created)

    def _check_before(self, number: int, digest: str) -> None:
        """Check the events that a snapshot stands for: at once, or aside where there are many."""
        aside = number > CHECKED_AT_ONCE

        def check() -> None:
            newest = GENESIS
            last = 0
            for event in self._checked_events(0, GENESIS, number):
                last, newest = event.number, event.digest
                if aside and last % 500 == 0:
                    time.sleep(0.005)  # leaves the interpreter to those who ask
            if last < number or newest != digest:
                raise _damaged(self._name, min(last + 1, number))

        def check_aside() -> None:
            try:
                check()
            except Corrupt as found:
                self._damage = str(found)
            except OssbError:
                return  # the store has gone away

        if not aside:
            check()
        else:
            threading.Thread(target=check_aside, name="ossb-check", daemon=True).start()

    def _checked_events(self, number: int, digest: str, until: int = 2**62) -> Iterator[Event]:
        """Events after a known one, each of them tied to the one before."""
        events = self._storage.read(self._name, number, until)
        while True:
            try:
                event = next(events, None)
            except Corrupt as found:
                message = f"event {number + 1} of campaign {self._name!r} cannot be read: {found}"
                raise Corrupt(message) from None
            if event is None:
                return
            if not follows(event, number, digest):
                raise _damaged(self._name, number + 1)
            number, digest = event.number, event.digest
            yield event


def _damaged(name: str, number: int) -> Corrupt:
    return Corrupt(f"campaign {name!r} is damaged: event {number} is not what was written")
