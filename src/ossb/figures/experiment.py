"""An experiment, drawn: regret, a summary, plays against rates, phases; a column per group."""

import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from ossb.experiments.overall import is_comparison
from ossb.experiments.results import Curves, Results
from ossb.experiments.statistics import LEGENDS, band
from ossb.figures.by_context import draw_by_context, has_contexts
from ossb.figures.canvas import check_format, colour, line_style, new_figure, paper_style, save
from ossb.figures.ends import draw_answers, draw_shares, draw_stops
from ossb.figures.plays import draw_plays
from ossb.figures.profile import draw_profile
from ossb.figures.regret import draw_bound, draw_curve, draw_slopes, dress
from ossb.tally import PHASES

MOST_GROUPS = 6
COLUMN = 2.35  # inches: three groups across both columns of a paper
HANDLE, LETTER = 0.65, 0.058  # inches that a line and a letter take in a legend


def draw_experiment(results: Results, path: Path, kind: str = "confidence") -> list[Path]:
    """Draw all figures of an experiment beside ``path``, each as PDF and PNG; returns the files."""
    check_format(path, "pdf")
    written = []
    pictures = {
        "": draw_regrets,
        "-summary": draw_summary,
        "-plays": draw_all_plays,
        "-phases": draw_phases,
    }
    if has_contexts(results):
        pictures["-contexts"] = draw_contexts
    if is_comparison(results):
        pictures["-profile"] = draw_profile
    if results.experiment.until:
        pictures["-stops"] = draw_tests
    if results.experiment.budgets:
        pictures["-errors"] = draw_errors
    for name, draw in pictures.items():
        with paper_style():
            figure = draw(results, kind)
            for suffix in dict.fromkeys((path.suffix, ".png")):
                target = path.with_name(f"{path.stem}{name}{suffix}")
                save(figure, target, "pdf")
                written.append(target)
    return written


def _panels(
    results: Results, rows: int, height: float, extra: float = 0.0, **shared: Any
) -> tuple[Any, Any]:
    """A figure with a column for each group, titled."""
    groups = results.groups[:MOST_GROUPS]
    figure = new_figure(max(3.5, COLUMN * len(groups)) + extra, height)
    axes = figure.subplots(rows, len(groups), squeeze=False, **shared)
    for axis, group in zip(axes[0], groups, strict=True):
        axis.set_title(textwrap.fill(group, 28), loc="left", parse_math=False)
    if len(results.groups) > len(groups):
        figure.suptitle(f"the first {len(groups)} of {len(results.groups)} groups", fontsize=8)
    return figure, axes


