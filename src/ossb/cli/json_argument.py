"""JSON as it is typed behind a command."""

import json
from typing import Any

DEEPEST = 20  # lists in lists: nothing that can be meant has more than a few


def typed(text: str) -> Any:
    """What a text says; ValueError where it is no JSON, or nested too deeply to be handled."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    level = [found]
    for _ in range(DEEPEST):
        level = [inner for entry in level for inner in _inside(entry)]
    if level:
        raise ValueError("nested too deeply")
    return found


def _inside(entry: Any) -> list[Any]:
    if isinstance(entry, dict):
        return list(entry.values())
    return entry if isinstance(entry, list) else []
