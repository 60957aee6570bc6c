"""Arms that come and go, and subsets of them."""

import numpy as np
import pytest

from ossb.campaigns import Campaign
from ossb.campaigns.rosters import extended, restricted
from ossb.campaigns.snapshots import fingerprint, load, to_bytes
from ossb.campaigns.state import ASIDES
from ossb.errors import InputError
from ossb.instances import from_dict

CLASSICAL = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}
LINEAR = {"structure": "linear", "sigma": 1.0, "arms": [[1, 0], [0, 1], [1, 1]]}
GLM = {**LINEAR, "structure": "generalized_linear", "link": "logistic", "observation": "bernoulli"}
POINTS = {
    "structure": "lipschitz",
    "sigma": 1.0,
    "points": [0.0, 1.0, 2.0],
    "lipschitz_constant": 1.0,
}
PLANE = {
    "structure": "lipschitz",
    "sigma": 1.0,
    "points": [[0.0, 0], [1, 0], [0, 1]],
    "lipschitz_constant": 2.0,
}
DISTANCES = {"structure": "lipschitz", "sigma": 1.0, "distances": [[0, 1, 2], [1, 0, 1], [2, 1, 0]]}
LINE = {"structure": "unimodal", "sigma": 1.0, "n_arms": 3}
STAR = {"structure": "unimodal", "sigma": 1.0, "edges": [[0, 1], [0, 2], [0, 3]]}
DUELS = {"structure": "dueling", "n_items": 3}
NEW_ARMS = [
    (CLASSICAL, {}),
    (LINEAR, {"features": [4.0, 3.0]}),
    (GLM, {"features": [4.0, 3.0]}),
    (POINTS, {"point": 3.0}),
    (PLANE, {"point": [1.0, 1.0]}),
    (DISTANCES, {"distances": [3, 2, 1]}),
    (LINE, {}),
    (STAR, {"neighbours": [1]}),
    (DUELS, {}),
]


def opened(keys, clock, **options):
    return Campaign.open("memory://", "c", instance=keys, policy="hgl", clock=clock, **options)


def print_of(campaign):
    with campaign._journal.look() as state:
        return fingerprint(state)


def play(campaign, rounds, rng, **options):
    arms = []
    for _ in range(rounds):
        (decision,) = campaign.ask(**options)
        arms.append(decision.arm)
        campaign.tell(decision.id, float(rng.random() < 0.5))
    return arms


def told(campaign):
    """Counts and means by what the arm is called, which survives renumbering."""
    found = campaign.describe()
    return {
        str(arm["arm"]): (plays, mean)
        for arm, plays, mean in zip(found["arms"], found["plays"], found["means"], strict=True)
        if plays
    }


@pytest.mark.parametrize(("keys", "arm"), NEW_ARMS)
def test_a_new_arm_keeps_what_was_learnt(keys, arm, clock):
    campaign, rng = opened(keys, clock), np.random.default_rng(0)
    play(campaign, 12, rng)
    (waiting,) = campaign.ask()
    before = told(campaign)
    number = campaign.add_arm(arm)
    assert number == (4 if keys is STAR else 3)
    assert told(campaign) == before
    campaign.tell(waiting.id, 1)
    played = play(campaign, 30, rng)
    assert any(number in np.atleast_1d(arm) for arm in played)
    assert print_of(Campaign(campaign._storage, "c", clock)) == print_of(campaign)
    assert campaign.history()[12]["arm"] == waiting.arm
    assert campaign.stop()["met"] is False


@pytest.mark.parametrize(("keys", "arm"), NEW_ARMS)
def test_a_retired_arm_is_played_no_more_and_still_counts(keys, arm, clock):
    campaign, rng = opened(keys, clock), np.random.default_rng(0)
    play(campaign, 12, rng)
    (waiting,) = campaign.ask()
    campaign.retire_arm(1)
    campaign.retire_arm(1)
    played = play(campaign, 20, rng)
    assert not any(1 in np.atleast_1d(arm) for arm in played)
    rounds = campaign.describe()["rounds"]
    campaign.tell(waiting.id, 1)
    assert campaign.describe()["rounds"] == rounds + 1
    assert campaign.describe()["retired"] == [1]
    assert 1 not in np.atleast_1d(campaign.best())
    with pytest.raises(InputError, match="not retired"):
        campaign.ask(available=[1])
    rates = campaign.rates()
    assert rates["rates"] is None or all(1 not in np.atleast_1d(r["arm"]) for r in rates["rates"])
    assert print_of(Campaign(campaign._storage, "c", clock)) == print_of(campaign)
    campaign.add_arm(arm)
    assert not any(1 in np.atleast_1d(arm) for arm in play(campaign, 10, rng))
    assert print_of(Campaign(campaign._storage, "c", clock)) == print_of(campaign)


