"""Lists of pairs, as tells and rows of data are given."""

from collections.abc import Iterable, Mapping
from typing import Any

from .errors import InputError  # relative: `ossb-client` ships this file under its own name


def as_pairs(entries: Any, field: str, what: str) -> list[tuple[Any, Any]]:
    """Entries that are pairs, as they should be."""
    if isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable):
        raise InputError(field, "be a list of pairs", entries)
    pairs = list(entries)
    for i, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"{field}[{i}]", f"be {what}", pair)
    return [(first, second) for first, second in pairs]
