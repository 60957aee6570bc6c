"""Regrets in the cells of a grid, a group of instances at one horizon each, from its results."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ossb.experiments.cells import label_of
from ossb.experiments.results import Results
from ossb.experiments.statistics import standard_error, summary
from ossb.policies.own import own_parameters
from regret_grid.grid import told_horizon, untold_label
from regret_grid.standings import Standing

Trials = dict[tuple[int, int], float]  # regret by (instance of the group, trial)


@dataclass(frozen=True)
class PlayedCell:
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


def played_cells(parts: Iterable[Results]) -> list[PlayedCell]:
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
    return [PlayedCell(group, horizon, found[group, horizon]) for group, horizon in spots]


def standings(
    cells: Iterable[PlayedCell], reference: str, costs: Mapping[tuple[str, str], float]
) -> list[Standing]:
    """A row for each policy that shares trials with the reference policy, in each cell."""
    rows = []
    for cell in cells:
        for policy in cell.regrets if reference in cell.regrets else ():
            own, beside = cell.shared(policy, reference)
            if own.size:
                all_of_it = summary(cell.values(policy))
                rows.append(
                    Standing(
                        cell.group,
                        cell.horizon,
                        policy,
                        all_of_it.trials,
                        all_of_it.mean,
                        all_of_it.sem,
                        all_of_it.p99,
                        all_of_it.worst,
                        costs.get((cell.group, policy), float("nan")),
                        own.size,
                        float(own.mean()),
                        float(standard_error(own)),
                        float(beside.mean()),
                        float(standard_error(beside)),
                        float(standard_error(own - beside)),
                    )
                )
    return rows
