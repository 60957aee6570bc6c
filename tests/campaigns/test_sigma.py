"""A campaign of Gaussian observations is told their noise; those from before had one of 1."""

import pytest

from ossb.campaigns import Campaign, Conflict, open_storage
from ossb.campaigns.definition import NoSigma
from ossb.campaigns.events import GENESIS, chained
from ossb.campaigns.snapshots import fingerprint
from ossb.campaigns.storage.memory import MemoryStorage
from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.service.app import Service
from ossb.simulation.seeds import instance_key
from ossb.structures.classical import Classical
from service_calls import Local

ARMS = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
GAUSSIAN = {
    "unsaid": {"structure": "classical", "n_arms": 2},
    "classical": {"structure": "classical", "observation": "gaussian", "n_arms": 2},
    "linear": {"structure": "linear", "arms": ARMS},
    "index": {
        "structure": "generalized_linear",
        "arms": ARMS,
        "link": "logistic",
        "observes": "index",
    },
    "lipschitz": {"structure": "lipschitz", "points": [0, 1, 2], "lipschitz_constant": 1},
    "unimodal": {"structure": "unimodal", "n_arms": 3},
    "finite": {"structure": "finite", "parameters": [[1.0, 0.0], [0.0, 1.0]]},
    "polytope": {"structure": "polytope", "A": [[1.0, 1.0]], "b": [2.0]},
    "sets": {
        "structure": "combinatorial",
        "feedback": "semi_bandit",
        "arm_set": "m_sets",
        "n_items": 3,
        "size": 2,
    },
}
OTHERS = {
    "bernoulli": {"structure": "classical", "observation": "bernoulli", "n_arms": 2},
    "dueling": {"structure": "dueling", "observation": "bernoulli", "n_items": 3},
    "reward": {
        "structure": "generalized_linear",
        "observation": "bernoulli",
        "arms": ARMS,
        "link": "logistic",
        "observes": "reward",
    },
}
SAID = "`sigma` must be given for gaussian observations: the standard deviation of one observation"


@pytest.mark.parametrize("case", GAUSSIAN)
def test_it_is_asked_for(case, clock):
    storage = MemoryStorage()
    for instance in (GAUSSIAN[case], from_dict(GAUSSIAN[case])):
        with pytest.raises(InputError) as caught:
            Campaign.open(storage, "c", instance=instance, clock=clock)
        assert (caught.value.field, str(caught.value)[: len(SAID)]) == ("sigma", SAID)
        assert "past data" in str(caught.value)
        assert storage.last("c") == 0


@pytest.mark.parametrize("sigma", [1, 1.0, 0.25])
def test_one_that_is_given_stands_in_the_journal(sigma, clock):
    storage, keys = MemoryStorage(), {**GAUSSIAN["classical"], "sigma": sigma}
    for instance in (keys, from_dict(keys), Classical(n_arms=2, sigma=sigma)):
        campaign = Campaign.open(storage, "c", instance=instance, clock=clock)  # and again
        assert campaign.definition["instance"]["sigma"] == sigma
    with pytest.raises(Conflict, match="another instance"):
        Campaign.open(storage, "c", instance={**keys, "sigma": 7.0}, clock=clock)
    with pytest.raises(NoSigma):
        Campaign.open(storage, "c", instance=GAUSSIAN["classical"], clock=clock)
    campaign.add_arm()
    campaign.retire_arm(0)
    with campaign._journal.look() as state:
        assert state.instance.to_dict()["sigma"] == sigma


@pytest.mark.parametrize("case", OTHERS)
def test_others_have_none(case, clock):
    campaign = Campaign.open("memory://", "c", instance=OTHERS[case], clock=clock)
    assert "sigma" not in campaign.definition["instance"]


def old_journal(clock):
    """A store with a campaign as it was written when σ could be left out."""
    storage = MemoryStorage()
    instance = {**GAUSSIAN["classical"], "sigma": 1.0}
    Campaign.open(storage, "new", instance=instance, policy="thompson", clock=clock)
    (created,) = storage.read("new")
    content = {**created.content, "name": "old", "instance": GAUSSIAN["classical"]}
    event = chained(GENESIS, 1, "created", created.time, content)
    storage.append("old", [event]).result()
    return storage


def test_campaigns_from_before_are_opened_and_played(clock):
    storage = old_journal(clock)
    old = Campaign.open(storage, "old", clock=clock)
    assert "sigma" not in old.definition["instance"]
    for instance in (GAUSSIAN["classical"], {**GAUSSIAN["classical"], "sigma": 1}):
        Campaign.open(storage, "old", instance=instance, policy="thompson", clock=clock)
    other = {**GAUSSIAN["classical"], "sigma": 2}
    with pytest.raises(Conflict):
        Campaign.open(storage, "old", instance=other, policy="thompson", clock=clock)
    new = Campaign.open(storage, "new", clock=clock)
    for value in (0.3, 0.8, -0.1, 1.4):
        decisions = [campaign.ask()[0] for campaign in (old, new)]
        assert decisions[0].arm == decisions[1].arm
        for campaign, decision in zip((old, new), decisions, strict=True):
            campaign.tell(decision.id, value)
    old.add_arm()
    assert old.ask()[0].arm == 2
    with old._journal.look() as state, Campaign(storage, "old")._journal.look() as again:
        assert fingerprint(state) == fingerprint(again)


def test_over_http():
    http = Local(Service(open_storage("memory://")))
    body = {"name": "c", "instance": GAUSSIAN["linear"], "policy": {"name": "hgl"}}
    answer = http.post("/v1/campaigns", body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["code"], error["field"]) == ("bad_input", "instance.sigma")
    assert error["message"].startswith(SAID.replace("`sigma`", "`instance.sigma`"))
    body["instance"] = {**GAUSSIAN["linear"], "sigma": 1}
    assert http.post("/v1/campaigns", body).status_code == 201
    assert http.post("/v1/campaigns", body).status_code == 200
    assert http.get("/v1/campaigns/c").json()["instance"]["sigma"] == 1
    http.close()


def test_whether_a_sigma_of_1_was_given_changes_no_random_number():
    said, unsaid = Classical(theta=[1, 0], sigma=1), Classical(theta=[1, 0])
    assert said.to_dict()["sigma"] == 1.0
    assert "sigma" not in unsaid.to_dict()
    assert from_dict(said.to_dict()).to_dict() == said.to_dict()
    assert instance_key(said.to_dict()) == instance_key(unsaid.to_dict())
    other = Classical(theta=[1, 0], sigma=2).to_dict()
    assert instance_key(other) != instance_key(unsaid.to_dict())
    assert "sigma" not in Classical(observation="bernoulli", n_arms=2, sigma=1.0).to_dict()
