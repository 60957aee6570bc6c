"""Campaigns that decide: what they say, what is left, switches, intervals at all times."""

import math

import numpy as np
import pytest

from ossb.campaigns import Campaign, Conflict, open_storage
from ossb.campaigns.deciding import confidence
from ossb.campaigns.differences import differences
from ossb.campaigns.intervals import find_ends, intervals
from ossb.campaigns.looking import View, known_leader
from ossb.campaigns.player import Player
from ossb.errors import Closed, InputError
from ossb.instances import from_dict
from ossb.models.rivals.mixture import mixture_of
from ossb.tally import empty_tally, observe

BERNOULLI = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}
CHANCES = [0.3, 0.5, 0.8]


def played(campaign, rounds, seed=1):
    rng = np.random.default_rng(seed)
    for decision in (campaign.ask()[0] for _ in range(rounds)):
        campaign.tell(decision.id, int(rng.random() < CHANCES[decision.arm]))
    return campaign


def opened(url="memory://", **keys):
    return Campaign.open(url, "c", instance=BERNOULLI, **keys)


def test_identify_is_top_two_with_its_own_confidence():
    campaign = opened(policy={"name": "identify", "delta": 0.1, "epsilon": 0.05})
    assert campaign.definition["policy"] == {"name": "top-two", "delta": 0.1, "epsilon": 0.05}
    assert (campaign.stop()["delta"], campaign.stop()["epsilon"]) == (0.1, 0.05)
    assert (campaign.stop(0.2)["delta"], campaign.stop(0.2, 0)["epsilon"]) == (0.2, 0.0)
    assert confidence({"name": "ossb-paper", "epsilon": 0.01})[:2] == (0.05, 0.0)
    with pytest.raises(InputError, match="delta"):
        opened(policy={"name": "identify", "delta": 1.5})


def test_it_says_what_is_left_and_then_what_was_found():
    campaign = played(opened(policy="identify"), 60)
    stop = campaign.document()["stop"]
    assert not stop["met"]
    assert stop["sentence"].startswith("Not sure to 95% yet: ")
    left = stop["left"]
    assert left["low"] <= left["rounds"] <= left["high"]
    played(campaign, 700, seed=2)
    stop = campaign.document()["stop"]
    assert stop["met"]
    assert stop["left"] is None
    assert stop["sentence"].startswith("Arm 2 is best, sure to 95%; that took 760 rounds")


def test_a_campaign_may_be_asked_for_more_than_the_best_arm():
    """What it says is the question's: which arms, how sure, and what is left until then."""
    named = {**BERNOULLI, "arm_names": ["red", "blue", "green"]}
    for asked, before, after in (
        ({"top": 2}, "So far the 2 best arms are ", "The 2 best arms are blue and green, 90% sure"),
        ({"above": 0.4}, "So far ", "blue and green are above 0.4, 90% sure"),
        ({"above": 0.7}, "So far ", "green alone is above 0.7, 90% sure"),
    ):
        policy = {"name": "identify", "delta": 0.1, **asked}
        campaign = Campaign.open("memory://", "c", instance=named, policy=policy)
        assert campaign.stop()["chosen"] is None
        played(campaign, 50)
        found = campaign.document()
        assert not found["stop"]["met"]
        assert found["stop"]["answer"] == asked
        assert found["headline"].startswith(before)
        assert found["stop"]["left"]["rounds"] > 0
        played(campaign, 1500, seed=2)
        found = campaign.document()
        assert found["headline"].startswith(after)
        assert found["stop"]["chosen"] == [1, 2] if "alone" not in after else [2]
        assert found["stop"]["sentence"].startswith(after.replace("90% sure", "sure to 90%"))


def test_costs_above_a_level_are_named_as_they_are_asked_for():
    costs = {**BERNOULLI, "goal": "minimize"}
    policy = {"name": "identify", "above": 0.4}
    campaign = played(Campaign.open("memory://", "c", instance=costs, policy=policy), 1500)
    assert campaign.stop()["met"]
    assert campaign.stop()["chosen"] == [1, 2]
    assert campaign.stop()["arm"] == 0  # the least is best


