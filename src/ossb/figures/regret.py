"""Regret over time, drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ossb.figures.canvas import check_format, colour, line_style, new_figure, paper_style, save
from ossb.simulation.result import SimulationResult

DECADES = 1.0  # of rounds that a slope is drawn along
DOTTED, THIN = (0, (1, 1)), 0.8
FITS = 1.25  # times the highest curve that C(θ) ln T may be to be drawn


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
                _draw_floor(axis, result, result.bound.value, logarithmic)
            dress(axis, logarithmic)
            axis.set_ylim(bottom=0.0)
        axes[0].set_ylabel("regret: mean, 95 % confidence")
        axes[1].legend(frameon=False)
        save(figure, path)


def _draw_floor(axis: Any, result: SimulationResult, constant: float, logarithmic: bool) -> None:
    """The bound: where it fits as a curve, on a logarithmic axis as slopes."""
    ends = [
        (place, float(one.checkpoints[-1]), float(one.regret.mean()))
        for place, one in enumerate(result.policies)
    ]
    if logarithmic:
        draw_slopes(axis, ends, constant, slope_of(constant))
    if constant * np.log(result.horizon) <= FITS * max(regret for _, _, regret in ends):
        draw_bound(axis, result.policies[0].checkpoints, constant)


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
    axis.plot(times, floor, color="black", linestyle=DOTTED, label="C(θ) ln t")


def draw_slopes(
    axis: Any, ends: Sequence[tuple[int, float, float]], constant: float, label: str
) -> None:
    """On a logarithmic axis, a line of slope C(θ) through the end (t, regret) of each curve."""
    for place, horizon, regret in ends:
        since = np.geomspace(max(horizon / 10.0**DECADES, 1.0), horizon, 20)
        line = regret + constant * np.log(since / horizon)
        kept = line >= 0.0
        axis.plot(since[kept], line[kept], color=colour(place), linestyle=DOTTED, linewidth=THIN)
    axis.plot([], [], color="grey", linestyle=DOTTED, linewidth=THIN, label=label)


def slope_of(constant: float) -> str:
    """What a legend says of the slopes of one instance."""
    return f"slope C(θ) = {constant:.3g} per ln t"


def grouped(value: float, _place: int | None = None) -> str:
    """A tick's number as text: 20,000."""
    return f"{value:,.10g}".replace("-", "\N{MINUS SIGN}")


def dress(axis: Any, logarithmic: bool) -> None:
    """Label the time axis, and group the digits of long numbers."""
    axis.set_xlabel("rounds t, logarithmic" if logarithmic else "rounds t")
    if logarithmic:
        axis.set_xscale("log")
    else:
        axis.locator_params(axis="x", nbins=3)  # long horizons have wide numbers
        axis.xaxis.set_major_formatter(grouped)
    axis.yaxis.set_major_formatter(grouped)
    axis.spines[["top", "right"]].set_visible(False)