@pytest.mark.parametrize("keys", [keys for keys, _ in NEW_ARMS])
def test_an_ask_may_be_restricted(keys, clock):
    campaign, rng = opened(keys, clock), np.random.default_rng(0)
    play(campaign, 10, rng)
    with campaign._journal.look() as state:
        memory = [array.tobytes() for array in state.memory]
    played = play(campaign, 10, rng, available=[0, 2])
    assert not any(1 in np.atleast_1d(arm) for arm in played)
    assert play(campaign, 2, rng, available=[2]) == [[2, 2] if keys is DUELS else 2] * 2
    with campaign._journal.look() as state:
        assert [array.tobytes() for array in state.memory] == memory
    assert print_of(Campaign(campaign._storage, "c", clock)) == print_of(campaign)


def test_a_restricted_ask_depends_on_tally_and_stream_alone(clock):
    campaign = Campaign.open("memory://", "c", instance=CLASSICAL, policy="thompson", clock=clock)
    play(campaign, 10, np.random.default_rng(0))
    again = Campaign(campaign._storage, "c", clock)
    with again._journal.look() as state, campaign._journal.look() as other:
        assert state.digest == other.digest
    one = [d.arm for d in campaign.ask(20, available=[0, 2])]
    fresh = Campaign.open("memory://", "c", instance=CLASSICAL, policy="thompson", clock=clock)
    play(fresh, 10, np.random.default_rng(0))
    assert [d.arm for d in fresh.ask(20, available=[2, 0, 0])] == one


def test_all_arms_available_is_no_restriction(clock):
    one, other = opened(CLASSICAL, clock), opened(CLASSICAL, clock)
    assert one.ask(5, available=[2, 1, 0])[0].arm == other.ask(5)[0].arm
    with one._journal.look() as state, other._journal.look() as same:
        assert [a.tobytes() for a in state.memory] == [a.tobytes() for a in same.memory]


def test_the_last_arm_stays(clock):
    campaign = opened(CLASSICAL, clock)
    campaign.retire_arm(0)
    campaign.retire_arm(2)
    with pytest.raises(InputError, match="not be the last one"):
        campaign.retire_arm(1)
    assert {d.arm for d in campaign.ask(5)} == {1}
    assert campaign.stop() == {
        "delta": 0.05,
        "epsilon": 0.0,
        "statistic": None,
        "threshold": None,
        "met": True,
        "arm": 1,
        "runner_up": None,
        "reason": "there is one arm",
    }


@pytest.mark.parametrize(
    ("keys", "arm", "field"),
    [
        (CLASSICAL, {"point": 1}, "arm.point"),
        (CLASSICAL, {"name": "x"}, "arm.name"),
        (LINEAR, {}, "arm.features"),
        (LINEAR, {"features": [1]}, "arm.features"),
        (POINTS, {}, "arm.point"),
        (POINTS, {"point": [1, 2]}, "arm.point"),
        (DISTANCES, {}, "arm.distances"),
        (DISTANCES, {"distances": [1, 2]}, "arm.distances"),
        (LINE, {"neighbours": [7]}, "arm.neighbours[0]"),
        (LINE, {"between": [0, 2]}, "arm.between"),
        (LINE, {"between": [0, 1], "neighbours": [0]}, "arm.between"),
        (STAR, {}, "arm.neighbours"),
    ],
)
def test_a_new_arm_brings_what_its_structure_asks_for(keys, arm, field, clock):
    campaign = opened(keys, clock)
    before = print_of(campaign)
    with pytest.raises(InputError) as caught:
        campaign.add_arm(arm)
    assert caught.value.field == field
    assert print_of(campaign) == before


def test_structures_whose_arms_belong_together_refuse(clock):
    keys = {"structure": "finite", "observation": "bernoulli", "parameters": [[0.1, 0.9]]}
    campaign = Campaign.open("memory://", "c", instance=keys, policy="ucb1", clock=clock)
    with pytest.raises(InputError, match="finite structures belong together"):
        campaign.add_arm({})
    with pytest.raises(InputError, match="finite structures belong together"):
        campaign.retire_arm(0)
    with pytest.raises(InputError, match="finite structures belong together"):
        campaign.ask(available=[0])


def test_a_policy_that_does_not_fit_more_arms_refuses_them(clock):
    chosen = {"name": "ossb", "epsilon": 0.3}
    campaign = Campaign.open("memory://", "c", instance=CLASSICAL, policy=chosen, clock=clock)
    with pytest.raises(InputError, match="epsilon"):
        campaign.add_arm()
    campaign.retire_arm(0)


def test_names_follow(clock):
    keys = {**CLASSICAL, "arm_names": ["a", "b", "c"]}
    campaign = opened(keys, clock)
    campaign.add_arm({"name": "d"})
    campaign.retire_arm(1)
    assert [arm["arm_name"] for arm in campaign.describe()["arms"]] == ["a", "b", "c", "d"]
    assert {d.arm_name for d in campaign.ask(40)} == {"a", "c", "d"}


