"""Tests of an experiment, drawn: when they stopped, what they played, how often they were wrong."""

from typing import Any

import numpy as np

from ossb.experiments.ends import answers, stopping_times
from ossb.experiments.results import Results
from ossb.figures.canvas import colour, line_style
from ossb.figures.plays import mean_plays, named
from ossb.simulation.result import least_of

MOST_ARMS = 24


def policies_that_end(results: Results) -> list[str]:
    """Labels of those with stopping times, in the order of the definition."""
    return list(dict.fromkeys(policy for _, policy in stopping_times(results)))


def draw_stops(axis: Any, results: Results, group: str) -> None:
    """Share of trials that have stopped by each round, and T* kl(δ, 1 − δ)."""
    experiment = results.experiment
    times_of = stopping_times(results)
    for place, policy in enumerate(policies_that_end(results)):
        found = times_of.get((group, policy))
        if found is None or not found[1].any():
            continue
        rounds, stopped = found
        times = np.sort(rounds[stopped])
        shares = np.arange(1, times.size + 1) / rounds.size
        axis.step(
            np.concatenate([times[:1], times]), np.concatenate([[0.0], shares]),
            where="post", color=colour(place), linestyle=line_style(place), label=policy,
        )  # fmt: skip
    least = least_of(results.characteristic_times[group], experiment.until)
    if least is not None and np.isfinite(least):
        axis.axvline(least, color="black", linestyle=(0, (1, 1)), label="T* kl(δ, 1 − δ)")
    axis.set_xscale("log")
    axis.set_xlim(right=experiment.horizon)
    axis.set_ylim(-0.02, 1.02)
    axis.set_xlabel("rounds t, logarithmic")
    axis.spines[["top", "right"]].set_visible(False)


def draw_shares(axis: Any, results: Results, group: str) -> None:
    """Share of each arm in the plays until the stop beside w*, first instance of a group."""
    experiment = results.experiment
    number = next(i for i, one in enumerate(experiment.instances) if one.group == group)
    instance: Any = experiment.instances[number].instance
    bound = results.tests[number]
    weights = np.zeros(instance.n_arms) if bound is None else bound.weights
    order = np.lexsort((instance.gaps, -weights))[:MOST_ARMS].tolist()
    arms = [instance.arm_at(x) for x in order]
    part = results.trials.filter(results.trials["instance"] == number)
    for place, policy in enumerate(policies_that_end(results)):
        rows = part.filter(part["policy"] == policy)
        if not rows.is_empty():
            plays = mean_plays(instance, rows)
            total = sum(plays.values())
            axis.plot(
                range(len(arms)), [plays[named(arm)] / total for arm in arms],
                color=colour(place), linestyle=line_style(place), marker="o", markersize=2,
                linewidth=0.6, label=policy,
            )  # fmt: skip
    if bound is not None:
        axis.plot(range(len(order)), weights[order], "k_", markersize=9, label="w*")
    axis.set_ylim(bottom=0.0)
    axis.set_xlabel("arm, by w*, then by gap")
    axis.set_xticks(range(len(arms)), [instance.arm_name(a) for a in arms], rotation=90, fontsize=5)
    for text in axis.get_xticklabels():
        text.set_parse_math(False)
    axis.spines[["top", "right"]].set_visible(False)


def draw_answers(above: Any, below: Any, results: Results, group: str) -> None:
    """Share of wrong answers, and their mean gap, after each budget."""
    labels: dict[str, int] = {}
    for (where, policy), series in answers(results).items():
        if where != group:
            continue
        place = labels.setdefault(policy, len(labels))
        wrong = (series.gaps > results.experiment.epsilon).mean(axis=0)
        for axis, values in ((above, wrong), (below, series.gaps.mean(axis=0))):
            axis.plot(
                series.looked, values,
                color=colour(place), linestyle=line_style(place), marker="o", markersize=2,
                label=policy,
            )  # fmt: skip
    if results.experiment.until:
        above.axhline(results.experiment.until, color="black", linestyle=(0, (1, 1)), label="δ")
    for axis in (above, below):
        axis.set_xscale("log")
        axis.set_ylim(bottom=0.0)
        axis.set_xlabel("rounds t, logarithmic")
        axis.spines[["top", "right"]].set_visible(False)
