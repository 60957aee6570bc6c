"""Snapshots: a state in bytes, so that a restart need not fold a whole journal.

A snapshot begins with the hash of the rest: a damaged one is told from a good one, and left
aside.
"""

import hashlib
import json
from typing import Any

import msgspec
import numpy as np

from ossb.campaigns import arrays
from ossb.campaigns.arrays import Memory
from ossb.campaigns.state import NEVER, State
from ossb.campaigns.working import REPEATING, Mark, Repeat, move
from ossb.errors import OssbError
from ossb.instances import from_dict
from ossb.tally import Tally

VERSION = 3
READABLE = (2, 3)  # those of before have no repeats
HASH = hashlib.sha256().digest_size


class Unusable(OssbError):
    """A snapshot that is damaged or of another version."""


def to_bytes(state: State) -> bytes:
    """All of a state but what its first event holds."""
    mark = state.mark
    if state.repeats and state.live is not None:
        mark = Mark(state.repeats[-1].digest, state.live.memory.words.tobytes())
    content = msgspec.msgpack.encode({"version": VERSION, "mark": mark, **_content(state)})
    return hashlib.sha256(content).digest() + content


def load(state: State, saved: bytes) -> None:
    """Bring a state, fresh from its first event, to a snapshot."""
    head, content = saved[:HASH], memoryview(saved)[HASH:]  # large: not copied
    if hashlib.sha256(content).digest() != head:
        raise Unusable("the snapshot is damaged")
    found = msgspec.msgpack.decode(content)
    if found["version"] not in READABLE:
        raise Unusable(f"the snapshot is of version {found['version']}")
    if found["added"]:
        state.instance = from_dict(found["instance"])
        state.reveals = state.instance.showing()
    state.meet(found.get("met", ()))
    size = state.instance.component_count()
    state.tally = Tally(*(_unpacked(entry) for entry in found["tally"]))
    if state.tally.counts.size != size:  # components that no arm shows were once left out
        raise Unusable(f"the snapshot is about {state.tally.counts.size} components of {size}")
    if "policy" in found:
        state.play_by(found["policy"])
    state.memory = Memory(_seen(entry) for entry in found["memory"])
    for left_out, memory in found.get("asides", ()):
        state.asides[tuple(left_out)] = Memory(_seen(entry) for entry in memory)
    state.stream = found["rng"]
    arrays.set_rng_state(state.rng, state.stream)
    state.asks = found.get("asks", 0)
    for digest, decisions, stream, changes in found.get("repeats", ()):
        parts = [(_seen(places), _seen(values)) for places, values in changes]
        state.repeats.append(Repeat(digest, decisions, stream, parts))
        if state.then is None:
            state.then = Tally(*(np.zeros_like(leaf) for leaf in state.tally))
        move(state.then, parts)
    if found.get("mark"):
        state.mark = Mark(*found["mark"])
    state.decisions.load({k: _seen(v) for k, v in found["decisions"].items()})
    state.pending = dict(found["pending"])
    state.soonest = min(state.pending.values(), default=NEVER)
    state.retired = set(found["retired"])
    state.added = found["added"]
    state.keys = {key: (first, count) for key, first, count in found["keys"]}
    state.closed = found["closed"]
    state.number, state.digest = found["number"], found["digest"]


def fingerprint(state: State) -> str:
    """A hash of all that a state holds: two states are the same, bit for bit, if theirs is."""

    def plain(value: Any) -> Any:
        return value.hex() if isinstance(value, bytes) else value

    content = {**_content(state), "definition": state.definition}
    content["rng"] = arrays.rng_state(state.rng)  # what it stands for
    del content["decisions"]["origin"]  # younger than the fingerprints kept with old journals
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=plain).encode()).hexdigest()


def _content(state: State) -> dict[str, Any]:
    met = {} if state.table is None else {"met": [list(arm) for arm in state.table.arms]}
    aside = [
        [list(left_out or ()), [_packed(leaf) for leaf in memory]]
        for left_out, memory in state.asides.items()
    ]
    repeated = {}
    if state.format >= REPEATING:
        repeats = [
            [digest, decisions, stream, [[_packed(part) for part in change] for change in changes]]
            for digest, decisions, stream, changes in state.repeats
        ]
        repeated = {"asks": state.asks, "repeats": repeats}
    now = state.definition["policy"]
    switched = {} if now == state.first_policy else {"policy": now}
    return {
        **met,
        **repeated,
        **switched,
        **({"asides": aside} if aside else {}),
        "number": state.number,
        "digest": state.digest,
        "instance": state.instance.to_dict(),
        "added": state.added,
        "tally": [_packed(leaf) for leaf in state.tally],
        "memory": [_packed(leaf) for leaf in state.memory],
        "rng": state.stream,
        "decisions": {k: _packed(v) for k, v in state.decisions.columns().items()},
        "pending": [[number, expires] for number, expires in state.pending.items()],
        "retired": sorted(state.retired),
        "keys": [[key, first, count] for key, (first, count) in state.keys.items()],
        "closed": state.closed,
    }


def _packed(array: np.ndarray) -> list[Any]:
    return [array.dtype.str, list(array.shape), np.ascontiguousarray(array).tobytes()]


def _unpacked(entry: list[Any]) -> np.ndarray:
    return _seen(entry).copy()


def _seen(entry: list[Any]) -> np.ndarray:
    """A packed array without a copy of its own: the decisions may be millions."""
    dtype, shape, content = entry
    return np.frombuffer(content, dtype=np.dtype(dtype)).reshape(shape)
