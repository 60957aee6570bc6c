"""Tables of an experiment: regret with errors, ratios, slopes, as rows, text, CSV and LaTeX."""

import csv
import io
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ossb.errors import OssbError
from ossb.experiments.results import Results
from ossb.experiments.statistics import Comparison, compare, slope, summary
from ossb.structures.base import bound

COLUMNS = (
    "group",
    "policy",
    "t",
    "trials",
    "mean",
    "sem",
    "median",
    "p5",
    "p95",
    "p99",
    "worst",
    "slope",
    "slope_sem",
    "lower_bound",
)


@dataclass(frozen=True)
class Row:
    """One policy in one group at one time."""

    group: str
    policy: str
    t: int
    trials: int
    mean: float
    sem: float
    median: float
    p5: float
    p95: float
    p99: float
    worst: float
    slope: float
    slope_sem: float
    lower_bound: float  # mean over the group of C(θ)


def rows(results: Results) -> list[Row]:
    """Every group, policy and quoted time, best first within a group and time."""
    constants = lower_bounds(results)
    found = []
    for (group, policy), (times, regret) in results.curves().items():
        angle, error = slope(times, regret)
        for t in results.experiment.horizons:
            at = int(np.searchsorted(times, t))
            s = summary(regret[:, at])
            found.append(
                Row(
                    group,
                    policy,
                    t,
                    s.trials,
                    s.mean,
                    s.sem,
                    s.median,
                    s.low,
                    s.high,
                    s.p99,
                    s.worst,
                    angle,
                    error,
                    constants[group],
                )
            )
    order = {group: i for i, group in enumerate(constants)}
    return sorted(found, key=lambda row: (order[row.group], row.t, row.mean))


def lower_bounds(results: Results) -> dict[str, float]:
    """Mean of C(θ) over the instances of each group; NaN where there is none."""
    values: dict[str, list[float]] = {}
    for named in results.experiment.instances:
        instance: Any = named.instance
        try:
            value = bound(instance).value
        except OssbError:
            value = math.nan
        values.setdefault(named.group, []).append(value)
    return {group: float(np.mean(found)) for group, found in values.items()}


def comparisons(results: Results, group: str) -> list[Comparison]:
    """Policies of a group against each other at the horizon, on the same noise."""
    regrets = {
        policy: regret[:, -1]
        for (name, policy), (_, regret) in results.curves().items()
        if name == group
    }
    sizes = {values.size for values in regrets.values()}
    return compare(regrets) if len(sizes) == 1 and len(regrets) > 1 else []


def statement(found: list[Comparison]) -> str:
    """What can and what cannot be told apart."""
    if not found:
        return ""
    best = min(found, key=lambda c: (-sum(d.better == c.better for d in found),)).better
    close = [c.worse for c in found if c.better == best and not c.clear]
    clear = [c.worse for c in found if c.better == best and c.clear]
    parts = []
    if clear:
        parts.append(f"{best} has less regret than {', '.join(clear)} beyond noise")
    if close:
        parts.append(f"{best} cannot be told from {', '.join(close)}")
    return "; ".join(parts) + " (paired differences, Holm-corrected, 5 %)."


def as_text(found: list[Row]) -> str:
    """The table for a terminal."""
    width = max((len(row.policy) for row in found), default=6)
    lines: list[str] = []
    place: tuple[str, int] | None = None
    for row in found:
        if (row.group, row.t) != place:
            place = (row.group, row.t)
            floor = f", C(θ) ln t = {row.lower_bound * math.log(row.t):.4g}"
            known = "" if math.isnan(row.lower_bound) else floor
            lines += ["", f"{row.group}, t = {row.t:,}, {row.trials} trials{known}"]
            lines.append(
                f"  {'policy':{width}}  {'mean':>9} {'± sem':>8} {'median':>9} "
                f"{'p99':>9} {'worst':>9} {'slope':>8}"
            )
        lines.append(
            f"  {row.policy:{width}}  {row.mean:9.4g} {row.sem:8.2g} {row.median:9.4g} "
            f"{row.p99:9.4g} {row.worst:9.4g} {row.slope:8.3g}"
        )
    return "\n".join(lines).lstrip("\n")


def as_csv(found: list[Row]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([getattr(row, column) for column in COLUMNS] for row in found)
    return buffer.getvalue()


def as_latex(found: list[Row]) -> str:
    """A booktabs table of means with standard errors, a column for each time."""
    times = sorted({row.t for row in found})
    cells = {(row.group, row.policy, row.t): row for row in found}
    groups = list(dict.fromkeys(row.group for row in found))
    heads = " & ".join(f"$t = 10^{{{math.log10(t):.3g}}}$" for t in times)
    lines = [
        r"\begin{tabular}{l" + "r" * len(times) + "}",
        r"\toprule",
        f"policy & {heads} \\\\",
    ]
    for group in groups:
        lines += [r"\midrule", rf"\multicolumn{{{len(times) + 1}}}{{l}}{{{_escaped(group)}}} \\"]
        policies = [row.policy for row in found if row.group == group and row.t == times[-1]]
        for policy in policies:
            values = [cells[group, policy, t] for t in times]
            text = " & ".join(f"${row.mean:.4g} \\pm {row.sem:.2g}$" for row in values)
            lines.append(f"{_escaped(policy)} & {text} \\\\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _escaped(text: str) -> str:
    for character in "\\&%$#_{}":
        text = text.replace(character, {"\\": r"\textbackslash "}.get(character, f"\\{character}"))
    return text
