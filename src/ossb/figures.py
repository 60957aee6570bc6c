"""Pictures of bounds; the one module that imports matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ossb.errors import InputError
from ossb.graves_lai.bound import Bound

FORMATS = (".png", ".pdf", ".svg")
SHOWN = 30
LONGEST = 24  # characters of a name
TALLEST = 60_000  # pixels; the renderer refuses more than 2^16
BLUE, ORANGE = "#0072B2", "#E69F00"  # Okabe and Ito's, safe for colour-blind readers


def draw_rates(bounds: Sequence[Bound], path: str) -> None:
    """Draw the rates c(x, θ), and what each costs, of one or several bounds."""
    if Path(path).suffix.lower() not in FORMATS:
        raise InputError("plot", f"end in one of {', '.join(FORMATS)}", path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    heights = [1.2 + 0.24 * min(max(len(bound.support), 2), SHOWN + 1) for bound in bounds]
    # a figure of its own, not pyplot's: the backend of a running session stays as it is
    figure = Figure(figsize=(7.6, sum(heights)), layout="constrained")
    axes = figure.subplots(len(bounds), 2, height_ratios=heights, squeeze=False)
    for (left, right), bound in zip(axes, bounds, strict=True):
        _draw(left, right, bound)
    dpi = min(160.0, TALLEST / sum(heights))
    try:
        with rc_context({"svg.hashsalt": "ossb"}):
            figure.savefig(path, dpi=dpi, metadata=_plain_metadata(path))
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
    title = _short(instance.name or f"{instance.kind}, {instance.observation}", 2 * LONGEST)
    left.set_title(title, loc="left", fontsize="medium", parse_math=False)
    best = _short(instance.arm_name(bound.best_arm))
    heading = f"C(θ) = {bound.value:.6g}, best arm {best}"
    right.set_title(heading, loc="left", fontsize="medium", parse_math=False)


def _short(name: str, longest: int = LONGEST) -> str:
    line = " ".join(name.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _plain_metadata(path: str) -> dict[str, None]:
    """No dates, so that the same bound gives the same bytes."""
    key = {".pdf": "CreationDate", ".svg": "Date"}.get(Path(path).suffix.lower())
    return {key: None} if key else {}
