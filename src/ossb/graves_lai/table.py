"""A bound as a notebook shows it."""

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ossb.graves_lai.bound import Bound

SHOWN = 10


def html_table(bound: "Bound") -> str:
    """The interval and the largest rates, as a small table with every name escaped."""
    instance = bound.instance
    ordered = sorted(bound.support, key=lambda item: -item[1])
    rows = []
    for arm, rate in ordered[:SHOWN]:
        gap = instance.gap_of(arm)
        rows.append(_row("td", instance.arm_name(arm), _show(gap), _show(rate), _show(rate * gap)))
    if len(ordered) > SHOWN:
        rows.append(_row("td", f"… {len(ordered) - SHOWN} more", "", "", ""))
    if not ordered:
        rows.append(_row("td", "nothing needs exploring", "", "0", "0"))
    best = escape(instance.arm_name(bound.best_arm))
    caption = (
        f"C(θ) = {bound.value:.8g}, {bound.status} in [{bound.lower:.10g}, {bound.upper:.10g}]; "
        f"best arm {best}"
    )
    return (
        f"<table><caption>{caption}</caption>"
        f"<thead>{_row('th', 'arm', 'gap Δ', 'rate c(x, θ)', 'cost c Δ')}</thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _show(value: float) -> str:
    return f"{value:.6g}"


def _row(cell: str, *texts: str) -> str:
    return "<tr>" + "".join(f"<{cell}>{escape(text)}</{cell}>" for text in texts) + "</tr>"
