"""Regret on matplotlib axes that the caller shapes further.

An asymptotic bound says how fast regret must grow, not how large it is at a time: on a logarithmic
axis it is a slope.  So it is drawn as one, a dotted line of slope C(θ) through the end of each
curve, and as the curve C(θ) ln t only where that lies within the frame.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from ossb.errors import InputError
from ossb.experiments.results import Results
from ossb.experiments.statistics import band
from ossb.extras import load
from ossb.fields import choice, vector
from ossb.figures.canvas import paper_style
from ossb.figures.regret import FITS, draw_bound, draw_curve, draw_slopes, dress, slope_of
from ossb.simulation.result import SimulationResult
from ossb.words import hint


class Curve(NamedTuple):
    """One policy's regret."""

    label: str
    times: np.ndarray  # int64 (n,)
    regret: np.ndarray  # float64 (trials, n)


def plot_simulation(result: SimulationResult, **options: Any) -> Any:
    """The curves of a simulation; options as for ``plot``."""
    curves = [Curve(one.label, one.checkpoints, one.curves) for one in result.policies]
    return plot(curves, None if result.bound is None else result.bound.value, **options)


def plot_results(results: Results, group: str | None = None, **options: Any) -> Any:
    """The curves of one group of an experiment, the first by default; options as for ``plot``."""
    chosen = results.groups[0] if group is None else choice(group, "group", results.groups)
    curves = [
        Curve(policy, *results.curves[chosen, policy])
        for policy in results.policies
        if (chosen, policy) in results.curves
    ]
    constant = results.constants.get(chosen, np.nan)
    options.setdefault("title", chosen)
    return plot(curves, constant if np.isfinite(constant) else None, **options)


def plot(
    curves: Sequence[Curve],
    constant: float | None,
    *,
    axes: Any = None,
    policies: Sequence[str] | None = None,
    labels: Mapping[str, str] | None = None,
    logarithmic: bool = False,
    bound: bool = True,
    interval: str = "confidence",
    size: tuple[float, float] = (5.0, 3.2),
    style: Any = None,
    title: str = "",
    legend: bool = True,
) -> Any:
    """Draw mean regret over rounds and return the axes.

    Parameters
    ----------
    axes
        Where to draw; by default a figure of its own, of ``size`` inches.
    policies
        Labels of the policies to draw, in their order; all by default.
    labels
        Label → what the legend calls it.
    logarithmic
        Whether rounds are on a logarithmic axis, on which the bound is a slope.
    bound
        Whether the bound is drawn, on a logarithmic axis.
    interval
        The band: ``confidence``, ``percentile`` or ``simultaneous``.
    style
        A matplotlib style, by name, file or dictionary; by default that of a paper's column.
    """
    pyplot, styles = load("matplotlib.pyplot", "plot"), load("matplotlib.style", "plot")

    known = {curve.label: curve for curve in curves}
    wanted = list(known) if policies is None else list(policies)
    if not wanted:
        raise InputError("policies", f"name one of {', '.join(known)}", wanted)
    for field, names in (("policies", wanted), ("labels", labels or {})):
        for name in names:
            if name not in known:
                raise InputError(field, f"be among {', '.join(known)}{hint(name, known)}", name)
    if not (vector(size, "size", 2) > 0.0).all():
        raise InputError("size", "be a width and a height in inches", size)
    with ExitStack() as look:
        try:
            look.enter_context(paper_style() if style is None else styles.context(style))
        except OSError as error:
            raise InputError("style", f"be one of matplotlib's: {error}") from None
        if axes is None:
            _, axes = pyplot.subplots(figsize=size, layout="constrained")
        for place, name in enumerate(wanted):
            curve = known[name]
            shown = (labels or {}).get(name, name)
            mean = curve.regret.mean(axis=0)
            draw_curve(axes, place, shown, curve.times, mean, *band(curve.regret, interval))
        dress(axes, logarithmic)
        axes.set_ylabel("mean regret")
        if title:
            axes.set_title(title)
        if bound and logarithmic and constant is not None:
            _draw_floor(axes, [known[name] for name in wanted], constant)
        if legend:
            axes.legend(frameon=False)
    return axes


def _draw_floor(axes: Any, curves: Sequence[Curve], constant: float) -> None:
    """Lines of slope C(θ) through the ends of curves, and C(θ) ln t where it fits."""
    ends = [
        (place, float(curve.times[-1]), float(curve.regret[:, -1].mean()))
        for place, curve in enumerate(curves)
    ]
    draw_slopes(axes, ends, constant, slope_of(constant))
    times = curves[0].times
    highest = max(float(curve.regret.mean(axis=0).max()) for curve in curves)
    if constant * np.log(times[-1]) <= FITS * highest:
        draw_bound(axes, times, constant)
    axes.set_ylim(bottom=0.0)
