"""Words for people: a number with its noun, and the nearest right name."""

import difflib
from collections.abc import Iterable


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 trial``, ``2,000 trials``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def hint(word: object, known: Iterable[str]) -> str:
    """``(did you mean 'theta'?)`` after a space, or nothing where no name is near."""
    near = difflib.get_close_matches(str(word), list(known), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""
