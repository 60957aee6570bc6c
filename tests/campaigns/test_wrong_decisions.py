"""A policy that goes wrong in a campaign: an error that names it, and nothing in the journal."""

from dataclasses import replace

import pytest

from ossb.campaigns import Campaign, open_storage
from ossb.campaigns.snapshots import fingerprint
from ossb.campaigns.storage.memory import MemoryStorage
from ossb.errors import InputError, PolicyError
from ossb.policies import POLICIES
from ossb.service.app import Service
from ossb.tally import EXPLOIT, Decision
from service_calls import Local
from wrong_policies import Met, OnSets, Plain, Raising, Wrong

BERNOULLI = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}
SETS = {
    "structure": "combinatorial",
    "feedback": "semi_bandit",
    "observation": "bernoulli",
    "arm_set": "m_sets",
    "n_items": 5,
    "size": 2,
}


@pytest.fixture
def storage():
    return MemoryStorage()


@pytest.fixture
def called(monkeypatch):
    """Puts a policy among those of packages that are installed."""

    def put(policy, **changes):
        kind = replace(
            POLICIES["ucb1"],
            name="mine",
            build=lambda instance, **parameters: policy,
            parameters={},
            structures=("classical", "combinatorial"),
            fits=lambda instance: None,
            by_numbers=False,
            **changes,
        )
        monkeypatch.setitem(POLICIES._loaded, "mine", kind)
        monkeypatch.setitem(POLICIES._added, "mine", None)
        return "mine"

    return put


def print_of(campaign):
    with campaign._journal.look() as state:
        return fingerprint(state)


def refused(campaign, storage, said, **options):
    """An ask that is refused, with nothing changed."""
    before, number = print_of(campaign), storage.last("c")
    for _ in range(2):
        with pytest.raises(PolicyError) as caught:
            campaign.ask(**options)
        assert said in str(caught.value)
        assert str(caught.value).startswith("policy 'mine' in round ")
        assert (print_of(campaign), storage.last("c")) == (before, number)


WRONG = {
    "below": (Decision(-1, EXPLOIT), "`arm` must be 0, …, 2, got -1"),
    "above": (Decision(3, EXPLOIT), "`arm` must be 0, …, 2, got 3"),
    "far": (Decision(900_000, EXPLOIT), "`arm` must be 0, …, 2, got 900000"),
    "phase": (Decision(0, 3), "2 (explore), got 3"),
    "nothing": (None, "`select` must return a Decision(arm, phase), got None"),
    "real": (Decision(1.0, EXPLOIT), "`arm` must be a whole number, got 1.0"),
    "tuple": ((0, 1, 2), "got (0, 1, 2)"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_decision_changes_nothing(case, called, storage, clock):
    answer, said = WRONG[case]
    policy = called(Plain(answer, round=4))
    campaign = Campaign.open(storage, "c", instance=BERNOULLI, policy=policy, clock=clock)
    first = campaign.ask(2)
    refused(campaign, storage, "in round 4: ", n=3)
    refused(campaign, storage, said, n=3)
    campaign.tell(first[0].id, 1)
    assert [decision.arm for decision in campaign.ask(1)] == [0]
    refused(campaign, storage, said)


@pytest.mark.parametrize("policy", [Wrong(3), Raising()])
def test_a_campaign_that_cannot_be_played_is_not_created(policy, called, storage, clock):
    with pytest.raises(InputError, match=r"^`policy` must have parameters that it can be played"):
        Campaign.open(storage, "c", instance=BERNOULLI, policy=called(policy), clock=clock)
    assert storage.last("c") == 0


def test_a_failure_names_policy_and_round(called, storage, clock):
    policy = called(Raising(round=3))
    campaign = Campaign.open(storage, "c", instance=BERNOULLI, policy=policy, clock=clock)
    campaign.ask(2)
    refused(campaign, storage, "in round 3: `select` failed: ValueError: a fault of its own")


@pytest.mark.parametrize("compiled", [False, True])
def test_a_place_among_fewer_arms(compiled, called, storage, clock):
    policy = called(Wrong(arm=2, round=2))
    campaign = Campaign.open(storage, "c", instance=BERNOULLI, policy=policy, clock=clock)
    if compiled:
        with campaign._journal.look() as state:
            campaign._players.of(state, frozenset({1})).compile()
            campaign._players.of(state, frozenset()).compile()
    assert campaign.ask(1)[0].arm == 0
    refused(campaign, storage, "`arm` must be 0, …, 1, got 2", available=[0, 2])
    assert campaign.ask(1)[0].arm == 2
    campaign.retire_arm(0)
    refused(campaign, storage, "`arm` must be 0, …, 1, got 2")


def turns(*acts):
    """A policy on sets that does one thing after the other, by the round."""

    class Turns(OnSets):
        def select(self, tally, memory, rng):
            round = int(tally.phases.sum())
            return acts[min(round, len(acts) - 1)](memory.table)

    return Turns(None)


def of(*items):
    return lambda table: Decision(table.place(items), EXPLOIT)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (of(0, 1, 2), "got (0, 1, 2)"),
        (of(3, 0), "got (3, 0)"),
        (of(0, 5), "got (0, 5)"),
        (lambda table: Decision(table.place((0, 1)) + 1, EXPLOIT), "`arm` must be 0, …, 0, got 1"),
        (lambda table: (table.place((0, 9)), of(0, 1)(table))[1], "got (0, 9)"),
        (lambda table: Decision(0, 9), "2 (explore), got 9"),
    ],
)
def test_sets_that_are_no_arms(act, said, called, storage, clock):
    policy = called(turns(of(0, 1), act))
    campaign = Campaign.open(storage, "c", instance=SETS, policy=policy, clock=clock)
    assert campaign.ask(1)[0].arm == [0, 1]
    refused(campaign, storage, said)


def test_sets_with_items_that_are_left_out(called, storage, clock):
    # with item 0 left out items 1, …, 4 are called 0, …, 3, and arms met keep their numbers
    policy = called(turns(of(0, 1), lambda table: Decision(0, EXPLOIT), of(0, 3), of(0, 4)))
    campaign = Campaign.open(storage, "c", instance=SETS, policy=policy, clock=clock)
    assert campaign.ask(1)[0].arm == [0, 1]
    said = "`arm` must have no item that is left out, got (0, 1)"
    refused(campaign, storage, said, available=[1, 2, 3, 4])
    assert campaign.ask(1)[0].arm == [0, 1]
    assert campaign.ask(1, available=[1, 2, 3, 4])[0].arm == [1, 4]
    refused(campaign, storage, "`select` failed: IndexError", available=[1, 2, 3, 4])
    assert isinstance(OnSets(None).start(), Met)


def test_what_the_service_answers(called, caplog):
    http = Local(Service(open_storage("memory://")))
    body = {"name": "c", "instance": BERNOULLI, "policy": {"name": called(Raising(round=2))}}
    assert http.post("/v1/campaigns", body).status_code == 201
    assert http.post("/v1/campaigns/c/ask", {}).status_code == 200
    answer = http.post("/v1/campaigns/c/ask", {})
    assert answer.status_code == 500
    said = "policy 'mine' in round 2: `select` failed: ValueError: a fault of its own"
    assert answer.json()["error"] == {"code": "failed", "message": said, "field": None}
    assert "in select" in caplog.text  # the log has where
    assert http.get("/v1/campaigns/c").json()["pending"] == 1
    http.close()
