"""The campaigns of one server: opened on first use, and whoever waits for their events."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakValueDictionary

from ossb import deadlines
from ossb.campaigns import Campaign, Corrupt, Storage
from ossb.campaigns.definition import create, definition, is_label
from ossb.campaigns.document import document_of
from ossb.campaigns.journal import no_campaign
from ossb.errors import OssbError
from ossb.service.tokens import campaign_names
from ossb.structures.base import Instance

BETWEEN_LOOKS = 0.1  # seconds
LATER = 120.0  # seconds that a document may take which nobody waits for


class Registry:
    """Campaigns by name.

    ``turn``, ``changed``, ``wake_all`` and ``news`` are for the event loop's thread, the rest for
    any.
    """

    def __init__(self, storage: Storage, ask_seconds: float | None = None) -> None:
        self.storage = storage
        self._ask_seconds = ask_seconds
        self._later: set[str] = set()  # campaigns whose document is worked out aside
        self._open: dict[str, Campaign] = {}
        self._lock = threading.Lock()
        # while somebody holds or awaits them: names that are refused leave nothing behind
        self._opening: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        # by the digest of the newest event: a number may become another event's
        self._pages: dict[str, tuple[tuple[str, float | None, float | None], dict[str, Any]]] = {}
        self._waiting: dict[str, asyncio.Event] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self.damaged: dict[str, str] = {}  # campaigns that could not be opened, and why

    def names(self) -> list[str]:
        return campaign_names(self.storage)

    def campaign(self, name: str) -> Campaign:
        """The campaign of a name; ``Unknown`` if there is none."""
        found = self._open.get(name)
        if found is not None:
            return found
        if (
            not is_label(name) or self.storage.last(name) == 0
        ):  # before anything is kept under a stranger's name
            raise no_campaign(self.storage, name)
        with _patiently(self._alone(name)):
            found = self._open.get(name)
            if found is None:
                try:
                    found = Campaign(self.storage, name, ask_seconds=self._ask_seconds)
                except Corrupt as error:
                    self.damaged[name] = str(error)
                    raise
                self.damaged.pop(name, None)
                found.prepare()
                self._open[name] = found
        return found

    def create(
        self, name: str, instance: Instance | Mapping[str, Any], policy: Any, seed: int
    ) -> tuple[Campaign, bool]:
        """A campaign, and whether it is new; ``Conflict`` if the name is another's."""
        wanted = definition(name, instance, policy, seed)
        with _patiently(self._alone(name)):
            made = self.storage.last(name) == 0 and create(
                self.storage, wanted, time.time(), self._ask_seconds
            )
        if not made:
            Campaign.open(self.storage, name, instance=instance, policy=policy, seed=seed)
        return self.campaign(name), made

    def document(
        self, name: str, delta: float | None = None, epsilon: float | None = None
    ) -> dict[str, Any]:
        """Where a campaign stands; worked out once for each state of it."""
        campaign = self.campaign(name)
        with _patiently(self._alone(f"\x1f{name}")):
            digest, standing = campaign.standing()
            state, page = self._pages.get(name, (None, {}))
            if state == (digest, delta, epsilon):
                return {**page, **standing}  # leases end while nothing happens
            moment = campaign.moment()
            page = document_of(moment, delta, epsilon)
            self._pages[name] = ((moment.digest, delta, epsilon), page)
            return page

    def begin_later(self, name: str) -> bool:
        """Whether a document is to be worked out aside: once at a time for each campaign."""
        if name in self._later:
            return False
        self._later.add(name)
        return True

    def work_out(
        self,
        name: str,
        delta: float | None,
        epsilon: float | None,
        abandoned: Callable[[], bool],
    ) -> None:
        """Work a document out that nobody waits for, but that will be wanted again."""
        try:
            with suppress(OssbError), deadlines.wanted(time.monotonic() + LATER, abandoned):
                self.document(name, delta, epsilon)
        finally:
            self._later.discard(name)

    def turn(self, name: str, what: str = "document") -> asyncio.Lock:
        """Whose turn it is to work something out: those who wait must not fill the threads."""
        return self._turns.setdefault(f"{what} {name}", asyncio.Lock())

    def changed(self, name: str) -> None:
        """Wake whoever waits for a campaign's events; on the event loop."""
        waiting = self._waiting.pop(name, None)
        if waiting is not None:
            waiting.set()

    def wake_all(self) -> None:
        for name in list(self._waiting):
            self.changed(name)

    def news(self, name: str) -> asyncio.Event:
        """Set once something happens in a campaign from now on.

        Taken before a look, so that what happens between the look and the waiting is not missed.
        """
        return self._waiting.setdefault(name, asyncio.Event())

    def _alone(self, name: str) -> threading.Lock:
        with self._lock:
            return self._opening.setdefault(name, threading.Lock())


@contextmanager
def _patiently(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock; who waits for it looks whether the answer is still wanted."""
    while not lock.acquire(timeout=BETWEEN_LOOKS):
        deadlines.check()
    try:
        yield
    finally:
        lock.release()
