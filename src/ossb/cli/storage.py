"""Where the campaigns of a command are: in a store of this process, or behind a service."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ossb.errors import InputError, OssbError
from ossb.served import is_service
from ossb.words import hint_apart

if TYPE_CHECKING:
    from ossb.campaigns.calls import CampaignCalls

SQLITE = "sqlite:///"
STORAGE = f"{SQLITE}ossb.db"
STORES = "sqlite:///FILE or postgresql://…"  # of this process
PLACES = "sqlite:///FILE, postgresql://… or http://…"  # or behind a service
PAGE = 1000


def check_store(storage: str, forms: str) -> None:
    """Refuse what is no URL of a store, in the words of the option's help."""
    if not storage.startswith((SQLITE, "postgresql://", "postgres://", "memory://")):
        raise InputError("storage", f"be {forms}", storage)


@contextmanager
def campaign(storage: str, token: str | None, name: str) -> Iterator["CampaignCalls"]:
    """A campaign of a storage URL, let go of at the end."""
    from ossb.campaigns import Campaign
    from ossb.campaigns.definition import label
    from ossb.served import ServedCampaign

    with _saying_where(storage), opened(storage, token) as (store, client):
        if store is None:
            yield ServedCampaign(client, name)
        else:
            yield Campaign(store, label(name, "name"))


def created(
    storage: str, token: str | None, name: str, instance: Any, policy: Any, seed: int
) -> dict[str, Any]:
    """The document of a campaign, made if it is new."""
    from ossb.campaigns import Campaign

    with opened(storage, token, make=True) as (store, client):
        if store is None:
            return dict(client.create(name, instance, policy, seed))
        made = Campaign.open(store, name, instance=instance, policy=policy, seed=seed)
        return made.document()


def listed(storage: str, token: str | None) -> list[dict[str, Any]]:
    """All campaigns of a storage URL, each in brief."""
    with opened(storage, token) as (store, client):
        return list(client.campaigns(brief=True)) if store is None else _in_store(store)


def _in_store(store: Any) -> list[dict[str, Any]]:
    from ossb.campaigns import Campaign
    from ossb.campaigns.definition import label
    from ossb.campaigns.document import short
    from ossb.service.entries import DAMAGED, entry_of
    from ossb.service.tokens import campaign_names

    def look(name: str) -> dict[str, Any]:
        try:
            return short(Campaign(store, label(name, "name")))
        except InputError as error:  # of another version; a server would log a traceback
            return {**DAMAGED, "structure": "failed", "name": name, "error": str(error)}

    return [entry_of(name, look) for name in campaign_names(store)]


def decisions(found: "CampaignCalls") -> Iterator[dict[str, Any]]:
    """All decisions with what was told, a page at a time."""
    start = 0
    while True:
        page = found.history(start, PAGE)
        yield from page
        if len(page) < PAGE:
            return
        start += PAGE


@contextmanager
def _saying_where(storage: str) -> Iterator[None]:
    try:
        yield
    except OssbError as error:
        # other URLs may hold a password
        if str(error).startswith("there is no campaign") and storage.startswith("sqlite:"):
            said, near = hint_apart(str(error))
            advice = f": {near}" if near else "; see ossb campaign create --help"
            error.args = (f"{said} in {storage}{advice}",)
        raise


@contextmanager
def opened(storage: str, token: str | None, make: bool = False) -> Iterator[tuple[Any, Any]]:
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
