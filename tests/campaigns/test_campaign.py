"""Asking and telling, on every kind of store."""

import json
import threading

import numpy as np
import pytest

from ossb.campaigns import Campaign, Closed, Conflict, Decided, Told, Unavailable, Unknown
from ossb.campaigns import campaign as campaign_module
from ossb.campaigns.card import card
from ossb.campaigns.snapshots import fingerprint
from ossb.certificates import FORMAT
from ossb.errors import InputError
from ossb.structures.classical import Classical

BERNOULLI = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}
DUELS = {"structure": "dueling", "n_items": 3}


@pytest.fixture
def campaign(storage, clock):
    return Campaign.open(storage, "first", instance=BERNOULLI, policy="hgl", clock=clock)


@pytest.fixture
def duels(clock):
    return Campaign.open("memory://", "duels", instance=DUELS, policy="hgl", clock=clock)


def again(campaign):
    """The same campaign, folded anew."""
    return Campaign(campaign._storage, campaign.name, campaign._clock)


def print_of(campaign):
    with campaign._journal.look() as state:
        return fingerprint(state)


def test_ask_act_tell(campaign):
    for i in range(30):
        (decision,) = campaign.ask()
        assert isinstance(decision, Decided)
        assert decision.arm in (0, 1, 2)
        assert decision.arm_name == str(decision.arm)
        assert decision.phase in ("exploit", "estimate", "explore")
        assert campaign.tell(decision.id, float(decision.arm == 1 or i % 5 == 0)) == "recorded"
    assert campaign.best() == 1
    told = campaign.describe()
    assert sum(told["plays"]) == sum(told["components"]["counts"]) == told["rounds"] == 30
    assert told["pending"] == 0
    assert sum(told["phases"].values()) == 30
    assert print_of(again(campaign)) == print_of(campaign)


def test_names_of_arms_are_used(clock):
    named = Classical(n_arms=2, sigma=1.0, arm_names=["blue", "red"])
    campaign = Campaign.open("memory://", "c", instance=named, policy="ucb1", clock=clock)
    assert [d.arm_name for d in campaign.ask(2)] == ["blue", "red"]
    assert campaign.describe()["arms"][1] == {"arm": 1, "arm_name": "red"}


def test_the_same_value_again_is_the_same_and_another_is_refused(campaign):
    (decision,) = campaign.ask()
    assert campaign.tell(decision.id, 1) == "recorded"
    before = print_of(campaign)
    assert campaign.tell(decision.id, 1.0) == "same"
    with pytest.raises(Told, match="another value"):
        campaign.tell(decision.id, 0)
    assert print_of(campaign) == before == print_of(again(campaign))


def test_minus_zero_is_zero(campaign):
    (decision,) = campaign.ask()
    campaign.tell(decision.id, -0.0)
    assert campaign.tell(decision.id, 0) == "same"


def test_several_tells_are_all_or_nothing(campaign):
    one, other = campaign.ask(2)
    before = print_of(campaign)
    with pytest.raises(InputError, match=r"tells\[1\]\.observation"):
        campaign.tell_many([(one.id, 1), (other.id, 2)])
    with pytest.raises(Unknown, match=r"tells\[1\]\.id"):
        campaign.tell_many([(one.id, 1), ("7-00000000", 1)])
    with pytest.raises(Told):
        campaign.tell_many([(one.id, 1), (one.id, 0)])
    assert print_of(campaign) == before
    answers = campaign.tell_many([(one.id, 1), (other.id, 0), (one.id, 1)])
    assert answers == ["recorded", "recorded", "same"]
    assert campaign.tell_many([]) == []


@pytest.mark.parametrize(
    "observation", [2, -1, 0.5, "1", True, None, [1], float("nan"), float("inf"), 10**400]
)
def test_an_observation_outside_the_family_is_refused(clock, observation):
    campaign = Campaign.open("memory://", "c", instance=BERNOULLI, clock=clock)
    (decision,) = campaign.ask()
    before = print_of(campaign)
    with pytest.raises(InputError, match="observation"):
        campaign.tell(decision.id, observation)
    assert print_of(campaign) == before


