"""Regret in the cells of a grid, a group of instances at one horizon each, as ratios.

The ratio of a policy in a cell is its mean regret over that of the best *other* policy there, on
the trials that both have: below 1, it is the best.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ossb.experiments.cells import label_of
from ossb.experiments.grid import told_horizon, untold_label
from ossb.experiments.policies import own_parameters
from ossb.experiments.results import Results
from ossb.experiments.statistics import holm, paired, standard_error

Trials = dict[tuple[int, int], float]  # regret by (instance of the group, trial)


class Ratio(NamedTuple):
    """Regret of a policy over that of the best other one."""

    value: float
    sem: float
    other: str


@dataclass(frozen=True)
class GridCell:
    """One group at one horizon: the regrets of all policies, by instance and trial."""

    group: str
    horizon: int
    regrets: dict[str, Trials]

    def values(self, policy: str) -> np.ndarray:
        """Regrets of a policy, one per trial."""
        return np.array(list(self.regrets[policy].values()))

    def shared(self, policy: str, other: str) -> tuple[np.ndarray, np.ndarray]:
        """Regrets of two policies on the trials that both have."""
        first, second = self.regrets[policy], self.regrets[other]
        keys = [key for key in first if key in second]
        return np.array([first[key] for key in keys]), np.array([second[key] for key in keys])

    def best_other(self, policy: str) -> str | None:
        """The other policy that does best beside one, on the trials that both have."""
        found = {}
        for name in self.regrets:
            own, other = self.shared(policy, name)
            if name != policy and own.size:
                found[name] = float(other.mean()) / max(float(own.mean()), 1e-300)
        return min(found, key=found.__getitem__) if found else None

    def ratio(self, policy: str) -> Ratio | None:
        """A policy's ratio, its error by linearising in the paired trials."""
        other = self.best_other(policy)
        if other is None:
            return None
        own, best = self.shared(policy, other)
        if not own.size or best.mean() <= 0:
            return None
        value = float(own.mean() / best.mean())
        sem = float(standard_error(own - value * best)) / float(best.mean())
        return Ratio(value, sem, other)


def grid_cells(parts: Iterable[Results]) -> list[GridCell]:
    """The cells that results of several experiments make up, in their order.

    A policy that is told the horizon counts at that one only; one that has not met all
    instances of a group yet does not count.
    """
    found: dict[tuple[str, int], dict[str, Trials]] = {}
    for results in parts:
        names = {
            label_of(name, own_parameters(name, parameters)): (name, parameters)
            for name, parameters in results.experiment.policies
        }
        groups = [named.group for named in results.experiment.instances]
        # the same instance may have another number in another experiment
        place = [groups[:i].count(group) for i, group in enumerate(groups)]
        kept = results.trials.select(
            "group", "policy", "instance", "trial", "checkpoints", "regret"
        )
        for (group, label), part in kept.group_by(["group", "policy"], maintain_order=True):
            met = part["instance"].n_unique()
            if label not in names or met < groups.count(str(group)):
                continue
            name, parameters = names[label]
            told = told_horizon(name, parameters)
            times = np.array(part["checkpoints"][0].to_list())
            regrets = np.array(part["regret"].to_list())
            places = [place[i] for i in part["instance"].to_list()]
            keys = list(zip(places, part["trial"].to_list(), strict=True))
            for horizon in results.experiment.horizons:
                if told in (None, horizon):
                    at = regrets[:, int(np.searchsorted(times, horizon))].tolist()
                    entry = found.setdefault((str(group), horizon), {})
                    known = entry.setdefault(untold_label(name, parameters), {})
                    known.update(zip(keys, at, strict=True))
    order = list(dict.fromkeys(group for group, _ in found))
    spots = sorted(found, key=lambda spot: (order.index(spot[0]), spot[1]))
    return [GridCell(group, horizon, found[group, horizon]) for group, horizon in spots]


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
    for policy in dict.fromkeys(name for cell in cells for name in cell.regrets):
        ratios = [
            (cell, ratio)
            for cell in cells
            if policy in cell.regrets and (ratio := cell.ratio(policy)) is not None
        ]
        if not ratios:
            continue
        mean, sem = _geometric_mean(ratios)
        same = [
            (cell, ratio)
            for cell, _ in ratios
            if reference in cell.regrets and (ratio := cell.ratio(reference)) is not None
        ]
        beside = _geometric_mean(same)[0] if same else math.nan
        where, worst = max(ratios, key=lambda item: item[1].value)
        fewest = min(len(cell.regrets[policy]) for cell, _ in ratios)
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


def contests(cells: Iterable[GridCell], reference: str) -> list[Contest]:
    """The reference policy against every other one in every cell, on the same noise."""
    raw = []
    for cell in cells:
        for other in cell.regrets if reference in cell.regrets else ():
            if other != reference:
                own, theirs = cell.shared(reference, other)
                if own.size:
                    raw.append((cell, other, paired(theirs - own)))
    corrected = holm([found.p_value for _, _, found in raw])
    return [
        Contest(cell, other, found.mean, found.sem, p)
        for (cell, other, found), p in zip(raw, corrected, strict=True)
    ]
