"""A simulation as a notebook shows it."""

from typing import TYPE_CHECKING

import numpy as np

from ossb.notebook import curves, table
from ossb.words import counted, spread

if TYPE_CHECKING:
    from ossb.simulation.result import SimulationResult

HEADINGS = ("policy", "mean regret", "± sem", "median", "max")


def card(result: "SimulationResult") -> str:
    """The regrets at the horizon, best first, and the mean curves beside the lower bound."""
    ordered = sorted(result.policies, key=lambda r: float(r.regret.mean()))
    rows = []
    for one in ordered:
        regret = one.regret
        error = regret.std(ddof=1) / np.sqrt(regret.size) if regret.size > 1 else 0.0
        mean, median, most = (
            f"{number:.4g}" for number in (regret.mean(), np.median(regret), regret.max())
        )
        rows.append((one.label, mean, spread(float(error), regret.size, 4), median, most))
    name = f"{result.instance.name}: " if result.instance.name else ""
    caption = f"{name}{counted(result.trials, 'trial')} of {counted(result.horizon, 'round')}"
    if result.instance.noise is not None:
        caption += f", σ = {result.instance.noise:g}"
    lines = {one.label: (one.checkpoints.tolist(), one.curves.mean(axis=0)) for one in ordered}
    dashed = None
    if result.bound is not None:
        times = ordered[0].checkpoints
        dashed = (times.tolist(), result.bound.value * np.log(times))
        caption += f"; dashed: C(θ) ln t, {result.bound.value * np.log(result.horizon):.4g} at last"
    return table(caption, HEADINGS, rows) + curves("mean regret over rounds", lines, dashed)
