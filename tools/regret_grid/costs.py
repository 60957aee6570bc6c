"""What a round costs: CPU time of the cells of an experiment, by group and policy."""

from collections.abc import Iterable
from statistics import median

from ossb.experiments.cells import label_of
from ossb.experiments.results import Results
from ossb.policies.own import own_parameters
from regret_grid.grid import untold_label


def round_costs(parts: Iterable[Results]) -> dict[tuple[str, str], float]:
    """CPU microseconds of a round, by group and policy: the median over the cells played here.

    Compilation is not counted.  A policy that is told the horizon goes by its name without it.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for results in parts:
        names = {
            label_of(name, own_parameters(name, parameters)): untold_label(name, parameters)
            for name, parameters in results.experiment.policies
        }
        seconds = results.ledger.seconds()
        for cell in results.ledger.index():
            if cell["part"] in seconds and cell["policy"] in names:
                first, last = cell["trials"]
                rounds = (last - first) * results.experiment.horizon
                key = cell["group"], names[cell["policy"]]
                found.setdefault(key, []).append(1e6 * seconds[cell["part"]] / rounds)
    return {key: median(costs) for key, costs in found.items()}
