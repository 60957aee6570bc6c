"""Campaigns in which whoever asks says from where."""

import numpy as np
import pytest

from contextual_instances import CONTEXTS, EXAMPLE
from ossb.campaigns import Campaign
from ossb.campaigns.rows import read_rows
from ossb.campaigns.storage import open_storage
from ossb.errors import InputError
from ossb.structures.linear import Linear

TWO = Linear(contexts=EXAMPLE["contexts"], sigma=0.5)
POLICIES = ["hgl", "ossb", "solid", "glm-ucb", "greedy", "lin-ucb", "oful", "top-two"]
POLICIES += ["linear-thompson"]


@pytest.fixture
def store(tmp_path):
    found = open_storage(f"sqlite:///{tmp_path / 'campaigns.db'}")
    yield found
    found.close()


def played(store, name, policy, rounds, reopen=0):
    """Arms of some rounds, the campaign opened anew every few of them."""
    rng, arms = np.random.default_rng(4), []
    truth = Linear(**EXAMPLE, sigma=0.5)
    campaign = Campaign.open(store, name, instance=TWO, policy=policy)
    for t in range(rounds):
        if reopen and t % reopen == 0:
            campaign = Campaign(store, name)
        (decision,) = campaign.ask(context=("a", 1)[t % 2])
        arms.append(decision.arm)
        mean = truth.rewards[truth.position(decision.arm)]
        if t % 5:  # the others stay on their way
            campaign.tell(decision.id, float(mean + 0.5 * rng.normal()))
    return arms


@pytest.mark.parametrize("policy", POLICIES)
def test_asks_are_answered_from_their_context_and_after_a_restart(store, policy):
    arms = played(store, "whole", policy, 40)
    assert [arm[0] for arm in arms] == [0, 1] * 20
    assert played(store, "in parts", policy, 40, reopen=7) == arms


def test_a_campaign_plays_what_a_simulation_would(store):
    plain = Linear(arms=EXAMPLE["contexts"][0]["arms"], sigma=0.5)
    alone = Linear(contexts=EXAMPLE["contexts"][:1], sigma=0.5)
    first = Campaign.open(store, "plain", instance=plain)
    second = Campaign.open(store, "one context", instance=alone)
    for t in range(30):
        a, (b,) = first.ask()[0], second.ask(context="a") if t % 2 else second.ask()
        assert [0, a.arm] == b.arm
        first.tell(a.id, 0.1 * a.arm)
        second.tell(b.id, 0.1 * a.arm)
    assert (first.best(), second.best()[1]) == (first.best(), first.best())


def test_documents_name_contexts(store):
    played(store, "two", "hgl", 60)
    campaign = Campaign(store, "two")
    stands = campaign.describe()
    assert [entry["arm_name"] for entry in stands["arms"]][:4] == ["a: 0", "a: 1", "a: 2", "b: 0"]
    assert sum(stands["plays"]) == 48
    assert campaign.leader() == [[0, 0], [1, 0]]
    stop = campaign.stop()
    assert (stop["met"], stop["arm"]) == (False, None)
    assert "contexts" in stop["reason"]
    rates = campaign.rates()
    assert rates["value"] == 0.0
    assert rates["best_arm"] == [[0, 0], [1, 0]]
    assert "a: 0" in repr(campaign)


def test_a_key_is_of_one_context(store):
    campaign = Campaign.open(store, "two", instance=TWO)
    (first,) = campaign.ask(key="k", context="b")
    assert campaign.ask(key="k", context=1) == [first]
    with pytest.raises(InputError, match=r"context.*be b, as for this key before"):
        campaign.ask(key="k", context="a")


def test_tells_may_be_voided_and_leases_end(store):
    campaign = Campaign.open(store, "two", instance=TWO)
    asked = [campaign.ask(context=t % 2)[0] for t in range(6)]
    for decision in asked[:4]:
        campaign.tell(decision.id, 1.0)
    assert campaign.void(asked[0].id) == "voided"
    assert campaign.ask(context="a")[0].arm[0] == 0
    assert campaign.describe()["rounds"] == 3


def test_data_from_before_names_arms_by_pairs_or_in_full(store):
    campaign = Campaign.open(store, "two", instance=TWO)
    campaign.import_rows([([0, 2], 0.5), (["b", 1], 0.25), (["1", "1"], 0.75)])
    stands = campaign.describe()
    assert stands["components"]["counts"] == [0, 0, 1, 0, 2]
    assert stands["means"][4] == 0.5
    with pytest.raises(InputError, match=r"rows\[0\]\.arm.*arm of context b"):
        campaign.import_rows([([1, 2], 0.5)])


