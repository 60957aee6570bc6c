"""What a policy is worth beside the frozen rows."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ossb.errors import InputError
from ossb.experiments.aggregates import (
    Interval,
    geometric_mean,
    improvement,
    interquartile_mean,
    with_interval,
)
from ossb.experiments.statistics import holm, paired, summary
from ossb.suite.definition import HALVES, Suite
from ossb.suite.frozen import Frozen
from ossb.suite.lines import Line

BESIDE = "hgl"  # the policy that all are compared with


class Entry(NamedTuple):
    """A policy on one instance."""

    instance: str
    half: str
    trials: int
    mean: float
    sem: float
    median: float
    p95: float
    worst: float
    microseconds: float
    ratio: float  # of the mean to the least mean of the frozen rows
    to_bound: float  # of the mean to C(θ) ln T
    best: str  # the frozen policy with the least mean
    place: int  # among the frozen rows, 1 the best

    def to_dict(self) -> dict[str, Any]:
        return {
            key: float(f"{value:.6g}") if isinstance(value, float) else value
            for key, value in self._asdict().items()
        }


class Contest(NamedTuple):
    """Against one frozen policy, over the instances that both played."""

    policy: str
    won: int  # instances, beyond noise
    lost: int
    open: int

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


class Half(NamedTuple):
    """A policy over the instances of a half."""

    half: str
    instances: int
    of: int
    middle: Interval  # interquartile mean of regret over the least mean of the instance
    geometric: Interval  # geometric mean over instances of the ratios of means
    beside: Interval | None  # probability of less regret than ``hgl`` has
    worst: str  # the instance with the largest ratio
    worst_ratio: float

    def to_dict(self) -> dict[str, Any]:
        return {
            key: value.to_dict() if isinstance(value, Interval) else value
            for key, value in self._asdict().items()
        }


class Score(NamedTuple):
    """All that is said of a policy."""

    policy: str
    halves: tuple[Half, ...]
    contests: tuple[Contest, ...]
    entries: tuple[Entry, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "policy": self.policy,
            "halves": [half.to_dict() for half in self.halves],
            "contests": [contest.to_dict() for contest in self.contests],
            "instances": [entry.to_dict() for entry in self.entries],
        }


def score(version: Suite, rows: Frozen, lines: Sequence[Line]) -> Score:
    """A policy's lines beside the frozen rows; trials of one number share their noise."""
    if not lines:
        raise InputError("policy", "have been played on some instance")
    ordered = [line for one in version.instances for line in lines if line.instance == one.name]
    entries = tuple(entry(version, rows, line) for line in ordered)
    halves = tuple(
        _half(
            half,
            version,
            rows,
            [line for line in ordered if version.named(line.instance).half == half],
        )
        for half in HALVES
        if any(version.named(line.instance).half == half for line in ordered)
    )
    return Score(ordered[0].policy, halves, _contests(rows, ordered), entries)


def entry(version: Suite, rows: Frozen, line: Line) -> Entry:
    """What is said of one line."""
    one, others = version.named(line.instance), rows.of(line.instance)
    found = summary(line.regret)
    floor = rows.bounds[one.name] * math.log(one.horizon)
    means = [float(other.regret.mean()) for other in others if other.policy != line.policy]
    return Entry(
        one.name,
        one.half,
        found.trials,
        found.mean,
        found.sem,
        found.median,
        found.p95,
        found.worst,
        line.microseconds,
        found.mean / rows.least(one.name),
        found.mean / floor if floor > 0 else math.inf,
        others[0].policy,
        1 + sum(mean < found.mean for mean in means),
    )


def _half(half: str, version: Suite, rows: Frozen, lines: Sequence[Line]) -> Half:
    scores = np.array([line.regret / rows.least(line.instance) for line in lines])
    ratios = scores.mean(axis=1)
    pairs = [(line, _against(rows, line, BESIDE)) for line in lines]
    both = [(line.regret, other) for line, other in pairs if other is not None]
    beside = None
    if both and lines[0].policy != BESIDE:
        ours, theirs = zip(*both, strict=True)
        beside = improvement(np.array(ours), np.array(theirs))
    return Half(
        half,
        len(lines),
        sum(one.half == half for one in version.instances),
        with_interval(interquartile_mean, scores),
        with_interval(geometric_mean, scores),
        beside,
        lines[int(ratios.argmax())].instance,
        float(ratios.max()),
    )


def _contests(rows: Frozen, lines: Sequence[Line]) -> tuple[Contest, ...]:
    """Paired tests against every frozen row, corrected for all of them together."""
    tests = []
    for line in lines:
        for other in rows.of(line.instance):
            theirs = _against(rows, line, other.policy)
            if theirs is not None and other.policy != line.policy:
                tests.append((other.policy, paired(theirs - line.regret)))
    clear = [p < 0.05 for p in holm([test.p_value for _, test in tests])]
    found: dict[str, list[int]] = {}
    for (policy, test), sure in zip(tests, clear, strict=True):
        verdict = (0 if test.mean > 0 else 1) if sure else 2
        found.setdefault(policy, [0, 0, 0])[verdict] += 1
    return tuple(Contest(policy, *counts) for policy, counts in found.items())


def _against(rows: Frozen, line: Line, policy: str) -> np.ndarray | None:
    """The trials of a frozen row that share their noise with those of a line."""
    for other in rows.lines:
        if (other.instance, other.policy) == (line.instance, policy):
            return other.regret[: line.regret.size]
    return None
