"""What may be told: a number, or a list where an arm shows several components."""

import math
from itertools import cycle

import pytest

from ossb.campaigns import Campaign, Told
from ossb.campaigns.snapshots import fingerprint
from ossb.errors import InputError

GRAPH = {  # arm 0 shows both components, the second one first; arm 1 one, arm 2 none
    "structure": "polytope",
    "observation": "bernoulli",
    "A": [[1, 1]],
    "b": [1.5],
    "reveals": [[1, 0], [1], []],
    "rewards": [[1, 0], [0, 1], [0.5, 0.5]],
}
ITEMS = {
    "structure": "combinatorial",
    "feedback": "semi_bandit",
    "observation": "bernoulli",
    "arms": [[0, 0], [1, 0], [1, 1]],
}

HUGE = [1.7e308, -1.7e308, 1e200, 1.1e50]
ROADS = {
    "structure": "combinatorial",
    "sigma": 1.0,
    "feedback": "semi_bandit",
    "arm_set": "paths",
    "edges": [[0, 1], [0, 2], [1, 3], [2, 3], [1, 2]],
    "source": 0,
    "target": 3,
}


def opened(instance, clock):
    return Campaign.open("memory://", "c", instance=instance, policy="hgl", clock=clock)


def asked(campaign, arm):
    """A decision for an arm, whatever the policy prefers."""
    for _ in range(50):
        (decision,) = campaign.ask()
        if decision.arm == arm:
            return decision
        with campaign._journal.look() as state:
            shown = state.reveals[decision.arm]
        campaign.tell(decision.id, [0] * len(shown) if len(shown) > 1 else 0)
    raise AssertionError(f"arm {arm} was never played")


def print_of(campaign):
    with campaign._journal.look() as state:
        return fingerprint(state)


def test_an_arm_that_shows_several_components_is_told_a_list_in_their_order(clock):
    campaign = opened(GRAPH, clock)
    decision = asked(campaign, 0)
    before, prints = campaign.describe()["rounds"], print_of(campaign)
    for wrong in (1, None, [1], [1, 0, 1], [1, 2], "10"):
        with pytest.raises(InputError, match="observation"):
            campaign.tell(decision.id, wrong)
    assert print_of(campaign) == prints
    assert campaign.tell(decision.id, [1, 0]) == "recorded"
    assert campaign.tell(decision.id, [1, 0]) == "same"
    with pytest.raises(Told):
        campaign.tell(decision.id, [0, 1])
    told = campaign.describe()
    assert told["rounds"] == before + 1
    assert told["components"]["means"][1] > 0
    assert told["components"]["means"][0] == 0
    assert told["means"][0] is None  # what it brings is not the sum of what it shows
    assert campaign.history()[-1]["observation"] == [1, 0]
    again = Campaign(campaign._storage, "c", clock)
    assert print_of(again) == print_of(campaign)
    campaign.void(decision.id)
    assert campaign.describe()["rounds"] == before


def test_other_arms_of_the_same_campaign_take_a_number_or_nothing(clock):
    campaign = opened(GRAPH, clock)
    campaign.import_rows([(0, [1, 0]), (1, 1), (2, None)])
    assert campaign.describe()["components"] == {"counts": [1, 2], "means": [0.0, 1.0]}
    with pytest.raises(InputError, match=r"rows\[0\]\.observation"):
        campaign.import_rows([(1, [1])])


def test_an_arm_without_items_is_told_an_empty_list_or_nothing(clock):
    campaign = opened(ITEMS, clock)
    campaign.import_rows([(0, []), (0, None), (1, [1])])
    assert campaign.describe()["rounds"] == 3
    with pytest.raises(InputError, match="list of 0 numbers"):
        campaign.import_rows([(0, [1])])


@pytest.mark.parametrize("value", HUGE)
@pytest.mark.parametrize("instance", [{"structure": "classical", "sigma": 1.0, "n_arms": 2}, ROADS])
def test_what_is_beyond_the_range_is_refused(instance, value, clock):
    campaign = opened(instance, clock)
    (decision,) = campaign.ask()
    lists = isinstance(decision.arm, list)
    before = print_of(campaign)
    told = [0.0] * (len(decision.arm) - 1) + [value] if lists else value
    with pytest.raises(InputError, match=r"observation.* must lie in \[-1e\+50, 1e\+50\]"):
        campaign.tell(decision.id, told)
    with pytest.raises(InputError, match=r"rows\[0\]\.observation"):
        campaign.import_rows([(decision.arm, told)])
    assert print_of(campaign) == before


@pytest.mark.parametrize("sigma", [1e-40, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("pattern", [[1, -1, 1], [1], [1, 0, 0], [-1, 0, 1, 0]])
@pytest.mark.parametrize("instance", [{"structure": "classical", "sigma": 1.0, "n_arms": 2}, ROADS])
def test_the_largest_can_be_played_with(instance, pattern, sigma, clock):
    campaign = opened({**instance, "sigma": sigma}, clock)
    size, values = 1e50 * min(1.0, sigma), cycle(pattern)
    for _ in range(6):
        (decision,) = campaign.ask()
        if isinstance(decision.arm, list):
            campaign.tell(decision.id, [size * next(values) for _ in decision.arm])
        else:
            campaign.tell(decision.id, size * next(values))
    found = campaign.document()
    assert all(mean is None or math.isfinite(mean) for mean in found["means"])
    assert found["stop"]["statistic"] is not None
    campaign.void(decision.id)
    assert all(mean is None or math.isfinite(mean) for mean in campaign.describe()["means"])
