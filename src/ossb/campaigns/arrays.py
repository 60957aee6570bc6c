"""Named tuples of arrays, and what changed in them, as plain data.

A policy's memory may nest named tuples; its arrays are numbered in the order they are met.
Numbers in it are constants, since named tuples cannot change, and are left out; so is a named
tuple that calls itself ``scratch``, of which nothing outlives a decision.  A table of arms is the
campaign's own, and is written with the events that met them.  A change is written as the words
of eight bytes that differ; in formats 1 and 2 array by array, as flat places and values.
"""

import base64
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ossb.arm_sets.table import ArmTable, RenamedTable
from ossb.deadlines import Stop

Table = ArmTable | RenamedTable | None
WORD = 8  # bytes
RAW = -15  # deflated without a head and a sum of its own: the event has its hash


class Memory(Sequence[np.ndarray]):
    """Arrays in one piece, each from a word of its own on: quick to copy and to compare."""

    def __init__(self, arrays: Iterable[np.ndarray]) -> None:
        given = list(arrays)
        ends = np.cumsum([0, *(-(-array.nbytes // WORD) for array in given)])
        self.words = np.zeros(int(ends[-1]), np.uint64)
        octets = self.words.view(np.uint8)
        self.arrays: list[np.ndarray] = []
        for array, start in zip(given, (ends[:-1] * WORD).tolist(), strict=True):
            own = octets[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
            own[...] = array
            self.arrays.append(own)

    def __getitem__(self, place: Any) -> Any:
        return self.arrays[place]

    def __len__(self) -> int:
        return len(self.arrays)


def leaves(memory: Any) -> Iterator[np.ndarray]:
    """The arrays of a memory, in order."""
    if isinstance(memory, np.ndarray):
        yield memory
    elif isinstance(memory, tuple):
        for part in memory if not _is_scratch(memory) else ():
            yield from leaves(part)
    elif not isinstance(memory, int | float | np.number | ArmTable):
        raise TypeError(f"a memory holds arrays and constants, got {type(memory).__name__}")


def bytes_of(memory: Any) -> int:
    """How many bytes the arrays of a memory have, those that are scratch included."""
    if isinstance(memory, np.ndarray):
        return memory.nbytes
    return sum(map(bytes_of, memory)) if isinstance(memory, tuple) else 0


def stops(memory: Any) -> Iterator[Stop]:
    """Where the compiled loops of solvers in a memory look whether they shall end."""
    if isinstance(memory, tuple):
        if hasattr(memory, "stop"):
            yield memory.stop
        for part in memory:
            yield from stops(part)


def rebuilt(template: Any, arrays: Sequence[np.ndarray], table: Table = None) -> Any | None:
    """A memory of the template's shape around other arrays; None where they do not fit.

    Parameters
    ----------
    table
        What takes the place of a table of arms.
    """
    if _shapes(leaves(template)) != _shapes(arrays):
        return None
    return _filled(template, iter(arrays), table)


def fitted(template: Any, arrays: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    """Saved arrays as a memory of the template's shape has them; None where they do not fit.

    What a solver keeps to save work may have another shape than it had in the version that saved
    it: it then begins anew, and all before and behind it is as it was.
    """
    known = list(_marked(template, False))
    solver = [place for place, (_, renewed) in enumerate(known) if renewed]
    given = [leaf for leaf, _ in known]
    if _shapes(given) == _shapes(arrays):
        return list(arrays)
    if not solver:
        return None
    first, behind = solver[0], len(known) - 1 - solver[-1]
    last = len(arrays) - behind
    found = [*arrays[:first], *given[first : solver[-1] + 1], *arrays[last:]]
    return found if first <= last and _shapes(found) == _shapes(given) else None


def _shapes(arrays: Iterable[np.ndarray]) -> list[Any]:
    return [(array.dtype, array.shape) for array in arrays]


def _marked(memory: Any, renewed: bool) -> Iterator[tuple[np.ndarray, bool]]:
    """The arrays of a memory, in order, and whether each may begin anew."""
    if isinstance(memory, np.ndarray):
        yield memory, renewed
    elif isinstance(memory, tuple) and not _is_scratch(memory):
        for part in memory:
            yield from _marked(part, renewed or bool(getattr(memory, "renewable", False)))


def _filled(template: Any, arrays: Iterator[np.ndarray], table: Table) -> Any:
    if isinstance(template, np.ndarray):
        return next(arrays)
    if isinstance(template, ArmTable):
        return table
    if not isinstance(template, tuple) or _is_scratch(template):
        return template
    parts = [_filled(part, arrays, table) for part in template]
    return type(template)(*parts) if hasattr(template, "_fields") else tuple(parts)


def _is_scratch(memory: Any) -> bool:
    return bool(getattr(memory, "scratch", False))


def changes(arrays: Sequence[np.ndarray], before: Sequence[np.ndarray]) -> list[dict[str, Any]]:
    """What differs from the saved arrays, bit for bit."""
    found = []
    for number, (leaf, old) in enumerate(zip(arrays, before, strict=True)):
        places = np.flatnonzero(_bits(leaf) != _bits(old))
        if places.size == 0:
            continue
        flat = leaf.reshape(-1)
        if 2 * places.size >= flat.size:
            found.append({"array": number, "all": _text(flat)})
        else:
            found.append(
                {
                    "array": number,
                    "at": _text(places.astype("<i4")),
                    "to": _text(flat[places]),
                }
            )
    return found


def apply(arrays: Sequence[np.ndarray], found: list[dict[str, Any]]) -> None:
    """Make the changes."""
    for change in found:
        flat = arrays[change["array"]].reshape(-1)
        if "all" in change:
            flat[:] = _values(change["all"], flat.dtype)
        else:
            flat[_values(change["at"], np.dtype("<i4"))] = _values(change["to"], flat.dtype)


def difference(words: np.ndarray, places: np.ndarray, before: np.ndarray) -> str:
    """The words at some increasing places, beside what they were before.

    Deflated: how wide a gap is written, the gaps between places, and the bits that differ, all
    first bytes first, then all second ones: numbers that moved a little share their upper bytes.
    """
    gaps = places.copy()
    gaps[1:] -= places[:-1] + 1
    largest = int(gaps.max())
    width = 1 if largest < 1 << 8 else 2 if largest < 1 << 16 else 4
    bits = (words[places] ^ before[places]).astype("<u8").view(np.uint8).reshape(-1, WORD)
    content = bytes([width]) + gaps.astype(f"<u{width}").tobytes() + bits.T.tobytes()
    return base64.b64encode(zlib.compress(content, wbits=RAW)).decode()


def differ(words: np.ndarray, text: str) -> None:
    """Make such a change."""
    content = zlib.decompress(base64.b64decode(text), RAW)
    width = content[0]
    count = (len(content) - 1) // (width + WORD)
    gaps = np.frombuffer(content, f"<u{width}", count, 1).astype(np.int64)
    bits = np.frombuffer(content, np.uint8, offset=1 + count * width).reshape(WORD, count)
    words[np.cumsum(gaps + 1) - 1] ^= np.ascontiguousarray(bits.T).view("<u8").reshape(-1)


def packed(arrays: Sequence[np.ndarray]) -> list[list[Any]]:
    """Whole arrays: type, shape and deflated content of each (a fresh memory is mostly zeros)."""
    return [
        [
            leaf.dtype.str,
            list(leaf.shape),
            base64.b64encode(zlib.compress(np.ascontiguousarray(leaf).tobytes())).decode(),
        ]
        for leaf in arrays
    ]


def unpacked(entries: Sequence[Sequence[Any]]) -> list[np.ndarray]:
    """The arrays of ``packed``, each contiguous and its own."""
    return [
        np.frombuffer(zlib.decompress(base64.b64decode(content)), np.dtype(dtype))
        .reshape(shape)
        .copy()
        for dtype, shape, content in entries
    ]


def _bits(array: np.ndarray) -> np.ndarray:
    """The array's bits as integers, so that NaN equals itself and −0.0 is not 0.0."""
    flat = array.reshape(-1)
    return flat.view(np.int64) if flat.dtype == np.float64 else flat


def _text(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _values(text: str, dtype: np.dtype[Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=dtype)


def rng_state(rng: np.random.Generator) -> list[str]:
    """The state of a PCG64 stream, as text."""
    state = rng.bit_generator.state
    return [
        f"{state['state']['state']:x}",
        f"{state['state']['inc']:x}",
        f"{state['has_uint32']}",
        f"{state['uinteger']:x}",
    ]


def set_rng_state(rng: np.random.Generator, saved: list[str]) -> None:
    """Put a stream back to a saved state."""
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(saved[0], 16), "inc": int(saved[1], 16)},
        "has_uint32": int(saved[2]),
        "uinteger": int(saved[3], 16),
    }
