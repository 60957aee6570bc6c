"""Lines of the suite: one policy on one instance, played or frozen."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ossb.errors import InputError, PolicyError
from ossb.experiments.cells import label_of
from ossb.experiments.code import contents_of, policy_code_of
from ossb.experiments.definition import Experiment
from ossb.experiments.results import Results
from ossb.policies import POLICIES
from ossb.policies.own import class_of, own_parameters, policy_of, source_of
from ossb.simulation.chosen import read_policy
from ossb.simulation.environment import environment_of
from ossb.simulation.seeds import instance_key
from ossb.simulation.simulate import run
from ossb.suite.definition import Suite, SuiteInstance
from ossb.words import hint

Player = Callable[[Experiment, Path], Any]  # plays what is missing of an experiment in a folder
FIRST = 5  # rounds after as many as there are arms that a policy of one's own is tried for
PLACES = 4  # digits that regrets are kept with


class Line(NamedTuple):
    """The trials of one policy on one instance."""

    instance: str
    policy: str
    digest: str  # of the policy on the instance: its code, its numbers, its parameters
    microseconds: float  # of CPU time a round
    regret: np.ndarray  # float64 (trials,): at the horizon, in the order of the trials

    def to_dict(self) -> dict[str, Any]:
        return {
            "instance": self.instance,
            "policy": self.policy,
            "digest": self.digest,
            "microseconds": float(f"{self.microseconds:.3g}"),
            "regret": [_short(value) for value in self.regret.tolist()],
        }


def refusals(found: Iterable[SuiteInstance], policy: str) -> dict[str, str]:
    """The instances that a policy cannot be made for, or fails on at once, and why."""
    name, parameters = read_policy(policy)
    if ":" not in name and name not in POLICIES:
        must = f"be one of ossb policies, or a module:Class{hint(name, POLICIES)}"
        raise InputError("policy", must, name)
    if ":" in name:
        class_of(name)  # what cannot be imported is refused by no instance
    refused = {}
    for one in found:
        try:
            record = policy_of(name, one.instance, parameters)
            if ":" in name:
                _try(record, one, policy)
        except (ValueError, PolicyError) as error:  # a class of one's own may raise the former
            refused[one.name] = str(error)
    return refused


def _try(record: Any, one: SuiteInstance, name: str) -> None:
    """Play a few rounds, so that what fails on one instance is not found after the others."""
    last = np.array([one.arms + FIRST])
    streams = (np.random.default_rng(0), np.random.default_rng(1))
    run(record, environment_of(one.instance), last, *streams, compiled=False, name=name)


def played(
    version: Suite,
    chosen: Sequence[tuple[SuiteInstance, tuple[str, ...]]],
    trials: int,
    folder: Path,
    player: Player,
) -> list[Line]:
    """Play what is missing, and read it: instances with their policies."""
    together: dict[tuple[int, tuple[str, ...]], list[SuiteInstance]] = {}
    for one, policies in chosen:
        together.setdefault((one.horizon, policies), []).append(one)
    lines: list[Line] = []
    for (horizon, policies), instances in together.items():
        experiment = version.experiment(instances, policies, trials)
        place = folder / f"{horizon}-{_digest(policies)[:8]}"
        player(experiment, place)
        lines += _read(experiment, place)
    return lines


def digests(experiment: Experiment) -> dict[tuple[str, str], str]:
    """The digest of each policy on each instance: its code, its parameters, its numbers.

    Nothing of the loop is in it, which is the same for all.
    """
    found = {}
    for named in experiment.instances:
        key = instance_key(named.instance.to_dict())
        for name, parameters in experiment.policies:
            own = own_parameters(name, parameters)
            record = policy_of(name, named.instance, parameters)
            code = source_of(name) or policy_code_of(record)
            label = named.group, label_of(name, own)
            found[label] = _digest((key, name, own, code, contents_of(record)))
    return found


def _read(experiment: Experiment, folder: Path) -> list[Line]:
    results = Results(folder)
    seconds = results.ledger.seconds()
    spent: dict[tuple[str, str], list[float]] = {}
    for cell in results.ledger.index():
        if cell["part"] in seconds:  # not where a kill came between a part and its time
            first, last = cell["trials"]
            each = seconds[cell["part"]] / (last - first)
            spent.setdefault((cell["group"], cell["policy"]), []).append(each)
    known = digests(experiment)
    return [
        Line(
            group,
            policy,
            known[group, policy],
            1e6 * float(np.mean(spent[group, policy])) / experiment.horizon,
            np.array([_short(value) for value in regret[:, -1].tolist()]),
        )
        for (group, policy), (_, regret) in results.curves.items()
    ]


def _short(value: float) -> float | int:
    """With few digits: as it is written, so it is counted with."""
    number = float(f"{value:.{PLACES}g}")
    return int(number) if number == int(number) else number


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
