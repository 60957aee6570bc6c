"""Where the campaigns of a command are: in a store of this process, or behind a service."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from ossb.errors import InputError, OssbError
from ossb.words import hint_apart

SQLITE = "sqlite:///"
STORAGE = f"{SQLITE}ossb.db"
STORES = "sqlite:///FILE or postgresql://…"  # of this process
PLACES = "sqlite:///FILE, postgresql://… or http://…"  # or behind a service
PAGE = 1000


def is_service(storage: str) -> bool:
    return storage.startswith(("http://", "https://"))


def check_store(storage: str, forms: str) -> None:
    """Refuse what is no URL of a store, in the words of the option's help."""
    if not storage.startswith((SQLITE, "postgresql://", "postgres://", "memory://")):
        raise InputError("storage", f"be {forms}", storage)


class Campaigns(Protocol):
    """What the commands need."""

    def create(self, name: str, instance: Any, policy: Any, seed: int) -> dict[str, Any]: ...

    def listed(self) -> list[dict[str, Any]]: ...

    def show(self, name: str, delta: float | None) -> dict[str, Any]: ...

    def ask(self, name: str, n: int, options: Mapping[str, Any]) -> list[dict[str, Any]]: ...

    def tell(self, name: str, id: str, observation: Any) -> str: ...

    def void(self, name: str, id: str) -> str: ...

    def close(self, name: str) -> None: ...

    def add_arm(self, name: str, arm: Mapping[str, Any]) -> int: ...

    def retire_arm(self, name: str, arm: int) -> None: ...

    def switch(self, name: str, policy: dict[str, Any]) -> dict[str, Any]: ...

    def import_rows(self, name: str, rows: list[tuple[Any, Any]], source: str) -> int: ...

    def history(self, name: str) -> Iterator[dict[str, Any]]: ...


class InStore:
    """Campaigns in a store that this process has opened."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def _campaign(self, name: str) -> Any:
        from ossb.campaigns import Campaign
        from ossb.campaigns.definition import label

        return Campaign(self._store, label(name, "name"))

    def create(self, name: str, instance: Any, policy: Any, seed: int) -> dict[str, Any]:
        from ossb.campaigns import Campaign
        from ossb.service.summary import summary

        made = Campaign.open(self._store, name, instance=instance, policy=policy, seed=seed)
        return summary(made)

    def listed(self) -> list[dict[str, Any]]:
        from ossb.service.summary import DAMAGED, entry_of, short
        from ossb.service.tokens import campaign_names

        def look(name: str) -> dict[str, Any]:
            try:
                return short(self._campaign(name))
            except InputError as error:  # of another version; a server would log a traceback
                return {**DAMAGED, "structure": "failed", "name": name, "error": str(error)}

        return [entry_of(name, look) for name in campaign_names(self._store)]

    def show(self, name: str, delta: float | None) -> dict[str, Any]:
        from ossb.service.summary import summary

        return summary(self._campaign(name), delta)

    def ask(self, name: str, n: int, options: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [decision._asdict() for decision in self._campaign(name).ask(n, **options)]

    def tell(self, name: str, id: str, observation: Any) -> str:
        return str(self._campaign(name).tell(id, observation))

    def void(self, name: str, id: str) -> str:
        return str(self._campaign(name).void(id))

    def close(self, name: str) -> None:
        self._campaign(name).close()

    def add_arm(self, name: str, arm: Mapping[str, Any]) -> int:
        return int(self._campaign(name).add_arm(arm))

    def retire_arm(self, name: str, arm: int) -> None:
        self._campaign(name).retire_arm(arm)

    def switch(self, name: str, policy: dict[str, Any]) -> dict[str, Any]:
        return dict(self._campaign(name).switch(policy))

    def import_rows(self, name: str, rows: list[tuple[Any, Any]], source: str) -> int:
        return int(self._campaign(name).import_rows(rows, source, once=True))

    def history(self, name: str) -> Iterator[dict[str, Any]]:
        campaign = self._campaign(name)
        return _pages(lambda start: campaign.history(start, PAGE))


class BehindService:
    """Campaigns of a service, by its client."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def create(self, name: str, instance: Any, policy: Any, seed: int) -> dict[str, Any]:
        found: dict[str, Any] = self._client.create(name, instance, policy, seed)
        return found

    def listed(self) -> list[dict[str, Any]]:
        return list(self._client.campaigns(brief=True))

    def show(self, name: str, delta: float | None) -> dict[str, Any]:
        return dict(self._client.campaign(name, delta))

    def ask(self, name: str, n: int, options: Mapping[str, Any]) -> list[dict[str, Any]]:
        given = dict(options)
        if "lease" in given:
            given["lease_seconds"] = given.pop("lease")
        return [decision._asdict() for decision in self._client.ask(name, n, **given)]

    def tell(self, name: str, id: str, observation: Any) -> str:
        return str(self._client.tell(name, id, observation))

    def void(self, name: str, id: str) -> str:
        return str(self._client.void(name, id))

    def close(self, name: str) -> None:
        self._client.close_campaign(name)

    def add_arm(self, name: str, arm: Mapping[str, Any]) -> int:
        return int(self._client.add_arm(name, arm))

    def retire_arm(self, name: str, arm: int) -> None:
        self._client.retire_arm(name, arm)

    def switch(self, name: str, policy: dict[str, Any]) -> dict[str, Any]:
        return dict(self._client.switch(name, policy))

    def import_rows(self, name: str, rows: list[tuple[Any, Any]], source: str) -> int:
        return int(self._client.import_rows(name, rows, source, once=True))

    def history(self, name: str) -> Iterator[dict[str, Any]]:
        return _pages(lambda start: self._client.history(name, start, PAGE))


@contextmanager
def campaigns(storage: str, token: str | None, make: bool = False) -> Iterator[Campaigns]:
    """The campaigns of a storage URL, let go of at the end; a new file only to ``make`` some."""
    with opened(storage, token, make) as found:
        try:
            yield InStore(found[0]) if found[0] is not None else BehindService(found[1])
        except OssbError as error:
            # other URLs may hold a password
            if str(error).startswith("there is no campaign") and storage.startswith("sqlite:"):
                said, near = hint_apart(str(error))
                error.args = (f"{said} in {storage}{near and ': ' + near}",)
            raise


@contextmanager
def opened(storage: str, token: str | None, make: bool) -> Iterator[tuple[Any, Any]]:
    """A store of this process, or else the client of the service that has it.

    A file that is not there is made only to ``make`` something in it.  Until then the usual one
    is as good as empty, and another one is a mistake.
    """
    if not is_service(storage):
        check_store(storage, PLACES)
        from ossb.campaigns import InUse, open_storage

        file = Path(storage.removeprefix(SQLITE))
        absent = storage.startswith(SQLITE) and not make and not file.exists()
        if absent and storage != STORAGE:
            raise InputError("storage", "be a file that is there", storage)
        try:
            store = open_storage("memory://" if absent else storage)
        except InUse as taken:
            if not taken.url:
                raise
            storage = taken.url
        else:
            try:
                yield store, None
            finally:
                store.close()
            return
    from ossb.client import Client

    with Client(storage, token) as client:
        yield None, client


def _pages(read: Callable[[int], list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    start = 0
    while True:
        page = read(start)
        yield from page
        if len(page) < PAGE:
            return
        start += PAGE
