"""Trials in which the world says, round by round, in which context an arm is to be chosen."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.kernels import kernel
from ossb.simulation.environment import Environment
from ossb.simulation.trial import Course, Late, is_possible, note, tell
from ossb.tally import Tally, decide, impute_pending, restore_pending


class Visits(NamedTuple):
    """Who comes: the contexts' rows, and the context of every round of a stretch."""

    starts: np.ndarray  # int64 (n_contexts + 1,)
    order: np.ndarray  # int64: of the rounds start, start + 1, …


class Stream(NamedTuple):
    """Where contexts come from: drawn by their weights, or a record, again and again."""

    starts: np.ndarray
    shares: np.ndarray  # float64 (n_contexts,): cumulated
    recorded: np.ndarray  # int64; empty where they are drawn

    def visits(self, start: int, stop: int, rng: Generator) -> Visits:
        """The contexts of the rounds start, …, stop − 1; every round takes one draw."""
        if self.recorded.size:
            rounds = np.arange(start - 1, stop - 1) % self.recorded.size
            return Visits(self.starts, self.recorded[rounds])
        drawn = np.searchsorted(self.shares, rng.random(stop - start), side="right")
        return Visits(self.starts, np.minimum(drawn, self.shares.size - 1))


def stream_of(instance: Any, contexts: Sequence[Any] | None) -> Stream | None:
    """The stream of an instance; None where one context, or none, leaves nothing to say."""
    layout = instance.layout if instance.has_contexts else None
    if contexts is not None:
        if layout is None:
            raise InputError("contexts", "be left out: the instance has none")
        if isinstance(contexts, str) or not len(contexts):
            raise InputError("contexts", "be a list of at least one context", contexts)
    if layout is None or layout.n_contexts == 1:
        return None
    places = [layout.context(one, f"contexts[{t}]") for t, one in enumerate(contexts or ())]
    recorded = np.array(places, dtype=np.int64)
    return Stream(layout.starts.astype(np.int64), np.cumsum(layout.weights), recorded)


@kernel
def run_in_contexts(
    policy: Any,
    environment: Environment,
    visits: Visits,
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
    """Play rounds start, …, stop − 1, each among the rows of its context; else as
    ``run_late_trial``.
    """
    room = late.arms.shape[0]
    for t in range(start, stop):
        if (t - 1) % batch == 0:
            while course.marks[1] + 1 + delay < t:
                tell(environment, tally, late, course.marks[1] % room)
                course.marks[1] += 1
        context = visits.order[t - start]
        low, high = visits.starts[context], visits.starts[context + 1]
        lent = impute_pending(tally)
        decision = policy.choose(low, high, tally, memory, rng)
        if lent:
            restore_pending(tally)
        if not is_possible(course, tally, decision, t):
            return
        if not low <= decision.arm < high:
            course.refused[0] = t
            course.refused[1] = decision.arm
            course.refused[2] = decision.phase
            return
        decide(tally, decision)
        arm, slot = decision.arm, (t - 1) % room
        late.arms[slot] = arm
        first = environment.starts[arm]
        for place in range(first, environment.starts[arm + 1]):
            component = environment.shown[place]
            tally.pending[component] += 1
            mean = environment.means[component]
            late.values[slot, place - first] = environment.family.sample(mean, noise)
        note(course, tally, t, environment.gaps[arm])
