"""A policy's memory between asks: what the journal holds of it, and what it is.

Where little changes, an event holds the change.  Where much does, as in a solver's tableau, it
only says that the memory moved, and one event in many holds what changed since the last such: at
most ``ROOM`` characters for each ask.  In between, the memory is what the policy leaves behind
when the asks since are made again, each on the tally and the stream of then.  Who asks next does
that where it was not this process that asked; the fold never does, it only notes what it takes.
The decisions must be those of the journal: a version that would have decided otherwise begins
with a fresh memory, and its event holds it whole.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ossb import deadlines
from ossb.campaigns import arrays
from ossb.campaigns.arrays import Memory
from ossb.errors import PolicyError
from ossb.tally import Decision, Tally, decide

ROOM = 512  # characters of an ask's event that may be about the memory, all in all
WORST = 8  # characters that a word takes, or little less
REPEATS = 1000  # asks to be made again before a change is written however long it is
REPEATING = 3  # the first format whose events may leave a change out


class Repeat(NamedTuple):
    """An ask whose event does not hold what it changed: what it takes to make it again."""

    digest: str  # of its event
    decisions: list[list[int]]
    stream: list[str]  # the random stream before it
    tally: list[tuple[np.ndarray, np.ndarray]]  # with its decisions: of each array the places
    # and values that are not those of the repeat before


class Live(NamedTuple):
    """A memory that a policy may go on with."""

    player: Any
    memory: Memory
    bound: Any  # the policy's view of it
    fresh: bool  # whether the journal holds nothing of it


class Mark(NamedTuple):
    """The memory after an event that is to be made again."""

    digest: str
    content: bytes


def moved(tally: Tally, before: Tally | None) -> list[tuple[np.ndarray, np.ndarray]]:
    """Where a tally is not that of before, and what it is there."""
    found = []
    for number, leaf in enumerate(tally):
        old = np.zeros_like(leaf) if before is None else before[number]
        places = np.flatnonzero(leaf.view(np.int64) != old.view(np.int64))
        found.append((places.astype(np.int32), leaf[places]))
    return found


def move(tally: Tally, changes: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Make such changes."""
    for leaf, (places, values) in zip(tally, changes, strict=True):
        leaf[places] = values


def live_memory(state: Any, player: Any, held: Memory | None) -> Live:
    """A memory to decide with: a copy of one that the journal holds, or a fresh one.

    Parameters
    ----------
    held
        None where that of the usual arms is meant.
    """
    fresh, memory = False, held
    if held is None:
        if state.live is not None and state.live.player is player:
            live: Live = state.live
            return live
        memory = _made_again(state, player) if state.repeats else state.memory
    memory = Memory(memory or ())
    bound = player.bind(memory.arrays, state.table)
    if bound is None:  # there is none yet, or this version's memory has another shape
        fresh, memory = True, Memory(player.start())
        bound = player.bind(memory.arrays, state.table)
    return Live(player, memory, bound, fresh)


def _made_again(state: Any, player: Any) -> Memory | None:
    """The memory after the newest ask; None where this version decides otherwise."""
    memory, reached = Memory(state.memory), -1
    if state.mark is not None:
        found = [n for n, repeat in enumerate(state.repeats) if repeat.digest == state.mark.digest]
        if found:
            reached = found[0]
            memory.words[:] = np.frombuffer(state.mark.content, np.uint64)
    bound = player.bind(memory.arrays, state.table)
    tally = Tally(*(np.zeros_like(leaf) for leaf in state.tally))
    for number, repeat in enumerate(state.repeats if bound is not None else ()):
        move(tally, repeat.tally)
        if number <= reached:
            continue
        state.mark = Mark(state.repeats[number - 1].digest, memory.words.tobytes())
        deadlines.check()
        try:
            if not _repeats(repeat, tally, state, player, bound):
                return None
        except PolicyError:
            return None
    return memory if bound is not None else None


def _repeats(repeat: Repeat, tally: Tally, state: Any, player: Any, bound: Any) -> bool:
    """Make an ask again; whether its decisions are what they were."""
    then = Tally(*(leaf.copy() for leaf in tally))
    for arm, phase in repeat.decisions:
        then.plays[arm] -= 1
        then.phases[phase] -= 1
        for component in state.reveals[arm]:
            then.pending[component] -= 1
    stream = np.random.Generator(np.random.PCG64(0))
    arrays.set_rng_state(stream, repeat.stream)
    for arm, phase in repeat.decisions:
        deadlines.breathe()
        decision = player.select(then, bound, stream, None)
        if decision != Decision(arm, phase):
            return False
        decide(then, decision)
        for component in state.reveals[arm]:
            then.pending[component] += 1
    return True


def change_of(state: Any, live: Live, held: Memory | None, before: bytes | None) -> dict[str, Any]:
    """What an event says of the memory after its ask.

    Parameters
    ----------
    held
        As the journal holds it; None where that of the usual arms is meant.
    before
        The content of the memory before the ask, where that is not what the journal holds.
    """
    if live.fresh:
        return {"whole": arrays.packed(live.memory)}
    anchor = state.memory if held is None else held
    if state.format < REPEATING:
        changed = arrays.changes(live.memory, anchor)
        return {"memory": changed} if changed else {}
    now = live.memory.words
    if before is not None and now.tobytes() == before:
        return {}
    places = np.flatnonzero(now != anchor.words)
    if not places.size:
        return {} if before is None else {"repeat": True}
    full = held is not None or state.table is not None or len(state.repeats) >= REPEATS
    room = ROOM * (state.asks + 1)
    if full or places.size * WORST <= room:
        text = arrays.difference(now, places, anchor.words)
        if full or len(text) <= room:
            return {"memory": text}
    return {"repeat": True}
