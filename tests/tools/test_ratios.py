"""Ratios to the best other policy, against hand counts."""

import math

import numpy as np
import pytest

from ossb.experiments.statistics import paired
from regret_grid.played import PlayedCell, standings
from regret_grid.ratios import contests, grid_cells, scores


def cell(group="g", horizon=1000, **regrets):
    """A cell of regrets by policy, with ``a`` for the reference."""
    trials = {name: {(0, i): float(v) for i, v in enumerate(vs)} for name, vs in regrets.items()}
    return grid_cells(standings([PlayedCell(group, horizon, trials)], "a", {}), "a")[0]


def test_a_ratio_is_to_the_best_other_policy_on_shared_trials():
    found = cell(a=[1, 3, 2, 2], b=[4, 4, 4, 4], c=[9, 9])
    assert found.ratio("a").value == pytest.approx(0.5)
    assert found.ratio("a").other == "b"
    assert found.ratio("b").value == pytest.approx(2.0)
    assert found.ratio("c").other == "a"
    assert found.ratio("c").value == pytest.approx(4.5)  # 9 / 2, over the first two trials
    assert cell(a=[1.0]).ratio("a") is None
    assert cell(a=[0.0, 0.0], b=[1.0, 2.0]).ratio("b") is None  # over nothing


def test_two_others_are_compared_through_the_reference():
    found = cell(a=[4, 2, 9, 9], b=[1, 1], c=[4, 4, 9, 9])
    assert found.ratio("c").other == "b"
    assert found.ratio("c").value == pytest.approx((26 / 24) / (2 / 6))
    assert found.ratio("a").value == pytest.approx(3.0)


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


def test_a_contest_is_that_of_paired_trials():
    rng = np.random.default_rng(3)
    own = rng.exponential(1.0, 40)
    other = own + rng.normal(0.3, 1.0, 40)
    (found,) = contests([cell(a=own, b=other)], "a")
    assert found[2:5] == pytest.approx(paired(other - own))
    assert found.paired


def test_cells_without_the_reference_do_not_count():
    rows = cell("g", 10, a=[1, 2], b=[2, 3]).standings
    assert grid_cells([rows["b"]], "a") == []
    assert [c.horizon for c in grid_cells(rows.values(), "a")] == [10]
