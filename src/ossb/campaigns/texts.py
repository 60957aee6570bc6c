"""What stands where in plain data; and texts that cannot be written down."""

from collections.abc import Iterator
from typing import Any

HALF = "be text that UTF-8 can write: it holds half a character"


def leaves(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Every key and every value that holds no others, with its place: ``tells[1].id``."""
    if isinstance(value, dict):
        for key, inside in value.items():
            place = f"{where}.{shown(key)}" if where else shown(key)
            yield place, key
            yield from leaves(inside, place)
    elif isinstance(value, list):
        for i, inside in enumerate(value):
            yield from leaves(inside, f"{where}[{i}]")
    else:
        yield where, value


def is_half(value: Any) -> bool:
    """Whether a text holds half a character, a surrogate without its other half."""
    return isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value)


def shown(key: str) -> str:
    """A key as it may be shown: a stranger's key can be long, and anything."""
    plain = str(key).encode("ascii", "backslashreplace").decode()
    return (plain if len(plain) <= 60 else plain[:59] + "…") or '""'