@pytest.mark.parametrize("id_", ["", "0", "0-", "0-00000000", "1-x", "٣-abc", "9" * 40, None, 0])
def test_an_id_that_is_not_ours_is_unknown(clock, id_):
    campaign = Campaign.open("memory://", "c", instance=BERNOULLI, clock=clock)
    campaign.ask()
    with pytest.raises(Unknown, match="id"):
        campaign.tell(id_, 1)


def test_a_key_returns_the_same_decisions(campaign):
    first = campaign.ask(3, key="k")
    assert campaign.ask(3, key="k") == first
    assert again(campaign).ask(3, key="k") == first
    assert campaign.ask(3, key="other") != first
    with pytest.raises(InputError, match="be 3, as for this key before"):
        campaign.ask(2, key="k")
    campaign.close()
    assert campaign.ask(3, key="k") == first


def test_old_keys_are_forgotten_in_order(clock, monkeypatch):
    monkeypatch.setattr("ossb.campaigns.state.KEYS", 2)
    campaign = Campaign.open("memory://", "c", instance=BERNOULLI, clock=clock)
    first = campaign.ask(key="a")
    campaign.ask(key="b")
    assert campaign.ask(key="a") == first
    campaign.ask(key="c")
    assert campaign.ask(key="a") != first
    assert print_of(again(campaign)) == print_of(campaign)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"n": 0}, "n"),
        ({"n": -1}, "n"),
        ({"n": 10**9}, "n"),
        ({"n": True}, "n"),
        ({"n": 1.5}, "n"),
        ({"lease": 0}, "lease_seconds"),
        ({"lease": -1}, "lease_seconds"),
        ({"lease": float("nan")}, "lease_seconds"),
        ({"lease": 1e300}, "lease_seconds"),
        ({"lease": "1"}, "lease_seconds"),
        ({"key": ""}, "key"),
        ({"key": "x" * 201}, "key"),
        ({"key": "a\0b"}, "key"),
        ({"key": 7}, "key"),
        ({"available": []}, "available"),
        ({"available": [3]}, "available"),
        ({"available": "01"}, "available"),
        ({"available": [-1]}, "available"),
    ],
)
def test_bad_questions_name_their_field(clock, options, field):
    campaign = Campaign.open("memory://", "c", instance=BERNOULLI, clock=clock)
    before = print_of(campaign)
    with pytest.raises(InputError) as caught:
        campaign.ask(**options)
    assert caught.value.field.split("[")[0] == field
    assert print_of(campaign) == before


def test_pending_decisions_spread(clock):
    """A hundred workers who ask at once do not all explore the same arm."""
    campaign = Campaign.open("memory://", "c", instance=BERNOULLI, policy="hgl", clock=clock)
    first = campaign.ask(3)
    assert sorted(d.arm for d in first) == [0, 1, 2]
    for decision in first:
        campaign.tell(decision.id, 1)
    asked = [campaign.ask()[0].arm for _ in range(99)]
    assert all(asked.count(arm) >= 10 for arm in range(3))
    assert campaign.describe()["plays"] == [1, 1, 1]


def test_too_many_pending_are_refused(clock, monkeypatch):
    monkeypatch.setattr(campaign_module, "MOST_PENDING", 5)
    campaign = Campaign.open("memory://", "c", instance=BERNOULLI, policy="ucb1", clock=clock)
    decisions = campaign.ask(5)
    with pytest.raises(InputError, match="leave at most 5 decisions pending"):
        campaign.ask()
    campaign.tell(decisions[0].id, 1)
    campaign.ask()


