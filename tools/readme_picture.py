"""Draw the README's picture: what knowing how options are related saves.

    python tools/readme_picture.py      (make picture)

Twenty-one options on a line, their success rates rising to one peak; ``hgl``, which knows that, and
three policies that do not.  Half a minute, the same bytes every time.
"""

from pathlib import Path
from typing import Any

import numpy as np

import ossb
from few_colours import saved
from ossb.figures.canvas import colour, new_figure, paper_style
from ossb.simulation.result import SimulationResult

TARGET = Path(__file__).resolve().parents[1] / "docs" / "readme.png"
PLACES = np.linspace(-1.8, 2.2, 21)
RATES = (0.5 * np.exp(-(PLACES**2)) + 0.02).round(3).tolist()
HORIZON, TRIALS, SEED = 3000, 200, 1
DPI, COLOURS = 290, 64  # sharp at twice the size
NAMES = {
    "hgl": "hgl, knows the structure",
    "thompson": "Thompson sampling",
    "kl-ucb": "KL-UCB",
    "ucb1": "UCB1",
}


def played(trials: int = TRIALS) -> SimulationResult:
    instance = ossb.Unimodal(observation="bernoulli", theta=RATES)
    return ossb.simulate(instance, list(NAMES), HORIZON, trials, SEED)


def draw(result: SimulationResult) -> Any:
    with paper_style():
        figure = new_figure(7.0, 2.7)
        left, right = figure.subplots(1, 2, width_ratios=(1.1, 1.0))
        result.plot(axes=left, labels=NAMES)
        left.set_xticks(range(0, HORIZON + 1, 1000))
        left.set(xlabel="trials so far", ylabel="successes lost to wrong options")
        for place, (name, said) in enumerate(NAMES.items()):
            if name in ("hgl", "thompson"):
                plays, drawn = result[name].plays, colour(place)
                right.step(range(len(RATES)), plays, where="mid", color=drawn, label=said)
        rates = right.twinx()
        rates.plot(RATES, "o", color="grey", markersize=2.5)
        rates.set_ylabel("success rate (dots)", color="grey")
        rates.set_ylim(0.0, 0.75)  # below the legend
        right.set_yscale("log")
        right.set(xlabel="option", ylabel=f"times tried, of {HORIZON:,}")
        right.legend(frameon=False, loc="upper left")
        right.set_ylim(0.7, 30_000)
        for axis in (right, rates):
            axis.spines["top"].set_visible(False)
    return figure


if __name__ == "__main__":
    found = played()
    print(found.table())
    saved(draw(found), TARGET, DPI, COLOURS)