def test_a_file_may_have_a_column_of_contexts(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text("context,arm,observation\na,2,0.5\nb,0,1.5\n")
    assert read_rows(file) == [(["a", "2"], 0.5), (["b", "0"], 1.5)]
    file.write_text("arm,observation\n007,0.5\n")
    assert read_rows(file) == [("007", 0.5)]


@pytest.mark.parametrize(
    ("context", "message"),
    [(None, "context.*be given: one of a, b"), (2, "below 2"), ("c", "one of a, b"), (-1, "least")],
)
def test_a_context_is_named_and_there(store, context, message):
    campaign = Campaign.open(store, "two", instance=TWO)
    with pytest.raises(InputError, match=message):
        campaign.ask(context=context)
    assert campaign.describe()["events"] == 1


def test_where_there_are_none_there_is_none_to_name(store):
    campaign = Campaign.open(store, "plain", instance=Linear(arms=[[1.0], [2.0]], sigma=1.0))
    with pytest.raises(InputError, match=r"context.*left out"):
        campaign.ask(context="a")


def test_generalised_linear_arms_with_few_asks(store):
    campaign = Campaign.open(store, "clicks", instance=CONTEXTS["logistic"], policy="glm-ucb")
    for t in range(20):
        (decision,) = campaign.ask(context=t % 2)
        campaign.tell(decision.id, float(t % 3 == 0))
    assert len(campaign.leader()) == 2


def test_a_context_comes_later_and_what_was_learnt_is_kept(store):
    played(store, "grows", "hgl", 30)
    campaign = Campaign(store, "grows")
    before = campaign.describe()
    assert campaign.add_context({"name": "c", "arms": [[0.5, 0.5], [1.0, 1.0]]}) == 2
    (decision,) = campaign.ask(context="c")
    assert decision.arm[0] == 2
    campaign.tell(decision.id, 0.1)
    after = campaign.describe()
    assert after["components"]["counts"][:5] == before["components"]["counts"]
    assert after["rounds"] == before["rounds"] + 1
    again = Campaign(store, "grows")
    assert again.describe() == after
    assert [arm[0] for arm in again.leader()] == [0, 1, 2]
    bad = [({"name": "c", "arms": [[1, 1]]}, r"context\.name"), ({"arms": [[1]]}, r"context\.arms")]
    for context, message in bad:
        with pytest.raises(InputError, match=message):
            campaign.add_context(context)
    plain = Campaign.open(store, "plain", instance=Linear(arms=[[1.0], [2.0]], sigma=1.0))
    with pytest.raises(InputError, match="context"):
        plain.add_context({"arms": [[1.0]]})


def test_a_context_joins_shared_arms(store):
    """With effects of their own a context more brings features that nothing is known of yet."""
    shared = Linear(
        arms=[[1.0, 0.0], [0.0, 1.0]], interaction="effects", contexts=[{}, {}], sigma=1.0
    )
    campaign = Campaign.open(store, "shared", instance=shared)
    for t in range(10):
        campaign.tell(campaign.ask(context=t % 2)[0].id, 0.1 * t)
    assert campaign.add_context({"name": "late"}) == 2
    assert campaign.ask(context="late")[0].arm[0] == 2
    assert campaign.describe()["rounds"] == 10


@pytest.mark.parametrize("policy", ["hgl", "top-two", "ossb", "linear-thompson"])
def test_an_ask_may_leave_arms_of_its_context_out(store, policy):
    rng, truth = np.random.default_rng(2), Linear(**EXAMPLE, sigma=0.5)
    campaign = Campaign.open(store, "fewer", instance=TWO, policy=policy)
    for t in range(40):
        if t % 7 == 0:
            campaign = Campaign(store, "fewer")
        wanted = [[2, 1], [0, 2], None, np.array([1]), {2}][t % 5]
        context = "b" if wanted is None else "a"
        (decision,) = campaign.ask(context=context, available=wanted)
        assert decision.arm[0] == (wanted is None)
        assert wanted is None or decision.arm[1] in wanted
        campaign.tell(
            decision.id, float(truth.rewards[truth.position(decision.arm)]) + rng.normal()
        )
    assert campaign.describe()["rounds"] == 40
    assert len(campaign.leader()) == 2


def test_what_is_left_out_is_named_as_in_its_context(store):
    named = {"arms": [[1, 0], [0, 1], [1, 1]], "arm_names": ["news", "sport", "weather"]}
    contexts = [{"name": "phone", "available": [0, 2]}, {"name": "desk"}]
    campaign = Campaign.open(store, "names", instance=Linear(**named, contexts=contexts, sigma=1.0))
    (decision,) = campaign.ask(context="phone", available=["weather"], key="k")
    assert decision.arm == [0, 2]
    assert campaign.ask(context="phone", available=[2], key="k")[0].id == decision.id
    with pytest.raises(InputError, match="hold phone: weather, which this key"):
        campaign.ask(context="phone", available=[0], key="k")
    for wrong, message in (
        (["sport"], r"available\[0\].*an arm of context phone"),
        ([1], r"available\[0\].*an arm of context phone"),
        ([0, True], r"available\[1\]"),
        ([], "`available` must hold at least one arm"),
        ("weather", "`available` must be a list of arms"),
    ):
        with pytest.raises(InputError, match=message):
            campaign.ask(context="phone", available=wrong)
    with pytest.raises(InputError, match="be given: one of phone, desk"):
        campaign.ask(available=[0])
    with pytest.raises(InputError, match="arms in contexts are retired nowhere"):
        campaign.retire_arm(0)
    campaign.tell(decision.id, 1.0)
    (decision,) = campaign.ask(features=[[0.0, 2.0]])
    campaign.tell(decision.id, 0.0)  # rows from elsewhere tell of listed arms too
    assert campaign.ask(context="desk", available=["sport"])[0].arm == [1, 1]
