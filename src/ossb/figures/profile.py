"""Performance profiles: how often a policy's regret is within a factor of the least."""

from typing import Any

import numpy as np

from ossb.experiments.overall import profiles, scores
from ossb.experiments.results import Results
from ossb.figures.canvas import colour, line_style, new_figure

FEWEST = 0.01  # of the scores of each policy lie left of the picture
MOST = 0.95  # of the scores of the policy in the middle lie on the picture
LEAST = 4.0  # factor that the picture shows at the least
SMALLEST = 0.05


def draw_profile(results: Results, kind: str = "") -> Any:
    """Share of all trials, of all instances, with regret of at most τ times the least mean."""
    ends = [np.quantile(values, [FEWEST, MOST]) for values in scores(results).values()]
    first = min(0.7, *(float(low) for low, _ in ends if low > 0.0), 0.7)
    last = max(LEAST, float(np.median([high for _, high in ends])))
    levels = np.geomspace(max(first, SMALLEST), last, 200)
    found = profiles(results, levels)
    figure = new_figure(5.0, 3.2)
    axes = figure.subplots()
    for place, policy in enumerate(results.policies):
        if policy in found:
            style = {"color": colour(place), "linestyle": line_style(place)}
            axes.plot(levels, found[policy], label=policy, **style)
    axes.set_xscale("log")
    marks = [m for m in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if levels[0] <= m <= levels[-1]]
    axes.set_xticks(marks, [f"{mark:g}" for mark in marks])
    axes.set_xticks([], minor=True)
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel("τ: regret over the least mean regret of the instance")
    axes.set_ylabel("share of trials with at most τ")
    axes.spines[["top", "right"]].set_visible(False)
    for text in axes.legend(frameon=False).get_texts():
        text.set_parse_math(False)
    return figure
