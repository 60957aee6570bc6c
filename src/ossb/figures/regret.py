"""Regret over time, drawn."""

from typing import Any

import numpy as np

from ossb.figures.canvas import check_format, colour, line_style, new_figure, paper_style, save
from ossb.simulation.result import SimulationResult


def draw_regret(result: SimulationResult, path: str) -> None:
    """Draw mean regret against time and against ln t, with C(θ) ln t beside it."""
    check_format(path)
    with paper_style():
        figure = new_figure(7.0, 3.0)
        axes = figure.subplots(1, 2, sharey=True)
        for axis, logarithmic in zip(axes, (False, True), strict=True):
            for place, answer in enumerate(result.policies):
                count = len(answer.curves)
                mean = answer.curves.mean(axis=0)
                spread = answer.curves.std(axis=0, ddof=1 if count > 1 else 0)
                half = 1.96 * spread / count**0.5
                draw_curve(
                    axis, place, answer.label, answer.checkpoints, mean, mean - half, mean + half
                )
            if result.bound is not None:
                draw_bound(axis, result.policies[0].checkpoints, result.bound.value)
            dress(axis, logarithmic)
        axes[0].set_ylabel("regret: mean, 95 % confidence")
        axes[1].legend(frameon=False)
        save(figure, path)


def draw_curve(
    axis: Any,
    place: int,
    label: str,
    times: np.ndarray,
    mean: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> None:
    """One policy's mean and band."""
    axis.plot(times, mean, color=colour(place), linestyle=line_style(place), label=label)
    axis.fill_between(times, low, high, color=colour(place), alpha=0.15, linewidth=0)


def draw_bound(axis: Any, times: np.ndarray, constant: float) -> None:
    """C(θ) ln t."""
    floor = constant * np.log(times)
    axis.plot(times, floor, color="black", linestyle=(0, (1, 1)), label="C(θ) ln t")


def dress(axis: Any, logarithmic: bool) -> None:
    """Label the time axis."""
    axis.set_xlabel("rounds t, logarithmic" if logarithmic else "rounds t")
    if logarithmic:
        axis.set_xscale("log")
    else:
        axis.locator_params(axis="x", nbins=3)  # long horizons have wide numbers
    axis.spines[["top", "right"]].set_visible(False)
