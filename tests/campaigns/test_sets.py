"""Campaigns on sets of arms that are not listed: items are shown, arms are met."""

import json
import math

import numpy as np
import pytest

from ossb.campaigns import Campaign, Told, read_rows
from ossb.campaigns import journal as journal_module
from ossb.campaigns.snapshots import fingerprint
from ossb.campaigns.storage.memory import MemoryStorage
from ossb.cli.exporting import write
from ossb.errors import InputError
from ossb.graves_lai.bound import Bound
from ossb.instances import from_dict
from ossb.models.rivals.mixture import mixture_of
from ossb.structures.base import bound

SEMI = {"structure": "combinatorial", "sigma": 1.0, "feedback": "semi_bandit"}
SETS = {
    "m_sets": {**SEMI, "arm_set": "m_sets", "n_items": 4, "size": 2},
    "paths": {
        **SEMI,
        "arm_set": "paths",
        "goal": "minimize",
        "edges": [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3], [0, 3]],
        "source": 0,
        "target": 3,
    },
    "matchings": {
        **SEMI,
        "arm_set": "matchings",
        "n_left": 2,
        "n_right": 3,
        "edges": [[0, 0], [0, 1], [1, 1], [1, 2], [0, 2]],
    },
    "spanning_trees": {
        **SEMI,
        "arm_set": "spanning_trees",
        "n_nodes": 4,
        "edges": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]],
    },
}
POLICIES = ("hgl", "cucb", "combinatorial-thompson", "aescb", "glpg")


def opened(label, storage="memory://", policy="hgl", **keys):
    return Campaign.open(storage, "c", instance={**SETS[label], **keys}, policy=policy, seed=2)


