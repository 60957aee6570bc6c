"""A policy at play: on the arms that may be played now, with the memory that a state holds.

It runs interpreted, which needs no compiler; where that is slow, the same code is compiled by
another process into the cache and taken from there.  Both decide the same, bit for bit.
"""

import dis
import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from types import CodeType
from typing import Any

import numpy as np
from numpy.random import Generator

from ossb import deadlines
from ossb.arm_sets.table import ArmTable, RenamedTable
from ossb.campaigns import arrays
from ossb.campaigns.rosters import is_described, restricted
from ossb.deadlines import OutOfTime
from ossb.errors import PolicyError, brief
from ossb.graves_lai.generic import minimise as programs
from ossb.kernels import kernel
from ossb.policies import POLICIES
from ossb.policies import policy as make_policy
from ossb.policies.base import by_itself
from ossb.policies.checked import failed, fresh_memory, member, round_of, whole, within
from ossb.records import can_compile
from ossb.structures.segments import placed
from ossb.tally import (
    PHASES,
    Decision,
    Tally,
    by_numbers,
    empty_tally,
    impute_pending,
    restore_pending,
)

SLOW = 2e-3  # seconds of an interpreted step from which on compiling is worth it
WORTH = 2.0  # seconds of interpreted steps, about what loading the compiler takes, and after which
# it is worth it; a slow step counts ten times, as somebody waits for it
REHEARSED = 5  # steps tried before anybody asks
TRIED = 0.1  # seconds that such a step has: it is slow then
COMPILER = threading.Lock()  # one at a time: a service that starts again may want dozens


@kernel
def choose(policy: Any, tally: Tally, memory: Any, rng: Generator | None) -> Decision:
    """The policy's decision."""
    return policy.select(tally, memory, rng)


@kernel
def choose_within(
    policy: Any, low: int, high: int, tally: Tally, memory: Any, rng: Generator
) -> Decision:
    """The policy's decision among the rows of a context."""
    return policy.choose(low, high, tally, memory, rng)


