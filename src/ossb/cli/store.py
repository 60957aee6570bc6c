"""``ossb storage``: copies, checks and upkeep of the stores that campaigns are in."""

import json as encoder
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ossb.cli.storage import SQLITE, STORAGE, STORES, check_store

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Copies and upkeep of stores.")

Where = Annotated[str, typer.Option(envvar="OSSB_STORAGE", help=STORES)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
FAULT = 1


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The SQLite file to write; it must be new.")],
    storage: Where = STORAGE,
    json: Json = False,
) -> None:
    """Copy a store that may be in use, as it is at one moment, into a new SQLite file.

    Every event is checked on its way. To restore, serve the file.

    Example: ossb storage backup monday.db --storage sqlite:///ossb.db
    """
    import os

    from ossb.errors import InputError
    from ossb.locks import lock_of

    if file.exists():
        raise InputError("file", "be new", str(file))
    aside = file.with_name(file.name + ".partial")
    with _opened(storage, read_only=True) as source:
        copied = _copy(source, f"{SQLITE}{aside}")
    os.replace(aside, file)
    os.unlink(lock_of(aside))
    _say(json, {"file": str(file), "events": copied}, f"{copied} events in {file}")


@app.command()
def copy(
    source: Annotated[str, typer.Argument(help=STORES)],
    target: Annotated[str, typer.Argument(help=STORES)],
    json: Json = False,
) -> None:
    """Copy all campaigns and tokens into another store; again, it adds what is new.

    Example: ossb storage copy sqlite:///ossb.db sqlite:///other.db
    """
    check_store(target, STORES)
    with _opened(source, read_only=True) as opened:
        copied = _copy(opened, target)
    _say(json, {"events": copied}, f"{copied} events copied")


@app.command()
def check(storage: Where = STORAGE, json: Json = False) -> None:
    """Check every event of a store, and whether a file was copied without its log.

    Exits with 1 if something is wrong.

    Example: ossb storage check --storage sqlite:///monday.db
    """
    from ossb.campaigns.storage.base import Corrupt
    from ossb.campaigns.storage.copying import check_store as check_events

    with _opened(storage, read_only=True) as store, _progress("checking") as progress:
        found = check_events(store, progress)
        problems = [f"{one.name!r}: {one.problem}" for one in found if one.problem]
        try:
            store.check_whole()
        except Corrupt as error:
            problems.append(str(error))
    events = sum(one.events for one in found)
    stands = {"campaigns": len(_campaigns(found)), "events": events, "problems": problems}
    right = f"{len(_campaigns(found))} campaigns, {events} events: all as written"
    _say(json, stands, "\n".join(problems) or right)
    if problems:
        raise typer.Exit(FAULT)


@app.command()
def compact(
    storage: Where = STORAGE,
    closed_for: Annotated[
        float | None,
        typer.Option(help="Forget campaigns closed for so many days, for good.", min=0.0),
    ] = None,
    json: Json = False,
) -> None:
    """Give back the room that a store does not need; the store must not be in use.

    With --closed-for, campaigns that were closed so long ago are forgotten, for good: make a
    backup first.

    Example: ossb storage compact --closed-for 365
    """
    with _opened(storage, read_only=False) as store:
        old = [] if closed_for is None else _closed_before(store, time.time() - 86400 * closed_for)
        store.drop(old)
    _say(json, {"forgotten": old}, f"forgotten: {', '.join(old)}" if old else "compacted")


@contextmanager
def _opened(storage: str, read_only: bool) -> Iterator[Any]:
    check_store(storage, STORES)
    from ossb.campaigns import open_storage
    from ossb.errors import InputError

    if storage.startswith(SQLITE) and not Path(storage.removeprefix(SQLITE)).is_file():
        raise InputError("storage", "be a store that is there", storage)
    store = open_storage(storage, read_only)
    try:
        yield store
    finally:
        store.close()


def _copy(source: Any, url: str) -> int:
    from ossb.campaigns import open_storage
    from ossb.campaigns.storage.copying import copy_store

    source.check_whole()
    target = open_storage(url)
    try:
        with _progress("copying") as progress:
            return copy_store(source, target, progress)
    finally:
        target.close()


@contextmanager
def _progress(what: str) -> Iterator[Any]:
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    columns = (TextColumn("{task.description} {task.completed:.0f} events"),)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda events: bar.advance(task, events)


def _campaigns(found: Any) -> list[Any]:
    from ossb.service.tokens import JOURNAL

    return [one for one in found if one.name != JOURNAL]


def _closed_before(store: Any, moment: float) -> list[str]:
    """Campaigns whose last event but late tells is their end, before a moment."""
    from ossb.service.tokens import campaign_names

    old = []
    for name in campaign_names(store):
        ends = [event.time for event in store.read(name) if event.kind == "closed"]
        if ends and ends[0] < moment:
            old.append(name)
    return old


def _say(json: bool, content: Any, text: str) -> None:
    typer.echo(encoder.dumps(content) if json else text)
