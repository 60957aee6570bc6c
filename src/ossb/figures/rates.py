"""The rates of a bound, drawn."""

from collections.abc import Sequence
from typing import Any

from ossb.figures.canvas import PALETTE, check_format, new_figure, save
from ossb.graves_lai.bound import Bound
from ossb.words import counted

SHOWN = 30
LONGEST = 24  # characters of a name
HEADING = 38  # characters that fit above one of two columns
MOST = 12  # bounds in one picture; arranging more takes minutes
BLUE, ORANGE = PALETTE[:2]


def draw_rates(bounds: Sequence[Bound], path: str) -> None:
    """Draw the rates c(x, θ), and what each costs, of one or several bounds."""
    check_format(path)
    drawn = bounds[:MOST]
    heights = [1.2 + 0.24 * min(max(len(bound.support), 2), SHOWN + 1) for bound in drawn]
    figure = new_figure(7.6, sum(heights))
    axes = figure.subplots(len(drawn), 2, height_ratios=heights, squeeze=False)
    for (left, right), bound in zip(axes, drawn, strict=True):
        _draw(left, right, bound)
    if len(bounds) > MOST:
        figure.supxlabel(f"… {counted(len(bounds) - MOST, 'more instance')}", fontsize="small")
    save(figure, path)


def _draw(left: Any, right: Any, bound: Bound) -> None:
    instance = bound.instance
    ordered = sorted(bound.support, key=lambda item: -item[1])
    shown = ordered[:SHOWN]
    names = [_short(instance.arm_name(arm)) for arm, _ in shown]
    rates = [rate for _, rate in shown]
    costs = [rate * bound.price_of(arm) for arm, rate in shown]
    places = list(range(len(shown)))
    if len(ordered) > SHOWN:
        places.append(SHOWN)
        names.append(f"… {len(ordered) - SHOWN} more")
    labels = ("rate c(x, θ): plays per unit of ln t", "cost c(x, θ) Δ(x): regret per unit of ln t")
    if not bound.cost.is_regret:
        labels = ("rate η(x): plays per unit of ln(1/δ)", "cost η(x) κ(x) per unit of ln(1/δ)")
    for axis, values, colour, label in (
        (left, rates, BLUE, labels[0]),
        (right, costs, ORANGE, labels[1]),
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
    heading = _short(f"{bound.cost.symbol} = {bound.value:.6g}, {bound.right}", HEADING)
    right.set_title(heading, loc="left", fontsize="medium", parse_math=False)


def _short(name: str, longest: int = LONGEST) -> str:
    line = " ".join(name.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
