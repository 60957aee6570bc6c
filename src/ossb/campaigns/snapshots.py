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
from ossb.campaigns.course import Course, Mark, packed, seen
from ossb.campaigns.state import NEVER, State
from ossb.campaigns.working import REPEATING
from ossb.errors import OssbError
from ossb.instances import from_dict
from ossb.tally import Tally

VERSION = 4
READABLE = (2, 3, 4)  # the first has no repeats, the second none of fewer arms than usual
HASH = hashlib.sha256().digest_size


class Unusable(OssbError):
    """A snapshot that is damaged or of another version."""


def to_bytes(state: State) -> bytes:
    """All of a state but what its first event holds."""
    marks = [[aside, course.newest_mark()] for aside, course in state.courses().items()]
    content = msgspec.msgpack.encode({"version": VERSION, "marks": marks, **_content(state)})
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
    state.usual = Course(Memory(seen(entry) for entry in found["memory"]))
    state.usual.unpack(found.get("asks", 0), found.get("repeats", ()), state.tally)
    for left_out, memory, *since in found.get("asides", ()):
        course = state.asides[tuple(left_out)] = Course(Memory(seen(entry) for entry in memory))
        asks, repeats = since or (0, ())
        course.unpack(asks, repeats, state.tally)
    courses = state.courses()
    for aside, mark in found.get("marks", [[None, found.get("mark")]]):
        courses[None if aside is None else tuple(aside)].mark = Mark(*mark) if mark else None
    state.stream = found["rng"]
    arrays.set_rng_state(state.rng, state.stream)
    state.decisions.load({k: seen(v) for k, v in found["decisions"].items()})
    state.pending = dict(found["pending"])
    state.soonest = min(state.pending.values(), default=NEVER)
    if "brought" in found:
        state.brought.unpack(found["brought"])
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
    repeating = state.format >= REPEATING
    aside = [
        [list(left_out), [packed(leaf) for leaf in course.memory], *(course.packed() * repeating)]
        for left_out, course in state.asides.items()
    ]
    since = zip(("asks", "repeats"), state.usual.packed(), strict=True)
    repeated = dict(since) if repeating else {}
    now = state.definition["policy"]
    switched = {} if now == state.first_policy else {"policy": now}
    return {
        **met,
        **repeated,
        **switched,
        **({"asides": aside} if aside else {}),
        **({"brought": state.brought.packed()} if state.brought else {}),
        "number": state.number,
        "digest": state.digest,
        "instance": state.instance.to_dict(),
        "added": state.added,
        "tally": [packed(leaf) for leaf in state.tally],
        "memory": [packed(leaf) for leaf in state.memory],
        "rng": state.stream,
        "decisions": {k: packed(v) for k, v in state.decisions.columns().items()},
        "pending": [[number, expires] for number, expires in state.pending.items()],
        "retired": sorted(state.retired),
        "keys": [[key, first, count] for key, (first, count) in state.keys.items()],
        "closed": state.closed,
    }


def _unpacked(entry: list[Any]) -> np.ndarray:
    return seen(entry).copy()
