"""A campaign tried out before it is entered: one that cannot be played leaves nothing behind."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ossb import deadlines
from ossb.campaigns import looking
from ossb.campaigns.ask import choose, outside
from ossb.campaigns.description import described
from ossb.campaigns.events import Event
from ossb.campaigns.player import REHEARSED, Player
from ossb.campaigns.state import State
from ossb.errors import InputError, OssbError, OutOfTime, PolicyError

ROUGH = 1e-2  # relative gap of rates that nobody sees
JUDGED = 0.2  # of the time there is, that rates and stop may take: documents can do without them
NEAR = 0.5  # of the time of an ask: on a busier machine what takes more would be late
COMPILING = "the policy is slow here and is being compiled: try again, it goes on meanwhile"
MOST_BYTES = 2**30  # of the memory of a policy behind a service, which plays many
COMPILED = 16  # policies of which is known that a thread compiles them, or has
HALVES = 4  # how often fewer arms are tried, to say how many would fit

_compiling: dict[str, threading.Thread] = {}


def rehearse(created: Event, player: Any, seconds: float | None = None) -> None:
    """Do all that is done with a campaign to which nothing was told, and keep none of it.

    Raises whatever would keep the campaign from being looked at or asked.

    Parameters
    ----------
    seconds
        What an ask may take: a policy that takes longer is refused, with what it took.  Nor may
        its memory be large then.
    """
    if seconds is not None:
        _refuse_large(player, str(created.content["policy"]["name"]))
    state = State(created)
    with _refusing("instance", "be one that can be computed with"):
        described(state, 0.0)
        components, arms = state.tally.counts.size, len(state.reveals)
        view = looking.View(player, player.view(state.tally), components, 0, arms)
        with _as_long_as_fits():
            looking.leader(view)
            looking.stopping(view, 0.5)
            looking.rates_at_estimate(view, ROUGH, 0)
    with _refusing("policy", "have parameters that it can be played with"):
        if state.instance.has_segments:
            for segment, part in enumerate(player.parts):
                _try(state, part, outside(state.instance, segment), seconds)
        else:
            _try(state, player, frozenset(state.retired), seconds)


def _try(state: State, player: Player, left_out: frozenset[int], seconds: float | None) -> None:
    if seconds is not None:
        refuse_slow(state, player, seconds)
    choose(state, player, left_out, 1, 0.0, 0.0, player.any_context)


def _refuse_large(player: Any, name: str) -> None:
    if player.bytes > MOST_BYTES:
        took = f"{player.bytes / 2**30:.1f} GiB, and at most {MOST_BYTES >> 30} may be taken"
        raise InputError("instance", f"be small enough for the memory of {name}: it takes {took}")


def refuse_slow(state: State, player: Player, seconds: float) -> None:
    """Refuse a policy that takes longer for a decision than an ask has.

    Where it is too slow interpreted, or nearly so, it is compiled first, aside: that may take
    longer than there is time, and is done for whoever tries again.
    """
    took = _trial(state, player, seconds)
    if took > NEAR * seconds and _compile(state, player):
        took = _trial(state, player, seconds)
    if took <= seconds:
        return
    most = _fitting(state, player, seconds)
    fewer = "less would" if most is None else f"{most} of its {_units(state)} would"
    raise InputError(
        "instance",
        f"be small enough for {state.definition['policy']['name']} to decide within "
        f"{seconds:g} s, which is what an ask has: a decision took more than {took:.2g} s in a "
        f"trial; {fewer} fit, or another policy",
    )


def _trial(state: State, player: Player, seconds: float) -> float:
    """Seconds of a decision where every arm was told of; once they are too many, how many then."""
    known, rng = state.tally, np.random.default_rng(0)
    tally = known._replace(
        counts=np.full_like(known.counts, REHEARSED),
        means=state.instance.observed_sign * rng.uniform(0.2, 0.8, known.means.size),
        pending=np.zeros_like(known.pending),
        plays=np.full_like(known.plays, REHEARSED),
        clock=np.full_like(known.clock, REHEARSED * max(known.plays.size, known.counts.size)),
    )
    bound = player.bind(player.start(), state.table)
    started = time.monotonic()
    try:
        with deadlines.no_longer(seconds):
            player.select(tally, bound, rng, state.table, player.any_context)
    except OutOfTime:
        deadlines.check()
        return max(time.monotonic() - started, seconds * (1.0 + 1e-9))
    except OssbError:  # made-up means say nothing about the policy at play
        return 0.0
    return time.monotonic() - started


def _compile(state: State, player: Player) -> bool:
    """Whether compiled code is at hand, after waiting for it."""
    if player.described:
        return False
    key = json.dumps([state.definition["instance"], state.definition["policy"]], sort_keys=True)
    thread = _compiling.get(key)
    if thread is None:
        while len(_compiling) >= COMPILED:
            del _compiling[next(iter(_compiling))]
        thread = threading.Thread(target=player.compile_beside, daemon=True)
        thread.start()
        _compiling[key] = thread
    while thread.is_alive():
        thread.join(deadlines.EVERY)
        try:
            deadlines.check()
        except OutOfTime:
            raise OutOfTime(COMPILING) from None
    return player.take_compiled()


def _fitting(state: State, player: Player, seconds: float) -> int | None:
    """How many arms would fit, roughly; None where it is not known."""
    units = _units(state)
    if not state.instance.can_restrict:
        return None
    for half in range(1, HALVES + 1):
        few = units >> half
        if few < 2:
            break
        try:
            fewer = Player(state.instance, state.definition["policy"], range(few, units))
            if player.is_compiled:
                fewer.take_compiled()
            if _trial(state, fewer, seconds) <= seconds:
                return few
        except OutOfTime:
            return None
        except OssbError:
            break
    return None


def _units(state: State) -> int:
    """How many arms (items, where arms are made of items) there are."""
    return int(state.instance.unit_count())


@contextmanager
def naming(field: str, lead: str) -> Iterator[None]:
    """Say by what a caller gave, and in which words, that a campaign cannot be played with it."""
    try:
        yield
    except InputError as error:
        if error.field != "instance":
            raise
        raise InputError(field, f"{lead} {error.must}") from None


@contextmanager
def _as_long_as_fits() -> Iterator[None]:
    """What documents leave out where it takes too long is no reason to refuse."""
    left = deadlines.left()
    if left == float("inf"):
        yield
        return
    try:
        with deadlines.no_longer(JUDGED * left):
            yield
    except OutOfTime:
        deadlines.check()


@contextmanager
def _refusing(field: str, must: str) -> Iterator[None]:
    """Numbers beyond what doubles and memory hold are bad input, and no failure of ours."""
    try:
        yield
    except PolicyError as error:
        if isinstance(error.__cause__, OssbError):
            raise error.__cause__ from None  # of the instance, say
        raise InputError(field, f"{must}: {error.fault}") from error
    except OssbError:
        raise
    except (ArithmeticError, MemoryError, ValueError) as error:
        raise InputError(field, f"{must}: {str(error) or type(error).__name__}") from error
