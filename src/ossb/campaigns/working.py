"""A policy's memory between asks: what the journal holds of it, and what it is.

Where little changes, an event holds the change.  Where much does, as in a solver's tableau, it
only says that the memory moved, and one event in many holds what changed since the last such: at
most ``ROOM`` characters for each ask.  In between, the memory is what the policy leaves behind
when the asks since are made again, each on the tally and the stream of then, from the memory that
was held, or from the one that a policy begins with.  Who asks next does that where it was not this
process that asked; the fold never does, it only notes what it takes.  The decisions must be those
of the journal: a version that would have decided otherwise begins with a fresh memory, and its
event holds it whole.
"""

from typing import Any

import numpy as np

from ossb import deadlines
from ossb.campaigns import arrays
from ossb.campaigns.arrays import Memory
from ossb.campaigns.course import Course, Live, Mark, Repeat, move
from ossb.errors import PolicyError
from ossb.tally import Decision, Tally, decide

ROOM = 512  # characters of an ask's event that may be about the memory, all in all
WORST = 8  # characters that a word takes, or little less, beside others,
WHOLE, HEAD = 11, 100  # and in a memory that is written whole, and those of an array's head there
REPEATS = 1000  # asks to be made again before a change is written however long it is
REPEATING = 3  # the first format whose events may leave a change out


def live_memory(state: Any, course: Course, player: Any) -> Live:
    """A memory to decide with: that at hand, a copy of what the journal holds, or a fresh one."""
    if course.live is not None and course.live.player is player:
        return course.live
    saved = course.memory.arrays
    found = _made_again(state, course, player) if course.repeats else player.fitted(saved)
    if found is not None:
        memory = Memory(found)
        renewed = bool(saved) and memory.words.size != course.memory.words.size
        return Live(player, memory, player.bind(memory.arrays, state.table), renewed)
    # there is none yet, or this version's memory has another shape
    memory = Memory(player.start())
    return Live(player, memory, player.bind(memory.arrays, state.table), True)


def _made_again(state: Any, course: Course, player: Any) -> Memory | None:
    """The memory after the newest ask; None where this version decides otherwise."""
    saved = player.fitted(course.memory.arrays) if len(course.memory) else player.start()
    if saved is None:
        return None
    memory, reached = Memory(saved), -1
    if course.mark is not None:
        mark = course.mark
        found = [n for n, repeat in enumerate(course.repeats) if repeat.digest == mark.digest]
        if found and len(mark.content) == memory.words.nbytes:
            reached = found[0]
            memory.words[:] = np.frombuffer(mark.content, np.uint64)
    bound = player.bind(memory.arrays, state.table)
    tally = Tally(*(np.zeros_like(leaf) for leaf in state.tally))
    for number, repeat in enumerate(course.repeats):
        move(tally, repeat.tally)
        if number <= reached:
            continue
        course.mark = Mark(course.repeats[number - 1].digest, memory.words.tobytes())
        deadlines.check()
        try:
            if not _repeats(repeat, tally, state, player, bound):
                return None
        except PolicyError:
            return None
    return memory


def _repeats(repeat: Repeat, tally: Tally, state: Any, player: Any, bound: Any) -> bool:
    """Make an ask again; whether its decisions are what they were."""
    then = Tally(*(leaf.copy() for leaf in tally))
    for arm, phase in repeat.decisions:
        then.plays[arm] -= 1
        then.phases[phase] -= 1
        state.count_phase(then, arm, phase, -1)
        for component in state.reveals[arm]:
            then.pending[component] -= 1
    stream = np.random.Generator(np.random.PCG64(0))
    arrays.set_rng_state(stream, repeat.stream)
    for arm, phase in repeat.decisions:
        deadlines.breathe()
        decision = player.select(then, bound, stream, None, player.context_of(arm))
        if decision != Decision(arm, phase):
            return False
        decide(then, decision)
        state.count_phase(then, decision.arm, decision.phase, 1)
        for component in state.reveals[arm]:
            then.pending[component] += 1
    return True


def change_of(state: Any, course: Course, live: Live, before: bytes | None) -> dict[str, Any]:
    """What an event says of the memory after its ask.

    Parameters
    ----------
    before
        The content of the memory before the ask, where that is not what the journal holds.
    """
    held = course.memory
    if state.format < REPEATING or (live.fresh and (len(held) or course.repeats)):
        if live.fresh:
            return {"whole": arrays.packed(live.memory)}
        changed = arrays.changes(live.memory, held)
        return {"memory": changed} if changed else {}
    now = live.memory.words
    if not now.size or (before is not None and now.tobytes() == before):
        return {}
    full = state.table is not None or len(course.repeats) >= REPEATS
    room = ROOM * (course.asks + 1)
    if not len(held):  # it began with a fresh one, which anybody can make
        least = WHOLE * np.count_nonzero(now) + HEAD * len(live.memory)
        fits = full or least <= room
        return {"whole": arrays.packed(live.memory)} if fits else {"repeat": True}
    places = np.flatnonzero(now != held.words)
    if not places.size:
        return {} if before is None else {"repeat": True}
    if full or places.size * WORST <= room:
        text = arrays.difference(now, places, held.words)
        if full or len(text) <= room:
            return {"memory": text}
    return {"repeat": True}
