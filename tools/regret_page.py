"""The page of the regret grid, from its cells; no number on it is typed by hand."""

import math
from collections.abc import Sequence

from regret_grid.grid import DEFAULT, RULES, kinds, variant_labels
from regret_grid.ratios import Contest, GridCell, Score, contests, scores
from regret_grid.standings import Standing, family_of

MARK = "<!-- written by tools/regret.py -->"
DRAWN = ("thompson", "linear-thompson:scale=posterior", "combinatorial-thompson", "double-thompson")
CLEAR = 0.05
WORST_CELLS = 10
AIM, LIMIT = 1.05, 1.3

INTRODUCTION = """\
The policies that fit, on instances of eight structures, at horizons from 10³ to 10⁶, on the same
noise. `make regret` plays the grid and writes this page; the bundled experiments `regret-*` say
what is in it. Played in full it has 500 trials in each cell up to 10⁵ and 100 at 10⁶ (polytopes to
10⁴, arm sets behind an oracle to 10³; tails and close contests more, of few policies). How
far it has been played, and with how many trials, stands in its tables: a policy or horizon that is
not in one has not been. Finite sets, unions, late answers and
other scales are among the [drawn instances](regret/drawn.md), half of which are held out.
[HGL's notebook](hgl/notebook.md) has instances outside the grid on which `hgl` is not the best.

Every row is in [one table](regret.csv), with its comparison to `hgl`. What is played is added to
that table, in the place of rows with no more trials, so that the grid may be played piece by piece,
on any machine. Trials are paired, but not all of them were still at hand when the table was begun:
rows from before have errors of differences as if noise were not shared, and tails at some horizons
only. After a change of a policy's rule its rows have to be played anew: each has the day from which
it is, and a † where the policy's rule on such arms has changed since. Some were played anew with
fewer trials than the rows beside them.

A *cell* is a group of instances at one horizon. A policy's *ratio* is its mean regret over that of
the best *other* policy in the cell, each taken on the trials that it shares with `hgl`: below 1 it
is the best of all. Which other policy is the best is decided by the same trials, which flatters it
a little. Policies that are told the horizon are told that of the cell.
"""


FOLDER = "regret"  # of the pages by structure, beside the first one


def pages(cells: Sequence[GridCell], variants: Sequence[GridCell] = ()) -> dict[str, str]:
    """Every page by its path: the first, and one for each structure."""
    by_structure = _by_structure(cells)
    told = {"regret.md": _first_page(cells, variants, by_structure)}
    for structure, own in by_structure.items():
        told[f"{FOLDER}/{structure}.md"] = _structure_page(structure, own)
    return told


def _by_structure(cells: Sequence[GridCell]) -> dict[str, list[GridCell]]:
    """The cells of each structure; those of groups that no part has any more come last."""
    structures, found = kinds(), {}
    for cell in cells:
        found.setdefault(structures.get(cell.group, "others"), []).append(cell)
    return dict(sorted(found.items(), key=lambda pair: (pair[0] == "others", pair[0])))


def _first_page(
    cells: Sequence[GridCell],
    variants: Sequence[GridCell],
    by_structure: dict[str, list[GridCell]],
) -> str:
    found, fights = scores(cells, DEFAULT), contests(cells, DEFAULT)
    lines = ["# The regret grid", "", MARK, ""]
    lines += [
        "[![Regret over the least of the cell, by cell and policy](regret.png)](regret.png)",
        "",
    ]
    lines += [
        "Mean regret of a policy over the least of the cell; columns by their geometric mean, as "
        "in the table of policies; a dot is on the best.",
        "",
    ]
    lines += ["## The default", "", *_default(cells, found, fights), ""]
    lines += ["## By structure", "", *_structures(by_structure), ""]
    lines += ["## Where `hgl` is not the best", "", *_worst(cells), "", *_lost(fights), ""]
    lines += ["## All policies", "", *_policies(found), ""]
    lines += ["## Variants of `hgl`", "", *_variants(variants), ""] if variants else []
    lines += ["## How it is played", "", INTRODUCTION, ""]
    return "\n".join(lines).rstrip() + "\n"


