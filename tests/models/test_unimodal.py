"""The unimodal model: likelihood ratios, rates, gains and what is refused."""

import math

import numpy as np
import pytest

from ossb.campaigns.campaign import Campaign
from ossb.errors import InputError
from ossb.models import unimodal
from ossb.models.base import NU, SETTLED, TOP_SHARE, WEAKEST
from ossb.models.unimodal_cache import decide_standing
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.structures.unimodal import Unimodal
from ossb.tally import empty_tally

LINE = Unimodal(n_arms=5)


def tally_of(counts, means, pending=None):
    tally = empty_tally(len(counts), len(counts))
    tally.counts[:] = counts
    tally.means[:] = means
    tally.plays[:] = counts
    if pending is not None:
        tally.pending[:] = pending
        tally.plays[:] += pending
    tally.clock[0] = sum(counts)
    return tally


def deviance(counts, means, mode, known=None):
    """The least ½ Σ n (m − λ)² with the mode given, on a grid-free path: a quadratic program."""
    import cvxpy as cp

    level = cp.Variable(len(means))
    order = [level[x] <= level[x + 1] for x in range(mode)]
    order += [level[x + 1] <= level[x] for x in range(mode, len(means) - 1)]
    if known is not None:
        order.append(level[known] == means[known])
    problem = cp.Problem(
        cp.Minimize(0.5 * cp.sum(cp.multiply(np.array(counts, float), cp.square(level - means)))),
        order,
    )
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("seed", range(6))
def test_likelihood_ratios_are_differences_of_deviances(seed):
    rng = np.random.default_rng(seed)
    counts, means = rng.integers(1, 40, 5), rng.normal(size=5)
    model = LINE.model()
    memory, tally = model.start(), tally_of(counts, means)
    leader = model.project(tally, memory)
    model.test(leader, math.inf, tally, memory)
    costs = [deviance(counts, means, x) for x in range(5)]
    assert leader == int(np.argmin(costs)) or costs[leader] == pytest.approx(min(costs), abs=1e-6)
    others = [costs[x] for x in range(5) if x != leader]
    assert memory.numbers[WEAKEST] == pytest.approx(min(others) - costs[leader], abs=1e-5)
    known = [deviance(counts, means, x, leader) for x in range(5)]
    expected = max(min(known[x] for x in range(5) if x != leader) - known[leader], 0.0)
    assert memory.numbers[SETTLED] == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert memory.numbers[SETTLED] >= memory.numbers[WEAKEST] - 1e-9


def test_rates_are_those_of_the_neighbours_alone():
    model = LINE.model()
    memory, out = model.start(), np.ones(5)
    leader = model.plug_in(tally_of([3] * 5, [0.9, 0.1, 0.3, 1.0, 0.4]), memory)
    assert leader == 3
    assert model.rates(leader, 0.0, memory, out) == 0.0
    assert out == pytest.approx([0, 0, 2 / 0.49, 0, 2 / 0.36])


def test_the_projection_pools_what_is_out_of_order():
    model = LINE.model()
    memory = model.start()
    leader = model.project(tally_of([1, 1, 2, 5, 1], [0.0, 0.6, 0.2, 1.0, 0.5]), memory)
    assert leader == 3
    assert memory.estimate == pytest.approx([0.0, 1 / 3, 1 / 3, 1.0, 0.5])
    assert (memory.rewards == memory.estimate).all()


