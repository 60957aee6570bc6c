"""A tell that is taken back leaves the mean of the others."""

import math

import numpy as np
import pytest

from ossb.campaigns import Campaign
from ossb.campaigns.snapshots import fingerprint
from ossb.campaigns.working import live_memory

ONE = {"structure": "classical", "sigma": 1.0, "n_arms": 1}
ITEMS = {"structure": "combinatorial", "sigma": 1.0, "feedback": "semi_bandit", "arms": [[1, 1]]}
GRAPH = {  # arm 0 shows both components, arm 1 the second
    "structure": "polytope",
    "sigma": 1.0,
    "A": [[1, 1]],
    "b": [1.5],
    "reveals": [[0, 1], [1]],
    "rewards": [[1, 0], [0, 1]],
}


def opened(instance, clock):
    return Campaign.open("memory://", "c", instance=instance, policy="hgl", clock=clock)


def told(campaign, value):
    (decision,) = campaign.ask()
    campaign.tell(decision.id, value)
    return decision.id


def means(campaign):
    return campaign.describe()["components"]["means"]


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
@pytest.mark.parametrize("wrong", [1e12, -1e12, 1e30, 1e50, 0.3])
def test_nothing_is_lost_with_a_large_one(wrong, goal, clock):
    campaign = opened({**ONE, "goal": goal}, clock)
    for value in (0.5, 0.7):
        told(campaign, value)
    id_ = told(campaign, wrong)
    told(campaign, 0.1)
    campaign.void(id_)
    assert means(campaign) == [pytest.approx(1.3 / 3, rel=1e-15)]
    with campaign._journal.look() as state:
        before = fingerprint(state)
    with Campaign(campaign._storage, "c", clock)._journal.look() as state:
        assert fingerprint(state) == before


def test_many_are_taken_back_one_by_one(clock):
    campaign = opened(ONE, clock)
    ids = [told(campaign, value) for value in (1e16, 3.0, -1e16, 1.0, 1e40, 2.0)]
    for id_ in (ids[4], ids[0], ids[2]):
        campaign.void(id_)
    assert means(campaign) == [2.0]
    for id_ in (ids[1], ids[3], ids[5]):
        campaign.void(id_)
    assert means(campaign) == [None]


def test_lists_are_looked_up_in_the_journal(clock):
    campaign = opened(ITEMS, clock)
    told(campaign, [0.5, 2.0])
    told(campaign, [0.7, 4.0])
    id_ = told(campaign, [1e12, 3.0])
    campaign.void(id_)
    assert means(campaign) == [pytest.approx(0.6, rel=1e-15), pytest.approx(3.0, rel=1e-12)]


def test_numbers_and_lists_of_one_component(clock):
    campaign = opened(GRAPH, clock)
    values, wrong = [], None
    while wrong is None or len(values) < 6:
        (decision,) = campaign.ask()
        if decision.arm == 1 and wrong is None and len(values) > 2:
            wrong = decision.id
            campaign.tell(wrong, 1e14)
            continue
        values.append(0.1 + len(values))
        campaign.tell(decision.id, [0.5, values[-1]] if decision.arm == 0 else values[-1])
    campaign.void(wrong)
    assert means(campaign)[1] == pytest.approx(math.fsum(values) / len(values), rel=1e-15)


def test_of_imported_data_the_mean_is_all_there_is(clock):
    campaign = opened(ONE, clock)
    campaign.import_rows([(0, 0.5), (0, 0.7)])
    campaign.void(told(campaign, 10.0))
    assert means(campaign) == [pytest.approx(0.6, rel=1e-14)]


def test_observations_in_a_memory_are_taken_back_too(clock):
    """What `ids` keeps of exploration rounds does not hold a value that was voided."""
    keys = {"structure": "linear", "sigma": 1.0, "arms": [[1.0, 0.0], [0.0, 1.0]]}
    campaign = Campaign.open("memory://", "c", instance=keys, policy="ids", clock=clock)
    (first,) = campaign.ask()
    campaign.tell(first.id, 1e6)
    (second,) = campaign.ask()  # takes it in
    campaign.void(first.id)
    campaign.tell(first.id, 0.1)
    campaign.tell(second.id, 0.2)
    campaign.ask()
    with campaign._journal.look() as state:
        memory = live_memory(state, state.usual, campaign._players.of(state, frozenset())).bound
        assert memory.rounds.explored.means.max() <= 0.2
        before = fingerprint(state)
    with Campaign(campaign._storage, "c", clock)._journal.look() as state:
        assert fingerprint(state) == before


def test_a_corrected_value_leaves_no_trace_in_a_recovery(clock):
    keys = {"structure": "linear", "sigma": 1.0, "arms": [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]]}
    rng = np.random.default_rng(0)
    campaign = Campaign.open("memory://", "c", instance=keys, policy="end-of-optimism", clock=clock)
    wrong, late = None, 0
    for t in range(400):
        (decision,) = campaign.ask()
        value = [1.0, 0.0, 0.6][decision.arm] + 0.1 * float(rng.normal())
        if wrong is None and t >= 60 and decision.arm == 0:
            wrong = decision.id, value, t
            campaign.tell(decision.id, 1e4)
            continue
        campaign.tell(decision.id, value)
        if wrong is not None and t == wrong[2] + 3:
            campaign.void(wrong[0])
            campaign.tell(wrong[0], wrong[1])
        late += t >= 300 and decision.arm == 0
    assert late > 90


@pytest.mark.parametrize("policy", ["hgl", "dmed", "osub"])
def test_what_was_concluded_from_a_tell_goes_with_it(policy, clock):
    """All tells taken back, a campaign plays as one that was never told of anything."""
    keys, rng = {"structure": "unimodal", "sigma": 1.0, "n_arms": 3}, np.random.default_rng(0)
    campaign = Campaign.open("memory://", "c", instance=keys, policy=policy, clock=clock)
    ids = []
    for _ in range(300):
        (decision,) = campaign.ask()
        campaign.tell(decision.id, [-9.0, 0.0, 9.0][decision.arm] + float(rng.normal()))
        ids.append(decision.id)
    for id_ in ids:
        campaign.void(id_)
    arms = []
    for _ in range(200):
        (decision,) = campaign.ask()
        campaign.tell(decision.id, [9.0, 0.0, -9.0][decision.arm] + float(rng.normal()))
        arms.append(decision.arm)
    assert arms[100:].count(0) > 90
