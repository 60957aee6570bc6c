"""The lines of the reliability table, by what they are about."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1]))


class Line(NamedTuple):
    """One promise and what shows it."""

    key: str
    what: str  # with the counts in braces
    promised: str
    counts: dict[str, int]  # the full ones
    run: Callable[..., tuple[bool, str]]  # of a folder and the counts: held or not, what was found
    least: int = 2  # of each count in a smaller run
    needs: Callable[[], str | None] = lambda: None  # why it cannot be run here


def exactly_once(row: dict[str, Any], *more: str) -> tuple[bool, str]:
    """Whether nothing was lost, twice or invented; and the row as text."""
    bad = ("lost", "twice", "invented", "unaccounted", "otherwise", "crashed", "exit_code")
    held = not any(row.get(key, 0) for key in bad)
    shown = ("asks", "tells", "lost", "twice", "invented", "unaccounted", *more)
    return held, ", ".join(f"{row[key]} {key.replace('_', ' ')}" for key in shown)


def no_postgresql() -> str | None:
    import postgresql_server

    return None if postgresql_server.binaries() else postgresql_server.ABSENT


def no_compiler() -> str | None:
    import failing_disk

    return None if failing_disk.compiler() else failing_disk.ABSENT


def no_browser() -> str | None:
    return None if Path("/usr/bin/chromium").exists() else "chromium is not installed"


def on_postgresql(run: Callable[[Any], Any]) -> Any:
    """Run something on a PostgreSQL server of its own."""
    import postgresql_server

    server = postgresql_server.Server()
    try:
        server.start()
        return run(server)
    finally:
        server.stop()
