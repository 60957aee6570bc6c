"""Pictures of bounds; the one module that imports matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ossb.errors import InputError
from ossb.graves_lai.bound import Bound

FORMATS = (".png", ".pdf", ".svg")
SHOWN = 30
BLUE, ORANGE = "#0072B2", "#E69F00"  # Okabe and Ito's, safe for colour-blind readers


def draw_rates(bounds: Sequence[Bound], path: str) -> None:
    """Draw the rates c(x, θ), and what each costs, of one or several bounds."""
    if Path(path).suffix.lower() not in FORMATS:
        raise InputError("plot", f"end in one of {', '.join(FORMATS)}", path)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    heights = [max(1.6, 0.9 + 0.24 * min(len(b.support), SHOWN)) for b in bounds]
    figure, axes = pyplot.subplots(
        len(bounds),
        2,
        figsize=(7.2, sum(heights)),
        height_ratios=heights,
        squeeze=False,
        layout="constrained",
    )
    for (left, right), bound in zip(axes, bounds, strict=True):
        _draw(left, right, bound)
    try:
        figure.savefig(path, dpi=160, metadata=_plain_metadata(path))
    except OSError as error:
        raise InputError("plot", f"be a writable file: {error}") from None
    finally:
        pyplot.close(figure)


def _draw(left: Any, right: Any, bound: Bound) -> None:
    instance = bound.instance
    ordered = sorted(bound.support, key=lambda item: -item[1])[:SHOWN]
    names = [instance.arm_name(arm) for arm, _ in ordered]
    rates = [rate for _, rate in ordered]
    costs = [rate * instance.gap_of(arm) for arm, rate in ordered]
    title = instance.name or f"{instance.kind}, {instance.observation}"
    for axis, values, colour, label in (
        (left, rates, BLUE, "rate c(x, θ): plays per unit of ln t"),
        (right, costs, ORANGE, "cost c(x, θ) Δ(x): regret per unit of ln t"),
    ):
        axis.barh(range(len(values)), values, color=colour)
        axis.set_yticks(range(len(names)), names)
        axis.invert_yaxis()
        axis.set_xlabel(label)
        axis.spines[["top", "right"]].set_visible(False)
    left.set_ylabel("arm")
    left.set_title(title, loc="left", fontsize="medium")
    right.set_title(f"C(θ) = {bound.value:.6g}", loc="left", fontsize="medium")


def _plain_metadata(path: str) -> dict[str, None]:
    """No dates, so that the same bound gives the same bytes."""
    key = {".pdf": "CreationDate", ".svg": "Date"}.get(Path(path).suffix.lower())
    return {key: None} if key else {}
