"""Asking a policy: on which arms, and what it changed."""

import time
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import Any

import numpy as np

from ossb import deadlines
from ossb.campaigns import arrays
from ossb.campaigns.arrays import Memory
from ossb.campaigns.brought import is_brought, number_of, read_rows, rows_in, written
from ossb.campaigns.course import Course, Mark
from ossb.campaigns.events import Event
from ossb.campaigns.evidence import offer_of
from ossb.campaigns.history import Decided, decided
from ossb.campaigns.player import Player, player_of
from ossb.campaigns.state import State
from ossb.campaigns.working import change_of, live_memory
from ossb.errors import InputError, OutOfTime
from ossb.fields import integer
from ossb.policies.brought import decide, plays_rows, refuse_rows
from ossb.tally import Decision

MOST = 64  # policies on subsets of the arms that are kept ready
Available = Sequence[int] | Set[int] | np.ndarray


class Players:
    """Policies at play on an instance, by the arms they leave out."""

    def __init__(self) -> None:
        self._instance: Any = None
        self._policy: tuple[Any, str] = (None, "")  # the newest, and as text
        self._known: dict[tuple[frozenset[int], str], Player] = {}

    def of(self, state: State, left_out: frozenset[int]) -> Player:
        key = self._key(state, left_out)
        found = self._known.pop(key, None)
        if found is None:
            found = player_of(state.instance, state.definition["policy"], sorted(left_out))
            while len(self._known) >= MOST:
                del self._known[next(iter(self._known))]
        self._known[key] = found  # the newest last
        return found

    def in_segment(self, state: State, segment: int) -> Player:
        """The player of one segment, where the instance has some."""
        everywhere: Any = self.of(state, frozenset(state.retired))
        return everywhere.parts[segment]

    def keep(self, state: State, player: Player) -> None:
        """Play by a policy on the arms not retired that was made already, and may be compiled."""
        self._known[self._key(state, frozenset(state.retired))] = player

    def _key(self, state: State, left_out: frozenset[int]) -> tuple[frozenset[int], str]:
        """By which a policy on this instance is known; those on another are dropped."""
        if state.instance is not self._instance:  # an arm was added, or the journal folded anew
            if self._known and state.instance.to_dict() != self._instance.to_dict():
                self._known.clear()
            self._instance = state.instance
        policy = state.definition["policy"]
        if policy is not self._policy[0]:
            self._policy = policy, repr(policy)
        return left_out, self._policy[1]

    def among(self, state: State, left_out: frozenset[int], field: str) -> Player:
        """The player without some arms; a refusal names the field that left them out."""
        try:
            return self.of(state, left_out)
        except InputError as error:
            if error.field != "arm":
                raise
            raise InputError(field, error.must) from None


class Undone(OutOfTime):
    """A decision ran out of time, and the state is what it was."""


def chooser(
    players: Players, state: State, left_out: frozenset[int], n: int, context: int | None
) -> Callable[[float, float], dict[str, Any]]:
    """How arms that are listed are asked for: by now, and by when a lease ends."""
    if state.brought and plays_rows(str(state.definition["policy"]["name"]), state.instance):
        here = range(len(state.reveals))
        if context is not None:
            here = state.instance.layout.rows(context)
        places = [place for place in here if place not in left_out]
        return partial(choose_listed, state, places, n)
    if state.instance.has_segments:
        if left_out != state.retired:
            raise InputError("available", "be left out: the arms of a segment belong together")
        segment = context or 0
        player = players.in_segment(state, segment)
        return partial(choose, state, player, outside(state.instance, segment), n)
    player = players.among(state, left_out, "available")
    return partial(choose, state, player, left_out, n, context=context)


def outside(instance: Any, segment: int) -> frozenset[int]:
    """The units of all other segments."""
    counts = np.cumsum([0, *(part.unit_count() for part in instance.parts)])
    within = range(int(counts[segment]), int(counts[segment + 1]))
    return frozenset(range(int(counts[-1]))) - frozenset(within)


