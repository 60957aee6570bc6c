"""A bound as a notebook shows it."""

from typing import TYPE_CHECKING

from ossb.notebook import bars, table

if TYPE_CHECKING:
    from ossb.graves_lai.bound import Bound

SHOWN = 10


def html_table(bound: "Bound") -> str:
    """The interval and the largest rates, and where the exploration goes."""
    instance = bound.instance
    ordered = sorted(bound.support, key=lambda item: -item[1])
    rows = []
    for arm, rate in ordered[:SHOWN]:
        gap, spent = bound.gap_of(arm), rate * bound.price_of(arm)
        rows.append((instance.arm_name(arm), _show(gap), _show(rate), _show(spent)))
    if len(ordered) > SHOWN:
        rows.append((f"… {len(ordered) - SHOWN} more", "", "", ""))
    if not ordered:
        rows.append(("nothing needs exploring", "", "0", "0"))
    caption = (
        f"{bound.cost.symbol} = {bound.value:.8g}, {bound.status} in "
        f"[{bound.lower:.10g}, {bound.upper:.10g}]; {bound.right}"
    )
    unit, headings = "ln t", ("arm", "gap Δ", "rate c(x, θ)", "cost c Δ")
    if not bound.cost.is_regret:
        unit, headings = "ln(1/δ)", ("arm", "gap Δ", "rate η(x)", "cost η κ")
    picture = bars(
        f"rates: plays of each arm by unit of {unit}",
        {instance.arm_name(arm): rate for arm, rate in ordered[:SHOWN]},
    )
    return table(caption, headings, rows) + picture


def _show(value: float) -> str:
    return f"{value:.6g}"
