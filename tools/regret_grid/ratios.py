"""Standings in the cells of a grid as ratios, scores and contests.

The ratio of a policy in a cell is its mean regret over that of the best *other* policy there,
both relative to the reference policy on the trials that each shares with it: below 1, it is the
best.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ossb.experiments.statistics import holm, student
from regret_grid.standings import Standing


class Ratio(NamedTuple):
    """Regret of a policy over that of the best other one."""

    value: float
    sem: float
    other: str


@dataclass(frozen=True)
class GridCell:
    """One group at one horizon: how every policy stands, the reference policy among them."""

    group: str
    horizon: int
    standings: dict[str, Standing]

    def best_other(self, policy: str) -> str | None:
        """The other policy that does best."""
        others = {name: s.relative for name, s in self.standings.items() if name != policy}
        return min(others, key=others.__getitem__) if others else None

    def ratio(self, policy: str) -> Ratio | None:
        """A policy's ratio; its error is that of paired trials where one is the reference.

        Two others count as independent of each other.
        """
        other = self.best_other(policy)
        if other is None:
            return None
        own, best = self.standings[policy], self.standings[other]
        if own.reference <= 0 or best.relative <= 0:
            return None
        value = own.relative / best.relative
        return Ratio(value, value * math.hypot(own.relative_error, best.relative_error), other)


def grid_cells(rows: Iterable[Standing], reference: str) -> list[GridCell]:
    """Rows by cell, groups in their order and horizons from short to long.

    A cell without the reference policy does not count.
    """
    found: dict[tuple[str, int], dict[str, Standing]] = {}
    for row in rows:
        found.setdefault((row.group, row.horizon), {})[row.policy] = row
    order = list(dict.fromkeys(group for group, _ in found))
    spots = sorted(found, key=lambda spot: (order.index(spot[0]), spot[1]))
    return [GridCell(*spot, found[spot]) for spot in spots if reference in found[spot]]


class Score(NamedTuple):
    """A policy over the whole grid."""

    policy: str
    cells: int
    mean: float  # geometric mean of its ratios
    sem: float
    beside: float  # that of the reference policy over the same cells
    worst: float
    where: GridCell
    trials: int  # the fewest in one of its cells


def scores(cells: Iterable[GridCell], reference: str) -> list[Score]:
    """All policies, best geometric mean first.

    Errors take the horizons of one group for fully correlated, since they share their trials.
    """
    cells = list(cells)
    answer = []
    for policy in dict.fromkeys(name for cell in cells for name in cell.standings):
        ratios = [
            (cell, ratio)
            for cell in cells
            if policy in cell.standings and (ratio := cell.ratio(policy)) is not None
        ]
        if not ratios:
            continue
        mean, sem = _geometric_mean(ratios)
        same = [(cell, ratio) for cell, _ in ratios if (ratio := cell.ratio(reference)) is not None]
        beside = _geometric_mean(same)[0] if same else math.nan
        where, worst = max(ratios, key=lambda item: item[1].value)
        fewest = min(cell.standings[policy].trials for cell, _ in ratios)
        answer.append(Score(policy, len(ratios), mean, sem, beside, worst.value, where, fewest))
    return sorted(answer, key=lambda score: score.mean)


def _geometric_mean(ratios: list[tuple[GridCell, Ratio]]) -> tuple[float, float]:
    errors: dict[str, float] = {}
    for cell, ratio in ratios:
        errors[cell.group] = errors.get(cell.group, 0.0) + ratio.sem / max(ratio.value, 1e-12)
    total = math.fsum(math.log(max(ratio.value, 1e-12)) for _, ratio in ratios)
    mean = math.exp(total / len(ratios))
    return mean, mean * math.sqrt(math.fsum(e * e for e in errors.values())) / len(ratios)


class Contest(NamedTuple):
    """The reference policy against another in one cell."""

    cell: GridCell
    other: str
    difference: float  # of the other's regret and the reference's: positive where it wins
    sem: float
    p_value: float  # corrected for all contests of the grid (Holm)
    paired: bool  # whether ``sem`` is that of shared noise


def contests(cells: Iterable[GridCell], reference: str) -> list[Contest]:
    """The reference policy against every other one in every cell, on the same noise."""
    raw = [
        (cell, row, student(row.own - row.reference, row.difference_sem, row.shared))
        for cell in cells
        for name, row in cell.standings.items()
        if name != reference
    ]
    corrected = holm([p for _, _, p in raw])
    return [
        Contest(cell, row.policy, row.own - row.reference, row.difference_sem, p, row.paired)
        for (cell, row, _), p in zip(raw, corrected, strict=True)
    ]
