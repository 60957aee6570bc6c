"""Warm starts from logged data."""

import json

import numpy as np
import pytest

from ossb.campaigns import Campaign
from ossb.campaigns.snapshots import fingerprint
from ossb.errors import InputError

GAUSSIAN = {"structure": "classical", "sigma": 1.0, "n_arms": 3, "arm_names": ["a", "b", "c"]}
SEMI = {
    "structure": "combinatorial",
    "sigma": 1.0,
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
    keys = {"structure": "classical", "sigma": 1.0, "arm_names": ["green", "blue"], "n_arms": 2}
    campaign = Campaign.open("memory://", "c", instance=keys, clock=clock)
    with pytest.raises(
        InputError, match=r"^did you mean 'green'\? .* of an arm, got gren$"
    ) as said:
        campaign.import_rows([("blue", 0.0), ("gren", 0.0)])
    assert said.value.field == "rows[1].arm"


PRICES = {"structure": "classical", "sigma": 1.0, "n_arms": 3, "arm_names": ["1", "2", "3"]}


def test_a_text_that_is_a_name_is_that_arm(clock):
    campaign = Campaign.open("memory://", "c", instance=PRICES, clock=clock)
    campaign.import_rows([("1", 0.0), ("1", 0.0), ("2", 0.0)])
    assert campaign.describe()["plays"] == [2, 1, 0]
    campaign.import_rows([(1, 0.0)])  # a number is a number
    assert campaign.describe()["plays"] == [2, 2, 0]
    with pytest.raises(InputError, match="only names are taken, got 0") as caught:
        campaign.import_rows([("1", 0.0), ("0", 0.0)])
    assert caught.value.field == "rows[1].arm"


def test_a_text_may_be_a_number_where_no_name_looks_like_one(clock):
    keys = {**PRICES, "arm_names": ["9.99", "12.99", "15.90"]}
    campaign = Campaign.open("memory://", "c", instance=keys, clock=clock)
    campaign.import_rows([("15.90", 0.0), ("0", 0.0)])
    assert campaign.describe()["plays"] == [1, 0, 1]
    for text in ("15.9", "3", "-1", "true", "null"):
        with pytest.raises(InputError) as caught:
            campaign.import_rows([(text, 0.0)])
        assert caught.value.field == "rows[0].arm"


SEVERAL = {
    "structure": "polytope",
    "observation": "gaussian",
    "sigma": 1.0,
    "A": [[1.0, 0.0], [0.0, 1.0]],
    "b": [5.0, 5.0],
    "reveals": [[0, 1], [1]],
    "rewards": [[1.0, 0.0], [0.0, 1.0]],
}


def test_an_arm_that_shows_several_components_brings_them_all(clock):
    campaign = Campaign.open("memory://", "c", instance=SEVERAL, policy="hgl", clock=clock)
    campaign.import_rows([(0, [1.0, 2.0]), (1, 4.0)])
    assert campaign.describe()["components"] == {"counts": [1, 2], "means": [1.0, 3.0]}
    for wrong in (1.0, [1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(InputError, match=r"rows\[0\].observation"):
            campaign.import_rows([(0, wrong)])