def _structures(by_structure: dict[str, list[GridCell]]) -> list[str]:
    lines = [
        "| structure | groups | cells | `hgl` over the best other: geometric mean | worst |",
        "|---|---|---|---|---|",
    ]
    for structure, cells in by_structure.items():
        values = [ratio.value for cell in cells if (ratio := cell.ratio(DEFAULT)) is not None]
        groups = len({cell.group for cell in cells})
        most = f"{max(values):.2f}" if values else "–"
        lines.append(
            f"| [{structure}]({FOLDER}/{structure}.md) | {groups} | {len(cells)} | "
            f"{said(_mean(values), 3)} | {most} |"
        )
    return [*lines, "", "Each has a page: every policy in every cell, and how heavy the tails are."]


def _structure_page(structure: str, cells: Sequence[GridCell]) -> str:
    lines = [f"# The regret grid: {structure}", "", MARK, ""]
    lines += ["[The whole grid](../regret.md) says what a cell and a ratio are.", ""]
    lines += ["## `hgl` in every cell", "", *_by_cell(cells), ""]
    lines += ["## Tails", "", *_tails(cells), ""]
    for group in dict.fromkeys(cell.group for cell in cells):
        own = [cell for cell in cells if cell.group == group]
        lines += [f"## {group}", "", *_group(own, structure), ""]
    return "\n".join(lines).rstrip() + "\n"


def power(horizon: int) -> str:
    """A power of ten as it is read."""
    return f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[round(math.log10(horizon))]}"


def said(value: float, digits: int) -> str:
    """A number to so many digits, without an exponent where it is large; a dash for none."""
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def _default(cells: Sequence[GridCell], found: list[Score], fights: list[Contest]) -> list[str]:
    own = next(score for score in found if score.policy == DEFAULT)
    ratios = [cell.ratio(DEFAULT) for cell in cells]
    values = [ratio.value for ratio in ratios if ratio is not None]
    better = [s.policy for s in found if s.policy != DEFAULT and s.mean <= s.beside]
    won = sum(f.p_value < CLEAR and f.difference > 0 for f in fights)
    lost = sum(f.p_value < CLEAR and f.difference < 0 for f in fights)
    beaten = ", ".join(f"`{policy}`" for policy in better)
    return [
        f"Over {own.cells} cells the geometric mean of `hgl`'s ratio is {own.mean:.3f} ± "
        f"{own.sem:.3f}. It is below 1 in {sum(v < 1 for v in values)} of them, at most {AIM} in "
        f"{sum(v <= AIM for v in values)} and at most {LIMIT} in "
        f"{sum(v <= LIMIT for v in values)}; the worst is {own.worst:.2f} ({own.where.group}, "
        f"{power(own.where.horizon)}). "
        + (
            f"A smaller geometric mean than `hgl`'s over the same cells has {beaten}."
            if better
            else "No other policy has a smaller geometric mean than `hgl` over the same cells."
        ),
        "",
        f"Of {len(fights)} contests of `hgl` with one other policy in one cell, with Holm's "
        f"correction for all of them, it wins {won} beyond noise at the 5 % level, loses {lost}, "
        f"and {len(fights) - won - lost} are open. The error is that of paired differences in "
        f"{sum(f.paired for f in fights)} of them, and that of independent trials in the others.",
    ]


def _by_cell(cells: Sequence[GridCell]) -> list[str]:
    horizons = sorted({cell.horizon for cell in cells})
    at = {(cell.group, cell.horizon): cell for cell in cells}
    lines = [
        f"| group | {' | '.join(power(t) for t in horizons)} |",
        "|---" * (len(horizons) + 1) + "|",
    ]
    for group in dict.fromkeys(cell.group for cell in cells):
        entries = []
        for t in horizons:
            ratio = at[group, t].ratio(DEFAULT) if (group, t) in at else None
            told = "" if ratio is None else f"{ratio.value:.2f} ± {ratio.sem:.2f} `{ratio.other}`"
            entries.append(told)
        lines.append(f"| {group} | {' | '.join(entries)} |")
    return [*lines, "", "The ratio ± its standard error, and the best other policy."]