def test_gains_follow_the_definition():
    counts, means = [4, 6, 9, 7, 3], [0.1, 0.5, 0.9, 0.6, 0.7]
    model = LINE.model()
    memory = model.start()
    assert model.weigh(tally_of(counts, means), memory) == 2
    n = np.array(counts, float)
    estimate = np.array([0.1, 0.5, 0.9, 0.63, 0.63])
    assert memory.estimate == pytest.approx(estimate)
    base = deviance(counts, means, 2)
    gain, chances, expected = np.zeros(5), 0.0, []
    for j in (0, 1, 3, 4):
        glr = deviance(counts, means, j) - base
        variance = 1 / n[j] + 1 / n[2]
        discount = 1 / (1 + variance)
        z = math.sqrt(2 * glr * discount)
        ratio, sd = (0.9 - estimate[j]) / math.sqrt(2 * glr), math.sqrt(variance)
        scale = max(ratio, sd)
        height, chance = math.exp(-z * z / 2) / math.sqrt(2 * math.pi), 0.5 * math.erfc(z / 2**0.5)
        level = best_level(n, means, j)
        evidence = 0.5 * (estimate - level) ** 2
        gain += 0.5 * height * scale / discount * evidence / (n @ evidence)
        if 2 * ratio < sd:
            spread = chance / math.sqrt(2 * math.pi) / sd * (1 - 2 * ratio / sd)
            gain[[j, 2]] += spread / n[[j, 2]] ** 2
        chances += chance
        expected.append(scale * (height - z * chance))
    assert memory.gain == pytest.approx(gain * n / (1 + n), rel=1e-4)
    assert memory.numbers[NU] == pytest.approx(1 / (1 + chances), rel=1e-5)
    assert memory.numbers[TOP_SHARE] == pytest.approx(max(expected) / sum(expected), rel=1e-4)


def best_level(counts, means, mode):
    import cvxpy as cp

    level = cp.Variable(len(means))
    order = [level[x] <= level[x + 1] for x in range(mode)]
    order += [level[x + 1] <= level[x] for x in range(mode, len(means) - 1)]
    cost = cp.sum(cp.multiply(counts, cp.square(level - np.array(means))))
    cp.Problem(cp.Minimize(cost), order).solve(solver=cp.CLARABEL)
    return level.value


def test_pending_plays_count_in_gains_and_never_in_tests():
    model = LINE.model()
    counts, means = [4, 6, 9, 7, 3], [0.1, 0.5, 0.9, 0.6, 0.7]
    plain, waiting = model.start(), model.start()
    later = tally_of(counts, means, [0, 50, 0, 50, 50])
    model.weigh(tally_of(counts, means), plain)
    model.weigh(later, waiting)
    assert waiting.gain[1] < plain.gain[1]
    model.test(2, math.inf, tally_of(counts, means), plain)
    model.test(2, math.inf, later, waiting)
    assert (plain.numbers[2:] == waiting.numbers[2:]).all()


def test_ties_and_arms_never_seen_stay_finite():
    for observation in ("gaussian", "bernoulli", "poisson", "exponential"):
        model = Unimodal(n_arms=4, observation=observation).model()
        memory = model.start()
        for counts, means in (
            ([0, 0, 0, 0], [0.0] * 4),
            ([1, 0, 1, 0], [1.0, 0.0, 1.0, 0.0]),
            ([5, 5, 5, 5], [1.0, 1.0, 1.0, 1.0]),
            ([2, 900, 1, 3], [0.25, 0.5, 0.75, 0.5]),
        ):
            tally = tally_of(counts, means, [1, 1, 1, 1])
            leader = model.weigh(tally, memory)
            assert np.isfinite(memory.gain).all()
            assert np.isfinite(memory.rewards).all()
            assert 0 < memory.numbers[NU] <= 1
            model.test(leader, math.inf, tally, memory)
            assert not np.isnan(memory.numbers).any()


def test_a_certain_leader_is_settled():
    model = Unimodal(n_arms=3, observation="bernoulli").model()
    memory = model.start()
    tally = tally_of([4, 6, 4], [0.5, 1.0, 0.25])
    model.test(model.project(tally, memory), math.inf, tally, memory)
    assert memory.numbers[SETTLED] == math.inf
    assert 0 < memory.numbers[WEAKEST] < math.inf


RING = Unimodal(edges=[[0, 1], [1, 2], [2, 3], [3, 0]])


def test_on_a_ring_only_bare_means_are_played_by():
    assert policy("ossb-paper", RING).model.n_arms == 4
    with pytest.raises(InputError, match="lines and trees only"):
        policy("hgl", RING)
    with pytest.raises(InputError, match=r"estimate.*means.*lines and trees only"):
        policy("ossb", RING)
    with pytest.raises(InputError, match=r"test.*counts.*lines and trees only"):
        policy("ossb", RING, estimate="means")
    assert policy("ossb", RING, estimate="means", test="counts").leader_first


TREE = [[0, 1], [1, 2], [2, 3], [1, 4], [4, 5], [2, 6]]


