"""Trials in segments that share nothing: each is played in the rounds that are its own.

What happens in one segment changes nothing in another, so that one is played after the other and
their regrets are put together, round by round.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ossb.errors import InputError
from ossb.simulation.chosen import Chosen
from ossb.simulation.contexts import Stream
from ossb.simulation.environment import environment_of
from ossb.simulation.implicit import ImplicitOutcome, mean_plays, run_implicit
from ossb.simulation.result import PolicyResult
from ossb.simulation.seeds import context_stream, instance_key, noise_stream, policy_stream
from ossb.simulation.simulate import (
    STRETCH,
    Outcome,
    Progress,
    Timing,
    in_parallel,
    new_course,
    run,
    warm,
)
from ossb.structures.segments import Segmented


class Trials(NamedTuple):
    """What all policies are played on.

    Parameters
    ----------
    key, keys
        Of the random streams of who comes, and of every segment.
    """

    instance: Segmented
    stream: Stream | None
    checkpoints: np.ndarray
    n_trials: int
    key: str
    keys: list[str]
    seed: int
    timing: Timing

    def rounds(self, trial: int) -> np.ndarray:
        """How many of the first rounds up to each checkpoint are of each segment."""
        return _rounds(self.stream, self.checkpoints, context_stream(self.seed, self.key, trial))


class Joined(NamedTuple):
    """One trial, of all segments together."""

    curve: np.ndarray
    spent: np.ndarray
    plays: dict[Any, int]
    seconds: float


def trials_of(
    instance: Segmented,
    stream: Stream | None,
    checkpoints: np.ndarray,
    trials: int,
    seed: int,
    timing: Timing,
) -> Trials:
    """What is the same for every policy, who comes in every trial among it."""
    if not instance.known:
        raise InputError(instance.parameter, "be given: a simulation needs a true parameter")
    keys = [instance_key(part.to_dict()) for part in instance.parts]
    key = instance_key({"segments": keys, "weights": instance.layout.weights.tolist()})
    if stream is not None:  # segments that are alike see no like noise
        keys = [f"{own}, segment {z}" for z, own in enumerate(keys)]
    return Trials(instance, stream, checkpoints, trials, key, keys, seed, timing)


def _rounds(stream: Stream | None, checkpoints: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """How many of the first rounds up to each checkpoint are of each segment."""
    if stream is None:
        return checkpoints[None]
    count = stream.starts.size - 1
    found = np.zeros((count, checkpoints.size), dtype=np.int64)
    start = 1
    for place, checkpoint in enumerate(checkpoints.tolist()):
        if place:
            found[:, place] = found[:, place - 1]
        while start <= checkpoint:
            stop = min(start + STRETCH, checkpoint + 1)
            found[:, place] += np.bincount(stream.visits(start, stop, rng).order, minlength=count)
            start = stop
    return found


def play_segments(
    given: Trials,
    one: Chosen,
    workers: int,
    compiled: bool,
    progress: Progress | None,
    say: Callable[[str], None],
) -> PolicyResult:
    """Every trial of a policy, which has a memory of its own in each segment."""
    parts, label = given.instance.parts, one.stream()
    records = [one.made(part) for part in parts]
    listed = given.instance.n_arms is not None
    worlds = [None if part.n_arms is None else environment_of(part) for part in parts]
    seconds = 0.0
    for record, world in zip(records, worlds, strict=True):
        if compiled and world is not None:
            message = f"compiling {one.name} for {given.instance.kind} structures (once)"
            seconds += warm(record, one.name, world, given.timing, partial(say, message))
    step = None if progress is None else partial(progress, label)
    title = one.label or label

    def alone(trial: int, z: int, noted: np.ndarray) -> Outcome | ImplicitOutcome:
        rng = policy_stream(given.seed, given.keys[z], label, trial)
        noise = noise_stream(given.seed, given.keys[z], trial)
        record, world, timing = records[z], worlds[z], given.timing
        if world is not None:
            return run(record, world, noted, rng, noise, timing, compiled, step, title)
        course = new_course(noted)
        return run_implicit(record, parts[z], course, *timing, rng, noise, step, title)

    def play(trial: int) -> Joined:
        found: list[tuple[np.ndarray, Any]] = []
        rounds = given.rounds(trial)
        for z, own in enumerate(rounds):
            noted = np.unique(own[own > 0])
            found.append((noted, alone(trial, z, noted) if noted.size else None))
        return _joined(given, found, rounds)

    outcomes = in_parallel(play, given.n_trials, workers if compiled and listed else 1)
    arms, plays = _plays(given.instance, outcomes)
    return PolicyResult(
        one.name,
        one.own(),
        given.checkpoints,
        np.array([outcome.curve for outcome in outcomes]),
        plays,
        np.mean([outcome.spent[-1] for outcome in outcomes], axis=0),
        sum(outcome.seconds for outcome in outcomes),
        seconds,
        arms,
        title=one.label,
    )


def _joined(
    given: Trials, found: list[tuple[np.ndarray, Outcome | ImplicitOutcome | None]], rounds: Any
) -> Joined:
    """The trial of which every segment was played by itself."""
    curve = np.zeros(given.checkpoints.size)
    spent = np.zeros((given.checkpoints.size, 3), dtype=np.int64)
    plays: dict[Any, int] = {}
    seconds = 0.0
    for z, (noted, outcome) in enumerate(found):
        if outcome is None:
            continue
        come = rounds[z] > 0
        places = np.searchsorted(noted, rounds[z][come])
        curve[come] += outcome.curve[places]
        spent[come] += outcome.spent[places]
        seconds += outcome.seconds
        if isinstance(outcome, ImplicitOutcome):
            plays |= {(z, arm): count for arm, count in outcome.plays.items()}
        else:
            part = given.instance.parts[z]
            counts = enumerate(outcome.plays.tolist())
            plays |= {(z, part.arm_at(x)): count for x, count in counts if count}
    return Joined(curve, spent, plays, seconds)


def _plays(instance: Segmented, outcomes: list[Joined]) -> tuple[list[Any] | None, np.ndarray]:
    """Mean plays of all listed arms, or of those that were played."""
    arms, plays = mean_plays(outcomes)
    if instance.n_arms is None:
        return arms, plays
    mean = np.zeros(instance.n_arms)
    mean[[instance.position(arm) for arm in arms]] = plays
    return None, mean