def test_arms_are_not_retired_below_what_is_asked_for():
    campaign = opened(policy={"name": "identify", "top": 2})
    with pytest.raises(InputError, match="below the number of arms, 2"):
        campaign.retire_arm(0)
    assert campaign.describe()["retired"] == []
    assert campaign.add_arm({}) == 3
    campaign.retire_arm(0)
    played_arms = {campaign.ask()[0].arm for _ in range(5)}
    assert 0 not in played_arms


def test_what_is_left_is_about_right():
    """Of many campaigns the rounds that were left lie within the range most of the time."""
    hits = 0
    for seed in range(8):
        campaign = played(opened(policy="identify"), 80, seed)
        left, more = campaign.document()["stop"]["left"], 0
        if left is None:
            hits += 1
            continue
        while not campaign.stop()["met"] and more < 2000:
            played(campaign, 20, 1000 + seed + more)
            more += 20
        hits += left["low"] - 20 <= more <= left["high"] + 20
    assert hits >= 4


def test_what_is_left_counts_all_arms_that_epsilon_asks_for():
    """Of one peak too, where the bound leaves all but neighbours of the best out."""
    means = np.array([0.2, 0.35, 0.6, 0.8, 0.5, 0.3, 0.1])
    line = {"structure": "unimodal", "observation": "bernoulli", "n_arms": 7}
    policy = {"name": "identify", "epsilon": 0.1}
    campaign = Campaign.open("memory://", "c", instance=line, policy=policy)
    rng = np.random.default_rng(2)
    for decision in (campaign.ask()[0] for _ in range(150)):
        campaign.tell(decision.id, int(rng.random() < means[decision.arm]))
    stop = campaign.document()["stop"]
    assert not stop["met"]
    assert 0 < stop["left"]["rounds"] < 5_000


def test_a_policy_of_least_regret_says_that_it_will_not_end():
    said = played(opened(policy="hgl"), 60).document()["stop"]["sentence"]
    assert "hgl spends little and does not aim to end" in said
    assert "top-two" in said


@pytest.mark.parametrize("kind", ["memory://", "sqlite"])
def test_a_switch_keeps_what_was_learnt(kind, tmp_path):
    url = f"sqlite:///{tmp_path}/s.db" if kind == "sqlite" else kind
    store = open_storage(url)
    campaign = played(Campaign.open(store, "c", instance=BERNOULLI, policy="hgl"), 50)
    before = campaign.describe()
    (pending,) = campaign.ask()
    assert campaign.switch({"name": "identify", "delta": 0.1})["name"] == "top-two"
    campaign.switch({"name": "top-two", "delta": 0.1})  # as it is: no event
    after = campaign.describe()
    assert after["components"] == before["components"]
    assert after["rounds"] == before["rounds"]
    assert after["policy"] == {"name": "top-two", "delta": 0.1}
    assert [event.kind for event in campaign.events()].count("switched") == 1
    campaign.tell(pending.id, 1)
    again = Campaign(store, "c")
    assert again.describe()["policy"] == after["policy"]
    assert again.best() == campaign.best()
    arms = [campaign.ask()[0].arm for _ in range(5)]
    folded = Campaign(store, "c")
    assert folded.describe()["plays"] == campaign.describe()["plays"]
    assert len(arms) == 5
    # it is still the campaign that was defined, and the one that it has become
    Campaign.open(store, "c", instance=BERNOULLI, policy="hgl")
    Campaign.open(store, "c", instance=BERNOULLI, policy={"name": "identify", "delta": 0.1})
    with pytest.raises(Conflict):
        Campaign.open(store, "c", instance=BERNOULLI, policy="kl-ucb")
    with pytest.raises(InputError, match="policy"):
        campaign.switch("osub")
    campaign.close()
    with pytest.raises(Closed):
        campaign.switch("hgl")


