"""Trials in which the world says, round by round, in which context an arm is to be chosen."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.kernels import kernel
from ossb.simulation.environment import Environment
from ossb.simulation.trial import Course, Late, is_possible, play_late, tell_known
from ossb.tally import Tally, impute_pending, restore_pending


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
    for t in range(start, stop):
        tell_known(environment, tally, course, late, batch, delay, t)
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
        play_late(environment, tally, course, late, decision, t, noise)