@pytest.mark.sampled(of=4)
@pytest.mark.parametrize("observation", ["bernoulli", "exponential", "gaussian"])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
@pytest.mark.parametrize("graph", ["line", "tree"])
def test_held_tests_and_neighbours_change_no_decision(observation, goal, graph, monkeypatch):
    theta = [0.2, 0.5, 0.8, 0.6, 0.3, 0.15, 0.4]
    theta = theta if goal == "maximize" else [1.0 - mean for mean in theta]
    shape = {"edges": TREE} if graph == "tree" else {}
    theta = theta if graph == "tree" else sorted(theta[:3]) + sorted(theta[3:])[::-1]
    if graph == "line" and goal == "minimize":
        theta = sorted(theta[:3])[::-1] + sorted(theta[3:])
    instance = Unimodal(observation=observation, theta=theta, goal=goal, **shape)
    calls = []

    def counted(*arguments):
        calls.append(decide_standing(*arguments))
        return calls[-1]

    def trial():
        return simulate(instance, "ossb", 2500, 2, seed=5, compiled=False).policies[0]

    monkeypatch.setattr(unimodal, "decide_standing", counted)
    quick = trial()
    assert any(calls)
    calls.clear()
    monkeypatch.setattr(unimodal, "is_standing", lambda *_: False)
    monkeypatch.setattr(unimodal, "stand", lambda *_: False)
    monkeypatch.setattr(unimodal, "ratio_beside", lambda *_: math.inf)
    exact = trial()
    assert not calls
    assert np.array_equal(quick.curves, exact.curves)
    assert np.array_equal(quick.plays, exact.plays)


def test_bare_means_are_tested_exactly():
    """What stays true of a regression is not said of means that are none."""
    star = [[0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [0, 6]]
    model = Unimodal(edges=star, observation="bernoulli").model()
    counts = [24, 64, 5, 11, 3, 2, 30]
    tally = tally_of(counts, [5 / 24, 0.34375, 0.2, 3 / 11, 1 / 3, 0.0, 16 / 30])
    for level in np.linspace(2.0, 2.6, 25):
        memory, exact = model.start(), model.start()
        leader = model.plug_in(tally, memory)
        model.test(leader, float(level), tally, memory)
        model.plug_in(tally, exact)
        model.test(leader, math.inf, tally, exact)
        assert (memory.numbers[WEAKEST] >= level) == (exact.numbers[WEAKEST] >= level)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(
    ("counts", "means"),
    [([3, 1, 5], [2.0, 0.0, 0.0]), ([3, 4, 5], [0.0, 2.0, 1.0]), ([3, 4, 5], [1.0, 0.0, 1.0])],
)
def test_means_at_the_end_of_a_family_are_tested_exactly(counts, means):
    """An exponential arm told exactly 0 is infinitely far from any other mean."""
    model = Unimodal(n_arms=3, observation="exponential").model()
    tally = tally_of(counts, means)
    for level in (0.5, 2.0, 8.0):
        memory, exact = model.start(), model.start()
        leader = model.project(tally, memory)
        model.test(leader, level, tally, memory)
        assert not np.isnan(memory.others).any()
        model.test(model.project(tally, exact), math.inf, tally, exact)
        assert (memory.numbers[WEAKEST] >= level) == (exact.numbers[WEAKEST] >= level)
        assert model.project(tally, memory) == leader


def test_a_leader_that_one_more_play_may_unseat_is_not_held():
    model = Unimodal(n_arms=3).model()
    memory, tally = model.start(), tally_of([100, 20_000, 100], [0.05, 0.0, 0.0499])
    assert model.project(tally, memory) == 0
    model.test(0, 9.0, tally, memory)
    tally.counts[0], tally.means[0] = 101, 0.045001
    assert model.project(tally, memory) == model.project(tally, model.start()) == 2


def test_a_campaign_decides_before_it_is_told_anything():
    instance = {"structure": "unimodal", "n_arms": 3, "observation": "gaussian", "sigma": 1.0}
    campaign = Campaign.open("memory://", "late", instance=instance, policy="ossb", seed=1)
    assert {decision.arm for decision in campaign.ask(6)} <= {0, 1, 2}