def test_a_switch_goes_on_as_if_it_had_begun_there():
    """With all that was told: its decisions are those of a fresh policy on the same tally."""
    one, other = played(opened(policy="hgl"), 40), opened(policy="hgl")
    played(other, 40)
    for campaign in (one, other):
        campaign.switch("top-two")
    assert [d.arm for d in one.ask(8)] == [d.arm for d in other.ask(8)]


FAMILIES = [
    {"structure": "classical", "observation": "bernoulli", "theta": [0.3, 0.6]},
    {"structure": "classical", "sigma": 2.0, "theta": [1.0, -3.0]},
    {"structure": "classical", "observation": "poisson", "theta": [0.5, 4.0]},
    {"structure": "classical", "observation": "exponential", "theta": [1.5, 20.0]},
    {
        "structure": "classical",
        "observation": "bernoulli",
        "goal": "minimize",
        "theta": [0.3, 0.6],
    },
]


@pytest.mark.parametrize("content", FAMILIES, ids=lambda c: c.get("observation", "gaussian"))
def test_intervals_hold_at_all_times(content):
    """At each of many looks in each of many runs: ever missed in at most δ of the runs."""
    instance, missed, runs = from_dict(content), 0, 15
    player, family = Player(instance, {"name": "top-two"}), instance.observed_family
    for run in range(runs):
        rng, tally, misses = np.random.default_rng(run), empty_tally(2, 2), False
        for look in range(1, 60):
            for k, mean in enumerate(instance.components.tolist()):
                observe(tally, k, family.sample(mean, rng))
            if look in (1, 5, 20, 59):
                found = intervals(View(player, tally, 2, 0, 2), 0.2)["arms"]
                for ends, truth in zip(found, content["theta"], strict=True):
                    if ends is not None:  # of one waiting time nothing is known above
                        misses = misses or not ends[0] <= truth <= ends[1]
                        assert ends[0] < ends[1]
        missed += misses
    assert missed <= 0.2 * runs


LINES = {"structure": "linear", "arms": [[1, 0.2], [0.1, 1], [0.8, 0.7]], "phi": [0.5, 0.6]}


@pytest.mark.parametrize(
    "content",
    [*FAMILIES, LINES, {**LINES, "goal": "minimize"}],
    ids=lambda c: f"{c['structure']} {c.get('observation', 'gaussian')} {c.get('goal', '')}",
)
def test_differences_to_the_leader_hold_at_all_times(content):
    """Whichever arm leads: ever missed in at most δ of the runs; within those of both means."""
    instance, missed, runs = from_dict(content), 0, 6
    player, truth = Player(instance, {"name": "top-two"}), instance.sign * instance.components
    n = truth.size
    for run in range(runs):
        rng, tally, misses = np.random.default_rng(run), empty_tally(n, n), False
        for look in range(1, 41):
            for k, mean in enumerate(instance.components.tolist()):
                observe(tally, k, instance.observed_family.sample(mean, rng))
            if look not in (2, 8, 40):
                continue
            tally.clock[0] = n * look
            view = View(player, tally, n, 0, n)
            leader, found = known_leader(view), differences(view, 0.2)
            assert found[leader] is None
            for ends, gap in zip(found, truth - truth[leader], strict=True):
                if ends is not None:
                    misses = misses or not ends[0] <= gap <= ends[1]
                    assert ends[0] < ends[1]
        assert look < 40 or sum(ends is not None for ends in found) == n - 1
        missed += misses
    assert missed <= 0.2 * runs


