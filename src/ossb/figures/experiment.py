"""An experiment, drawn: regret, plays against rates, phases."""

from pathlib import Path
from typing import Any

import numpy as np

from ossb.errors import OssbError
from ossb.experiments.results import Results
from ossb.experiments.statistics import LEGENDS, band
from ossb.experiments.tables import lower_bounds
from ossb.figures.canvas import check_format, colour, line_style, new_figure, paper_style, save
from ossb.figures.regret import draw_bound, draw_curve, dress
from ossb.structures.base import bound
from ossb.tally import PHASES

MOST_ARMS = 24
MOST_GROUPS = 6


def draw_experiment(results: Results, path: Path, kind: str = "confidence") -> list[Path]:
    """Draw all figures of an experiment beside ``path``, each as PDF and PNG; returns the files."""
    check_format(path, "pdf")
    written = []
    for name, draw in (
        ("", draw_regrets),
        ("-plays", draw_plays),
        ("-phases", draw_phases),
    ):
        with paper_style():
            figure = draw(results, kind)
            if figure is None:
                continue
            for suffix in dict.fromkeys((path.suffix, ".png")):
                target = path.with_name(f"{path.stem}{name}{suffix}")
                save(figure, target, "pdf")
                written.append(target)
    return written


def draw_regrets(results: Results, kind: str) -> Any:
    """Regret against t above and against ln t below, a column for each group."""
    curves, constants = results.curves(), lower_bounds(results)
    groups = list(constants)[:MOST_GROUPS]
    figure = new_figure(max(3.5, 2.35 * len(groups)), 4.6)
    axes = figure.subplots(2, len(groups), squeeze=False)
    policies = list(dict.fromkeys(policy for _, policy in curves))
    for column, group in enumerate(groups):
        top = 0.0
        for row in (0, 1):
            axis = axes[row][column]
            for place, policy in enumerate(policies):
                if (group, policy) in curves:
                    times, regret = curves[group, policy]
                    low, high = band(regret, kind)
                    mean = regret.mean(axis=0)
                    top = max(top, float(np.median(mean[-1:])))
                    draw_curve(axis, place, policy, times, mean, low, high)
            if np.isfinite(constants[group]):
                draw_bound(axis, times, constants[group])
            dress(axis, row == 1)
            axis.set_ylim(bottom=0.0, top=_ceiling(curves, group))
        axes[0][column].set_title(group, loc="left", parse_math=False)
    axes[0][0].set_ylabel(f"regret\n({LEGENDS[kind]})")
    axes[1][0].set_ylabel("regret")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=min(4, len(labels)), frameon=False
    )
    return figure


def _ceiling(curves: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]], group: str) -> float:
    """High enough for all but runaway curves, which leave the frame."""
    ends = sorted(float(r[:, -1].mean()) for (name, _), (_, r) in curves.items() if name == group)
    return 1.15 * min(ends[-1], 4.0 * ends[len(ends) // 2]) if ends[-1] > 0 else 1.0


def draw_plays(results: Results, kind: str) -> Any:
    """Mean plays of each arm at the horizon against c(x, θ) ln T, first instance of each group."""
    trials = results.trials()
    groups = list(dict.fromkeys(named.group for named in results.experiment.instances))
    groups = groups[:MOST_GROUPS]
    figure = new_figure(max(3.5, 2.35 * len(groups)), 2.6)
    axes = figure.subplots(1, len(groups), squeeze=False)[0]
    policies: list[str] = list(dict.fromkeys(trials["policy"].to_list()))
    for axis, group in zip(axes, groups, strict=True):
        number = next(i for i, n in enumerate(results.experiment.instances) if n.group == group)
        instance: Any = results.experiment.instances[number].instance
        try:
            rates = bound(instance).rates
        except OssbError:
            rates = np.zeros(instance.n_arms)
        target = rates * np.log(results.experiment.horizon)
        order = np.lexsort((instance.gaps, -target))[:MOST_ARMS]
        part = trials.filter(trials["instance"] == number)
        for place, policy in enumerate(policies):
            rows = part.filter(part["policy"] == policy)
            if not rows.is_empty():
                mean = np.array(rows["plays"].to_list()).mean(axis=0)
                axis.plot(
                    range(order.size),
                    np.maximum(mean[order], 0.5),
                    color=colour(place),
                    linestyle=line_style(place),
                    marker="o",
                    markersize=2,
                    label=policy,
                )
        needed = np.flatnonzero(target[order] > 0)
        axis.plot(
            needed,
            target[order][needed],
            "k_",
            markersize=7,
            label="c(x, θ) ln T",
        )
        axis.set_yscale("log")
        axis.set_xlabel("arm, by c(x, θ), then by gap")
        names = [instance.arm_name(instance.arm_at(int(arm))) for arm in order]
        axis.set_xticks(range(order.size), names, rotation=90, fontsize=5)
        axis.set_title(group, loc="left", parse_math=False)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("plays at the horizon")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=min(4, len(labels)), frameon=False
    )
    return figure


def draw_phases(results: Results, kind: str) -> Any:
    """Share of rounds that each policy spends exploiting, until t."""
    trials = results.trials()
    groups = list(dict.fromkeys(named.group for named in results.experiment.instances))
    groups = groups[:MOST_GROUPS]
    figure = new_figure(max(3.5, 2.35 * len(groups)), 2.6)
    axes = figure.subplots(1, len(groups), squeeze=False, sharey=True)[0]
    policies: list[str] = list(dict.fromkeys(trials["policy"].to_list()))
    for axis, group in zip(axes, groups, strict=True):
        part = trials.filter(trials["group"] == group)
        for place, policy in enumerate(policies):
            rows = part.filter(part["policy"] == policy)
            if not rows.is_empty():
                times = np.array(rows["checkpoints"][0].to_list())
                share = np.array(rows[PHASES[0]].to_list()).mean(axis=0) / times
                axis.plot(
                    times, share, color=colour(place), linestyle=line_style(place), label=policy
                )
        dress(axis, True)
        axis.set_ylim(0.0, 1.02)
        axis.set_title(group, loc="left", parse_math=False)
    axes[0].set_ylabel("share of rounds exploiting")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=min(4, len(labels)), frameon=False
    )
    return figure