def _legend(figure: Any, axes: Any) -> None:
    """Everything that is drawn in any of the panels, once."""
    named: dict[str, Any] = {}
    for axis in np.ravel(axes):
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    labels, handles = list(named), list(named.values())
    columns = len(labels)
    while columns > 1 and figure.get_figwidth() < sum(
        HANDLE + LETTER * max(map(len, column)) for column in np.array_split(labels, columns)
    ):
        columns -= 1
    legend = figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def draw_regrets(results: Results, kind: str) -> Any:
    """Regret against t above and against ln t below."""
    figure, axes = _panels(results, 2, 4.6)
    for column, group in enumerate(results.groups[:MOST_GROUPS]):
        ceiling = _ceiling(results.curves, group)
        for row in (0, 1):
            axis, gone, ends = axes[row][column], [], []
            for place, policy in enumerate(results.policies):
                if (group, policy) in results.curves:
                    times, regret = results.curves[group, policy]
                    mean = regret.mean(axis=0)
                    draw_curve(axis, place, policy, times, mean, *band(regret, kind))
                    ends.append((place, times[-1], mean[-1]))
                    if mean[-1] > ceiling:
                        gone.append(f"{policy}: {_number(mean[-1])} at T")
            constant = results.constants[group]
            if np.isfinite(constant):
                times = np.array(results.experiment.checkpoints)
                if constant * np.log(times[-1]) <= ceiling:
                    draw_bound(axis, times, constant)
                else:
                    gone.append(f"C(θ) ln t: {_number(constant * np.log(times[-1]))} at T")
                if row == 1:
                    draw_slopes(axis, ends, constant, "slope C(θ) per ln t")
            dress(axis, row == 1)
            axis.set_ylim(bottom=0.0, top=ceiling)
            if gone and row == 1:
                axis.text(
                    0.03, 0.97, "beyond the frame:\n" + "\n".join(gone), fontsize=5, va="top",
                    transform=axis.transAxes, parse_math=False, zorder=5,
                    bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
                )  # fmt: skip
    axes[0][0].fill_between([], [], [], color="grey", alpha=0.3, label=f"band: {LEGENDS[kind]}")
    axes[0][0].set_ylabel("regret")
    axes[1][0].set_ylabel("regret")
    _legend(figure, axes)
    return figure


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _ceiling(curves: Curves, group: str) -> float:
    """High enough for all but runaway curves, which leave the frame."""
    ends = sorted(float(r[:, -1].mean()) for (name, _), (_, r) in curves.items() if name == group)
    return 1.15 * min(ends[-1], 4.0 * ends[len(ends) // 2]) if ends[-1] > 0 else 1.0


def draw_summary(results: Results, kind: str) -> Any:
    """Regret at the horizon: each instance's mean as a dot, the group's with its band."""
    policies = results.policies
    names = LETTER * max(map(len, policies))
    figure, axes = _panels(results, 1, 1.1 + 0.22 * len(policies), names, sharey=True)
    horizon = results.experiment.horizon
    for axis, group in zip(axes[0], results.groups, strict=False):
        part = results.trials.filter(results.trials["group"] == group)
        for place, policy in enumerate(policies):
            if (group, policy) not in results.curves:
                continue
            rows = part.filter(part["policy"] == policy)
            ends = np.array([curve[-1] for curve in rows["regret"].to_list()])
            numbers = rows["instance"].to_numpy()
            means = [ends[numbers == number].mean() for number in np.unique(numbers)]
            axis.plot(means, [place] * len(means), ".", color=colour(place), alpha=0.4)
            low, high = band(ends[:, None], kind)
            axis.plot([low[0], high[0]], [place, place], color=colour(place), linewidth=2)
            axis.plot([ends.mean()], [place], "D", color=colour(place), markersize=4)
        right = 1.15 * max(line.get_xdata().max() for line in axis.lines)
        floor = results.constants[group] * np.log(horizon)
        if floor <= 2.0 * right:
            axis.axvline(floor, color="black", linestyle=(0, (1, 1)))
            right = max(right, 1.3 * floor)
            axis.text(floor, -0.5, " C(θ) ln T", fontsize=6)
        elif np.isfinite(floor):
            axis.text(right, -0.5, f"C(θ) ln T = {floor:.3g} →", fontsize=6, ha="right")
        axis.set_ylim(len(policies) - 0.4, -0.9)
        axis.set_xlim(0.0, right if right > 0 else 1.0)
        axis.set_xlabel(f"regret at T = {horizon:,}")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_yticks(range(len(policies)), policies)
    for text in axes[0][0].get_yticklabels():
        text.set_parse_math(False)
    figure.supxlabel(f"diamonds: mean, {LEGENDS[kind]}; dots: instances", fontsize=6)
    return figure


def draw_all_plays(results: Results, kind: str) -> Any:
    """Mean plays of each arm at the horizon against c(x, θ) ln T, first instance of each group."""
    figure, axes = _panels(results, 1, 2.8)
    for axis, group in zip(axes[0], results.groups, strict=False):
        draw_plays(axis, results, group)
    several = len(results.experiment.instances) > len(results.groups)
    whose = "\nof each group's first instance" if several else ""
    axes[0][0].set_ylabel(f"plays at the horizon{whose}")
    _legend(figure, axes[0])
    return figure


def draw_contexts(results: Results, kind: str = "") -> Any:
    """Mean regret at the horizon in each context, first instance of each group."""
    figure, axes = _panels(results, 1, 2.8)
    for axis, group in zip(axes[0], results.groups, strict=False):
        draw_by_context(axis, results, group)
    several = len(results.experiment.instances) > len(results.groups)
    whose = ",\nof each group's first instance" if several else ""
    axes[0][0].set_ylabel(f"regret at the horizon{whose}")
    _legend(figure, axes[0])
    return figure


def draw_tests(results: Results, kind: str = "") -> Any:
    """When trials stopped, above, and what they had played by then, below."""
    figure, axes = _panels(results, 2, 4.6)
    for column, group in enumerate(results.groups[:MOST_GROUPS]):
        draw_stops(axes[0][column], results, group)
        draw_shares(axes[1][column], results, group)
    axes[0][0].set_ylabel("share of trials that have stopped")
    several = len(results.experiment.instances) > len(results.groups)
    whose = ", first instance" if several else ""
    axes[1][0].set_ylabel(f"share of plays{whose}")
    _legend(figure, axes)
    return figure


def draw_errors(results: Results, kind: str = "") -> Any:
    """Share of wrong answers, above, and simple regret, below, against rounds."""
    figure, axes = _panels(results, 2, 4.6)
    for column, group in enumerate(results.groups[:MOST_GROUPS]):
        draw_answers(axes[0][column], axes[1][column], results, group)
    axes[0][0].set_ylabel("share of wrong answers")
    axes[1][0].set_ylabel("simple regret")
    _legend(figure, axes)
    return figure


def draw_phases(results: Results, kind: str) -> Any:
    """Share of rounds that each policy has spent in each phase until t."""
    figure, axes = _panels(results, len(PHASES), 4.6, sharex=True, sharey=True)
    for column, group in enumerate(results.groups[:MOST_GROUPS]):
        part = results.trials.filter(results.trials["group"] == group)
        for row, phase in enumerate(PHASES):
            for place, policy in enumerate(results.policies):
                rows = part.filter(part["policy"] == policy)
                if not rows.is_empty():
                    times = np.array(rows["checkpoints"][0].to_list())
                    share = np.array(rows[phase].to_list()).mean(axis=0) / times
                    axes[row][column].plot(
                        times, share, color=colour(place), linestyle=line_style(place), label=policy
                    )
            dress(axes[row][column], True)
            axes[row][column].set_ylim(-0.02, 1.02)
            if row < len(PHASES) - 1:
                axes[row][column].set_xlabel("")
            axes[row][0].set_ylabel(f"share of {phase}")
    _legend(figure, axes[0])
    return figure
