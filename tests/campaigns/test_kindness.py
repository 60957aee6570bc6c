"""What is meant is taken: decisions as they were answered, rows as arrays and tables."""

import numpy as np
import pytest

import ossb
from ossb.campaigns import Campaign, Unknown
from ossb.errors import InputError
from ossb.structures.classical import Classical
from ossb.structures.dueling import Dueling

ARMS = Classical(observation="bernoulli", n_arms=3)
ROWS = [(0, 1.0), (2, 0.0), (1, 1.0)]


@pytest.fixture
def campaign():
    with Campaign.open("memory://", "c", instance=ARMS) as found:
        yield found


def test_a_decision_is_told_as_it_was_answered(campaign):
    first, second = campaign.ask(2)
    assert campaign.tell(first, 1) == "recorded"
    assert campaign.tell(first.id, 1) == "same"
    assert campaign.tell_many([(second, 0), (first, 1)]) == ["recorded", "same"]
    with pytest.raises(Unknown, match="'nope'"):
        campaign.tell("nope", 1)


@pytest.mark.parametrize(
    "rows",
    [
        np.array(ROWS),
        np.array([[0, 1], [2, 0], [1, 1]]),
        [np.array([0, 1]), np.array([2, 0]), np.array([1, 1])],
        {"arm": [0, 2, 1], "observation": [1, 0, 1]},
        {"arm": np.array([0, 2, 1]), "observation": np.array([1.0, 0.0, 1.0])},
        [{"arm": arm, "observation": value} for arm, value in ROWS],
    ],
    ids=["floats", "integers", "arrays", "columns", "columns of arrays", "named rows"],
)
def test_rows_may_be_arrays_and_tables(campaign, rows):
    assert campaign.import_rows(rows) == 3
    with Campaign.open("memory://", "d", instance=ARMS) as plain:
        plain.import_rows(ROWS)
        assert campaign.describe()["means"] == plain.describe()["means"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"arm": [0, 1], "observation": [1]}, "`rows` must have `arm` and `observation`"),
        ({"arm": [0], "value": [1]}, "`rows` must have `arm` and `observation`"),
        ([{"arm": 0}], r"`rows\[0\]` must be an arm and an observation"),
        ([{"arm": 0, "observation": 1}, (0, 1)], r"`rows\[1\]` must be an arm and an observation"),
        (np.array([[0.5, 1.0]]), r"must be a whole number, got 0.5"),
        (np.array([[np.nan, 1.0]]), r"must be a whole number"),
        (np.array([1.0, 2.0]), r"`rows\[0\]` must be an arm and an observation"),
        (np.zeros((2, 3)), r"`rows\[0\]` must be an arm and an observation"),
    ],
)
def test_what_is_no_table_of_rows_is_refused(campaign, rows, said):
    with pytest.raises(InputError, match=said):
        campaign.import_rows(rows)
    assert campaign.describe()["rounds"] == 0


def test_a_number_in_quotes_is_shown_with_them(campaign):
    decision = campaign.ask()[0]
    with pytest.raises(InputError, match=r"got '0\.5'"):
        campaign.tell(decision, "0.5")
    with pytest.raises(InputError, match="got a lot"):
        campaign.tell(decision, "a lot")


def test_a_confidence_given_for_a_chance_to_be_wrong_is_questioned(campaign):
    with pytest.warns(UserWarning, match=r"did you mean 0.05\?"):
        assert campaign.stop(0.95)["delta"] == 0.95
    assert campaign.stop(0.05)["delta"] == 0.05


def test_who_opens_what_is_not_there_is_told_how_to_create_it():
    with pytest.raises(Unknown, match="no campaign 'nope'; give an `instance` to create one"):
        Campaign.open("memory://", "nope")


def test_arms_that_are_pairs_may_be_imported_as_they_are_written():
    with Campaign.open("memory://", "c", instance=Dueling(n_items=3)) as campaign:
        assert campaign.import_rows({"arm": [[0, 1], [1, 2]], "observation": [1, 0]}) == 2


def test_only_what_is_public_is_listed():
    assert dir(ossb) == sorted(ossb.__all__)
    assert ossb.from_dict({"structure": "classical", "theta": [0, 1]}).n_arms == 2