def _worst(cells: Sequence[GridCell]) -> list[str]:
    pairs = [(cell, ratio) for cell in cells if (ratio := cell.ratio(DEFAULT)) and ratio.value > 1]
    pairs.sort(key=lambda pair: -pair[1].value)
    if not pairs:
        return ["It is the best in every cell."]
    lines = ["| cell | ratio | best other | trials |", "|---|---|---|---|"]
    for cell, ratio in pairs[:WORST_CELLS]:
        shared = cell.standings[ratio.other].shared
        lines.append(
            f"| {cell.group}, {power(cell.horizon)} | {ratio.value:.2f} ± {ratio.sem:.2f} | "
            f"`{ratio.other}` | {shared} |"
        )
    if len(pairs) > WORST_CELLS:
        lines += ["", f"The {WORST_CELLS} worst of the {len(pairs)} cells with a ratio above 1."]
    return lines


def _lost(fights: list[Contest]) -> list[str]:
    lost = [f for f in fights if f.p_value < CLEAR and f.difference < 0]
    if not lost:
        return ["No contest is lost beyond noise."]
    lines = [
        "Lost beyond noise:",
        "",
        "| cell | to | by | p, corrected |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {f.cell.group}, {power(f.cell.horizon)} | `{f.other}` | "
        f"{-f.difference:.3g} ± {f.sem:.2g} | {f.p_value:.1g} |"
        for f in sorted(lost, key=lambda f: f.p_value)
    ]
    return lines


def _policies(found: list[Score]) -> list[str]:
    lines = [
        "| policy | cells | trials | geometric mean of its ratio | of `hgl`'s over the same cells "
        "| worst | where |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{s.policy}` | {s.cells} | {s.trials} | {s.mean:.3f} ± {s.sem:.3f} | {s.beside:.3f} | "
        f"{s.worst:.3g} | {s.where.group}, {power(s.where.horizon)} |"
        for s in found
    ]
    return [
        *lines,
        "",
        "Trials: the fewest in one of its cells. Errors of geometric means take the horizons of "
        "one group for fully correlated.",
    ]


def _variants(cells: Sequence[GridCell]) -> list[str]:
    horizons = sorted({cell.horizon for cell in cells})
    heads = " | ".join(power(t) for t in horizons)
    lines = [
        f"| variant | {heads} | all cells | worst cell | best cell | trials |",
        "|---" * (len(horizons) + 5) + "|",
    ]
    for name in variant_labels():
        found = []
        for cell in cells:
            own = cell.standings.get(name)
            if own is not None and own.reference > 0:
                found.append((own.relative, cell, own.shared))
        if not found:
            continue
        means = [_mean([value for value, cell, _ in found if cell.horizon == t]) for t in horizons]
        least, most = min(found, key=lambda f: f[0]), max(found, key=lambda f: f[0])
        counts = sorted({count for _, _, count in found})
        entries = [f"{mean:.3f}" for mean in (*means, _mean([value for value, _, _ in found]))]
        entries += [f"{v:.2f} {c.group}, {power(c.horizon)}" for v, c, _ in (most, least)]
        entries.append(" to ".join(str(n) for n in dict.fromkeys((counts[0], counts[-1]))))
        lines.append(f"| `{name}` | {' | '.join(entries)} |")
    return [
        *lines,
        "",
        "Mean regret over that of `hgl` as it comes, on the same trials: geometric means over the "
        "cells of a horizon and over all. Where a variant is what the structure has by default, "
        "its ratio is 1.",
    ]


