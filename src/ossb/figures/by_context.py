"""Regret of each context, drawn."""

from typing import Any

import numpy as np

from ossb.experiments.results import Results
from ossb.figures.canvas import colour, line_style
from ossb.figures.plays import first_instance, mean_plays, named
from ossb.simulation.by_context import MOST_SHOWN, by_context, is_told_apart


def has_contexts(results: Results) -> bool:
    """Whether the first instance of some group has several contexts."""
    return any(is_told_apart(first_instance(results, group)[1]) for group in results.groups)


def draw_by_context(axis: Any, results: Results, group: str) -> None:
    """Mean regret at the horizon in each context, first instance of a group."""
    number, instance = first_instance(results, group)
    axis.spines[["top", "right"]].set_visible(False)
    if not is_told_apart(instance):
        axis.text(0.5, 0.5, "one context", ha="center", transform=axis.transAxes, fontsize=6)
        axis.set_xticks([])
        return
    arms = [named(instance.arm_at(place)) for place in range(instance.n_arms)]
    names = instance.layout.names[:MOST_SHOWN]
    part = results.trials.filter(results.trials["instance"] == number)
    for place, policy in enumerate(results.policies):
        rows = part.filter(part["policy"] == policy)
        if not rows.is_empty():
            plays = mean_plays(instance, rows)
            found = by_context(instance, np.array([plays.get(arm, 0.0) for arm in arms]))
            axis.plot(
                range(len(names)),
                [one.regret for one in found[:MOST_SHOWN]],
                color=colour(place),
                linestyle=line_style(place),
                marker="o",
                markersize=2,
                linewidth=0.6,
                label=policy,
            )
    axis.set_yscale("symlog", linthresh=1.0)
    axis.set_ylim(bottom=0.0)
    axis.set_xticks(range(len(names)), names, rotation=90, fontsize=5)
    for text in axis.get_xticklabels():
        text.set_parse_math(False)
    if len(instance.layout.names) > MOST_SHOWN:
        axis.set_xlabel(f"the first {MOST_SHOWN} of {len(instance.layout.names)} contexts")
