"""The regret grid as a heat map: a row for each cell, a column for each policy."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ossb.figures.canvas import new_figure
from regret_grid.ratios import GridCell

WORST = 10.0  # ratios beyond have the darkest colour
SQUARE, LETTER, NAMES = 0.15, 0.055, 1.9  # inches: a square, a letter, the room for policies
TICKS = (1.0, 1.3, 2.0, 3.0, 5.0, 10.0)


def draw_ratios(cells: Sequence[GridCell], policies: Sequence[str]) -> Any:
    """Mean regret over the least in the cell, white where a policy does not fit."""
    table = ratios_to_best(cells, policies)
    rows, columns = table.shape
    names = [_name(cells, i) for i in range(rows)]
    room = LETTER * max(map(len, names))
    figure = new_figure(SQUARE * columns + room + 0.9, SQUARE * rows + NAMES)
    axis = figure.subplots()
    colours = axis.imshow(
        np.log(table), cmap="YlOrRd", vmin=0.0, vmax=math.log(WORST), aspect="equal"
    )
    best = np.nanargmin(np.where(np.isnan(table), np.inf, table), axis=1)
    axis.plot(best, np.arange(rows), "o", color="black", markersize=2.0)
    axis.set_xticks(range(columns), policies, rotation=90, parse_math=False)
    axis.set_yticks(range(rows), names, parse_math=False)
    axis.tick_params(length=0, labelsize=6)
    axis.xaxis.tick_top()
    for i in range(1, rows):
        if cells[i].group != cells[i - 1].group:
            axis.axhline(i - 0.5, color="black", linewidth=0.4)
    for side in axis.spines.values():
        side.set_linewidth(0.4)
    bar = figure.colorbar(colours, ax=axis, shrink=0.3, aspect=15, pad=0.02)
    bar.set_ticks([math.log(tick) for tick in TICKS], labels=[f"{tick:g}" for tick in TICKS])
    bar.ax.minorticks_off()
    bar.ax.tick_params(labelsize=6)
    bar.set_label("regret / least in the cell", fontsize=6)
    return figure


def ratios_to_best(cells: Sequence[GridCell], policies: Sequence[str]) -> np.ndarray:
    """Mean regrets over the least of each cell; NaN where a policy is not there."""
    table = np.full((len(cells), len(policies)), np.nan)
    for i, cell in enumerate(cells):
        for k, policy in enumerate(policies):
            if policy in cell.standings:
                table[i, k] = cell.standings[policy].relative
    return np.maximum(table / np.nanmin(table, axis=1, keepdims=True), 1.0)


def _name(cells: Sequence[GridCell], i: int) -> str:
    power = f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[round(math.log10(cells[i].horizon))]}"
    first = i == 0 or cells[i - 1].group != cells[i].group
    return f"{cells[i].group}, {power}" if first else power