def test_a_lease_that_ended_is_seen_before_anybody_asks(campaign, clock):
    early, late = campaign.ask(2, lease=10)
    campaign.tell(late.id, 1)
    campaign.close()
    clock.now += 10
    number, told = campaign.number, campaign.describe()
    assert told["pending"] == 0
    assert told["decisions"] == {"pending": 0, "told": 1, "expired": 1, "voided": 0}
    assert [entry["status"] for entry in campaign.history()] == ["expired", "told"]
    assert campaign.number == number  # looking writes nothing
    assert campaign.tell(early.id, 0) == "recorded"
    assert campaign.describe()["rounds"] == 2


def test_a_lease_that_ends_frees_the_pending_count_only(campaign, clock):
    early, late = campaign.ask(2, lease=10)
    clock.now += 5
    campaign.ask(lease=10)
    assert campaign.describe()["pending"] == 3
    clock.now += 5
    assert campaign.expire() == 2
    assert campaign.expire() == 0
    told = campaign.describe()
    assert told["pending"] == 1
    assert told["decisions"] == {"pending": 1, "told": 0, "expired": 2, "voided": 0}
    assert campaign.tell(late.id, 1) == "recorded"
    assert campaign.tell(late.id, 1) == "same"
    told = campaign.describe()
    assert told["decisions"] == {"pending": 1, "told": 1, "expired": 1, "voided": 0}
    assert told["components"]["counts"][late.arm] == told["plays"][late.arm] == 1
    assert campaign.history()[0]["status"] == "expired"
    assert early.id == campaign.history()[0]["id"]
    assert print_of(again(campaign)) == print_of(campaign)


def test_an_ask_frees_what_is_overdue(campaign, clock):
    campaign.ask(2, lease=1)
    clock.now += 2
    campaign.ask()
    assert campaign.describe()["pending"] == 1


def test_a_short_lease_that_was_told_is_looked_for_once(campaign, clock):
    (short,) = campaign.ask(lease=10)
    campaign.ask(2, lease=1000)
    campaign.tell(short.id, 1)
    clock.now += 11
    campaign.ask(lease=2000)
    with campaign._journal.look() as state:
        assert state.soonest == clock.now - 11 + 1000  # until then nobody goes through them all
    clock.now = state.soonest
    assert campaign.expire() == 2


def test_tells_in_any_order_leave_the_same_counts(clock):
    def run(order):
        campaign = Campaign.open("memory://", "c", instance=BERNOULLI, policy="ucb1", clock=clock)
        decisions = campaign.ask(9)
        for place in order:
            campaign.tell(decisions[place].id, place % 2)
        return campaign.describe()

    forward, backward = run(range(9)), run(reversed(range(9)))
    assert forward["components"]["counts"] == backward["components"]["counts"]
    assert forward["means"] == pytest.approx(backward["means"])


def test_a_voided_tell_is_as_if_never_told(campaign):
    one, other, third = campaign.ask(3)
    campaign.tell(one.id, 1)
    before = campaign.describe()
    campaign.tell(other.id, 0)
    assert campaign.void(other.id) == "voided"
    number = campaign.number
    assert campaign.void(other.id) == "same"
    assert campaign.number == number
    after = campaign.describe()
    for key in ("means", "components", "rounds"):
        assert after[key] == before[key]
    assert after["decisions"]["voided"] == 1
    assert campaign.tell(other.id, 1) == "recorded"
    assert campaign.describe()["components"]["counts"] == [1, 1, 0]
    with pytest.raises(InputError, match="be a decision that was told"):
        campaign.void(third.id)
    with pytest.raises(Unknown):
        campaign.void("nonsense")
    assert print_of(again(campaign)) == print_of(campaign)


def test_voiding_keeps_means_within_their_range(clock):
    campaign = Campaign.open(
        "memory://",
        "c",
        instance={**BERNOULLI, "observation": "bounded", "n_arms": 1},
        policy="ucb1",
        clock=clock,
    )
    decisions = campaign.ask(40)
    for i, decision in enumerate(decisions):
        campaign.tell(decision.id, 1.0 if i else 0.1)
    campaign.void(decisions[0].id)
    assert campaign.describe()["means"][0] <= 1.0
    assert campaign.describe()["means"][0] == pytest.approx(1.0)


