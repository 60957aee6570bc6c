"""Rows of a grid: put together, written and read."""

import math
import re
from dataclasses import astuple, replace

import numpy as np
import pytest

from ossb.errors import InputError
from regret_grid.played import PlayedCell, standings
from regret_grid.standings import (
    beside_changed,
    family_of,
    merged,
    read_standings,
    write_standings,
)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    noise = rng.exponential(1.0, 200)
    regrets = {
        name: {(0, i): float(v) for i, v in enumerate(values)}
        for name, values in {"a": 2 + noise, "b": 3 + noise + rng.normal(size=200)}.items()
    }
    return standings([PlayedCell("of two, or three", 1000, regrets)], "a", {})


def test_rows_are_read_as_they_were_written_to_six_digits(rows, tmp_path):
    write_standings(rows, tmp_path / "rows.csv")
    found = read_standings(tmp_path / "rows.csv")
    assert [row.key for row in found] == [("of two, or three", 1000, name) for name in "ab"]
    for row, kept in zip(rows, found, strict=True):
        assert math.isnan(kept.cost)
        assert astuple(kept)[3:8] == pytest.approx(astuple(row)[3:8], rel=1e-5)
        assert astuple(kept)[9:15] == pytest.approx(astuple(row)[9:15], rel=1e-5)
    again = tmp_path / "again.csv"
    write_standings(found, again)
    assert again.read_bytes() == (tmp_path / "rows.csv").read_bytes()


def test_a_row_with_as_many_trials_takes_the_place_of_one_that_was_kept(rows):
    kept, new = rows[1], replace(rows[1], mean=7.0)
    assert merged([kept], [new]) == [new]
    assert merged([kept], [replace(new, trials=199)]) == [kept]
    other = replace(new, horizon=10)
    assert merged([kept], [other]) == [kept, other]


def test_a_row_keeps_its_day_while_it_says_the_same(rows):
    kept = replace(rows[1], played="2026-11-16")
    new = replace(rows[1], played="2026-11-18", cost=2.0)
    assert merged([kept], [new]) == [replace(new, played="2026-11-16")]
    other = replace(new, mean=7.0)
    assert merged([kept], [other]) == [other]


def test_what_is_played_anew_takes_the_place_of_more_trials(rows):
    kept, few = rows[1], replace(rows[1], mean=7.0, trials=3)
    assert merged([kept], [few], ["a"]) == [kept]
    assert merged([kept], [few], ["b"]) == [few]


def test_policies_without_their_parameters():
    labels = ["hgl", "hgl:front=0.0", "mine:Mine", "mine:Mine:rate=2.0,other=1.0"]
    assert [family_of(label) for label in labels] == ["hgl", "hgl", "mine:Mine", "mine:Mine"]


def test_kept_rows_are_set_beside_a_reference_that_has_changed(rows):
    before, other = rows
    changed = replace(before, mean=1.5, own=1.5, reference=1.5, sem=0.1, trials=150)
    elsewhere = replace(other, horizon=10)
    variant = replace(before, policy="a:front=3.0")
    found = beside_changed([before, variant, other, elsewhere], [changed], "a")
    assert found[1:] == [elsewhere]  # what was kept of the old rule is gone
    assert found[0].key == other.key
    assert (found[0].own, found[0].own_sem) == (other.mean, other.sem)
    assert (found[0].reference, found[0].reference_sem, found[0].shared) == (1.5, 0.1, 150)
    assert found[0].difference_sem == pytest.approx(math.hypot(other.sem, 0.1))
    assert not found[0].paired
    assert beside_changed(rows, [other], "a") == rows  # not played anew: as it was


def test_the_error_of_a_relative_regret_is_that_of_paired_trials(rows):
    row = rows[1]
    assert row.relative == row.own / row.reference
    # of the mean of b − relative · a, over that of a, as a share
    spread = row.own_sem**2 + (row.relative * row.reference_sem) ** 2
    product = (row.own_sem**2 + row.reference_sem**2 - row.difference_sem**2) / 2
    wanted = math.sqrt(spread - 2 * row.relative * product) / row.own
    assert row.relative_error == pytest.approx(wanted)
    assert rows[0].relative_error == pytest.approx(0.0, abs=1e-9)
    assert replace(row, own=0.0).relative_error == 0.0


def test_a_row_says_whether_its_noise_is_shared(rows):
    row = rows[1]
    assert row.paired
    assert not replace(row, difference_sem=math.hypot(row.own_sem, row.reference_sem)).paired


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must begin with group,horizon,policy"),
        ("group,horizon\n", "must begin with group,horizon,policy"),
        ("{head}\ng,1000,a,5\n", "line 2` must have 16 entries"),
        ("{head}\ng,1000,a,x,1,1,1,1,1,1,1,1,1,1,1\n", "line 2` must have 16 entries, numbers"),
    ],
)
def test_other_files_are_refused(rows, tmp_path, text, message):
    write_standings(rows, tmp_path / "rows.csv")
    head = (tmp_path / "rows.csv").read_text("utf-8").splitlines()[0]
    (tmp_path / "rows.csv").write_text(text.format(head=head), "utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        read_standings(tmp_path / "rows.csv")
