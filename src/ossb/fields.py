"""Reading what users write into arrays and numbers, refusing what cannot be meant.

Every function takes the value and the name of its field, and answers with a clean value or
with an error that names the field down to the entry.
"""

import itertools
import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.words import counted, hint

SMALLEST = 1e-100  # of numbers whose products doubles hold; the largest is its inverse
WITHIN = f"be 0, or from {SMALLEST:g} to {1.0 / SMALLEST:g} in size, to be checked"
# spaces of all kinds, and letters that show nothing
BLANK = (
    " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u202f\u205f\u3000\u115f\u1160\u2800\u3164\uffa0"
)
_LARGEST = 2**62  # an index of a table with more entries than any machine holds


def is_whole(value: Any) -> bool:
    """Whether it is a whole number; to numpy a length of time is one, and to Python a truth."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def number(value: Any, field: str) -> float:
    """A finite number: no string, no boolean, no NaN."""
    if type(value) is float and math.isfinite(value):
        return value
    if not (is_whole(value) or isinstance(value, float | np.floating)):
        raise InputError(field, "be a number", _quoted(value))
    try:
        result = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        result = math.inf
    if not math.isfinite(result):
        raise InputError(field, "be finite", value)
    return result


def _quoted(value: Any) -> Any:
    """A text that reads like a number, with the quotes that say that it is none."""
    try:
        return repr(value) if isinstance(value, str) and np.isfinite(float(value)) else value
    except ValueError:
        return value


def integer(value: Any, field: str, least: int = 0) -> int:
    """A whole number not below ``least`` that an index can hold."""
    if type(value) is int and least <= value <= _LARGEST:
        return value
    if not is_whole(value):
        raise InputError(field, "be a whole number", _quoted(value))
    if value < least:
        raise InputError(field, f"be at least {least}", int(value))
    if value > _LARGEST:
        raise InputError(field, f"be at most {_LARGEST}")
    return int(value)


def extreme(value: Any, field: str) -> tuple[str, float] | None:
    """The first number in tables and lists whose products doubles may not hold, and its field.

    Of an instance with such a number nothing is certified: which terms of a proof can be left
    out is decided in doubles.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        size = np.abs(value)
        if not size.size or (size.max() <= 1.0 / SMALLEST and size.min() >= SMALLEST):
            return None
        beyond = ((size < SMALLEST) & (size != 0)) | (size > 1.0 / SMALLEST)
        if not beyond.any():
            return None
        place = tuple(np.argwhere(beyond)[0].tolist())
        return field + "".join(f"[{i}]" for i in place), float(value[place])
    if isinstance(value, dict):
        inside = [(f"{field}.{key}", entry) for key, entry in value.items()]
    elif isinstance(value, list | tuple | np.ndarray):
        inside = [(f"{field}[{i}]", entry) for i, entry in enumerate(value)]
    else:
        is_number = isinstance(value, int | float | np.number) and value != 0
        is_beyond = is_number and not SMALLEST <= abs(value) <= 1.0 / SMALLEST
        return (field, value) if is_beyond else None
    found = (extreme(entry, where) for where, entry in inside)
    return next((one for one in found if one is not None), None)


def refuse_extreme(found: tuple[str, float] | None) -> None:
    """Raise what is to be said of a number that ``extreme`` found, if it found one."""
    if found is not None:
        raise InputError(found[0], WITHIN, found[1])