def test_closing_ends_asks_and_not_tells(campaign):
    (decision,) = campaign.ask()
    campaign.close()
    campaign.close()
    assert campaign.closed
    with pytest.raises(InputError, match="`context` must be left out"):
        campaign.ask(context=-3)  # wrong in itself, which closing does not hide
    with pytest.raises(InputError, match=r"`available\[0\]` must be at least 0"):
        campaign.ask(available=[-1])
    with pytest.raises(Closed):
        campaign.ask()
    with pytest.raises(Closed):
        campaign.add_arm()
    with pytest.raises(Closed):
        campaign.import_rows([(0, 1)])
    assert campaign.tell(decision.id, 1) == "recorded"
    assert again(campaign).closed


def test_a_campaign_is_found_again(tmp_path, clock):
    url = f"sqlite:///{tmp_path / 'c.db'}"
    with Campaign.open(url, "c", instance=BERNOULLI, seed=4, clock=clock) as campaign:
        asked = campaign.ask(2)
        before = print_of(campaign)
    with Campaign.open(url, "c", clock=clock) as campaign:
        assert print_of(campaign) == before
        assert campaign.tell(asked[0].id, 1) == "recorded"
        assert campaign.definition == {
            "name": "c",
            "instance": {"structure": "classical", "observation": "bernoulli", "n_arms": 3},
            "policy": {"name": "hgl"},
            "seed": 4,
        }
    with Campaign.open(url, "c", instance=BERNOULLI, seed=4) as campaign:
        assert campaign.number == 3
    with pytest.raises(Conflict, match="another seed"):
        Campaign.open(url, "c", instance=BERNOULLI, seed=5)
    with pytest.raises(Conflict, match="another policy"):
        Campaign.open(url, "c", instance=BERNOULLI, policy="ucb1", seed=4)
    with pytest.raises(Unknown, match="there is no campaign 'd'"):
        Campaign.open(url, "d")
    with pytest.raises(Unavailable):
        campaign.ask()


def test_the_nearest_name_is_said(storage, clock):
    Campaign.open(storage, "headlines", instance=BERNOULLI, clock=clock)
    with pytest.raises(Unknown, match=r"no campaign 'headline' \(did you mean 'headlines'\?\)"):
        Campaign.open(storage, "headline")


def test_a_prompt_shows_one_line(tmp_path, clock):
    url = f"sqlite:///{tmp_path / 'c.db'}"
    keys = {**BERNOULLI, "arm_names": ["red", "green", "blue"]}
    with Campaign.open(url, "first", instance=keys, clock=clock) as campaign:
        campaign.ask()
        assert repr(campaign) == "<Campaign 'first': hgl, 0 told, 1 pending, leader: none yet>"
        campaign.import_rows([("red", 0), ("green", 1), ("blue", 0)])
        assert repr(campaign) == "<Campaign 'first': hgl, 3 told, 1 pending, leader: green>"
        campaign.close()
    shown = "<Campaign 'first': hgl, 3 told, 1 pending, leader: green, closed>"
    assert repr(campaign) == shown  # without its store


def test_the_line_of_a_prompt_names_what_arms_are_made_of(duels):
    (decision,) = duels.ask()
    duels.tell(decision.id, 1)
    first, second = duels.best()
    assert repr(duels).endswith(f" leader: {first} – {second}>")


def test_the_line_of_a_prompt_where_the_policy_is_not_there_any_more(campaign, monkeypatch):
    for decision in campaign.ask(3):
        campaign.tell(decision.id, 1)
    monkeypatch.setattr("ossb.campaigns.ask.player_of", _refused)
    assert repr(again(campaign)).endswith(" leader: unknown>")


