"""One trial: decide, observe, repeat; compiled once per types of policy and environment.

A trial runs in stretches of rounds, so that a long one can be watched and interrupted.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.kernels import kernel
from ossb.simulation.environment import Environment
from ossb.tally import Decision, Tally, decide, impute_pending, observe, restore_pending


class Course(NamedTuple):
    """How a trial stands: the regret at each checkpoint, and what carries over."""

    checkpoints: np.ndarray  # int64: rounds after which the regret is noted
    curve: np.ndarray  # float64: pseudo-regret after each of them
    spent: np.ndarray  # int64 (checkpoints, 3): rounds in each phase until then
    regret: np.ndarray  # float64 (1,)
    marks: np.ndarray  # int64 (2,): checkpoints passed, rounds told
    refused: np.ndarray  # int64 (3,): round, arm and phase of a decision that is none, else zeros


class Late(NamedTuple):
    """Observations on their way, in a ring of ``arms.shape[0]`` rounds."""

    arms: np.ndarray  # int64
    values: np.ndarray  # float64 (rounds, widest arm)


@kernel
def run_trial(
    policy: Any,
    environment: Environment,
    tally: Tally,
    memory: Any,
    course: Course,
    start: int,
    stop: int,
    rng: Generator,
    noise: Generator,
) -> None:
    """Play rounds start, …, stop − 1; every observation is known before the next decision.

    It ends early at a decision that is none, which stands in the course then.

    ``rng`` is the policy's own stream, ``noise`` the environment's: round t's noise is the same
    for every policy, so comparisons are paired.
    """
    for t in range(start, stop):
        decision = policy.select(tally, memory, rng)
        if not is_possible(course, tally, decision, t):
            return
        decide(tally, decision)
        arm = decision.arm
        for place in range(environment.starts[arm], environment.starts[arm + 1]):
            component = environment.shown[place]
            value = environment.family.sample(environment.means[component], noise)
            observe(tally, component, value)
        tally.clock[0] += 1
        note(course, tally, t, environment.gaps[arm])


@kernel
def run_late_trial(
    policy: Any,
    environment: Environment,
    tally: Tally,
    memory: Any,
    course: Course,
    late: Late,
    batch: int,
    delay: int,
    start: int,
    stop: int,
    rng: Generator,
    noise: Generator,
) -> None:
    """Play rounds start, …, stop − 1 with observations that arrive late.

    What round u shows is known ``delay`` rounds later, and told at the start of the next batch
    of ``batch`` rounds.  The draws are those of ``run_trial``, round by round.
    """
    for t in range(start, stop):
        tell_known(environment, tally, course, late, batch, delay, t)
        lent = impute_pending(tally)
        decision = policy.select(tally, memory, rng)
        if lent:
            restore_pending(tally)
        if not is_possible(course, tally, decision, t):
            return
        play_late(environment, tally, course, late, decision, t, noise)


@kernel
def is_possible(course: Course, tally: Tally, decision: Decision, t: int) -> bool:
    """Whether there are such an arm and such a phase; if not, that is noted.

    What is not an arm would be read and written beyond the ends of arrays.
    """
    arm, phase = decision.arm, decision.phase
    if 0 <= arm < tally.plays.shape[0] and 0 <= phase < tally.phases.shape[0]:
        return True
    course.refused[0] = t
    course.refused[1] = arm
    course.refused[2] = phase
    return False


@kernel
def tell_known(
    environment: Environment,
    tally: Tally,
    course: Course,
    late: Late,
    batch: int,
    delay: int,
    t: int,
) -> bool:
    """Tell what is known by now, where a batch begins; whether there was anything."""
    told, known = course.marks[1], t - 1 - delay
    if (t - 1) % batch == 0:
        while course.marks[1] < known:
            tell(environment, tally, late, course.marks[1] % late.arms.shape[0])
            course.marks[1] += 1
    return course.marks[1] > told


@kernel
def play_late(
    environment: Environment,
    tally: Tally,
    course: Course,
    late: Late,
    decision: Decision,
    t: int,
    noise: Generator,
) -> None:
    """Play a round of which nothing is told yet."""
    decide(tally, decision)
    arm, slot = decision.arm, (t - 1) % late.arms.shape[0]
    late.arms[slot] = arm
    first = environment.starts[arm]
    for place in range(first, environment.starts[arm + 1]):
        component = environment.shown[place]
        tally.pending[component] += 1
        mean = environment.means[component]
        late.values[slot, place - first] = environment.family.sample(mean, noise)
    note(course, tally, t, environment.gaps[arm])


@kernel
def tell(environment: Environment, tally: Tally, late: Late, slot: int) -> None:
    """Enter what a past round showed."""
    arm = late.arms[slot]
    first = environment.starts[arm]
    for place in range(first, environment.starts[arm + 1]):
        component = environment.shown[place]
        tally.pending[component] -= 1
        observe(tally, component, late.values[slot, place - first])
    tally.clock[0] += 1


@kernel
def note(course: Course, tally: Tally, t: int, gap: float) -> None:
    """Add a round's regret, and keep the curves."""
    course.regret[0] += gap
    mark = course.marks[0]
    if mark < course.checkpoints.shape[0] and t == course.checkpoints[mark]:
        course.curve[mark] = course.regret[0]
        for phase in range(3):
            course.spent[mark, phase] = tally.phases[phase]
        course.marks[0] = mark + 1
