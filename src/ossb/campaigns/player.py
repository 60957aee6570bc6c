"""A policy at play: on the arms that may be played now, with the memory that a state holds.

It runs interpreted, which needs no compiler; where that is slow, the same code is compiled by
another process into the cache and taken from there.  Both decide the same, bit for bit.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from ossb.arm_sets.table import ArmTable, RenamedTable
from ossb.campaigns import arrays
from ossb.campaigns.rosters import is_described, restricted
from ossb.errors import PolicyError, brief
from ossb.graves_lai.generic.way import WAY
from ossb.kernels import kernel
from ossb.policies import POLICIES
from ossb.policies import policy as make_policy
from ossb.policies.checked import failed, fresh_memory, member, round_of, whole, within
from ossb.records import can_compile
from ossb.tally import Decision, Tally, empty_tally, lend_means, take_back_means

SLOW = 2e-3  # seconds of an interpreted step from which on compiling is worth it
PATIENCE = 20  # slow steps before that
REHEARSED = 5  # steps tried before anybody asks
COMPILER = threading.Lock()  # one at a time: a service that starts again may want dozens


@kernel
def choose(policy: Any, tally: Tally, memory: Any, rng: Generator) -> Decision:
    """The policy's decision."""
    return policy.select(tally, memory, rng)


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
        self._step: Any = choose
        self._slow_steps = 0
        self._compiling: threading.Thread | None = None

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

    def select(
        self, tally: Tally, memory: Any, rng: Generator, table: ArmTable | None = None
    ) -> Decision:
        """The next arm, by its position among all arms, or in the table of those met."""
        seen = self.view(tally)
        round, met = round_of(tally), 0 if table is None else len(table.arms)
        self._look_for_compiled()
        started = time.thread_time()
        missing = bool(seen.pending.any()) and not seen.counts.all()
        lent = missing and lend_means(seen)
        try:
            with WAY.aside():  # no ask waits for a compiler
                decision = self._step(self.policy, seen, memory, rng)
        except Exception as error:
            raise failed(error, self._name, tally) from error
        finally:
            if lent:
                take_back_means(seen)
        if self._step is choose and time.thread_time() - started > SLOW:
            self._slow_steps += 1
        decision = whole(decision, self._name, tally)
        if table is not None:
            within(decision, len(table.arms), self._name, round)
            for place in (*range(met, len(table.arms)), decision.arm):
                self._refuse_strange(table.arms[place], round)
            return decision
        within(decision, seen.plays.size, self._name, round)
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
        policy, tally, memory, rng = self._first_step()
        tally.counts[:] = tally.plays[:] = REHEARSED
        tally.clock[0] = int(tally.plays.sum())
        sign = self.instance.observed_sign
        slow = False
        for _ in range(REHEARSED):
            tally.means[:] = sign * rng.uniform(0.2, 0.8, tally.means.size)
            started = time.thread_time()
            try:
                with WAY.aside():
                    choose(policy, tally, memory, rng)
            except Exception:  # made-up means say nothing about the policy at play
                break
            slow = slow or time.thread_time() - started > SLOW
        if slow:
            self._compile_beside()
        else:
            self._compiling = None  # steps at play may still turn out slow

    def compile(self) -> None:
        """Compile in this process, or take what is in the cache.

        Of a policy that is not made of records all through, what can be: its convex programs.
        """
        if self._compiles:
            self._step_as(choose.compiled)
        else:
            WAY.compile()

    def _look_for_compiled(self) -> None:
        """Get compiled code, beside the asks: importing the compiler alone takes a second.

        Policies on arms that are not listed ask an oracle, and stay interpreted.
        """
        if self.described:
            return
        if self._compiling is None and self._slow_steps >= PATIENCE:
            self._compiling = threading.Thread(target=self._compile_beside, daemon=True)
            self._compiling.start()

    def _compile_beside(self) -> None:
        with COMPILER:
            if not self._is_cached():
                compile_aside(self.instance.to_dict(), self._chosen)
        if self._is_cached():  # otherwise no compiler, no cache: go on as before
            self.compile()

    def _is_cached(self) -> bool:
        return choose.is_compiled(*self._first_step()) if self._compiles else WAY.is_cached()

    def _step_as(self, step: Any) -> None:
        step(*self._first_step())
        self._step = step

    def _first_step(self) -> tuple[Any, Tally, Any, Generator]:
        """Arguments of a step before anything is known."""
        reveals = self.instance.showing()
        tally = empty_tally(self.instance.component_count(), len(reveals))
        rng = np.random.Generator(np.random.PCG64(0))
        return self.policy, tally, self.bind(self.start()), rng


def compile_aside(instance: dict[str, Any], chosen: dict[str, Any]) -> None:
    """Compile a policy's step into the cache, in a process of its own."""
    subprocess.run(
        [sys.executable, "-m", "ossb.campaigns.compile"],
        input=json.dumps({"instance": instance, "policy": chosen}).encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
