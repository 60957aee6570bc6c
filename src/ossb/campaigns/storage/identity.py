"""Whether a file is still the one that was opened, under its one name.

A process that holds a file open goes on writing to it after the file was deleted or another was
put in its place, and nobody finds again what it wrote; a second name of the file has a lock of its
own, past which another process may write.
"""

import os
from pathlib import Path
from typing import NamedTuple

from ossb.campaigns.storage.base import Unavailable
from ossb.errors import InputError


class Identity(NamedTuple):
    """What tells a file from any other of the machine."""

    path: Path
    device: int
    node: int


def identity_of(path: Path) -> Identity:
    """The identity of a file that is there; ``InputError`` where it has several names."""
    found = os.stat(path)
    if found.st_nlink != 1:
        names = f"have one name: {path} has {found.st_nlink} (hard links)"
        raise InputError("storage", f"{names}, and another process may write under the other")
    return Identity(path, found.st_dev, found.st_ino)


def check_identity(known: Identity) -> None:
    """``Unavailable`` unless the path leads to the same file, and no other path does."""
    try:
        found = os.stat(known.path)
    except OSError as error:
        raise Unavailable(f"the store {known.path} is gone: {error.strerror}") from None
    if (found.st_dev, found.st_ino) != known[1:]:
        raise Unavailable(f"the store {known.path} was replaced by another file")
    if found.st_nlink != 1:
        raise Unavailable(f"the store {known.path} has got a second name (a hard link)")
