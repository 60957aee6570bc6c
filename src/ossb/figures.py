"""Pictures of bounds; the one module that imports matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.graves_lai.bound import Bound
from ossb.simulation.result import SimulationResult

FORMATS = (".png", ".pdf", ".svg")
SHOWN = 30
LONGEST = 24  # characters of a name
HEADING = 38  # characters that fit above one of two columns
MOST = 12  # bounds in one picture; arranging more takes minutes
BLUE, ORANGE = "#0072B2", "#E69F00"  # Okabe and Ito's, safe for colour-blind readers


def draw_rates(bounds: Sequence[Bound], path: str) -> None:
    """Draw the rates c(x, θ), and what each costs, of one or several bounds."""
    if Path(path).suffix.lower() not in FORMATS:
        raise InputError("plot", f"end in one of {', '.join(FORMATS)}", path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    drawn = bounds[:MOST]
    heights = [1.2 + 0.24 * min(max(len(bound.support), 2), SHOWN + 1) for bound in drawn]
    # a figure of its own, not pyplot's: the backend of a running session stays as it is
    figure = Figure(figsize=(7.6, sum(heights)), layout="constrained")
    axes = figure.subplots(len(drawn), 2, height_ratios=heights, squeeze=False)
    for (left, right), bound in zip(axes, drawn, strict=True):
        _draw(left, right, bound)
    if len(bounds) > MOST:
        figure.supxlabel(f"… {len(bounds) - MOST} more instances", fontsize="small")
    try:
        with rc_context({"svg.hashsalt": "ossb"}):
            figure.savefig(path, dpi=160, metadata=_plain_metadata(path))
    except OSError as error:
        raise InputError("plot", f"be a writable file: {error}") from None


def _draw(left: Any, right: Any, bound: Bound) -> None:
    instance = bound.instance
    ordered = sorted(bound.support, key=lambda item: -item[1])
    shown = ordered[:SHOWN]
    names = [_short(instance.arm_name(arm)) for arm, _ in shown]
    rates = [rate for _, rate in shown]
    costs = [rate * instance.gap_of(arm) for arm, rate in shown]
    places = list(range(len(shown)))
    if len(ordered) > SHOWN:
        places.append(SHOWN)
        names.append(f"… {len(ordered) - SHOWN} more")
    for axis, values, colour, label in (
        (left, rates, BLUE, "rate c(x, θ): plays per unit of ln t"),
        (right, costs, ORANGE, "cost c(x, θ) Δ(x): regret per unit of ln t"),
    ):
        axis.barh(places[: len(values)], values, color=colour, height=0.7)
        axis.set_ylim(max(len(places), 1) - 0.4, -0.6)
        axis.set_xlim(left=0.0)
        axis.set_xlabel(label, fontsize="small")
        axis.tick_params(labelsize="small")
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_yticks(places, names if axis is left else [""] * len(places))
        for text in axis.get_yticklabels():
            text.set_parse_math(False)  # a name may hold a dollar sign
    if not shown:
        for axis in (left, right):
            axis.set_xticks([0.0])
        left.annotate("nothing needs exploring", (0.05, 0.5), xycoords="axes fraction")
    left.set_ylabel("arm", fontsize="small")
    title = _short(instance.name or f"{instance.kind}, {instance.observation}", HEADING)
    left.set_title(title, loc="left", fontsize="medium", parse_math=False)
    best = instance.arm_name(bound.best_arm)
    heading = _short(f"C(θ) = {bound.value:.6g}, best arm {best}", HEADING)
    right.set_title(heading, loc="left", fontsize="medium", parse_math=False)


def _short(name: str, longest: int = LONGEST) -> str:
    line = " ".join(name.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _plain_metadata(path: str) -> dict[str, None]:
    """No dates, so that the same bound gives the same bytes."""
    key = {".pdf": "CreationDate", ".svg": "Date"}.get(Path(path).suffix.lower())
    return {key: None} if key else {}


def draw_regret(result: SimulationResult, path: str) -> None:
    """Draw mean regret against time and against ln t, with C(θ) ln t beside it."""
    if Path(path).suffix.lower() not in FORMATS:
        raise InputError("plot", f"end in one of {', '.join(FORMATS)}", path)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(7.2, 3.2), layout="constrained", sharey=True)
    for axis, logarithmic in zip(axes, (False, True), strict=True):
        for answer, colour in zip(result.policies, _colours(len(result.policies)), strict=True):
            mean = answer.curves.mean(axis=0)
            band = 1.96 * answer.curves.std(axis=0, ddof=1 if len(answer.curves) > 1 else 0)
            band = band / len(answer.curves) ** 0.5
            axis.plot(answer.checkpoints, mean, color=colour, label=answer.label)
            axis.fill_between(answer.checkpoints, mean - band, mean + band, color=colour, alpha=0.2)
        if result.bound is not None:
            times = result.policies[0].checkpoints
            floor = result.bound.value * np.log(times)
            axis.plot(times, floor, color="black", linestyle=":", label="C(θ) ln t")
        axis.set_xlabel("rounds t, logarithmic" if logarithmic else "rounds t")
        if logarithmic:
            axis.set_xscale("log")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("regret: mean, 95 % confidence")
    axes[1].legend(frameon=False, fontsize="small")
    try:
        figure.savefig(path, dpi=160, metadata=_plain_metadata(path))
    except OSError as error:
        raise InputError("plot", f"be a writable file: {error}") from None
    finally:
        pyplot.close(figure)


def _colours(count: int) -> list[str]:
    """Okabe and Ito's palette, repeated where it runs out."""
    palette = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#999999"]
    return [palette[i % len(palette)] for i in range(count)]