def _refused(*_):
    raise InputError("policy", "be installed")


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": ".."}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\0"}, "name"),
        ({"name": "a\u202eb"}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"instance": {**BERNOULLI, "note": "\ud800"}}, "instance.note"),
        ({"instance": {**BERNOULLI, "reward_unit": "a\nb"}}, "instance.reward_unit"),
        ({"instance": {**BERNOULLI, "reward_unit": "x" * 21}}, "instance.reward_unit"),
        ({"instance": {**BERNOULLI, "reward_unit": 3}}, "reward_unit"),
        ({"name": 3}, "name"),
        ({"instance": []}, "instance"),
        ({"instance": {}}, "structure"),
        ({"policy": "nonesuch"}, "policy"),
        ({"policy": {"horizon_factor": 2}}, "policy.name"),
        ({"policy": {"name": "hgl", "epsilon": 2}}, "epsilon"),
        ({"policy": 3}, "policy"),
        ({"policy": "linear-thompson"}, "policy"),
        ({"seed": -1}, "seed"),
        ({"seed": "1"}, "seed"),
    ],
)
def test_bad_definitions_name_their_field(storage, options, field):
    options = {"name": "c", "instance": BERNOULLI, "policy": "hgl", "seed": 0, **options}
    with pytest.raises(InputError) as caught:
        Campaign.open(storage, options.pop("name"), **options)
    assert caught.value.field == field
    assert storage.names() == []


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "../../etc/passwd", "ü ☃", "a'b\"c"])
def test_odd_names_are_names(storage, name):
    Campaign.open(storage, name, instance=BERNOULLI)
    assert Campaign.open(storage, name).name == name


def test_many_threads_on_one_campaign(campaign):
    told = []

    def work():
        for _ in range(25):
            (decision,) = campaign.ask()
            told.append((decision.id, campaign.tell(decision.id, int(decision.arm == 2))))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id_ for id_, _ in told}) == 100
    assert {status for _, status in told} == {"recorded"}
    assert campaign.describe()["rounds"] == 100
    assert print_of(again(campaign)) == print_of(campaign)


def test_history_holds_every_decision(campaign, clock):
    one, other = campaign.ask(2)
    clock.now += 3
    campaign.tell(other.id, 1)
    entries = campaign.history()
    assert [entry["id"] for entry in entries] == [one.id, other.id]
    assert entries[0]["status"] == "pending"
    assert entries[0]["observation"] is None
    assert entries[1]["observation"] == 1.0
    assert entries[1]["told"] - entries[1]["asked"] == 3
    assert campaign.history(1) == entries[1:]
    assert campaign.history(-1) == entries[1:]
    assert campaign.history(0, 1) == entries[:1]
    assert campaign.history(9) == []
    assert json.loads(json.dumps(entries)) == entries


def test_the_journal_can_be_followed(campaign):
    campaign.ask()
    kinds = [event.kind for event in campaign.events()]
    assert kinds == ["created", "asked"]
    assert [event.number for event in campaign.events(after=1)] == [2]
    assert campaign.check() == campaign.number == 2


def test_duels(duels):
    seen = {}
    for _ in range(60):
        (decision,) = duels.ask()
        i, j = decision.arm
        assert i <= j
        seen[i, j] = seen.get((i, j), 0) + 1
        if i == j:
            assert duels.tell(decision.id) == "recorded"
            assert duels.tell(decision.id, 0) == "same"
            assert duels.history(-1)[0]["observation"] is None
            with pytest.raises(InputError, match="observation"):
                duels.tell(decision.id, "x")
        else:
            assert duels.tell(decision.id, 1 if i == 0 or j == 2 else 0) == "recorded"
    assert duels.best() == [0, 0]
    assert seen[0, 0] > 0
    assert duels.describe()["rounds"] == 60
    place = next(e for e in duels.history() if e["arm"] == [0, 0])
    duels.void(place["id"])
    assert duels.describe()["rounds"] == 59
    assert print_of(again(duels)) == print_of(duels)
    assert duels.rates()["best_arm"] == [0, 0]