def choose(
    state: State,
    player: Player,
    left_out: frozenset[int],
    n: int,
    now: float,
    expires: float,
    context: int | None = None,
) -> dict[str, Any]:
    """Ask the policy, folding its decisions as it goes; what it changed is what the event says.

    The memory kept is about all arms but the retired ones.  On fewer arms a policy that remembers
    more than work saved has one for each of the newest such sets, from their second ask on: sets
    may be many, and memories large.  Others start from a fresh one, which nobody keeps.
    """
    table = state.table
    met = 0 if table is None else len(table.arms)
    usual = left_out == state.retired
    aside = tuple(sorted(left_out)) if player.remembers and not usual else None
    kept = usual or aside in state.asides
    course = state.usual if usual else state.asides.get(aside or (), Course(Memory(())))
    live = live_memory(state, course, player)
    before = live.memory.words.tobytes() if course.repeats else None
    course.live = None  # a policy that fails half way leaves its traces
    soonest = state.soonest
    if before is not None:
        course.mark = Mark(course.repeats[-1].digest, before)
    chosen: list[list[int]] = []
    started = time.perf_counter()
    try:
        for _ in range(n):
            deadlines.check()
            decision = player.select(state.tally, live.bound, state.rng, table, context)
            state.enter(decision, now, expires)
            chosen.append([decision.arm, decision.phase])
    except OutOfTime as late:
        if table is not None:  # the policy may have met arms: all is folded anew
            raise
        state.take_back(chosen, soonest)
        raise Undone(str(late)) from None
    state.labour += time.perf_counter() - started
    content: dict[str, Any] = {"expires": expires, "decisions": chosen}
    if table is not None and len(table.arms) > met:
        content["met"] = [list(arm) for arm in table.arms[met:]]
    if aside is not None:
        content |= state.named(aside)
    if kept:
        content |= change_of(state, course, live, before)
        course.live = live._replace(fresh=False)
    if player.draws:
        after = arrays.rng_state(state.rng)
        if after != state.stream:
            content["rng"] = after
    return content


def choose_brought(
    state: State, rows: np.ndarray, n: int, now: float, expires: float
) -> dict[str, Any]:
    """Decide on rows that the ask brings, which the event keeps."""
    policy = state.definition["policy"]
    brought, soonest = state.brought, state.soonest
    mark = brought.mark()
    brought.offer(rows)
    chosen: list[list[int]] = []
    try:
        for _ in range(n):
            deadlines.check()
            decision = _decided(state, policy, rows)
            state.enter_brought(decision.arm, decision.phase, rows[decision.arm], now, expires)
            chosen.append([decision.arm, decision.phase])
    except OutOfTime as late:
        state.take_back([[number_of(place), phase] for place, phase in chosen], soonest)
        brought.take_back(mark)
        raise Undone(str(late)) from None
    content = {"expires": expires, "features": written(rows), "decisions": chosen}
    return {**content, **_drawn(state)}


def choose_listed(
    state: State, places: Sequence[int], n: int, now: float, expires: float
) -> dict[str, Any]:
    """Decide among arms that are listed, where asks brought rows that tell of them too."""
    rows = np.asarray(state.instance.arms)[list(places)]
    soonest = state.soonest
    chosen: list[list[int]] = []
    try:
        for _ in range(n):
            deadlines.check()
            decision = _decided(state, state.definition["policy"], rows)
            state.enter(Decision(places[decision.arm], decision.phase), now, expires)
            chosen.append([places[decision.arm], decision.phase])
    except OutOfTime as late:
        state.take_back(chosen, soonest)
        raise Undone(str(late)) from None
    return {"expires": expires, "decisions": chosen, **_drawn(state)}


def _decided(state: State, policy: Mapping[str, Any], rows: np.ndarray) -> Decision:
    offer = offer_of(state.instance, state.brought, state.tally, rows)
    parameters = {key: value for key, value in policy.items() if key != "name"}
    return decide(str(policy["name"]), parameters, offer, state.rng)


def _drawn(state: State) -> dict[str, Any]:
    after = arrays.rng_state(state.rng)
    return {"rng": after} if after != state.stream else {}


def features_of(state: State, features: Any, others: Mapping[str, Any]) -> np.ndarray | None:
    """The rows that an ask brings; None where it brings none."""
    if features is None:
        return None
    for field, value in others.items():
        if value is not None:
            raise InputError(field, "be left out: the ask brings features of its own", value)
    rows = read_rows(features, state.instance)
    refuse_rows(str(state.definition["policy"]["name"]), state.instance)
    return rows


