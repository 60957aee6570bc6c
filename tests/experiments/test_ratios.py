"""Ratios to the best other policy, against hand counts."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ossb.experiments.definition import parse
from ossb.experiments.ratios import GridCell, contests, grid_cells, scores
from ossb.experiments.results import Results
from ossb.experiments.run import run


def cell(group="g", horizon=1000, **regrets):
    return GridCell(
        group,
        horizon,
        {name: {(0, i): float(v) for i, v in enumerate(vs)} for name, vs in regrets.items()},
    )


def test_a_ratio_is_to_the_best_other_policy_on_shared_trials():
    found = cell(a=[1, 3, 2, 2], b=[4, 4, 4, 4], c=[9, 9])
    assert found.ratio("a").value == pytest.approx(0.5)
    assert found.ratio("a").other == "b"
    assert found.ratio("b").value == pytest.approx(2.0)
    assert found.ratio("c").other == "a"
    assert found.ratio("c").value == pytest.approx(4.5)  # 9 / 2, over the first two trials
    assert cell(a=[1.0]).ratio("a") is None


def test_the_error_of_a_ratio_is_that_of_paired_trials():
    rng = np.random.default_rng(0)
    values, wanted = [], []
    for _ in range(400):
        noise = rng.exponential(1.0, 200)
        found = cell(a=2 + noise, b=3 + noise + 0.1 * rng.normal(size=200)).ratio("a")
        values.append(found.value)
        wanted.append(found.sem)
    # 400 draws give a standard deviation to 3.5 %
    assert np.std(values) == pytest.approx(np.mean(wanted), rel=0.15)


def test_scores_are_geometric_means_over_the_cells_a_policy_fits():
    cells = [cell("g", a=[1, 1], b=[2, 2], c=[4, 4]), cell("h", a=[2, 2], b=[1, 1])]
    found = {score.policy: score for score in scores(cells, "a")}
    assert found["a"].mean == pytest.approx(1.0)  # ½ and 2
    assert found["b"].mean == pytest.approx(1.0)
    assert found["c"].mean == pytest.approx(4.0)
    assert found["c"].beside == pytest.approx(0.5)
    assert (found["a"].worst, found["a"].where.group, found["c"].cells) == (2.0, "h", 1)


def test_horizons_of_a_group_add_their_errors_and_groups_do_not():
    rng = np.random.default_rng(1)
    one, two = rng.exponential(1.0, 50) + 1, rng.exponential(1.0, 50) + 3
    alone = scores([cell("g", a=one, b=two)], "a")[0].sem
    same = scores([cell("g", 10, a=one, b=two), cell("g", 100, a=one, b=two)], "a")[0].sem
    apart = scores([cell("g", 10, a=one, b=two), cell("h", 10, a=one, b=two)], "a")[0].sem
    assert same == pytest.approx(alone)
    assert apart == pytest.approx(alone / math.sqrt(2))


def test_contests_are_corrected_for_all_of_the_grid():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(20, 30))
    same = [cell(f"g{i}", a=noise[i], b=noise[i] + rng.normal(size=30)) for i in range(20)]
    assert not any(found.p_value < 0.05 for found in contests(same, "a"))
    clear = contests([*same, cell("clear", a=noise[0], b=noise[0] + 2 + 0.1 * noise[1])], "a")
    assert [found.cell.group for found in clear if found.p_value < 0.05] == ["clear"]
    assert clear[-1].difference == pytest.approx(2.0, abs=0.1)


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
    found = grid_cells([Results(tmp_path / "grid")])
    assert [(c.group, c.horizon) for c in found] == [("lines", 100), ("lines", 200)]
    assert set(found[0].regrets) == {"thompson", "lse"}  # told 100
    assert set(found[1].regrets) == {"thompson", "lse:slope=0.2"}  # told 200
    curves = Results(tmp_path / "grid").curves
    _, regret = curves["lines", "thompson"]
    assert sorted(found[1].values("thompson")) == sorted(regret[:, -1])
    assert len(found[1].regrets["thompson"]) == 6
    alone = replace(experiment, instances=experiment.instances[1:], policies=(("imed", {}),))
    run(alone, tmp_path / "alone", compiled=False)
    both = grid_cells([Results(tmp_path / name) for name in ("grid", "alone")])
    assert set(both[1].regrets) == {"thompson", "lse:slope=0.2", "imed"}
    for entry in Results(tmp_path / "grid").ledger.index():
        if entry["policy"] == "thompson" and entry["instance"] == 1:
            (tmp_path / "grid" / "parts" / f"{entry['part']}.parquet").unlink()
    assert "thompson" not in grid_cells([Results(tmp_path / "grid")])[0].regrets
