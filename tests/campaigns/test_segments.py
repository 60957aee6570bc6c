"""Campaigns over segments that share nothing."""

import numpy as np
import pytest

from ossb.campaigns import Campaign
from ossb.campaigns.snapshots import fingerprint
from ossb.campaigns.storage import open_storage
from ossb.errors import InputError
from ossb.instances import from_dict

BUTTONS = {
    "structure": "classical",
    "observation": "bernoulli",
    "segments": [{"name": "phone", "n_arms": 3}, {"name": "desk", "n_arms": 2}],
}
LINES = {**BUTTONS, "structure": "unimodal"}
RATES = {"phone": [0.2, 0.5, 0.8], "desk": [0.7, 0.3]}


@pytest.fixture
def store(tmp_path):
    found = open_storage(f"sqlite:///{tmp_path / 'campaigns.db'}")
    yield found
    found.close()


def played(store, name, keys, policy, rounds, reopen=0):
    """Arms of some rounds, the campaign opened anew every few of them."""
    rng, arms = np.random.default_rng(5), []
    campaign = Campaign.open(store, name, instance=keys, policy=policy)
    for t in range(rounds):
        if reopen and t % reopen == 0:
            campaign = Campaign(store, name)
        segment = ("phone", "desk")[t % 3 == 0]
        (decision,) = campaign.ask(context=segment)
        arms.append(decision.arm)
        coin = rng.random()
        if t % 4:
            campaign.tell(decision.id, float(coin < RATES[segment][decision.arm[1]]))
    return arms


@pytest.mark.parametrize(
    ("keys", "policy"),
    [
        (BUTTONS, "hgl"),
        (BUTTONS, "thompson"),
        (BUTTONS, "kl-ucb"),
        (BUTTONS, "successive-elimination"),
        (LINES, "osub"),
        (LINES, "top-two"),
    ],
)
def test_a_restart_changes_nothing(store, keys, policy):
    arms = played(store, "whole", keys, policy, 60)
    assert {arm[0] for arm in arms[::3]} == {1}
    assert played(store, "parts", keys, policy, 60, reopen=7) == arms


@pytest.mark.parametrize("policy", ["hgl", "kl-ucb", "imed"])
def test_a_segment_is_played_as_if_it_were_alone(store, policy):
    """What is told of one segment changes nothing in another."""
    both = Campaign.open(store, "both", instance=BUTTONS, policy=policy)
    alone = Campaign.open(
        store, "alone", instance={**BUTTONS, "segments": BUTTONS["segments"][:1]}, policy=policy
    )
    plain = from_dict(BUTTONS).alone("phone")
    own = Campaign.open(store, "own", instance=plain, policy=policy)
    rng = np.random.default_rng(0)
    for _ in range(50):
        (other,) = both.ask(context="desk")
        both.tell(other.id, float(rng.random() < 0.5))
        asked = [both.ask(context=0)[0], alone.ask()[0], own.ask()[0]]
        assert asked[0].arm == asked[1].arm == [0, asked[2].arm]
        value = float(rng.random() < RATES["phone"][asked[2].arm])
        for campaign, decision in zip((both, alone, own), asked, strict=True):
            campaign.tell(decision.id, value)
    assert both.leader()[0] == alone.leader()[0] == [0, own.leader()]


def test_documents_name_segments(store):
    played(store, "two", BUTTONS, "hgl", 90)
    campaign = Campaign(store, "two")
    found = campaign.document()
    names = [entry["arm_name"] for entry in found["arms"]]
    assert names == ["phone: 0", "phone: 1", "phone: 2", "desk: 0", "desk: 1"]
    assert found["leader"] == [[0, 2], [1, 0]]
    assert found["rates"]["value"] > 0.0
    assert {entry["arm"][0] for entry in found["rates"]["rates"]} <= {0, 1}
    assert found["stop"]["met"] is False
    assert len(found["intervals"]["arms"]) == 5
    assert sum(found["phases"].values()) == 90
    assert found["rounds"] == sum(found["decisions"][key] for key in ("told",))
    assert "phone" in repr(campaign)


def test_tells_are_voided_and_leases_end(store):
    now = [0.0]
    campaign = Campaign.open(store, "late", instance=BUTTONS, clock=lambda: now[0])
    asked = [campaign.ask(context=t % 2, lease=5.0)[0] for t in range(6)]
    for decision in asked[:4]:
        campaign.tell(decision.id, 1.0)
    campaign.void(asked[1].id)
    now[0] = 9.0
    assert campaign.expire() == 2
    campaign.tell(asked[5].id, 0.0)
    with campaign._journal.look() as state:
        assert state.tally.clock.tolist() == [4, 2, 2]
        assert state.tally.phases.reshape(3, 3)[1:].sum(axis=0).tolist() == (
            state.tally.phases[:3].tolist()
        )
        kept = fingerprint(state)
    with Campaign(store, "late", lambda: now[0])._journal.look() as state:
        assert fingerprint(state) == kept


def test_data_from_before(store):
    campaign = Campaign.open(store, "log", instance=BUTTONS)
    campaign.import_rows([(["desk", 0], 1.0), ([0, 2], 0.0), (["phone", "1"], 1.0)])
    with campaign._journal.look() as state:
        assert state.tally.clock.tolist() == [3, 2, 1]
    with Campaign(store, "log")._journal.look() as state:
        assert state.tally.clock.tolist() == [3, 2, 1]
    assert campaign.describe()["components"]["counts"] == [0, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("keys", "policy", "message"),
    [
        (BUTTONS, "lin-ucb", "policy.*lin-ucb"),
        ({**BUTTONS, "segments": []}, "hgl", "segments"),
        (
            {
                "structure": "combinatorial",
                "observation": "bernoulli",
                "feedback": "semi_bandit",
                "segments": [{"arm_set": "m_sets", "n_items": 5, "size": 2}] * 1,
            },
            "hgl",
            "segments.*list their arms",
        ),
    ],
)
def test_what_does_not_fit_is_refused(store, keys, policy, message):
    with pytest.raises(InputError, match=message):
        Campaign.open(store, "bad", instance=keys, policy=policy)


def test_bad_asks_are_refused(store):
    campaign = Campaign.open(store, "bad", instance=BUTTONS)
    with pytest.raises(InputError, match=r"context.*be given: one of phone, desk"):
        campaign.ask()
    with pytest.raises(InputError, match="one of phone, desk"):
        campaign.ask(context="tablet")
    with pytest.raises(InputError, match="available"):
        campaign.ask(context="phone", available=[0])
    with pytest.raises(InputError, match="features"):
        campaign.ask(features=[[1.0]])
    with pytest.raises(InputError, match="arm"):
        campaign.retire_arm(0)
    assert campaign.describe()["events"] == 1


def test_a_segment_comes_later(store):
    played(store, "grows", BUTTONS, "hgl", 40)
    campaign = Campaign(store, "grows")
    before = campaign.describe()
    assert campaign.add_context({"name": "tablet", "n_arms": 4}) == 2
    for _ in range(5):
        (decision,) = campaign.ask(context="tablet")
        campaign.tell(decision.id, 1.0)
    after = campaign.describe()
    assert after["plays"][:5] == before["plays"]
    assert sum(after["plays"][5:]) == 5
    with Campaign(store, "grows")._journal.look() as state:
        assert state.tally.clock.tolist()[3] == 5
    assert Campaign(store, "grows").describe() == after