def answered(state: State, key: str, n: int) -> list[Decided]:
    """What was answered to a key before."""
    first, count = state.keys[key]
    if count != n:
        raise InputError("n", f"be {count}, as for this key before", n)
    return decided(state, first, count)


def refuse_other_ask(
    state: State,
    again: Sequence[Decided],
    rows: np.ndarray | None,
    context: Any,
    available: Available | None,
    event: Callable[[int], Event],
) -> None:
    """Refuse to answer a key again to an ask for something else than it was answered before."""
    refuse_other_rows(state, again, rows, event)
    if rows is None:
        place = context_of(state, context)
        refuse_other_context(state, again, place)
        if available is not None:
            refuse_others(state, again, available, place)


def refuse_other_rows(
    state: State, again: Sequence[Decided], rows: np.ndarray | None, event: Callable[[int], Event]
) -> None:
    """Refuse to answer a key again to other rows than it was answered before."""
    if not again:
        return
    columns = state.decisions.raw
    number = state.decisions.number_of(again[0].id)
    assert number is not None
    if not is_brought(int(columns["arm"][number])):
        if rows is not None:
            raise InputError("features", "be left out, as for this key before")
        return
    before = rows_in(event(int(columns["origin"][number])).content)
    if rows is None or not np.array_equal(rows, before):
        raise InputError("features", "be those that this key was answered for before")


def context_of(state: State, context: Any) -> int | None:
    """Which context asks; None where there are not several."""
    instance = state.instance
    if not instance.has_contexts:
        if context is not None:
            raise InputError("context", "be left out: this campaign has none", context)
        return None
    layout = instance.layout
    if context is not None:
        place = int(layout.context(context))
        return place if layout.n_contexts > 1 else None
    if layout.n_contexts > 1:
        raise InputError("context", f"be given: one of {', '.join(layout.names[:20])}")
    return None


def refuse_other_context(state: State, again: Sequence[Decided], context: int | None) -> None:
    """Refuse to answer a key again to another context than it was answered before."""
    for decision in again:
        arm: Any = decision.arm
        if context is not None and arm[0] != context:
            must = f"be {state.instance.layout.names[arm[0]]}, as for this key before"
            raise InputError("context", must, state.instance.layout.names[context])


def left_out_of(state: State, available: Available | None, context: int | None) -> frozenset[int]:
    """The arms that may not be played: retired ones, and those not available."""
    if available is None:
        return frozenset(state.retired)
    wanted, instance = units_in(state, available, context), state.instance
    if wanted <= state.retired:
        must = "hold an arm that is not retired" if wanted else "hold at least one arm"
        raise InputError("available", must, sorted(wanted))
    there = range(instance.unit_count())
    if instance.has_contexts and not instance.has_segments:
        there = instance.layout.rows(context or 0)
    return frozenset(set(there) - wanted | state.retired)


def units_in(state: State, available: Available, context: int | None) -> set[int]:
    """The arms (items, where arms are made of items) that a list, a set or an array holds.

    Where there are contexts they are those of the one that asks, by number or name.
    """
    arms: Any = available.tolist() if isinstance(available, np.ndarray) else available
    if isinstance(arms, str | bytes) or not isinstance(arms, Sequence | Set):
        raise InputError("available", "be a list of arms", available)
    if state.instance.has_contexts and not state.instance.has_segments:
        layout = state.instance.layout
        return {layout.row_in(context or 0, arm, f"available[{i}]") for i, arm in enumerate(arms)}
    return {unit_of(state, arm, f"available[{i}]") for i, arm in enumerate(arms)}


def unit_of(state: State, arm: Any, field: str) -> int:
    """The number of an arm, or of an item where arms are sets of items, that there is."""
    unit, total = integer(arm, field), state.instance.unit_count()
    if unit >= total:
        raise InputError(field, f"be below {total}", unit)
    return unit


def refuse_others(
    state: State, again: Sequence[Decided], available: Available, context: int | None
) -> None:
    """Refuse to answer a key again with arms that are not available now."""
    wanted, in_contexts = units_in(state, available, context), state.instance.has_contexts
    for decision in again:
        arm = state.instance.position(decision.arm) if in_contexts else decision.arm
        units = set(arm) if isinstance(arm, list) else {arm}
        if not units <= wanted:
            must = f"hold {decision.arm_name}, which this key was answered with before"
            raise InputError("available", must, sorted(wanted))
