"""What a test costs against how long it takes, drawn."""

from collections.abc import Sequence
from typing import Any

from ossb.figures.canvas import check_format, colour, new_figure, paper_style, save


def draw_frontier(plans: Sequence[Any], path: str) -> None:
    """Regret against rounds, from the fastest test to the cheapest, a line for each plan."""
    check_format(path)
    with paper_style():
        figure = new_figure(3.5, 2.8)
        axis = figure.subplots()
        for place, found in enumerate(plans):
            rounds, regret = zip(*found.frontier, strict=True)
            name = found.instance.name or f"belief {place + 1}"
            axis.plot(rounds, regret, marker="o", markersize=3, color=colour(place), label=name)
        axis.set_xlabel("rounds")
        axis.set_ylabel("regret until the stop")
        axis.spines[["top", "right"]].set_visible(False)
        if len(plans) > 1:
            axis.legend(frameon=False)
        save(figure, path)
