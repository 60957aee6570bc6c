"""Where the lock of a file stands.

By itself, since the command line looks there before it loads anything heavy.
"""

import os


def lock_of(path: str | os.PathLike[str]) -> str:
    """The lock of a file: beside the file itself, the same one through every link to it."""
    return f"{os.path.realpath(path)}.lock"