def text(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise InputError(field, "be a string", value)
    return value


def seen(value: Any, field: str, most: int = 200) -> str:
    """One line of text that shows what it holds, as names are.

    No control characters, no marks that turn what stands beside them round, no breaks of lines,
    and something to see: two names that look alike must be alike, wherever they are printed.
    """
    found = text(value, field)
    if not 0 < len(found) <= most:
        raise InputError(field, f"have 1 to {most} characters", len(found))
    for character in found:
        kind = unicodedata.category(character)
        if kind[0] == "C" or kind in ("Zl", "Zp"):
            must = "hold no control or formatting characters, and no breaks of lines"
            raise InputError(field, must, f"U+{ord(character):04X}")
    if not found.strip(BLANK):
        raise InputError(field, "have characters that can be seen", repr(found))
    return found


def choice(value: Any, field: str, options: Iterable[str]) -> str:
    """One of a few words; a misspelt one is answered with the nearest."""
    known = list(options)
    if value in known:
        return str(value)
    raise InputError(field, f"be one of {', '.join(known)}{hint(value, known)}", value)


def check_keys(keys: Iterable[Any], known: Iterable[str], of: str) -> None:
    """Refuse the first key that is not known; a misspelt one is answered with the nearest."""
    names = list(known)
    for key in keys:
        if key not in names:
            raise InputError(str(key), f"be {of}: {', '.join(names) or 'none'}{hint(key, names)}")


def vector(value: Any, field: str, size: int | None = None) -> np.ndarray:
    """A vector of finite numbers, of a given length if there is one."""
    plain = None if isinstance(value, np.ndarray) else _plain(value, 1)
    if plain is not None:
        result = plain
    elif isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fiu":
        result = np.array(value, dtype=np.float64)
        if not np.isfinite(result).all():
            at = int(np.flatnonzero(~np.isfinite(result))[0])
            raise InputError(f"{field}[{at}]", "be finite", float(result[at]))
    else:
        entries = _entries(value, field)
        result = np.array([number(entry, f"{field}[{i}]") for i, entry in enumerate(entries)])
    if size is not None and result.size != size:
        raise InputError(field, f"hold {counted(size, 'number')}", int(result.size))
    result.setflags(write=False)
    return result


def matrix(value: Any, field: str, columns: int | None = None) -> np.ndarray:
    """Rows of finite numbers, all of one length."""
    plain = None if isinstance(value, np.ndarray) else _plain(value, 2)
    if plain is not None:
        result = plain
    elif isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "fiu":
        result = np.array(value, dtype=np.float64)
        if not np.isfinite(result).all():
            row, column = (int(i) for i in np.argwhere(~np.isfinite(result))[0])
            raise InputError(f"{field}[{row}][{column}]", "be finite", float(result[row, column]))
    else:
        rows = _entries(value, field)
        lists = [vector(row, f"{field}[{i}]") for i, row in enumerate(rows)]
        for i, entries in enumerate(lists):
            if entries.size != lists[0].size:
                must = f"have as many numbers as {field}[0], {lists[0].size}"
                raise InputError(f"{field}[{i}]", must, int(entries.size))
        width = lists[0].size if lists else columns or 0
        result = np.array(lists, dtype=np.float64).reshape(len(lists), width)
    if columns is not None and result.shape[1] != columns and result.shape[0] > 0:
        raise InputError(field, f"have {counted(columns, 'column')}", int(result.shape[1]))
    result.setflags(write=False)
    return result


def pairs(value: Any, field: str, n_nodes: int | None = None) -> np.ndarray:
    """Pairs of node numbers, as edges are written."""
    entries = _entries(value, field)
    result = np.empty((len(entries), 2), dtype=np.int64)
    for i, entry in enumerate(entries):
        ends = _entries(entry, f"{field}[{i}]")
        if len(ends) != 2:
            raise InputError(f"{field}[{i}]", "be a pair of nodes", entry)
        for side in (0, 1):
            node = integer(ends[side], f"{field}[{i}][{side}]")
            if n_nodes is not None and node >= n_nodes:
                raise InputError(f"{field}[{i}][{side}]", f"be below {n_nodes}", node)
            result[i, side] = node
    result.setflags(write=False)
    return result


def names(value: Any, field: str, size: int | None = None) -> tuple[str, ...]:
    """Distinct strings."""
    entries = _entries(value, field)
    result = tuple(text(entry, f"{field}[{i}]") for i, entry in enumerate(entries))
    if size is not None and len(result) != size:
        raise InputError(field, f"hold {counted(size, 'name')}, one for each arm", len(result))
    if len(set(result)) != len(result):
        twice = next(name for name in result if result.count(name) > 1)
        raise InputError(field, "be distinct", twice)
    return result


def _plain(value: Any, depth: int) -> np.ndarray | None:
    """Lists of finite numbers as a new array; None for a closer look at anything else."""
    if type(value) not in (list, tuple) or not value:
        return None
    entries = value
    if depth == 2:
        if not {*map(type, value)} <= {list, tuple} or len({*map(len, value)}) > 1:
            return None
        entries = [*itertools.chain.from_iterable(value)]
    if not {*map(type, entries)} <= {float, int}:
        return None
    try:
        result = np.array(entries, dtype=np.float64)
    except OverflowError:  # a whole number of hundreds of digits
        return None
    if not np.isfinite(result).all():
        return None
    return result.reshape(len(value), len(value[0])) if depth == 2 else result


def _entries(value: Any, field: str) -> Sequence[Any]:
    if isinstance(value, np.ndarray):
        entries: list[Any] = value.tolist()
        return entries
    if isinstance(value, str | bytes | dict) or not isinstance(value, Sequence):
        raise InputError(field, "be a list", value)
    return value