class Player:
    """A policy on some of an instance's arms.

    Parameters
    ----------
    instance
        All arms.
    chosen
        The policy's name and parameters.
    left_out
        Arms (items, where arms are sets of items) that may not be played.
    """

    def __init__(
        self, instance: Any, chosen: Mapping[str, Any], left_out: Sequence[int] = ()
    ) -> None:
        self.whole = not left_out
        self._layout = instance.layout if instance.has_contexts else None
        self.described = is_described(instance)  # arms are numbered by a table, not by us
        if self.whole:
            self.instance = instance
        else:
            out = set(left_out)
            self.kept = [unit for unit in range(instance.unit_count()) if unit not in out]
            self.instance = restricted(instance, self.kept)
            self.arms, self.components = instance.places(self.kept)
        self._chosen = dict(chosen)
        parameters = {key: value for key, value in chosen.items() if key != "name"}
        self.policy: Any = make_policy(str(chosen["name"]), self.instance, **parameters)
        self.remembers = POLICIES[str(chosen["name"])].remembers
        self._name = str(chosen["name"])
        self._template = fresh_memory(self.policy, self._name)
        self._compiles = can_compile(self.policy)
        # whether who asks decides which arms there are: one context is no more than its arms
        self.has_contexts = by_itself(self.instance).has_contexts
        self.draws = self.has_contexts or draws(self.policy)
        self._plain: Any = choose_within if self.has_contexts else choose
        self._step: Any = self._plain
        self._entry: Any = self._plain  # the same, of known types
        self._reads_numbers = POLICIES[str(chosen["name"])].by_numbers and not self.has_contexts
        self._numbers: tuple[Any, Any] = (None, None)  # a tally, and its numbers
        self._stops: tuple[Any, list[deadlines.Stop]] = (None, [])
        self._steps_cost = 0.0  # seconds of interpreted steps
        self._compiling: threading.Thread | None = None

    @property
    def bytes(self) -> int:
        """How much room its memory takes at most, scratch included."""
        return arrays.bytes_of(self._template)

    def start(self) -> list[np.ndarray]:
        """The arrays of a fresh memory."""
        memory = fresh_memory(self.policy, self._name)
        try:
            return [np.ascontiguousarray(leaf) for leaf in arrays.leaves(memory)]
        except TypeError as error:
            raise PolicyError(self._name, 0, f"`start` must return a memory: {error}") from None

    def bind(self, memory: list[np.ndarray], table: ArmTable | None = None) -> Any | None:
        """A memory around saved arrays; None where this version's has another shape.

        Parameters
        ----------
        table
            The arms met, where they are not listed.
        """
        if table is None or self.whole:
            return arrays.rebuilt(self._template, memory, table)
        return arrays.rebuilt(self._template, memory, RenamedTable(table, self.kept))

    def fitted(self, memory: list[np.ndarray]) -> list[np.ndarray] | None:
        """Saved arrays in the shape of this version's; None where they have another."""
        return arrays.fitted(self._template, memory)

    def view(self, tally: Tally) -> Tally:
        """What the policy sees of a tally."""
        if self.whole:
            return tally
        return Tally(
            tally.counts[self.components],
            tally.means[self.components],
            tally.pending[self.components],
            tally.plays if self.described else tally.plays[self.arms],
            tally.phases,
            tally.clock,
        )

    def _numbers_of(self, tally: Tally) -> Any:
        """A tally's numbers, made once for each tally."""
        if self._numbers[0] is not tally:
            self._numbers = tally, by_numbers(tally)
        return self._numbers[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_numbers": (None, None)}

    @property
    def any_context(self) -> int | None:
        """A context to try the policy in; None where there are not several."""
        return 0 if self.has_contexts else None

    def context_of(self, place: int) -> int | None:
        """The context that an arm belongs to; None where there are not several."""
        return self._layout.context_of(place) if self._layout and self.has_contexts else None

    def select(
        self,
        tally: Tally,
        memory: Any,
        rng: Generator,
        table: ArmTable | None = None,
        context: int | None = None,
    ) -> Decision:
        """The next arm, by its position among all arms, or in the table of those met.

        Parameters
        ----------
        context
            Who asks, where there are several contexts.
        """
        seen = self.view(tally)
        met = 0 if table is None else len(table.arms)
        if self._compiling is None and self._steps_cost >= WORTH:
            self._get_compiled()
        lent = np.count_nonzero(seen.pending) and not seen.counts.all() and impute_pending(seen)
        interpreted = self._step is self._plain
        rows = range(0)
        arguments: tuple[Any, ...] = (seen, memory)
        if self.has_contexts:
            rows = self.instance.layout.rows(context)
            arguments = (rows.start, rows.stop, *arguments)
        started = time.thread_time() if interpreted else 0.0  # of work, whoever else is busy
        try:
            if not interpreted:
                drawn = rng if self.draws else None
                if not deadlines.is_limited():
                    decision = self._entry(self.policy, *arguments, drawn)
                else:
                    with deadlines.stopping(self._stops_of(memory)):
                        decision = self._entry(self.policy, *arguments, drawn)
            elif self.has_contexts:
                decision = self.policy.choose(*arguments, rng)
            else:
                read = self._numbers_of(seen) if self._reads_numbers else seen
                decision = self.policy.select(read, memory, rng)
        except OutOfTime:
            raise
        except Exception as error:
            raise failed(error, self._name, tally) from error
        finally:
            if lent:
                restore_pending.function(seen)  # also where the time is over: no look at the clock
            if interpreted:  # to its end or not
                took = time.thread_time() - started
                self._steps_cost += took if took < SLOW else 10.0 * took
        decision = whole(decision, self._name, tally)
        if table is not None:
            round = round_of(tally)
            within(decision, len(table.arms), self._name, round)
            for place in (*range(met, len(table.arms)), decision.arm):
                self._refuse_strange(table.arms[place], round)
            return decision
        if not (0 <= decision.arm < seen.plays.size and 0 <= decision.phase < len(PHASES)):
            within(decision, seen.plays.size, self._name, round_of(tally))
        if self.has_contexts and decision.arm not in rows:
            fault = f"`arm` must be one of the present context, got {decision.arm}"
            raise PolicyError(self._name, round_of(tally), fault)
        return decision if self.whole else Decision(int(self.arms[decision.arm]), decision.phase)

    def _refuse_strange(self, arm: Any, round: int) -> None:
        """Refuse what is not an arm of the set, or has items that are left out."""
        if not self.whole and isinstance(arm, tuple):
            number = {unit: place for place, unit in enumerate(self.kept)}
            gone = [item for item in arm if item not in number]
            if gone:
                fault = f"`arm` must have no item that is left out, got {brief(arm)}"
                raise PolicyError(self._name, round, fault)
            arm = tuple(number[item] for item in arm)
        member(arm, self.instance, self._name, round)

    def outer(self, arm: Any) -> Any:
        """How all arms call an arm of these."""
        if isinstance(arm, tuple):
            return tuple(self.kept[item] for item in arm)
        return self.kept[arm]

    def prepare(self) -> None:
        """Find out aside whether steps will be slow, and if so get compiled code now."""
        if self._compiling is None and not self.described:
            self._compiling = threading.Thread(target=self._rehearse, daemon=True)
            self._compiling.start()

    def _rehearse(self) -> None:
        first, rng = self._first_step()[:-1], np.random.Generator(np.random.PCG64(0))
        tally = first[-2]
        tally.counts[:] = tally.plays[:] = REHEARSED
        tally.clock[0] = int(tally.plays.sum())
        sign = self.instance.observed_sign
        slow = False
        for _ in range(REHEARSED):
            tally.means[:] = sign * rng.uniform(0.2, 0.8, tally.means.size)
            started = time.thread_time()
            try:
                with deadlines.no_longer(TRIED):
                    self._plain(*first, rng)
            except OutOfTime:
                slow = True
            except Exception:  # made-up means say nothing about the policy at play
                break
            slow = slow or time.thread_time() - started > SLOW
            if slow:
                break
        if slow:
            self.compile_beside()
        else:
            self._compiling = None  # steps at play may still turn out slow

    def compile(self) -> None:
        """Compile in this process, or take what is in the cache.

        Of a policy that is not made of records all through, what can be: its convex programs.
        """
        if self._compiles:
            self._step_as(self._plain.compiled)
        else:
            programs.compile_kernel()

    def _get_compiled(self) -> None:
        """Get compiled code, beside the asks: importing the compiler alone takes a second.

        Policies on arms that are not listed ask an oracle, and stay interpreted.
        """
        if self.described:
            return
        if self._compiling is None:
            self._compiling = threading.Thread(target=self.compile_beside, daemon=True)
            self._compiling.start()

    def compile_beside(self) -> None:
        """Compile in another process unless that is done; take what it made."""
        with COMPILER:
            if not self._is_cached():
                compile_aside(self.instance.to_dict(), self._chosen)
        self.take_compiled()  # where there is no compiler, or no cache, it goes on as before

    def take_compiled(self) -> bool:
        """Take compiled code if it is in the cache; whether it was."""
        if self._is_cached():
            self.compile()
            return True
        return False

    @property
    def is_compiled(self) -> bool:
        """Whether its steps are run compiled."""
        return self._step is not self._plain or programs.is_ready()

    def _is_cached(self) -> bool:
        if not self._compiles:
            return programs.is_cached()
        return bool(self._plain.is_compiled(*self._first_step()))

    def _stops_of(self, memory: Any) -> list[deadlines.Stop]:
        """Where the loops of a memory's solvers look, found once for each memory."""
        if self._stops[0] is not memory:
            self._stops = memory, list(arrays.stops(memory))
        return self._stops[1]

    def _step_as(self, step: Any) -> None:
        first = self._first_step()
        step(*first)
        # what the types are, which never changes here, would else be found out at each call
        self._entry = step.overloads[self._plain.signature(*first)].entry_point
        self._step = step

    def _first_step(self) -> tuple[Any, ...]:
        """Arguments of a compiled step before anything is known."""
        reveals = self.instance.showing()
        tally = empty_tally(self.instance.component_count(), len(reveals))
        rng = np.random.Generator(np.random.PCG64(0)) if self.draws else None
        last = (tally, self.bind(self.start()), rng)
        if not self.has_contexts:
            return self.policy, *last
        rows = self.instance.layout.rows(0)
        return self.policy, rows.start, rows.stop, *last


class SegmentPlayer(Player):
    """A policy in one of the segments of an instance, of which the others tell nothing."""

    def __init__(
        self, instance: Any, chosen: Mapping[str, Any], segment: int, firsts: Sequence[int]
    ) -> None:
        super().__init__(instance.parts[segment], chosen)
        self.remembers = True  # each has a memory of its own, as if it were played alone
        first, end = firsts[segment : segment + 2]
        self._rows, self._shown = instance.layout.rows(segment), slice(first, end)
        self._phases = slice(len(PHASES) * (1 + segment), len(PHASES) * (2 + segment))
        self._clock = slice(1 + segment, 2 + segment)

    def view(self, tally: Tally) -> Tally:
        return Tally(
            tally.counts[self._shown],
            tally.means[self._shown],
            tally.pending[self._shown],
            tally.plays[self._rows.start : self._rows.stop],
            tally.phases[self._phases],
            tally.clock[self._clock],
        )

    def select(
        self,
        tally: Tally,
        memory: Any,
        rng: Generator,
        table: ArmTable | None = None,
        context: int | None = None,
    ) -> Decision:
        decision = super().select(tally, memory, rng)
        return Decision(self._rows.start + decision.arm, decision.phase)


class SegmentsPlayer:
    """All segments of an instance, to look at: each is asked through a player of its own."""

    whole = True
    described = False
    has_contexts = True
    any_context = 0

    def __init__(self, instance: Any, chosen: Mapping[str, Any]) -> None:
        self.instance = instance
        self.parts = []
        firsts = instance.first_components()  # looked up once: there may be thousands
        for segment in range(len(instance.parts)):
            with placed(segment):
                self.parts.append(SegmentPlayer(instance, chosen, segment, firsts))

    @property
    def bytes(self) -> int:
        """How much room the memories of the segments take at most, scratch included."""
        return sum(part.bytes for part in self.parts)

    def start(self) -> list[np.ndarray]:
        """None: memories are those of the segments, and kept with them."""
        return []

    def view(self, tally: Tally) -> Tally:
        """The tally of all segments."""
        return tally

    def prepare(self) -> None:
        """Find out of one segment whether steps will be slow; the others share its code."""
        self.parts[0].prepare()


def player_of(instance: Any, chosen: Mapping[str, Any], left_out: Sequence[int] = ()) -> Any:
    """A policy on some of an instance's arms, or all its segments."""
    if instance.has_segments:
        return SegmentsPlayer(instance, chosen)
    return Player(instance, chosen, left_out)


def draws(policy: Any) -> bool:
    """Whether a policy's ``select`` names its generator anywhere.

    Compiled code is not handed one otherwise: that takes longer than many a step.
    """
    select = getattr(type(policy), "select", None)
    code = getattr(getattr(select, "function", select), "__code__", None)
    if code is None or code.co_argcount != 4:  # itself, tally, memory and the generator
        return True
    return _names_generator(code)


@cache
def _names_generator(code: CodeType) -> bool:
    name = code.co_varnames[3]
    named = (instruction.argval for instruction in dis.get_instructions(code))
    return name in code.co_cellvars or name in named


def compile_aside(instance: dict[str, Any], chosen: dict[str, Any]) -> None:
    """Compile a policy's step into the cache, in a process of its own."""
    subprocess.run(
        [sys.executable, "-m", "ossb.campaigns.compile"],
        input=json.dumps({"instance": instance, "policy": chosen}).encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
