"""Plays of arms beside the rates of the bound, drawn."""

from typing import Any

import numpy as np

from ossb.experiments.results import Results
from ossb.figures.canvas import colour, line_style
from ossb.graves_lai.bound import Bound

MOST_ARMS = 24


def draw_plays(axis: Any, results: Results, group: str) -> None:
    """Mean plays of each arm at the horizon and c(x, θ) ln T, first instance of a group."""
    experiment = results.experiment
    number, instance = first_instance(results, group)
    found = results.bounds[number]
    support = found.support if isinstance(found, Bound) else []
    needed = sorted(support, key=lambda item: -item[1])
    arms = [arm for arm, _ in needed]
    if instance.n_arms is not None:
        listed = [instance.arm_at(int(place)) for place in np.argsort(instance.gaps, kind="stable")]
        arms += [arm for arm in listed if arm not in arms]
    arms = arms[:MOST_ARMS]
    part = results.trials.filter(results.trials["instance"] == number)
    for place, policy in enumerate(results.policies):
        rows = part.filter(part["policy"] == policy)
        if not rows.is_empty():
            plays = mean_plays(instance, rows)
            axis.plot(
                range(len(arms)),
                [max(plays.get(named(arm), 0.0), 0.5) for arm in arms],
                color=colour(place),
                linestyle=line_style(place),
                marker="o",
                markersize=2,
                linewidth=0.6,
                label=policy,
            )
    target = [rate * np.log(experiment.horizon) for _, rate in needed[:MOST_ARMS]]
    axis.plot(range(len(target)), target, "k_", markersize=7, label="c(x, θ) ln T")
    axis.set_yscale("log")
    axis.set_xlabel("arm, by c(x, θ), then by gap")
    axis.set_xticks(range(len(arms)), [instance.arm_name(a) for a in arms], rotation=90, fontsize=5)
    for text in axis.get_xticklabels():
        text.set_parse_math(False)
    axis.spines[["top", "right"]].set_visible(False)


def first_instance(results: Results, group: str) -> tuple[int, Any]:
    """The first instance of a group, and its number."""
    every = results.experiment.instances
    number = next(i for i, one in enumerate(every) if one.group == group)
    return number, every[number].instance


def mean_plays(instance: Any, rows: Any) -> dict[tuple[int, ...], float]:
    """Mean plays over trials, by arm."""
    if instance.n_arms is not None:
        mean = np.array(rows["plays"].to_list()).mean(axis=0)
        return {named(instance.arm_at(place)): float(n) for place, n in enumerate(mean)}
    totals: dict[tuple[int, ...], float] = {}
    for arms, plays in zip(rows["arms"].to_list(), rows["plays"].to_list(), strict=True):
        for arm, count in zip(arms, plays, strict=True):
            totals[tuple(arm)] = totals.get(tuple(arm), 0.0) + count / rows.height
    return totals


def named(arm: Any) -> tuple[int, ...]:
    """An arm as a key."""
    return tuple(arm) if isinstance(arm, list | tuple) else (int(arm),)
