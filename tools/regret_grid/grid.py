"""The regret grid: which bundled experiments it is made of, and how they are played.

Curves of one trial give every horizon up to its last, so that a part is played twice: many
trials to its own horizon, and fewer to a longer one.  A policy that is told the horizon has an
entry for each; in the longer run it is told that one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ossb.errors import InputError
from ossb.experiments.cells import label_of
from ossb.experiments.definition import Experiment, bundled, read
from ossb.fields import choice
from ossb.policies import POLICIES
from ossb.policies.base import refusal
from ossb.policies.own import own_parameters
from ossb.simulation.chosen import read_policy
from ossb.simulation.simulate import log_spaced

PREFIX = "regret-"
USUAL, LONG = 100_000, 1_000_000
FEWER = 5  # trials of the longer run: one in this many
POINTS = 60
DEFAULT = "hgl"
# Since when a policy decides as it does now, where that is later than the first rows of the grid
RULES = {
    (name, kind): "2026-11-18"
    for kind in ("linear", "generalized_linear")
    for name in ("e4", "end-of-optimism", "glm-ucb", "graves-lai", DEFAULT, "ossb", "ossb-paper")
} | {(DEFAULT, kind): "2026-11-18" for kind in ("classical", "unimodal")}
VARIANTS: tuple[dict[str, Any], ...] = (
    {"horizon_factor": 0.5},
    {"horizon_factor": 1.0},
    {"horizon_factor": 2.0},
    {"horizon_factor": 4.0},
    {"front": 0.0},
    {"front": 100.0},
    {"front": 300.0},
    {"cautious": True},
    {"cautious": False},
)


def part_names() -> list[str]:
    """The bundled experiments that make up the grid, without their prefix."""
    return [name.removeprefix(PREFIX) for name in bundled() if name.startswith(PREFIX)]


def part(name: str, share: float = 1.0) -> Experiment:
    """A part of the grid, with a share of its trials."""
    return _shared(read(PREFIX + name), share)


def long_part(name: str, share: float = 1.0) -> Experiment | None:
    """The same to a longer horizon; None for parts that are too slow, or have it already."""
    experiment = read(PREFIX + name)
    if experiment.horizon != USUAL:
        return None
    return _shared(
        replace(
            experiment,
            horizon=LONG,
            horizons=(LONG,),
            checkpoints=tuple(log_spaced(LONG, POINTS).tolist()),
            trials=max(1, experiment.trials // FEWER),
            policies=tuple(_told(experiment, LONG)),
        ),
        share,
    )


def kinds() -> dict[str, str]:
    """The structure of every group of the grid."""
    return {
        named.group: named.instance.kind for name in part_names() for named in part(name).instances
    }


def variants_part(name: str, share: float = 1.0) -> Experiment | None:
    """The same with variants of the default policy in place of all policies.

    None without it, and at longer horizons.
    """
    experiment = read(PREFIX + name)
    if experiment.horizon > USUAL or all(policy != DEFAULT for policy, _ in experiment.policies):
        return None
    policies = tuple((DEFAULT, dict(parameters)) for parameters in VARIANTS)
    return _shared(replace(experiment, policies=policies), share)


def beside_default(experiment: Experiment, entries: Sequence[str]) -> Experiment | None:
    """The same with some policies, ours or a user's own, and the default to compare them with.

    None where none of them fits.  Those that are told horizons are told what the experiment says.
    """
    listed: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for name, parameters in experiment.policies:
        listed.setdefault(untold_label(name, parameters), []).append((name, parameters))
    chosen = []
    for entry in entries:
        name, parameters = read_policy(entry)
        if ":" not in name:
            choice(name, "policy", POLICIES)
        if untold_label(name, parameters) in listed:
            chosen += listed[untold_label(name, parameters)]
        elif ":" in name or all(
            refusal(POLICIES[name], named.instance) is None for named in experiment.instances
        ):
            chosen.append((name, parameters))
    if not chosen:
        return None
    default = (DEFAULT, dict[str, Any]())
    return replace(experiment, policies=(default, *(p for p in chosen if p != default)))


def variant_labels() -> list[str]:
    """Variants of the default policy as they are written on a command line."""
    return [label_of(DEFAULT, own_parameters(DEFAULT, parameters)) for parameters in VARIANTS]


def told_horizon(name: str, parameters: dict[str, Any]) -> int | None:
    """The horizon that a policy is told; None for one that plays at any."""
    known = POLICIES[name].parameters if ":" not in name else {}
    horizon = parameters.get("horizon", known.get("horizon"))
    return None if horizon is None else int(horizon)


def untold_label(name: str, parameters: dict[str, Any]) -> str:
    """A policy as it is written on a command line, but for the horizon that it is told."""
    return label_of(
        name, own_parameters(name, {k: v for k, v in parameters.items() if k != "horizon"})
    )


def _told(experiment: Experiment, horizon: int) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: list[tuple[str, dict[str, Any]]] = []
    for name, parameters in experiment.policies:
        if told_horizon(name, parameters) is not None:
            parameters = {**parameters, "horizon": horizon}
        chosen = name, own_parameters(name, parameters)
        if chosen not in seen:
            seen.append(chosen)
            yield name, parameters


def _shared(experiment: Experiment, share: float) -> Experiment:
    if not 0 < share <= 1:
        raise InputError("share", "lie in (0, 1]", share)
    return replace(experiment, trials=max(1, round(share * experiment.trials)))