@pytest.mark.parametrize("observation", ["bernoulli", "gaussian", "poisson"])
def test_differences_are_those_that_pairs_of_means_leave(observation):
    """By a grid of means, of which those stay that evidence does not rule out."""
    content = {"structure": "classical", "observation": observation, "n_arms": 3}
    instance, level = from_dict(content), math.log(3 / (0.1 * 0.9))
    tally = empty_tally(3, 3)
    tally.counts[:], tally.means[:], tally.clock[0] = [30, 45, 60], [0.4, 0.2, 0.6], 135
    found = differences(View(Player(instance, {"name": "top-two"}), tally, 3, 0, 3), 0.1)
    mixture = mixture_of(instance.observed_family)
    grid = np.linspace(0.005 if observation != "gaussian" else -1.5, 1.5, 1200)
    grid = grid[grid < mixture.family.highest()]
    ends = [[mixture.evidence_at(float(c), m, v) for v in grid] for c, m in ((60, 0.6), (30, 0.4))]
    kept = np.add.outer(*map(np.array, ends)) <= level
    apart = (grid[None, :] - grid[:, None])[kept]
    assert found[0] == pytest.approx([apart.min(), apart.max()], abs=6e-3)


def test_a_test_that_has_ended_leaves_the_leader_ahead():
    """Of linear arms both rest on the same evidence, and agree; of sums common items drop out."""
    campaign = Campaign.open("memory://", "c", instance={**LINES, "sigma": 0.3}, policy="identify")
    rng, ahead = np.random.default_rng(1), []
    for _ in range(60):
        (decision,) = campaign.ask()
        row = np.array(LINES["arms"][decision.arm])
        campaign.tell(decision.id, float(row @ LINES["phi"] + 0.3 * rng.normal()))
        found = campaign.document()
        ends = [end for end in found["intervals"]["differences"] or [[0.0, 1.0]] if end is not None]
        ahead.append((found["stop"]["met"], len(ends) == 2 and max(e[1] for e in ends) < 0.0))
    assert all(met == behind for met, behind in ahead)
    assert ahead[-1][0]


def test_intervals_of_sums_are_sums_and_of_the_unseen_none():
    pairs = {
        "structure": "combinatorial",
        "feedback": "semi_bandit",
        "sigma": 1.0,
        "arms": [[1, 1, 0], [0, 1, 1]],
    }
    campaign = Campaign.open("memory://", "c", instance=pairs, policy="top-two")
    (decision,) = campaign.ask()
    campaign.tell(decision.id, [1.0, 2.0])
    found = campaign.document()["intervals"]
    seen = [ends for ends in found["components"] if ends is not None]
    assert found["components"].count(None) == 1
    assert [ends is None for ends in found["arms"]].count(True) == 1
    assert found["differences"] == [None, None]
    total = next(ends for ends in found["arms"] if ends is not None)
    assert total == pytest.approx([sum(e[0] for e in seen), sum(e[1] for e in seen)])
    assert all(math.isfinite(end) for end in total)


@pytest.mark.parametrize("content", FAMILIES, ids=lambda c: c.get("observation", "gaussian"))
def test_ends_are_found_alike_by_compiled_code(content):
    """Documents of many arms have no time for the interpreter."""
    family = from_dict(content).observed_family
    counts = np.array([0, 1, 7, 1000])
    means = np.array([0.0, *(family.sample(m, np.random.default_rng(1)) for m in (0.5,) * 3)])
    found = [np.full((4, 2), np.nan) for _ in range(2)]
    for find, ends in zip((find_ends.compiled, find_ends.function), found, strict=True):
        find(mixture_of(family), 3.0, counts, means, ends)
    assert np.array_equal(*found, equal_nan=True)
    assert np.isnan(found[0][0]).all()
    assert not np.isnan(found[0][1:]).any()


def test_a_document_of_many_arms_holds_no_certificate_of_their_square():
    """20,000 independent arms have a certificate of 800 million numbers."""
    campaign = Campaign.open("memory://", "c", instance={**BERNOULLI, "n_arms": 300})
    ones = [6] + 299 * [3]  # of seven
    campaign.import_rows([(arm, int(k < ones[arm])) for arm in range(300) for k in range(7)])
    found = campaign.document()["rates"]
    assert found["certificate"] is None
    assert found["status"] == "certified"
    assert len(found["rates"]) > 100
    assert played(opened(), 30).document()["rates"]["certificate"] is not None
