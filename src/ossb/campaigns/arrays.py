"""Named tuples of arrays, and what changed in them, as plain data.

A policy's memory may nest named tuples; its arrays are numbered in the order they are met.  A
change is written as the flat places and values that differ, or whole where most differ.
"""

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np


def leaves(memory: Any) -> Iterator[np.ndarray]:
    """The arrays of a memory, in order."""
    if isinstance(memory, np.ndarray):
        yield memory
    elif isinstance(memory, tuple):
        for part in memory:
            yield from leaves(part)
    else:
        raise TypeError(f"a memory holds arrays only, got {type(memory).__name__}")


def copied(memory: Any) -> list[np.ndarray]:
    """Copies of the arrays of a memory."""
    return [leaf.copy() for leaf in leaves(memory)]


def restore(memory: Any, saved: list[np.ndarray]) -> None:
    """Put saved arrays back."""
    for leaf, before in zip(leaves(memory), saved, strict=True):
        leaf[...] = before


def changes(memory: Any, before: list[np.ndarray]) -> list[dict[str, Any]]:
    """What differs from the saved arrays, bit for bit."""
    found = []
    for number, (leaf, old) in enumerate(zip(leaves(memory), before, strict=True)):
        new_bits, old_bits = _bits(leaf), _bits(old)
        places = np.flatnonzero(new_bits != old_bits)
        if places.size == 0:
            continue
        flat = np.ascontiguousarray(leaf).reshape(-1)
        if 2 * places.size >= flat.size:
            found.append({"array": number, "all": _text(flat)})
        else:
            found.append(
                {
                    "array": number,
                    "at": _text(places.astype(np.int32)),
                    "to": _text(flat[places]),
                }
            )
    return found


def apply(memory: Any, found: list[dict[str, Any]]) -> None:
    """Make the changes."""
    arrays = list(leaves(memory))
    for change in found:
        flat = arrays[change["array"]].reshape(-1)
        if "all" in change:
            flat[:] = _values(change["all"], flat.dtype)
        else:
            flat[_values(change["at"], np.dtype(np.int32))] = _values(change["to"], flat.dtype)


def _bits(array: np.ndarray) -> np.ndarray:
    """The array's bits as integers, so that NaN equals itself and −0.0 is not 0.0."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.int64) if flat.dtype == np.float64 else flat


def _text(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


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
