"""What has been observed so far, and what is decided next.

An arm shows one or more components: itself, an unordered pair (dueling), its items
(semi-bandit).  The tally counts per component; with plays per arm and rounds per phase it is
all that most policies need to know.
"""

from typing import Any, NamedTuple

import numpy as np

from ossb.kernels import kernel

EXPLOIT, ESTIMATE, EXPLORE = 0, 1, 2
PHASES = ("exploit", "estimate", "explore")


class Tally(NamedTuple):
    """Updated in place: at each decision ``plays``, ``phases``, ``pending``; at each observation
    the rest.

    Decisions that are not yet told count as plays, so that many simultaneous ones spread out,
    and never as observations.
    """

    counts: np.ndarray  # int64 (n_components,): observations of each component
    means: np.ndarray  # float64 (n_components,): their empirical means, 0 before the first
    pending: np.ndarray  # int64 (n_components,): asked for and not yet told
    plays: np.ndarray  # int64 (n_arms,): N(x, t), those not yet told included
    phases: np.ndarray  # int64 (3,): rounds spent in EXPLOIT, ESTIMATE, EXPLORE
    clock: np.ndarray  # int64 (1,): rounds told


class Decision(NamedTuple):
    """The arm to play, and why."""

    arm: int
    phase: int


def empty_tally(n_components: int, n_arms: int) -> Tally:
    return Tally(
        np.zeros(n_components, np.int64),
        np.zeros(n_components),
        np.zeros(n_components, np.int64),
        np.zeros(n_arms, np.int64),
        np.zeros(3, np.int64),
        np.zeros(1, np.int64),
    )


def by_numbers(tally: Tally) -> Any:
    """A view of the tally that Python reads and writes without numpy, in a third of the time.

    What is entered in one stands in the other.
    """
    return Tally(*map(memoryview, tally))  # type: ignore[arg-type]


@kernel
def observe(tally: Tally, component: int, value: float) -> None:
    """Enter one observation of a component."""
    tally.counts[component] += 1
    tally.means[component] += (value - tally.means[component]) / tally.counts[component]


@kernel
def decide(tally: Tally, decision: Decision) -> None:
    """Enter a decision."""
    tally.phases[decision.phase] += 1
    tally.plays[decision.arm] += 1


@kernel
def is_waiting(tally: Tally) -> bool:
    """Whether observations are on their way."""
    pending = 0
    for component in range(tally.pending.shape[0]):
        pending += tally.pending[component]
    return pending > 0


@kernel
def fill_untold(counts: np.ndarray, means: np.ndarray) -> None:
    """Give components never told of the average mean of the others, in place of 0.

    Where 0 lies tells nothing of them: costs are negative rewards, and 0 would be the best of all.
    """
    told, total = 0, 0.0
    for k in range(counts.shape[0]):
        if counts[k] > 0:
            told += 1
            total += means[k]
    if 0 < told < counts.shape[0]:
        for k in range(counts.shape[0]):
            if counts[k] == 0:
                means[k] = total / told


@kernel
def impute_pending(tally: Tally) -> bool:
    """Impute means never observed while observations are pending; True if there was any to.

    Else an arm that was asked for and is not told of yet could draw all asks, or none.
    """
    if tally.clock[0] == 0 or not is_waiting(tally):
        return False
    fill_untold(tally.counts, tally.means)
    return True


@kernel
def restore_pending(tally: Tally) -> None:
    """Undo ``impute_pending`` after the decision."""
    for k in range(tally.counts.shape[0]):
        if tally.counts[k] == 0:
            tally.means[k] = 0.0


@kernel
def round_number(tally: Tally) -> float:
    """t, for levels such as ln t: one more than the rounds told.

    Where decisions were made and nothing is told yet, it is 3: with ln 1 = 0 nothing would spread
    those that follow.
    """
    return 3.0 if tally.clock[0] == 0 and is_waiting(tally) else tally.clock[0] + 1.0
