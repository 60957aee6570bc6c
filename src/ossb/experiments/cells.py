"""Cells: the units of work of an experiment, each named by all that determines its numbers."""

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.experiments.code import code_of, contents_of
from ossb.experiments.definition import Experiment
from ossb.extras import load
from ossb.graves_lai.answers import BEST, Answer
from ossb.instances import from_dict
from ossb.policies.base import by_itself
from ossb.policies.own import own_parameters, policy_of, source_of, stream_of
from ossb.policies.plain import Plain
from ossb.simulation import contexts
from ossb.simulation.environment import environment_of
from ossb.simulation.implicit import ImplicitOutcome, run_implicit
from ossb.simulation.seeds import context_stream, instance_key, noise_stream, policy_stream
from ossb.simulation.simulate import Outcome, Timing, new_course, run
from ossb.simulation.stops import Stop, stop_of

FORMAT = 1
VERSION = version("ossb")
LISTS = ("checkpoints", "regret", "exploit", "estimate", "explore")
ANSWERS = ("looked", "answers", "gaps")  # rounds, the arm that led after them, and what it lacks


def label_of(policy: str, parameters: dict[str, Any]) -> str:
    """A policy as it is written on a command line."""
    given = ",".join(f"{k}={v}" for k, v in parameters.items())
    return f"{policy}:{given}" if given else policy


@dataclass(frozen=True)
class Cell:
    """One policy on one instance for a block of trials; plain data, so that it can travel."""

    number: int  # of the instance
    group: str
    instance: dict[str, Any]
    digest: str  # of the instance, its names apart
    policy: str
    parameters: dict[str, Any]
    checkpoints: tuple[int, ...]  # the horizon last
    seed: int
    first: int
    last: int  # exclusive
    batch: int
    delay: int
    source: str  # digest of a policy that is not ours
    code: str  # digests of what plays it: the code, and the numbers it is given
    title: str = ""  # what to call the policy; of no number does it change a digit
    until: float = 0.0
    epsilon: float = 0.0
    budgets: tuple[int, ...] = ()
    answer: Answer = BEST

    @property
    def label(self) -> str:
        """What the policy is called: by default as it is written on a command line."""
        return self.title or label_of(self.policy, self.parameters)

    @property
    def asks(self) -> bool:
        """Whether it is about the arm that trials answer with."""
        return self.until > 0.0 or bool(self.budgets)

    def end(self, instance: Any) -> Stop | None:
        """When its trials end, and when they are asked for their answer."""
        if not self.asks:
            return None
        return stop_of(instance, self.until or None, self.epsilon, self.budgets, self.answer)

    @cached_property
    def key(self) -> str:
        """Digest of everything that determines the cell's numbers."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "instance": self.digest,
            "policy": self.policy,
            "parameters": self.parameters,
            "checkpoints": list(self.checkpoints),
            "seed": self.seed,
            "trials": [self.first, self.last],
            "batch": self.batch,
            "delay": self.delay,
            "source": self.source,
            "code": self.code,
        }
        if self.asks:
            content["answers"] = [self.until, self.epsilon, *self.budgets]
            if not self.answer.is_best:
                content["answer"] = self.answer.plain
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def cells(experiment: Experiment) -> Iterator[Cell]:
    """All cells of an experiment; what cannot be played is refused here."""
    for number, named in enumerate(experiment.instances):
        instance: Any = named.instance
        environment = environment_of(instance) if instance.n_arms is not None else None
        content = instance.to_dict()
        digest = instance_key(by_itself(instance).to_dict())
        rivals = None
        if experiment.asks:
            until, asked = experiment.until or None, experiment.answer
            rivals = stop_of(instance, until, experiment.epsilon, answer=asked).rivals
        for place, (name, parameters) in enumerate(experiment.policies):
            record = policy_of(name, instance, parameters)
            if experiment.asks and isinstance(record, Plain):
                must = (
                    f"have start and select(tally, memory, rng) to be asked for an answer: {name}"
                )
                raise InputError(f"policies[{place}]", must)
            played = (record, environment) if rivals is None else (record, environment, rivals)
            code = f"{code_of(record, environment, rivals)} {contents_of(played)}"
            own = own_parameters(name, parameters)
            for first in range(0, experiment.trials, experiment.block):
                yield Cell(
                    number,
                    named.group,
                    content,
                    digest,
                    name,
                    own,
                    experiment.checkpoints,
                    experiment.seed,
                    first,
                    min(first + experiment.block, experiment.trials),
                    experiment.batch,
                    experiment.delay,
                    source_of(name),
                    code,
                    experiment.label(place),
                    experiment.until,
                    experiment.epsilon,
                    experiment.budgets,
                    experiment.answer,
                )


def work(cell: Cell, compiled: bool = True) -> tuple[bytes, float]:
    """Play a cell; its part as Parquet, and the CPU seconds it took."""
    instance: Any = from_dict(cell.instance)
    record = policy_of(cell.policy, instance, cell.parameters)
    checkpoints = np.array(cell.checkpoints, dtype=np.int64)
    environment = environment_of(instance) if instance.n_arms is not None else None
    stream, end = stream_of(cell.policy, cell.parameters), cell.end(instance)
    comers = contexts.stream_of(instance, None)
    rows: list[dict[str, Any]] = []
    seconds = 0.0
    for trial in range(cell.first, cell.last):
        rng = policy_stream(cell.seed, cell.digest, stream, trial)
        noise = noise_stream(cell.seed, cell.digest, trial)
        outcome: Outcome | ImplicitOutcome
        if environment is None:
            course = new_course(checkpoints)
            outcome = run_implicit(
                record, instance, course, cell.batch, cell.delay, rng, noise, name=cell.label
            )
            met = sorted(outcome.plays)
            arms, plays = [list(arm) for arm in met], [outcome.plays[arm] for arm in met]
        else:
            timing = Timing(cell.batch, cell.delay)
            fast = compiled and isinstance(record, tuple)  # a plain Python class runs as it is
            who = None
            if comers is not None:
                who = comers, context_stream(cell.seed, cell.digest, trial)
            outcome = run(
                *(record, environment, checkpoints, rng, noise, timing, fast),
                name=cell.label,
                end=end,
                who=who,
            )
            arms, plays = None, outcome.plays.tolist()
        seconds += outcome.seconds
        spent = outcome.spent.T.tolist()
        lists = zip(LISTS, [list(cell.checkpoints), outcome.curve.tolist(), *spent], strict=True)
        rows.append({"trial": trial, **dict(lists), "arms": arms, "plays": plays})
        if environment is not None and isinstance(outcome, Outcome) and end is not None:
            found = dict(zip(ANSWERS, zip(*outcome.answers, strict=True), strict=True))
            rows[-1] |= {"stopped": outcome.end > 0, **found}
    return _parquet(rows, end is not None), seconds


def _parquet(rows: list[dict[str, Any]], answered: bool) -> bytes:
    polars = load("polars", "experiment")

    whole = polars.List(polars.Int64)
    schema: Any = {
        "trial": polars.Int64,
        **dict.fromkeys(LISTS, whole),
        "regret": polars.List(polars.Float64),
        "arms": polars.List(whole),  # only where the structure does not list them
        "plays": whole,
    }
    if answered:
        schema |= {"stopped": polars.Boolean, **dict.fromkeys(ANSWERS, whole)}
        schema["gaps"] = polars.List(polars.Float64)
    buffer = io.BytesIO()
    polars.DataFrame(rows, schema=schema).write_parquet(
        buffer, compression="zstd", statistics=False
    )
    return buffer.getvalue()
