"""Tables of an experiment: regret with errors, ratios, slopes, as rows, text, CSV and LaTeX."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ossb.experiments.results import Results
from ossb.experiments.statistics import Comparison, compare, slope, summary
from ossb.words import counted, rounded, spread

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
    "bound_per_ln_t",
    "bound_at_t",
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
    slope: float  # of the regret against ln t, over the last decade
    slope_sem: float
    bound_per_ln_t: float  # mean over the group of C(θ): what the slope cannot stay below

    @property
    def bound_at_t(self) -> float:
        """C(θ) ln t: what the mean cannot stay below for large t."""
        return self.bound_per_ln_t * math.log(self.t)


def rows(results: Results) -> list[Row]:
    """Every group, policy and quoted time, best first within a group and time."""
    constants = results.constants
    found = []
    for (group, policy), (times, regret) in results.curves.items():
        angle, error = slope(times, regret)
        for t in results.experiment.horizons:
            at = int(np.searchsorted(times, t))
            numbers = summary(regret[:, at])
            found.append(Row(group, policy, t, *numbers, angle, error, constants[group]))
    order = {group: i for i, group in enumerate(constants)}
    return sorted(found, key=lambda row: (order[row.group], row.t, row.mean))


def comparisons(results: Results, group: str) -> list[Comparison]:
    """Policies of a group against each other at the horizon, on the same noise.

    Policies whose trials are not all there yet are left out.
    """
    regrets = {
        policy: regret[:, -1]
        for (name, policy), (_, regret) in results.curves.items()
        if name == group
    }
    most = max(values.size for values in regrets.values())
    return compare({policy: r for policy, r in regrets.items() if r.size == most})


def statement(found: list[Comparison]) -> str:
    """What can and what cannot be told apart, from the least regret on."""
    if not found:
        return ""
    best = next(c.better for c in found if c.better not in {other.worse for other in found})
    near = [c.worse for c in found if c.better == best and not c.clear]
    clear = [c.worse for c in found if c.better == best and c.clear]
    parts = []
    if clear:
        parts.append(f"{best} has less regret than {', '.join(clear)} beyond noise")
    if near:
        parts.append(f"{best} cannot be told from {', '.join(near)}")
    others = [c for c in found if c.better != best]
    alike = [f"{c.better} and {c.worse}" for c in others if not c.clear]
    if alike and len(alike) == len(others):
        parts.append("the others cannot be told from one another")
    elif others:
        parts.append("of the others, all differ" + (f" but {', '.join(alike)}" if alike else ""))
    return "; ".join(parts) + " (paired differences, Holm-corrected, 5 %)."


def comparisons_csv(results: Results) -> str:
    """All pairs in all groups."""
    columns = ("better", "worse", "difference", "sem", "p_value", "clear")
    table = [
        [group, *(getattr(pair, column) for column in columns)]
        for group in results.groups
        for pair in comparisons(results, group)
    ]
    return _csv(("group", *columns), table)


def as_text(found: list[Row]) -> str:
    """The table for a terminal."""
    width = max((len(row.policy) for row in found), default=6)
    lines: list[str] = []
    place: tuple[str, int] | None = None
    for row in found:
        if (row.group, row.t) != place:
            place = (row.group, row.t)
            floor = f", C(θ) = {rounded(row.bound_per_ln_t)}, C(θ) ln t = {rounded(row.bound_at_t)}"
            known = "" if math.isnan(row.bound_per_ln_t) else floor
            trials = counted(row.trials, "trial")
            lines += ["", f"{row.group}, t = {row.t:,}, {trials}{known}"]
            lines.append(
                f"  {'policy':{width}}  {'mean':>9} {'± sem':>8} {'median':>9} "
                f"{'p99':>9} {'worst':>9} {'slope':>8}"
            )
        lines.append(
            f"  {row.policy:{width}}  {rounded(row.mean):>9} {spread(row.sem, row.trials):>8} "
            f"{rounded(row.median):>9} {rounded(row.p99):>9} {rounded(row.worst):>9} "
            f"{rounded(row.slope, 3):>8}"
        )
    return "\n".join(lines).lstrip("\n")


def as_csv(found: list[Row]) -> str:
    return _csv(COLUMNS, [[getattr(row, column) for column in COLUMNS] for row in found])


def _csv(head: Sequence[str], table: list[list[Any]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(table)
    return buffer.getvalue()


def as_latex(found: list[Row]) -> str:
    """A booktabs table of means with standard errors, and of slopes beside C(θ)."""
    times = sorted({row.t for row in found})
    cells = {(row.group, row.policy, row.t): row for row in found}
    groups = list(dict.fromkeys(row.group for row in found))
    heads = " & ".join(f"$t = {_rounds(t)}$" for t in times)
    lines = [
        r"\begin{tabular}{l" + "r" * (len(times) + 1) + "}",
        r"\toprule",
        f"policy & {heads} & slope \\\\",
    ]
    for group in groups:
        lines += [r"\midrule", rf"\multicolumn{{{len(times) + 2}}}{{l}}{{{_escaped(group)}}} \\"]
        policies = [row.policy for row in found if row.group == group and row.t == times[-1]]
        for policy in policies:
            values = [cells[group, policy, t] for t in times]
            text = " & ".join(_with_error(row.mean, 4, row.sem, row.trials) for row in values)
            last = values[-1]
            angle = _with_error(last.slope, 3, last.slope_sem, last.trials)
            lines.append(f"{_escaped(policy)} & {text} & {angle} \\\\")
        constant = cells[group, policies[0], times[-1]].bound_per_ln_t
        if not math.isnan(constant):
            floors = " & ".join(f"${_digits(constant * math.log(t), 4)}$" for t in times)
            lines.append(rf"$C(\theta) \ln t$ & {floors} & ${_digits(constant, 3)}$ \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _rounds(t: int) -> str:
    """A number of rounds in mathematics: a power of ten as one, others with thin groups."""
    power = len(str(t)) - 1
    return f"10^{{{power}}}" if t == 10**power and power > 2 else f"{t:,}".replace(",", "{,}")


def _digits(value: float, digits: int) -> str:
    return rounded(value, digits).replace(",", "{,}")


def _with_error(value: float, digits: int, sem: float, trials: int) -> str:
    if trials == 1:
        return f"${_digits(value, digits)} \\pm$ --"
    return f"${_digits(value, digits)} \\pm {_digits(sem, 2)}$"


def _escaped(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(
        special.get(character, f"\\{character}" if character in "&%$#_{}" else character)
        for character in text
    )
