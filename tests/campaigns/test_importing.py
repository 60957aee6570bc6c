"""Warm starts from logged data."""

import json

import numpy as np
import polars
import pytest

from ossb.campaigns import Campaign, read_rows
from ossb.campaigns.snapshots import fingerprint
from ossb.errors import InputError

GAUSSIAN = {"structure": "classical", "n_arms": 3, "arm_names": ["a", "b", "c"]}
SEMI = {
    "structure": "combinatorial",
    "feedback": "semi_bandit",
    "arms": [[1, 1, 0], [0, 1, 1]],
}


def tally_of(campaign):
    with campaign._journal.look() as state:
        return [leaf.tobytes() for leaf in state.tally]


def test_an_import_is_what_telling_one_by_one_would_be(clock):
    rng = np.random.default_rng(0)
    told = Campaign.open("memory://", "c", instance=GAUSSIAN, policy="thompson", clock=clock)
    rows = []
    for _ in range(50):
        (decision,) = told.ask()
        value = float(rng.normal())
        rows.append((decision.arm, value))
        told.tell(decision.id, value)
    imported = Campaign.open("memory://", "c", instance=GAUSSIAN, policy="thompson", clock=clock)
    assert imported.import_rows(rows, source="log.csv") == 50
    with told._journal.look() as one, imported._journal.look() as other:
        for name in ("counts", "means", "pending", "plays", "clock"):
            assert getattr(one.tally, name).tobytes() == getattr(other.tally, name).tobytes()
    again = Campaign(imported._storage, "c", clock)
    with again._journal.look() as one, imported._journal.look() as other:
        assert fingerprint(one) == fingerprint(other)
    assert imported.import_rows([]) == 0
    imported.ask(3)


def test_files_are_read(tmp_path, clock):
    table = polars.DataFrame({"arm": ["a", "c", "1"], "observation": [0.5, -1.0, 2.0]})
    table.write_csv(tmp_path / "log.csv")
    table.write_parquet(tmp_path / "log.parquet")
    for name in ("log.csv", "log.parquet"):
        rows = read_rows(tmp_path / name)
        assert rows == [("a", 0.5), ("c", -1.0), (1, 2.0)]
        campaign = Campaign.open("memory://", "c", instance=GAUSSIAN, clock=clock)
        campaign.import_rows(rows)
        assert campaign.describe()["means"] == [0.5, 2.0, -1.0]


def test_lists_are_read(tmp_path, clock):
    (tmp_path / "log.csv").write_text('arm,observation\n0,"[1.5, 2]"\n1,"[0, 1]"\n')
    campaign = Campaign.open("memory://", "c", instance=SEMI, clock=clock)
    campaign.import_rows(read_rows(tmp_path / "log.csv"))
    assert campaign.describe()["components"]["means"] == [1.5, 1.0, 1.0]
    polars.DataFrame({"arm": [1], "observation": [[0.0, 3.0]]}).write_parquet(
        tmp_path / "l.parquet"
    )
    campaign.import_rows(read_rows(tmp_path / "l.parquet"))
    assert campaign.describe()["components"]["means"] == pytest.approx([1.5, 2 / 3, 2.0])


def test_semi_bandit_tells_are_lists_and_can_be_taken_back(clock):
    campaign = Campaign.open("memory://", "c", instance=SEMI, clock=clock)
    one, other = campaign.ask(2)
    with pytest.raises(InputError, match="be a list of 2 numbers"):
        campaign.tell(one.id, 1)
    with pytest.raises(InputError, match=r"observation\[1\]"):
        campaign.tell(one.id, [1, "x"])
    campaign.tell(one.id, [1, 2])
    before = tally_of(campaign)
    campaign.tell(other.id, [3.5, 4])
    assert campaign.tell(other.id, [3.5, 4.0]) == "same"
    assert [entry["observation"] for entry in campaign.history()] == [[1, 2], [3.5, 4]]
    assert json.dumps(campaign.history())
    campaign.void(other.id)
    voided = [np.frombuffer(leaf) for leaf in tally_of(campaign)[:2]]
    for ours, theirs in zip(voided, before, strict=False):
        np.testing.assert_allclose(ours, np.frombuffer(theirs))
    assert campaign.history(1)[0]["observation"] is None


def test_duels_are_imported_by_pair(clock):
    keys = {"structure": "dueling", "n_items": 3}
    campaign = Campaign.open("memory://", "c", instance=keys, clock=clock)
    campaign.import_rows([([0, 2], 1), ([1, 1], None), ([1, 2], 0)])
    assert campaign.describe()["components"]["counts"] == [0, 1, 1]
    assert campaign.describe()["rounds"] == 3


@pytest.mark.parametrize(
    ("keys", "row", "field"),
    [
        (GAUSSIAN, (3, 0.0), "rows[0].arm"),
        (GAUSSIAN, ("d", 0.0), "rows[0].arm"),
        (GAUSSIAN, ([0, 1], 0.0), "rows[0].arm"),
        (GAUSSIAN, (None, 0.0), "rows[0].arm"),
        (GAUSSIAN, (0, "x"), "rows[0].observation"),
        (GAUSSIAN, (0, float("nan")), "rows[0].observation"),
        ({"structure": "dueling", "n_items": 3}, ([2, 0], 1), "rows[0].arm"),
        ({"structure": "dueling", "n_items": 3}, ([0, 1], 2), "rows[0].observation"),
    ],
)
def test_bad_rows_are_named_and_change_nothing(keys, row, field, clock):
    campaign = Campaign.open("memory://", "c", instance=keys, clock=clock)
    before = campaign.number
    with pytest.raises(InputError) as caught:
        campaign.import_rows([row])
    assert caught.value.field == field
    assert campaign.number == before


def test_a_misspelt_arm_is_answered_with_the_nearest(clock):
    keys = {"structure": "classical", "arm_names": ["green", "blue"], "n_arms": 2}
    campaign = Campaign.open("memory://", "c", instance=keys, clock=clock)
    with pytest.raises(
        InputError, match=r"^did you mean 'green'\? .* of an arm, got gren$"
    ) as said:
        campaign.import_rows([("blue", 0.0), ("gren", 0.0)])
    assert said.value.field == "rows[1].arm"


@pytest.mark.parametrize("text", [None, "", "arm,value\n0,1\n"])
def test_bad_files_are_named(tmp_path, text):
    path = tmp_path / "log.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_rows(path)
    assert caught.value.field == "file"
