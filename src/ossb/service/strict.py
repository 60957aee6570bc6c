"""JSON read strictly: what cannot be meant is refused, with the name of what is wrong.

The standard decoder takes the last of two equal keys, ``NaN``, ``1e999`` as infinity, and
recurses as deeply as it is led; none of that is wanted from strangers.
"""

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from ossb.errors import InputError

DEEPEST = 8
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


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
    try:
        found = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
        )
    except InputError:
        raise
    except ValueError as error:
        raise InputError("body", f"be JSON: {_line(error)}") from None
    if not isinstance(found, dict):
        raise InputError("body", "be a JSON object", found)
    return found


def keys(
    body: dict[str, Any], needed: Iterable[str], optional: Iterable[str] = (), where: str = ""
) -> None:
    """Refuse keys that are missing or that nobody knows; ``where`` the object stands."""
    needed = list(needed)
    known = [*needed, *optional]
    for key in body:
        if key not in known:
            must = f"not be given: the keys are {', '.join(known)}"
            raise InputError(where + _shown(key), must)
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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InputError(_shown(key), "be given once")
            seen.add(key)
    return found


def _constant(text: str) -> Any:
    raise InputError("body", "hold finite numbers only", text)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise InputError("body", "hold finite numbers only", text)
    return value


def _shown(key: str) -> str:
    """A key as it may be shown: a stranger's key can be long, and anything."""
    plain = key.encode("ascii", "backslashreplace").decode()
    return (plain if len(plain) <= 60 else plain[:59] + "…") or '""'


def _line(error: Exception) -> str:
    return str(error).encode("ascii", "backslashreplace").decode()[:200]