def _mean(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else math.nan


def _tails(cells: Sequence[GridCell]) -> list[str]:
    lines = [
        "| cell | trials | `hgl` | Thompson sampling | best other | worst over Thompson's |",
        "|---|---|---|---|---|---|",
    ]
    for group in dict.fromkeys(cell.group for cell in cells):
        # of the horizons with as many trials of both, and most, the longest
        own = [cell for cell in cells if cell.group == group]
        known = {name for cell in own for name in cell.standings}
        drawn = next((name for name in reversed(DRAWN) if name in known), DEFAULT)
        both = [
            cell
            for cell in own
            if {drawn, DEFAULT} <= cell.standings.keys()
            and cell.standings[drawn].trials == cell.standings[DEFAULT].trials
        ]
        if not both:
            continue
        cell = max(both, key=lambda cell: (cell.standings[drawn].trials, cell.horizon))
        most = cell.standings[drawn].trials
        whole = {name: row for name, row in cell.standings.items() if row.trials == most}
        best = GridCell(group, cell.horizon, whole).best_other(DEFAULT)
        worst = whole[DEFAULT].worst / whole[drawn].worst
        entries = [
            "–" if name is None else _tail(name, whole[name]) for name in (DEFAULT, drawn, best)
        ]
        entries.append("–" if drawn == DEFAULT else said(worst, 2))
        lines.append(f"| {group}, {power(cell.horizon)} | {most} | {' | '.join(entries)} |")
    return [
        *lines,
        "",
        "Mean; 99 % quantile and worst in brackets. Thompson sampling is that of the structure, "
        "where there is one. Tails of few trials say little; groups in which `hgl` was played anew "
        "with fewer trials than Thompson sampling are not in this table.",
    ]


def _tail(name: str, found: Standing) -> str:
    told = f"{said(found.mean, 3)} ({said(found.p99, 3)}, {said(found.worst, 3)})"
    return told if name == DEFAULT else f"`{name}` {told}"


def is_stale(row: Standing, structure: str) -> bool:
    """Whether the policy's rule has changed since it was played."""
    return row.played < RULES.get((family_of(row.policy), structure), "")


def _days(rows: Sequence[Standing], structure: str) -> str:
    """The days from which rows are, the first and the last."""
    told = dict.fromkeys(
        f"{row.played}{' †' if is_stale(row, structure) else ''}"
        for row in sorted(rows, key=lambda row: row.played)
    )
    return " to ".join(dict.fromkeys([next(iter(told)), next(reversed(told))]))


def _group(cells: Sequence[GridCell], structure: str) -> list[str]:
    names = dict.fromkeys(name for cell in cells for name in cell.standings)
    heads = " | ".join(f"T = {power(cell.horizon)}" for cell in cells)
    lines = [
        f"| policy | {heads} | trials | p99 | worst | µs | played |",
        "|---" * (len(cells) + 6) + "|",
    ]
    last = {n: [c.standings[n] for c in cells if n in c.standings][-1] for n in names}
    for name in sorted(names, key=lambda n: (-last[n].horizon, last[n].mean)):
        entries, trials = [], []
        for cell in cells:
            if name not in cell.standings:
                entries.append("–")
                continue
            found, ratio = cell.standings[name], cell.ratio(name)
            against = "" if ratio is None else f" ({ratio.value:.2f})"
            entries.append(f"{said(found.mean, 4)} ± {said(found.sem, 2)}{against}")
            trials.append(found.trials)
        counts = ", ".join(str(n) for n in dict.fromkeys(trials))
        told = " | ".join(entries)
        tail = (
            f"{said(last[name].p99, 4)} | {said(last[name].worst, 4)} | {said(last[name].cost, 2)}"
        )
        rows = [cell.standings[name] for cell in cells if name in cell.standings]
        lines.append(f"| `{name}` | {told} | {counts} | {tail} | {_days(rows, structure)} |")
    return [
        *lines,
        "",
        "Mean regret ± its standard error (ratio); tails at the policy's last horizon; µs: the CPU "
        "time of a round, its environment included, on a machine that was not idle. † The rule has "
        "changed since then.",
    ]