@pytest.mark.parametrize("arm", [{}, {"name": None}, {"name": ""}, {"name": " "}, {"name": "a"}])
def test_a_new_arm_among_named_ones_needs_a_name_of_its_own(arm, clock):
    campaign = opened({**CLASSICAL, "arm_names": ["a", "b", "c"]}, clock)
    with pytest.raises(InputError) as caught:
        campaign.add_arm(arm)
    assert caught.value.field == "arm.name"
    assert campaign.number == 1
    with pytest.raises(InputError, match="be left out"):
        opened(CLASSICAL, clock).add_arm({"name": None})


def test_a_line_without_an_arm_is_a_line():
    line = from_dict({**LINE, "n_arms": 5})
    assert restricted(line, [0, 2, 4]).neighbours == ((1,), (0, 2), (1,))


def test_a_graph_without_an_arm_joins_its_neighbours():
    star = from_dict(STAR)
    assert restricted(star, [1, 2, 3]).neighbours == ((1, 2), (0, 2), (0, 1))
    path = from_dict({"structure": "unimodal", "sigma": 1.0, "edges": [[0, 1], [1, 2], [2, 3]]})
    assert restricted(path, [0, 3]).neighbours == ((1,), (0,))


def test_an_arm_may_stand_between_two():
    line = extended(from_dict(LINE), {"between": [1, 0]})
    assert line.neighbours == ((3,), (2, 3), (1,), (0, 1))
    assert extended(from_dict(LINE), {"neighbours": [0]}).neighbours == ((1, 3), (0, 2), (1,), (0,))


def test_distances_left_out_still_shorten():
    metric = from_dict(DISTANCES)
    assert restricted(metric, [0, 2]).metric.tolist() == [[0, 2], [2, 0]]


PLANNED = [
    ("dmed", CLASSICAL, [0, 1], 1),
    ("osub", LINE, [0, 1], 1),
    ("e4", LINEAR, [0, 1], 1),
    ("solid", LINEAR, [0, 1], 1),
    ("rmed1", DUELS, [0, 1], [1, 1]),
    ("rmed2", DUELS, [0, 1], [1, 1]),
    ("rucb", DUELS, [0, 1], [1, 1]),
]


@pytest.mark.parametrize(("policy", "keys", "some", "best"), PLANNED)
def test_a_plan_goes_on_among_some_of_the_arms(policy, keys, some, best, clock):
    """A policy that begins anew with every ask repeats its first decision for ever."""
    rng = np.random.default_rng(0)
    campaign = Campaign.open("memory://", "c", instance=keys, policy=policy, clock=clock)
    arms = []
    for _ in range(300):
        (decision,) = campaign.ask(available=some)
        arms.append(decision.arm)
        duel = isinstance(decision.arm, list | tuple)
        mean = (0.2 if list(decision.arm) == [0, 1] else 0.5) if duel else [0.1, 0.9][decision.arm]
        campaign.tell(decision.id, float(rng.random() < mean))
    plain = [list(arm) if isinstance(arm, list | tuple) else arm for arm in arms]
    assert plain[150:].count(best) > 60
    with campaign._journal.look() as state:
        assert set(state.asides) == {(2,)}
        before = fingerprint(state)
    with Campaign(campaign._storage, "c", clock)._journal.look() as state:  # folded anew
        assert fingerprint(state) == before
        saved = to_bytes(state)
        load(state, saved)
        assert fingerprint(state) == before


def test_memories_of_the_newest_sets_are_kept(clock):
    keys = {"structure": "classical", "sigma": 1.0, "n_arms": ASIDES + 3}
    campaign = Campaign.open("memory://", "c", instance=keys, policy="dmed", clock=clock)
    for last in range(1, ASIDES + 3):
        campaign.ask(available=[0, last])
        with campaign._journal.look() as state:
            (newest,) = list(state.asides.values())[-1:]
            assert list(newest.memory) == []  # it may have been the last ask of this set
        campaign.ask(available=[0, last])
        with campaign._journal.look() as state:
            (newest,) = list(state.asides.values())[-1:]
            assert len(newest.memory) or newest.repeats  # from now on it is
    with campaign._journal.look() as state:
        assert len(state.asides) == ASIDES
        everything = set(range(ASIDES + 3))
        kept = [everything - set(left_out) for left_out in state.asides]
        assert kept == [{0, last} for last in range(3, ASIDES + 3)]
    campaign.retire_arm(1)
    with campaign._journal.look() as state:
        assert not state.asides


def test_what_needs_no_memory_keeps_none(clock):
    campaign = opened(CLASSICAL, clock)
    campaign.ask(3, available=[0, 1])
    with campaign._journal.look() as state:
        assert not state.asides
