"""JSON read strictly: what cannot be meant is refused, with the name of what is wrong.

The standard decoder takes the last of two equal keys, ``NaN``, ``1e999`` as infinity, and
recurses as deeply as it is led; none of that is wanted from strangers.
"""

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from ossb.campaigns.texts import HALF, is_half, leaves, shown
from ossb.errors import InputError

DEEPEST = 8
# a text without an end is a token too: else every quote in it would be tried as a beginning
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)
_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")


def decode(body: bytes) -> dict[str, Any]:
    """The object that a body holds."""
    if _depth(body) > DEEPEST:
        raise InputError("body", f"be nested at most {DEEPEST} deep")
    if body.startswith(b"\xef\xbb\xbf"):
        raise InputError("body", "be JSON without a byte-order mark")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("body", f"be UTF-8: byte {error.start} is not") from None
    found, doubtful = _parsed(text)
    if not isinstance(found, dict):
        raise InputError("body", "be a JSON object", found)
    if doubtful or _HALVES.search(body):
        _refuse_wrong(found)
    return found


class _Wrong:
    """Stands for a value that cannot be meant, until it is known where it stands."""

    def __init__(self, must: str, text: str = "") -> None:
        self.must, self.text = must, text

    def __repr__(self) -> str:
        return self.text or "two values"


class _Reader:
    """What the decoder asks about objects and numbers; ``doubtful`` once something was wrong."""

    def __init__(self) -> None:
        self.doubtful = False

    def wrong(self, must: str, text: str = "") -> _Wrong:
        self.doubtful = True
        return _Wrong(must, text)

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    found[key] = self.wrong("be given once")
                seen.add(key)
        return found

    def constant(self, text: str) -> Any:
        return self.wrong("be finite", text)

    def float(self, text: str) -> Any:
        value = float(text)
        return self.wrong("be finite", text) if math.isinf(value) else value

    def integer(self, text: str) -> Any:
        return int(text) if len(text) < 1000 else self.wrong("be finite", text)


def _parsed(text: str) -> tuple[Any, bool]:
    """What a text says, and whether something in it cannot be meant."""
    reader = _Reader()
    hooks: dict[str, Any] = {
        "object_pairs_hook": reader.object,
        "parse_constant": reader.constant,
        "parse_float": reader.float,
    }
    try:
        try:
            return json.loads(text, **hooks), reader.doubtful
        except json.JSONDecodeError:
            raise
        except ValueError:  # a number of thousands of digits
            return json.loads(text, parse_int=reader.integer, **hooks), reader.doubtful
    except ValueError as error:
        raise InputError("body", f"be JSON: {_line(error)}") from None


def _refuse_wrong(found: dict[str, Any]) -> None:
    for place, value in leaves(found):
        if isinstance(value, _Wrong):
            if value.text:
                raise InputError(place, value.must, value.text)
            raise InputError(place, value.must)
        if is_half(value):
            raise InputError(place, HALF)


def keys(
    body: dict[str, Any], needed: Iterable[str], optional: Iterable[str] = (), where: str = ""
) -> None:
    """Refuse keys that are missing or that nobody knows; ``where`` the object stands."""
    needed = list(needed)
    known = [*needed, *optional]
    for key in body:
        if key not in known:
            must = f"not be given: the keys are {', '.join(known)}"
            raise InputError(where + shown(key), must)
    for key in needed:
        if key not in body:
            raise InputError(where + key, "be given")


def _depth(body: bytes) -> int:
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return 0
    depth = deepest = 0
    for token in _TOKENS.finditer(body):
        mark = body[token.start()]
        if mark in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in b"]}":
            depth -= 1
    return deepest


def _line(error: Exception) -> str:
    return str(error).encode("ascii", "backslashreplace").decode()[:200]
