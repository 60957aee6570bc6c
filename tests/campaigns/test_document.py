"""Where a campaign stands, in one document."""

import time

import pytest

from ossb import deadlines
from ossb.campaigns import Campaign, looking
from ossb.campaigns.document import short

TWO = {"structure": "classical", "observation": "gaussian", "sigma": 1.0, "n_arms": 2}


@pytest.fixture
def campaign():
    return Campaign.open("memory://", "first", instance=TWO, policy="ucb1")


def told(campaign, arm, value):
    (decision,) = campaign.ask(available=[arm])
    campaign.tell(decision.id, value)


def test_a_document_is_of_one_moment(campaign, monkeypatch):
    for arm, value in ((0, 1.0), (0, 1.0), (1, 0.0)):
        told(campaign, arm, value)
    whole = looking.bound

    def bound(instance, gap):
        for _ in range(3):  # while rates are worked out the other arm takes the lead
            told(campaign, 1, 100.0)
        return whole(instance, gap)

    monkeypatch.setattr(looking, "bound", bound)
    found = campaign.document()
    assert found["means"] == [1.0, 0.0]
    assert found["leader"] == found["rates"]["best_arm"] == 0
    assert found["stop"]["statistic"] < 10
    assert found["rounds"] == found["timeline"]["rounds"][-1] == 3
    assert found["timeline"]["ends"] == [1, 2, 3]
    assert found["timeline"]["regret"] == [0.0, 0.0, 1.0]
    assert found["exploration"]["regret"] == 1.0
    assert campaign.document()["leader"] == short(campaign)["leader"] == 1


def test_what_is_not_told_costs_nothing(campaign):
    told(campaign, 0, 1.0)
    told(campaign, 1, 0.0)
    campaign.ask(2, available=[1])
    assert campaign.document()["timeline"]["regret"] == [0.0, 1.0, 1.0, 1.0]
    assert campaign.timeline(60, [0.0, 1.0]) == campaign.document()["timeline"]


def test_a_leader_that_takes_too_long_to_find_is_left_out(campaign, monkeypatch):
    """Of a general program it may; what is counted is shown all the same."""
    from ossb.campaigns import document

    def long(view):
        while True:
            time.sleep(0.01)
            deadlines.check()

    monkeypatch.setattr(document, "known_leader", long)
    with deadlines.wanted(time.monotonic() + 0.4, lambda: False):
        assert document.unjudged(campaign, 0.05)["leader"] is None
    with deadlines.wanted(time.monotonic() + 0.4, lambda: False):
        assert document.short(campaign)["leader"] is None
