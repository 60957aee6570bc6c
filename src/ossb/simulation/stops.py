"""Trials with an end: they stop when the leader is ε-good with confidence 1 − δ."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.fields import number
from ossb.graves_lai.answers import BEST, Aim, Answer, read_answer
from ossb.kernels import kernel
from ossb.models.rivals import CHARGE, STATISTIC, rivals_for
from ossb.records import can_compile
from ossb.simulation.environment import Environment
from ossb.simulation.trial import Course, Late, is_possible, play_late, tell_known
from ossb.tally import Tally, impute_pending, restore_pending


class Ending(NamedTuple):
    """What stops a trial, and what became of it."""

    epsilon: float
    level: float  # ln(1/δ)
    contest: Any  # memory of the rivals
    found: np.ndarray  # int64 (2,): the round after which it stopped, 0 until then; the leader


class Stop(NamedTuple):
    """When trials are to stop, and when they are asked for their answer on the way."""

    rivals: Any
    delta: float  # 0 where they go on to the horizon
    epsilon: float
    budgets: tuple[int, ...] = ()  # rounds after which the leader is noted, in order
    answer: Answer = BEST

    def ending(self) -> Ending:
        """A fresh one, for one trial."""
        level = -math.log(self.delta) if self.delta > 0.0 else math.inf
        return Ending(self.epsilon, level, self.rivals.start(), np.zeros(2, np.int64))


class Noted(NamedTuple):
    """What a trial would answer after some rounds."""

    rounds: int
    arm: int  # that leads
    lack: float  # by how much the answer is wrong: the arm's gap, where the best one is asked for


class Witness:
    """Notes what a trial answers after given rounds; what is played does not depend on it."""

    def __init__(self, end: Stop, environment: Environment, compiled: bool) -> None:
        self._environment = environment
        self._aim = None if end.answer.is_best else Aim(end.rivals.top, end.rivals.level)
        quick = compiled and can_compile(end.rivals)
        self._judge = is_decided.compiled if quick else is_decided
        self._rivals, self._ending = end.rivals, end._replace(delta=0.0).ending()
        self._due = list(end.budgets)
        self._seen: list[Noted] = []

    def due(self) -> float:
        """The next round after which to look."""
        return self._due[0] if self._due else math.inf

    def look(self, t: int, tally: Tally) -> None:
        """Note the leader after round t, if that was asked for."""
        if t == self.due():
            self._note(self._due.pop(0), tally)

    def close(self, t: int, tally: Tally) -> tuple[Noted, ...]:
        """What was noted; a trial that has ended keeps to its answer, which comes last."""
        for due in [*self._due, t]:
            self._note(due, tally)
        return tuple(self._seen)

    def _note(self, t: int, tally: Tally) -> None:
        self._judge(self._rivals, tally, self._ending)
        leader, truth = int(self._ending.found[1]), self._environment
        lack = float(truth.gaps[leader])
        if self._aim is not None:
            inside = self._ending.contest.space.sides.inside > 0
            lack = self._aim.lack(inside, truth.means)
        self._seen.append(Noted(t, leader, lack))


def stop_of(
    instance: Any,
    until: float | None,
    epsilon: float,
    budgets: tuple[int, ...] = (),
    answer: Any = BEST,
) -> Stop:
    """The stop of an instance with listed arms."""
    field = "budgets" if until is None else "until"
    delta = 0.0 if until is None else readable_delta(until, field)
    epsilon, asked = readable_epsilon(epsilon), read_answer(answer, instance.n_arms)
    rivals, reason = rivals_or_reason(instance, asked)
    if rivals is None:
        raise InputError(field, f"be left out: {reason}")
    return Stop(rivals, delta, epsilon, budgets, asked)


def rivals_or_reason(instance: Any, answer: Answer = BEST) -> tuple[Any, str]:
    """What the answer about an instance is held against; or None, and why it has no stop."""
    if instance.n_arms is None:
        return None, "the arms of this set are not listed"
    if instance.has_contexts:
        return None, "arms in contexts have a best one each, and no one stop"
    return rivals_for(instance, answer), f"{instance.kind} structures have no stop"


def readable_delta(delta: Any, field: str = "delta") -> float:
    """The probability with which an answer may be wrong."""
    delta = number(delta, field)
    if not 0 < delta < 1:
        raise InputError(field, "lie in (0, 1)", delta)
    return delta


def readable_epsilon(epsilon: Any) -> float:
    """How much worse than the best arm is good enough."""
    epsilon = number(epsilon, "epsilon")
    if not 0 <= epsilon < math.inf:
        raise InputError("epsilon", "be non-negative", epsilon)
    return epsilon


@kernel
def run_until(
    policy: Any,
    environment: Environment,
    tally: Tally,
    memory: Any,
    course: Course,
    late: Late,
    batch: int,
    delay: int,
    rivals: Any,
    ending: Ending,
    start: int,
    stop: int,
    rng: Generator,
    noise: Generator,
) -> None:
    """Play rounds start, …, stop − 1, or until what was told ends the trial.

    As ``run_late_trial``; the verdict is looked at whenever something was told, before the next
    decision.
    """
    for t in range(start, stop):
        told = tell_known(environment, tally, course, late, batch, delay, t)
        if told and is_decided(rivals, tally, ending):
            ending.found[0] = t - 1
            return
        lent = impute_pending(tally)
        decision = policy.select(tally, memory, rng)
        if lent:
            restore_pending(tally)
        if not is_possible(course, tally, decision, t):
            return
        play_late(environment, tally, course, late, decision, t, noise)


@kernel
def is_decided(rivals: Any, tally: Tally, ending: Ending) -> bool:
    """Whether the leader is ε-good, by what was told."""
    leader = rivals.judge(ending.epsilon, ending.level, tally, ending.contest)
    verdict = ending.contest.verdict
    ending.found[1] = leader
    return bool(verdict[STATISTIC] - verdict[CHARGE] >= ending.level)
