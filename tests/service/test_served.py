"""A campaign behind a service has the calls of one in process, and answers the same."""

import inspect

import pytest

from ossb import Campaign, Classical
from ossb.campaigns.calls import CampaignCalls
from ossb.errors import Closed, Conflict, InputError, NoCampaign, Told
from ossb.served import ServedCampaign
from service_process import Server

ARMS = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}
STOP = ("delta", "epsilon", "statistic", "threshold", "met", "arm", "runner_up")
CALLS = [name for name in vars(CampaignCalls) if not name.startswith("_")]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    server = Server(f"sqlite:///{folder / 'served.db'}", folder / "log").start()
    yield server.url
    server.stop()


def told(campaign):
    """What a script is answered, but for what differs by design: ids, times, seconds."""
    answers = []
    decisions = campaign.ask(4, key="first")
    assert [d.id for d in campaign.ask(4, key="first")] == [d.id for d in decisions]
    for value, decision in enumerate(decisions):
        answers.append((decision.arm, decision.arm_name, decision.phase))
        answers.append(campaign.tell(decision, value % 2))
        answers.append(campaign.tell(decision.id, value % 2))
    (more, other) = campaign.ask(2, available=[0, 2], lease=60)
    answers.append((more.arm, other.arm))
    answers.append(campaign.tell_many([(more.id, 1), (other.id, 0)]))
    answers.append(campaign.void(more.id))
    answers.append(campaign.import_rows([(0, 1), (1, 0), (1, 1)], "before", once=True))
    answers.append(campaign.import_rows([(0, 1), (1, 0), (1, 1)], "before", once=True))
    answers.append(campaign.add_arm())
    campaign.retire_arm(0)
    answers.append(campaign.switch("ucb1"))
    answers.append(campaign.leader())
    for stop in (campaign.stop(0.1), campaign.stop(epsilon=0.2)):
        # a service says more: what is left, in a sentence
        answers.append({key: stop[key] for key in STOP})
    answers.append({**campaign.rates(), "certificate": None})
    answers.append([entry["arm"] for entry in campaign.history(limit=3)])
    answers.append([entry["status"] for entry in campaign.history(-2)])
    answers.append(len(campaign.history(0, 5)))
    document = campaign.document(0.1, 0.2)
    answers.append({key: document[key] for key in ("plays", "means", "rounds", "retired")})
    answers.append(document["stop"])
    refused = (
        lambda: campaign.tell(decisions[0], 1),
        lambda: campaign.ask(0),
        lambda: campaign.ask(available=[7]),
        lambda: campaign.retire_arm(9),
        lambda: campaign.stop(2.0),
        lambda: campaign.stop(0.1, -1.0),
        lambda: campaign.document(0.0),
    )
    for call in refused:
        with pytest.raises((InputError, Told)) as caught:
            call()
        answers.append((type(caught.value), str(caught.value).replace(decisions[0].id, "ID")))
    campaign.close()
    with pytest.raises(Closed):
        campaign.ask()
    return answers


def test_a_script_is_answered_the_same_in_process_and_behind_a_service(served):
    with Campaign.open("memory://", "script", instance=ARMS, seed=3) as campaign:
        here = told(campaign)
    instance = Classical(observation="bernoulli", n_arms=3)
    with Campaign.open(served, "script", instance=instance, seed=3) as campaign:
        assert isinstance(campaign, ServedCampaign)
        assert told(campaign) == here


def test_both_have_every_call_with_the_same_arguments():
    assert len(CALLS) >= 15
    for name in CALLS:
        wanted = inspect.signature(getattr(CampaignCalls, name)).parameters
        for kind in (Campaign, ServedCampaign):
            found = inspect.signature(getattr(kind, name)).parameters
            assert set(wanted) <= set(found), (kind, name)


def test_pages_are_put_together(served, monkeypatch):
    monkeypatch.setattr("ossb.served.PAGE", 4)
    with Campaign.open(served, "pages", instance=ARMS) as campaign:
        ids = [decision.id for decision in campaign.ask(11)]
        assert [entry["id"] for entry in campaign.history()] == ids
        assert [entry["id"] for entry in campaign.history(2, 7)] == ids[2:9]
        assert [entry["id"] for entry in campaign.history(-6)] == ids[-6:]


def test_what_is_not_there_and_what_differs(served):
    with pytest.raises(NoCampaign, match="give an `instance`"):
        Campaign.open(served, "nowhere")
    Campaign.open(served, "there", instance=ARMS).disconnect()
    with Campaign.open(served, "there") as campaign:
        assert campaign.leader() is None
    with pytest.raises(Conflict):
        Campaign.open(served, "there", instance={**ARMS, "n_arms": 4})
    with pytest.raises(InputError, match="token"):
        Campaign.open("memory://", "there", instance=ARMS, token="secret")