def play(campaign, rounds, seed=0):
    """Item i shows i on average."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        (decision,) = campaign.ask()
        campaign.tell(decision.id, [float(i + rng.normal()) for i in decision.arm])


def print_of(campaign):
    with campaign._journal.look() as state:
        return fingerprint(state)


@pytest.mark.parametrize("label", SETS)
def test_a_decision_is_the_list_of_its_items(label):
    campaign = opened(label)
    arms = from_dict(SETS[label]).implicit_set
    for decision in campaign.ask(5):
        assert decision.arm == sorted(decision.arm)
        assert arms.contains(tuple(decision.arm))
        assert decision.arm_name == str(decision.arm)
        assert campaign.tell(decision.id, [0.5] * len(decision.arm)) == "recorded"
        assert campaign.tell(decision.id, [0.5] * len(decision.arm)) == "same"
        with pytest.raises(Told):
            campaign.tell(decision.id, [0.25] * len(decision.arm))


def test_items_may_have_names():
    names = ["ab", "ac", "bc", "bd", "cd", "ad"]
    campaign = opened("paths", arm_names=names)
    (decision,) = campaign.ask()
    assert decision.arm_name == ", ".join(names[i] for i in decision.arm)
    with pytest.raises(InputError, match="`arm_names` must hold 6 names, one for each item"):
        opened("paths", arm_names=["ab"])


@pytest.mark.parametrize(
    "observation", [0.5, [0.5], [0.5, 0.5, 0.5], [0.5, "1"], [0.5, None], None, [], {"0": 1}]
)
def test_a_tell_has_one_number_for_each_item(observation):
    campaign = opened("m_sets")
    (decision,) = campaign.ask()
    before = print_of(campaign)
    with pytest.raises(InputError, match="observation"):
        campaign.tell(decision.id, observation)
    assert print_of(campaign) == before


def test_what_is_told_counts_for_the_items_in_their_order():
    campaign = opened("paths")
    told = {}
    for k, decision in enumerate(campaign.ask(6)):
        values = [k + 0.1 * i for i in decision.arm]
        campaign.tell(decision.id, values)
        for item, value in zip(decision.arm, values, strict=True):
            told.setdefault(item, []).append(value)
    components = campaign.describe()["components"]
    assert components["counts"] == [len(told[i]) for i in range(6)]
    assert components["means"] == pytest.approx([np.mean(told[i]) for i in range(6)])


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("label", SETS)
def test_many_asked_at_once_spread_over_the_items(label, policy):
    """Pending ones count: after as many asks as items, every item is on its way."""
    campaign = opened(label, policy=policy)
    n_items = from_dict(SETS[label]).item_count
    asked = campaign.ask(n_items)
    assert {item for decision in asked for item in decision.arm} == set(range(n_items))
    campaign.ask(20)  # nothing is told yet: every policy goes on


def test_leases_end_late_tells_count_and_voids_take_back(clock):
    campaign = Campaign.open("memory://", "c", instance=SETS["m_sets"], clock=clock)
    first, second = campaign.ask(2, lease=10)
    clock.now += 11
    assert campaign.expire() == 2
    with campaign._journal.look() as state:
        assert not state.tally.pending.any()
        assert not state.tally.plays.any()
    campaign.tell(first.id, [1.0, 2.0])
    campaign.tell(second.id, [3.0, 4.0])
    campaign.void(first.id)
    stands = campaign.describe()
    assert stands["components"]["counts"] == [int(i in second.arm) for i in range(4)]
    assert stands["decisions"] == {"pending": 0, "told": 1, "expired": 0, "voided": 1}
    assert sum(stands["plays"]) == stands["rounds"] == 1


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("label", SETS)
def test_a_restart_is_what_was_and_goes_on_the_same(label, policy, storage, monkeypatch):
    monkeypatch.setattr(journal_module, "SNAPSHOT_EVERY", 23)
    campaign = opened(label, storage, policy)
    campaign.import_rows(
        [(list(decision.arm), [0.0] * len(decision.arm)) for decision in campaign.ask(2)]
    )
    play(campaign, 30)
    campaign._journal.settle()
    again = Campaign(storage, "c")
    assert print_of(again) == print_of(campaign)
    monkeypatch.setattr(type(storage), "snapshot", lambda self, name: None)
    folded = Campaign(storage, "c")
    assert print_of(folded) == print_of(campaign)
    twin = MemoryStorage()
    twin.append("c", list(storage.read("c"))).result()
    other = Campaign(twin, "c", campaign._clock)
    play(campaign, 10, seed=1)
    play(other, 10, seed=1)
    assert [d["arm"] for d in campaign.history()] == [d["arm"] for d in other.history()]


@pytest.mark.parametrize("label", SETS)
def test_the_leader_the_rates_and_when_to_stop(label):
    campaign = opened(label)
    assert campaign.stop()["statistic"] == 0.0
    assert "item" in campaign.rates()["reason"]
    play(campaign, 400)
    instance = from_dict(SETS[label])
    stands = campaign.describe()
    means = np.array(stands["components"]["means"])
    best = instance.implicit_set.maximize(instance.sign * means)
    assert campaign.best() == list(best)
    stop = campaign.stop(0.05)
    mixture = mixture_of(instance.family)
    told = zip(stands["components"]["counts"], stands["components"]["means"], strict=True)
    price = sum(mixture.evidence_price(float(count), mean) for count, mean in told)
    assert stop["threshold"] == pytest.approx(math.log(1 / 0.05) + price)
    assert stop["met"] == (stop["statistic"] > stop["threshold"])
    rates = campaign.rates()
    exact = bound(from_dict({**SETS[label], "phi": means.tolist()}))
    assert rates["value"] == exact.value
    assert rates["best_arm"] == list(best)
    assert rates["rates"] == [{"arm": list(arm), "rate": rate} for arm, rate in exact.support]
    assert isinstance(exact, Bound)
    assert json.dumps(rates["certificate"])
    for arm, gap in zip(stands["arms"], rates["gaps"], strict=True):
        assert gap == pytest.approx(exact.instance.gap_of(tuple(arm["arm"])), abs=1e-12)
    spent = campaign.timeline(10, rates["gaps"])["regret"]
    told = zip(stands["plays"], rates["gaps"], strict=True)
    assert spent[-1] == pytest.approx(sum(plays * gap for plays, gap in told))
    every = [(list(arm), [float(i) for i in arm]) for arm in instance.implicit_set.arms()]
    campaign.import_rows(every * 100)
    assert campaign.stop(0.05)["met"]
    assert campaign.best() == list(
        instance.implicit_set.maximize(instance.sign * np.arange(float(instance.item_count)))
    )


def test_arms_met_after_the_gaps_cost_nothing_yet():
    campaign = opened("paths")
    play(campaign, 10)
    assert campaign.timeline(5, [0.0])["regret"] == [0.0] * 5


def test_one_arm_is_the_best():
    only = {**SEMI, "arm_set": "paths", "edges": [[0, 1], [1, 2]], "source": 0, "target": 2}
    campaign = Campaign.open("memory://", "c", instance=only)
    assert campaign.stop()["met"]


# items that may not be played


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("label", SETS)
def test_only_available_items_are_played(label, policy):
    campaign = opened(label, policy=policy)
    items = range(from_dict(SETS[label]).item_count)
    play(campaign, 15)
    for left_out in items:
        kept = [item for item in items if item != left_out]
        for decision in campaign.ask(3, available=kept):
            assert left_out not in decision.arm
            campaign.tell(decision.id, [1.0] * len(decision.arm))
    assert print_of(Campaign(campaign._storage, "c", campaign._clock)) == print_of(campaign)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("label", SETS)
def test_a_retired_item_is_played_no_more(label, policy):
    campaign = opened(label, policy=policy)
    play(campaign, 40)
    gone = campaign.best()[0]
    campaign.retire_arm(gone)
    campaign.ask(4)
    play(campaign, 10)
    later = campaign.history(40)
    assert len(later) == 14
    assert all(gone not in entry["arm"] for entry in later)
    assert gone not in campaign.best()
    stop = campaign.stop()
    assert stop["statistic"] > 0
    rates = campaign.rates()
    assert all(gone not in entry["arm"] for entry in rates["rates"])
    for arm, gap in zip(campaign.describe()["arms"], rates["gaps"], strict=True):
        assert (gap is None) == (gone in arm["arm"])
    assert print_of(Campaign(campaign._storage, "c", campaign._clock)) == print_of(campaign)


def test_items_that_leave_no_arm_are_refused():
    campaign = opened("paths")
    before = print_of(campaign)
    with pytest.raises(InputError, match="`available` must leave an arm of the set to play"):
        campaign.ask(available=[0, 1])
    with pytest.raises(InputError, match=r"`available\[1\]` must be below 6"):
        campaign.ask(available=[0, 6])
    with pytest.raises(InputError, match="available"):
        campaign.ask(available=[[0, 1]])
    assert print_of(campaign) == before
    line = Campaign.open(
        "memory://", "d", instance={**SEMI, "arm_set": "m_sets", "n_items": 2, "size": 2}
    )
    with pytest.raises(InputError, match="leave an arm"):
        line.retire_arm(0)


def test_items_cannot_be_added():
    with pytest.raises(InputError, match="`arm` must not be added: the items of a set"):
        opened("paths").add_arm()


def test_sums_over_arms_that_are_not_listed_are_refused():
    instance = {**SETS["m_sets"], "feedback": "bandit"}
    with pytest.raises(InputError, match="`instance` must list its arms"):
        Campaign.open("memory://", "c", instance=instance)


# data in and out


def test_logged_data_is_what_telling_it_would_be():
    told, imported = opened("m_sets"), opened("m_sets")
    play(told, 25)
    rows = [(entry["arm"], entry["observation"]) for entry in told.history()]
    assert imported.import_rows(rows) == 25
    one, other = told.describe(), imported.describe()
    assert one["components"] == other["components"]

    def plays(stands):
        arms = [tuple(arm["arm"]) for arm in stands["arms"]]
        return {arm: n for arm, n in zip(arms, stands["plays"], strict=True) if n}

    assert plays(one) == plays(other)
    assert one["rounds"] == other["rounds"]
    again = Campaign(imported._storage, "c", imported._clock)
    assert print_of(again) == print_of(imported)


def test_more_arms_than_there_is_room_for_are_imported():
    campaign = Campaign.open(
        "memory://", "c", instance={**SEMI, "arm_set": "m_sets", "n_items": 12, "size": 3}
    )
    arms = [list(arm) for arm in from_dict(campaign.definition["instance"]).implicit_set.arms()]
    campaign.import_rows([(arm, [1.0, 1.0, 1.0]) for arm in arms])
    assert [entry["arm"] for entry in campaign.describe()["arms"]] == arms
    assert campaign.describe()["plays"] == [1] * len(arms)
    campaign.ask(3)
    again = Campaign(campaign._storage, "c", campaign._clock)
    assert print_of(again) == print_of(campaign)


@pytest.mark.parametrize(
    ("arm", "reason"),
    [
        (0, "be the list of its items"),
        ("0", "be the list of its items"),
        ([0, 9], "be one of m_sets"),
        ([0], "be one of m_sets"),
        ([0, 0], "be one of m_sets"),
        ([1, 0], "be written in increasing order"),
        ([0, "1"], "arm"),
    ],
)
def test_rows_that_are_no_arms_are_refused(arm, reason):
    campaign = opened("m_sets")
    before = print_of(campaign)
    with pytest.raises(InputError, match=reason):
        campaign.import_rows([([0, 1], [1.0, 2.0]), (arm, [1.0, 2.0])])
    assert print_of(campaign) == before


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_what_was_exported_can_be_taken_in(kind, tmp_path):
    campaign, path = opened("spanning_trees"), tmp_path / f"log.{kind}"
    play(campaign, 12)
    campaign.ask()
    assert write(iter(campaign.history()), str(path)) == 13
    if kind == "jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        rows = [(row["arm"], row["observation"]) for row in rows]
    else:
        rows = read_rows(path)
    fresh = opened("spanning_trees")
    fresh.import_rows([row for row in rows if row[1] is not None])
    assert fresh.describe()["components"] == campaign.describe()["components"]
