"""Cells of a grid come from the folders of its experiments."""

from dataclasses import replace

import numpy as np
import pytest

from ossb.experiments.definition import parse
from ossb.experiments.results import Results
from ossb.experiments.run import run
from regret_grid.played import PlayedCell, played_cells, standings


def test_cells_come_from_folders(tmp_path):
    experiment = parse(
        {
            "name": "grid",
            "horizon": 200,
            "horizons": [100, 200],
            "trials": 3,
            "block": 2,
            "policies": [
                "thompson",
                {"name": "lse", "horizon": 100},
                {"name": "lse", "horizon": 200, "slope": 0.2},
            ],
            "instances": [
                {"group": "lines", "structure": "unimodal", "observation": "gaussian", "theta": t}
                for t in ([0.1, 0.5, 0.2], [0.6, 0.5, 0.2])
            ],
        }
    )
    run(experiment, tmp_path / "grid", compiled=False)
    found = played_cells([Results(tmp_path / "grid")])
    assert [(c.group, c.horizon) for c in found] == [("lines", 100), ("lines", 200)]
    assert set(found[0].regrets) == {"thompson", "lse"}  # told 100
    assert set(found[1].regrets) == {"thompson", "lse:slope=0.2"}  # told 200
    curves = Results(tmp_path / "grid").curves
    _, regret = curves["lines", "thompson"]
    assert sorted(found[1].values("thompson")) == sorted(regret[:, -1])
    assert len(found[1].regrets["thompson"]) == 6
    alone = replace(experiment, instances=experiment.instances[1:], policies=(("imed", {}),))
    run(alone, tmp_path / "alone", compiled=False)
    both = played_cells([Results(tmp_path / name) for name in ("grid", "alone")])
    assert set(both[1].regrets) == {"thompson", "lse:slope=0.2", "imed"}
    for entry in Results(tmp_path / "grid").ledger.index():
        if entry["policy"] == "thompson" and entry["instance"] == 1:
            (tmp_path / "grid" / "parts" / f"{entry['part']}.parquet").unlink()
    assert "thompson" not in played_cells([Results(tmp_path / "grid")])[0].regrets


def test_a_row_is_of_all_trials_and_its_comparison_of_the_shared_ones():
    regrets = {"a": {(0, 0): 1.0, (0, 1): 3.0}, "b": {(0, 1): 4.0, (0, 0): 3.0, (0, 2): 8.0}}
    own, other = standings([PlayedCell("g", 10, regrets)], "a", {("g", "b"): 0.5})
    assert (own.trials, own.mean, own.shared, own.difference_sem) == (2, 2.0, 2, 0.0)
    assert (other.trials, other.mean, other.worst, other.cost) == (3, 5.0, 8.0, 0.5)
    assert (other.shared, other.own, other.reference) == (2, 3.5, 2.0)
    assert other.difference_sem == pytest.approx(np.std([2.0, 1.0], ddof=1) / np.sqrt(2))
    apart = PlayedCell("g", 10, {"a": {(0, 0): 1.0}, "b": {(0, 1): 4.0}})
    assert [row.policy for row in standings([apart], "a", {})] == ["a"]
