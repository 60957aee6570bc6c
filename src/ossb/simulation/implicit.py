"""Trials on arm sets that are not listed: the same loop, interpreted, with a table of arms.

A decision's number is the place of its arm in the policy's table; plays are counted for the
arms met.  Draws are those of the compiled loop: one per item of the arm, in order.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ossb.arm_sets.table import ArmTable
from ossb.errors import PolicyError
from ossb.policies.checked import fresh_memory, member, selected, within
from ossb.simulation.trial import Course, note
from ossb.tally import Tally, decide, empty_tally, impute_pending, observe, restore_pending

STRETCH = 1000  # rounds between two looks at the outside world


class ImplicitOutcome(NamedTuple):
    """One trial, played."""

    curve: np.ndarray
    spent: np.ndarray
    plays: dict[tuple[int, ...], int]
    seconds: float


def run_implicit(
    policy: Any,
    instance: Any,
    course: Course,
    batch: int,
    delay: int,
    rng: np.random.Generator,
    noise: np.random.Generator,
    progress: Callable[[int], None] | None = None,
    name: str | None = None,
) -> ImplicitOutcome:
    """Play one trial up to the last checkpoint of a course.

    Parameters
    ----------
    name
        What errors call the policy; its class by default.
    """
    name = type(policy).__name__ if name is None else name
    means, family = instance.components, instance.family
    tally, memory = empty_tally(means.size, 16), fresh_memory(policy, name)
    if not isinstance(getattr(memory, "table", None), ArmTable):
        raise PolicyError(name, 0, "`start` must return a memory with a `table`, an ArmTable")
    gaps: list[float] = []
    late: deque[tuple[int, tuple[int, ...], list[float]]] = deque()
    started = time.thread_time()
    horizon = int(course.checkpoints[-1])
    for t in range(1, horizon + 1):
        if (t - 1) % batch == 0:
            while late and late[0][0] + delay < t:
                _tell(tally, *late.popleft()[1:])
        lent = impute_pending(tally)
        decision = selected(policy, name, tally, memory, rng)
        if lent:
            restore_pending(tally)
        arms = memory.table.arms
        while len(arms) > tally.plays.size:
            tally = tally._replace(plays=np.concatenate([tally.plays, np.zeros_like(tally.plays)]))
        for arm in arms[len(gaps) :]:
            member(arm, instance, name, t)
            gaps.append(instance.gap_of(arm))
        decide(tally, within(decision, len(arms), name, t))
        items = arms[decision.arm]
        late.append((t, items, [family.sample(float(means[i]), noise) for i in items]))
        tally.pending[list(items)] += 1
        note(course, tally, t, gaps[decision.arm])
        if progress is not None and (t % STRETCH == 0 or t == horizon):
            progress(STRETCH if t % STRETCH == 0 else t % STRETCH)
    plays = {arm: int(n) for arm, n in zip(memory.table.arms, tally.plays, strict=False) if n}
    return ImplicitOutcome(course.curve, course.spent, plays, time.thread_time() - started)


def _tell(tally: Tally, items: tuple[int, ...], values: list[float]) -> None:
    for item, value in zip(items, values, strict=True):
        tally.pending[item] -= 1
        observe(tally, item, value)
    tally.clock[0] += 1


def mean_plays(outcomes: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
    """Every arm that was played, most played first, and its mean plays."""
    totals: dict[Any, int] = {}
    for outcome in outcomes:
        for arm, plays in outcome.plays.items():
            totals[arm] = totals.get(arm, 0) + plays
    arms = sorted(totals, key=lambda arm: (-totals[arm], arm))
    return arms, np.array([totals[arm] for arm in arms]) / len(outcomes)
