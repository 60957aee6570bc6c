"""Families of drawn instances, and how policies stand on them."""

from pathlib import Path

import numpy as np
import pytest

from ossb.experiments.results import Results
from ossb.experiments.run import run
from regret_grid.drawn import HALVES, drawn_names, drawn_part
from regret_grid.drawn_table import merged, page, read_rows, rows_of, summary, write_rows


def test_every_part_can_be_played_and_its_halves_differ():
    for name in drawn_names():
        if name.startswith(HALVES[0]):
            first = drawn_part(name)
            second = drawn_part(name.replace(HALVES[0], HALVES[1], 1))
            assert first.policies == second.policies
            assert len(first.instances) == len(second.instances) >= 5
            own = {str(named.instance.to_dict()) for named in first.instances}
            others = {str(named.instance.to_dict()) for named in second.instances}
            assert not own & others


def test_instances_are_a_function_of_the_seed():
    first, second = drawn_part("held-out-dueling"), drawn_part("held-out-dueling", 0.5)
    for one, other in zip(first.instances, second.instances, strict=True):
        assert one.instance.to_dict() == other.instance.to_dict()
    assert (first.trials, second.trials) == (50, 25)


def test_the_default_is_beside_every_other_policy(tmp_path, monkeypatch):
    from dataclasses import replace

    experiment = drawn_part("drawn-counts", 0.04, ["hgl", "imed"])
    instances = [*experiment.instances[:2], *experiment.instances[-2:]]
    short = replace(experiment, instances=tuple(instances), horizon=100, horizons=(50, 100))
    run(replace(short, checkpoints=(25, 30, 40, 50, 75, 100)), tmp_path, compiled=False)
    rows = rows_of(Results(tmp_path))
    assert {(row.family, row.horizon, row.policy) for row in rows} == {
        (family, horizon, policy)
        for family in ("Poisson", "exponential")
        for horizon in (50, 100)
        for policy in ("hgl", "imed")
    }
    assert all(row.half == "drawn" and row.trials == 4 for row in rows)
    assert all(row.ratio == 1.0 and row.error == 0.0 for row in rows if row.policy == "hgl")
    assert all(0.0 <= row.locked <= 1.0 and row.worst >= row.p99 > 0.0 for row in rows)
    assert "4 cells" in summary(rows, "drawn")
    table = tmp_path / "rows.csv"
    write_rows(rows, table)
    kept = read_rows(table)
    assert [row[:6] for row in kept] == [row[:6] for row in rows]
    other = [row._replace(half="held-out") for row in rows]
    assert merged(kept, other) == [*kept, *other]
    assert merged([*kept, *other], rows) == [*rows, *other]
    assert page([*rows, *other]).count("4 cells") == 2


def test_the_page_is_of_the_table_that_is_kept():
    docs = Path(__file__).parents[2] / "docs"
    kept = page(read_rows(docs / "regret-drawn.csv"))
    assert (docs / "regret" / "drawn.md").read_text("utf-8") == kept


def test_a_run_that_only_loses_is_locked():
    from regret_grid.drawn_table import _locked

    class Three:
        n_arms = 3
        gaps = np.array([0.0, 0.5, 1.0])

    late = np.array([[10.0, 15.0, 20.0], [10.0, 15.0, 19.9], [0.0, 0.0, 0.0]])
    assert _locked(late, np.array([50, 60, 70]), Three()).tolist() == [True, False, False]


@pytest.mark.parametrize("half", HALVES)
def test_unimodal_draws_are_unimodal(half):
    for named in drawn_part(f"{half}-unimodal").instances:
        falls = np.diff(named.instance.theta) < 0
        assert not (falls[:-1] & ~falls[1:]).any()
