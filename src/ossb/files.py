"""Files written whole or not at all: what stood there stays until the new one is complete."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A file beside ``path`` to write, with the same ending; it takes its place at the end.

    After an error it is gone, and ``path`` is what it was.  What is no ordinary file, such as
    ``/dev/stdout``, is written as it stands.
    """
    target = Path(os.path.realpath(path))  # a link goes on pointing at what it points at
    if target.exists() and not target.is_file():
        yield Path(path)
        return
    aside = target.with_name(f".{target.stem[:100]}-{secrets.token_hex(4)}{target.suffix}")
    try:
        yield aside
        if target.exists():
            aside.chmod(target.stat().st_mode & 0o7777)
        os.replace(aside, target)
    except BaseException as error:
        aside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(aside):
            error.filename = str(path)  # the name that the user knows
        raise