def test_goals_to_minimise_keep_the_users_sign(clock):
    campaign = Campaign.open(
        "memory://", "c", instance={**BERNOULLI, "goal": "minimize"}, clock=clock
    )
    for _ in range(40):
        (decision,) = campaign.ask()
        campaign.tell(decision.id, int(decision.arm != 1))
    assert campaign.best() == 1
    assert campaign.describe()["means"] == [1.0, 0.0, 1.0]
    campaign.void(decision.id)
    assert campaign.describe()["means"] == [1.0, 0.0, 1.0]


def test_rates_come_with_a_certificate_or_a_reason(campaign):
    assert campaign.rates()["rates"] is None
    assert "arm 0" in campaign.rates()["reason"]
    told = {0: [1, 0, 0, 0], 1: [1, 1, 1, 0], 2: [1, 1, 0, 0]}
    campaign.import_rows([(arm, value) for arm, values in told.items() for value in values])
    rates = campaign.rates()
    assert rates["best_arm"] == 1
    assert {entry["arm"] for entry in rates["rates"]} == {0, 2}
    assert rates["certificate"]["format"] == FORMAT
    assert rates["lower"] <= rates["value"] == rates["upper"]
    campaign.import_rows([(2, 1), (2, 1), (2, 1), (2, 1)])
    assert "two best" in campaign.rates()["reason"] or "one best arm" in campaign.rates()["reason"]


def test_structures_without_a_model_have_a_leader(clock, monkeypatch):
    monkeypatch.setattr("ossb.campaigns.looking._model", lambda instance: None)
    monkeypatch.setattr("ossb.structures.classical.Classical.tested", lambda instance: None)
    campaign = Campaign.open("memory://", "c", instance=BERNOULLI, policy="ucb1", clock=clock)
    for _ in range(10):
        (decision,) = campaign.ask()
        campaign.tell(decision.id, int(decision.arm == 1))
    assert campaign.best() == 1
    assert campaign.stop()["statistic"] is None
    assert campaign.stop()["reason"]
    assert campaign.rates()["rates"] is None


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda c: c.history("a"), "start"),
        (lambda c: c.history(0, 1.5), "limit"),
        (lambda c: c.history(0, -1), "limit"),
        (lambda c: c.tell_many([("a",)]), "tells[0]"),
        (lambda c: c.tell_many(["ab"]), "tells[0]"),
        (lambda c: c.tell_many(5), "tells"),
        (lambda c: c.tell_many({"a": 1}), "tells"),
        (lambda c: c.add_arm([1]), "arm"),
        (lambda c: c.add_arm("b"), "arm"),
        (lambda c: c.import_rows([(0,)]), "rows[0]"),
        (lambda c: c.import_rows(3), "rows"),
        (lambda c: c.ask(available=5), "available"),
        (lambda c: c.ask(available={"0": 1}), "available"),
        (lambda c: c.ask(available=np.array(1)), "available"),
        (lambda c: c.ask(available=np.array([0.5])), "available[0]"),
    ],
)
def test_wrong_arguments_are_named(campaign, call, field):
    with pytest.raises(InputError) as error:
        call(campaign)
    assert error.value.field == field


@pytest.mark.parametrize("available", [{2}, frozenset({2}), np.array([2]), (2,), range(2, 3)])
def test_available_arms_in_any_collection(campaign, available):
    assert campaign.ask(available=available, key="k")[0].arm == 2
    assert campaign.ask(available=available, key="k")[0].arm == 2


def test_the_unit_of_rewards_decides_nothing(storage, clock):
    """And stands in the definition, whose campaigns without one are as they were."""
    counted = {**BERNOULLI, "reward_unit": "sales"}
    chosen = []
    for name, instance in (("plain", BERNOULLI), ("counted", counted)):
        campaign = Campaign.open(storage, name, instance=instance, policy="thompson", clock=clock)
        for i in range(10):
            (decision,) = campaign.ask()
            campaign.tell(decision, i % 2)
        chosen.append([decision.arm for decision in campaign.ask(20)])
        assert ("mean, sales" in card(campaign.describe())) == (name == "counted")
        assert campaign.definition["instance"].get("reward_unit") == instance.get("reward_unit")
    assert chosen[0] == chosen[1]
