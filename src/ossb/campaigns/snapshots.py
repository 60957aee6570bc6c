"""Snapshots: a state in bytes, so that a restart need not fold a whole journal."""

from typing import Any

import msgspec
import numpy as np

from ossb.campaigns import arrays
from ossb.campaigns.state import State
from ossb.tally import Tally

VERSION = 1


def to_bytes(state: State) -> bytes:
    """All of a state but what its first event holds."""
    return msgspec.msgpack.encode(
        {
            "version": VERSION,
            "number": state.number,
            "digest": state.digest,
            "tally": [_packed(leaf) for leaf in state.tally],
            "memory": [_packed(leaf) for leaf in arrays.leaves(state.memory)],
            "rng": arrays.rng_state(state.rng),
            "decisions": {k: _packed(v) for k, v in state.decisions.columns().items()},
            "retired": sorted(state.retired),
            "keys": [[key, first, count] for key, (first, count) in state.keys.items()],
            "closed": state.closed,
        }
    )


def load(state: State, content: bytes) -> None:
    """Bring a state, fresh from its first event, to a snapshot."""
    found = msgspec.msgpack.decode(content)
    if found["version"] != VERSION:
        raise ValueError(f"snapshot version {found['version']}")
    state.tally = Tally(*(_unpacked(entry) for entry in found["tally"]))
    arrays.restore(state.memory, [_unpacked(entry) for entry in found["memory"]])
    arrays.set_rng_state(state.rng, found["rng"])
    state.decisions.load({k: _unpacked(v) for k, v in found["decisions"].items()})
    state.retired = set(found["retired"])
    state.keys = {key: (first, count) for key, first, count in found["keys"]}
    state.closed = found["closed"]
    state.number, state.digest = found["number"], found["digest"]


def _packed(array: np.ndarray) -> list[Any]:
    return [array.dtype.str, list(array.shape), np.ascontiguousarray(array).tobytes()]


def _unpacked(entry: list[Any]) -> np.ndarray:
    dtype, shape, content = entry
    return np.frombuffer(content, dtype=np.dtype(dtype)).reshape(shape).copy()
