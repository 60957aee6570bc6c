"""Policies for linear arms: what they compute and refuse; compiling changes nothing."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.models.least_squares import TOLD
from ossb.policies import policy
from ossb.policies.end_of_optimism import HORIZON, LEADER, RECOVERY, STAGE, SUCCESS, WANTED
from ossb.simulation import simulate
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.linear import Linear
from ossb.structures.unimodal import Unimodal
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, empty_tally

ARMS = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.2], [0.6, 0.6]]
LINEAR = Linear(arms=ARMS, phi=[1.0, 0.0])
RNG = np.random.default_rng(0)


def told(counts, means):
    tally = empty_tally(len(counts), len(counts))
    tally.counts[:] = counts
    tally.plays[:] = counts
    tally.means[:] = means
    tally.clock[0] = sum(counts)
    return tally


def by_numpy(counts, means, ridge=1.0):
    arms = np.array(ARMS)
    gram = ridge * np.eye(2) + (arms.T * counts) @ arms
    inverse = np.linalg.inv(gram)
    theta = inverse @ (arms.T @ (np.array(counts) * means))
    return theta, arms @ theta, np.einsum("ki,ij,kj->k", arms, inverse, arms), gram


COUNTS, MEANS = [5, 2, 4, 1], [0.9, 0.3, 0.7, 0.6]


def test_glm_ucb_plays_the_largest_index():
    record = policy("glm-ucb", LINEAR, scale=2.0)
    decision = record.select(told(COUNTS, MEANS), record.start(), RNG)
    _, rewards, widths, _ = by_numpy(COUNTS, MEANS, ridge=0.0)
    index = rewards + 2 * math.sqrt(0.5 * math.log(13)) * np.sqrt(widths)
    assert decision.arm == int(np.argmax(index))
    assert decision.phase == (EXPLOIT if decision.arm == int(np.argmax(rewards)) else EXPLORE)


@pytest.mark.parametrize(
    ("name", "parameters"), [("glm-ucb", {}), ("linear-thompson", {"prior": "flat"})]
)
def test_without_a_ridge_arms_that_span_all_others_come_first(name, parameters):
    record = policy(name, LINEAR, **parameters)
    counts, memory = [0] * 4, record.start()
    for _ in range(2):
        decision = record.select(told(counts, [0.0] * 4), memory, RNG)
        assert decision.phase == ESTIMATE
        counts[decision.arm] += 1
    assert np.linalg.matrix_rank(np.array(ARMS)[np.flatnonzero(counts)]) == 2
    assert record.select(told(counts, [1.0] * 4), memory, RNG).phase != ESTIMATE


def test_oful_has_the_radius_of_the_self_normalised_bound():
    record = policy("oful", LINEAR, delta=0.05, norm=1.5)
    memory = record.start()
    decision = record.select(told(COUNTS, MEANS), memory, RNG)
    _, rewards, widths, gram = by_numpy(COUNTS, MEANS)
    volume = np.linalg.slogdet(gram)[1]
    assert memory.squares.log_det[TOLD] == pytest.approx(volume)
    index = rewards + (math.sqrt(2 * math.log(20) + volume) + 1.5) * np.sqrt(widths)
    assert decision.arm == int(np.argmax(index))


@pytest.mark.parametrize("scale", ["paper", "posterior"])
def test_thompson_draws_have_the_mean_and_spread_they_should(scale):
    record = policy("linear-thompson", LINEAR, scale=scale)
    memory, tally = record.start(), told(COUNTS, MEANS)
    rng, draws = np.random.default_rng(3), []
    for _ in range(3000):
        record.select(tally, memory, rng)
        draws.append(memory.drawn.copy())
    theta, _, _, gram = by_numpy(COUNTS, MEANS)
    spread = math.sqrt(0.5 * 2 * math.log(13 / 0.1)) if scale == "paper" else 1.0
    covariance = spread**2 * np.linalg.inv(gram)
    assert np.mean(draws, axis=0) == pytest.approx(theta, abs=5 * spread / math.sqrt(3000))
    assert np.cov(np.array(draws).T) == pytest.approx(covariance, abs=0.12 * covariance.max())


def test_thompson_without_a_prior_draws_around_least_squares():
    record = policy("linear-thompson", LINEAR, scale="posterior", prior="flat")
    memory, tally = record.start(), told(COUNTS, MEANS)
    rng, draws = np.random.default_rng(3), []
    for _ in range(3000):
        record.select(tally, memory, rng)
        draws.append(memory.drawn @ record.features)
    _, rewards, widths, _ = by_numpy(COUNTS, MEANS, ridge=0.0)
    assert np.mean(draws, axis=0) == pytest.approx(rewards, abs=5 / math.sqrt(3000))
    assert np.var(draws, axis=0) == pytest.approx(widths, rel=0.12)


def test_glm_ucb_on_a_generalised_linear_model_uses_the_likelihood_and_the_link():
    instance = GeneralizedLinear(arms=ARMS, link="logistic", observation="bernoulli", phi=[2, -1])
    record = policy("glm-ucb", instance)
    memory = record.start()
    decision = record.select(told([9, 9, 9, 9], [0.9, 0.3, 0.8, 0.6]), memory, RNG)
    arms, indices = np.array(ARMS), memory.model.indices
    expected, phi = 1 / (1 + np.exp(-indices)), np.linalg.lstsq(arms, indices, rcond=None)[0]
    off = np.array([9 * (m - p) for m, p in zip([0.9, 0.3, 0.8, 0.6], expected, strict=True)])
    prior = 2 * np.cov(arms.T, bias=True) + np.outer(arms.mean(axis=0), arms.mean(axis=0)) / 100
    assert arms.T @ off == pytest.approx(prior @ phi, abs=1e-6)  # the gradient is 0
    _, _, widths, _ = by_numpy([9] * 4, [0.0] * 4, ridge=0.0)
    index = expected + math.sqrt(0.5 * math.log(37)) * np.sqrt(widths)
    assert decision.arm == int(np.argmax(index))
    shown = GeneralizedLinear(arms=ARMS, link="log", observes="index", phi=[1, 0])
    assert type(policy("glm-ucb", shown)).__name__ == "LinearUcb"


def test_the_end_of_optimism_warms_up_plans_and_recovers():
    record = policy("end-of-optimism", LINEAR, horizon=1000, c=0.0)
    memory = record.start()
    spanner = {int(arm) for arm in record.spanner}
    counts, means = [0] * 4, [1.0, 0.0, 0.9, 0.6]
    for _ in range(6):  # ⌈√ln 1000⌉ = 3 plays of two arms
        arm = record.select(told(counts, means), memory, RNG).arm
        assert arm in spanner
        counts[arm] += 1
    decision = record.select(told(counts, means), memory, RNG)
    assert memory.plan[STAGE] == SUCCESS
    leader = int(memory.plan[LEADER])
    wanted = memory.frozen[WANTED].copy()
    assert wanted[leader] == 0
    assert wanted.max() > 0
    short = [x for x in range(4) if wanted[x] > counts[x]]
    assert decision.arm in (short or [leader])
    plays = [int(max(a, math.ceil(b))) for a, b in zip(counts, wanted, strict=True)]
    plays[leader] = 1000 - sum(plays) - 1
    frozen = memory.frozen[1].copy()
    assert record.select(told(plays, frozen), memory, RNG) == (leader, EXPLOIT)
    moved = frozen + 40.0 * np.array([1.0, -1.0, 0.0, 0.0])
    first = record.select(told(plays, moved), memory, RNG)
    assert memory.plan[STAGE] == RECOVERY
    assert first.arm == 0  # nothing is known any more: each arm once
    later = [n + 1 for n in plays]
    told_later = told(later, moved)
    told_later.clock[0] = 999
    assert 0 <= record.select(told_later, memory, RNG).arm < 4
    told_later.clock[0] = 1500  # past the plan: a longer one, from all data
    record.select(told_later, memory, RNG)
    assert memory.plan[HORIZON] == 1e6
    assert memory.plan[STAGE] == SUCCESS


@pytest.mark.parametrize(
    ("name", "parameters", "field"),
    [
        ("linear-thompson", {"scale": "huge"}, "scale"),
        ("linear-thompson", {"delta": 0.0}, "delta"),
        ("linear-thompson", {"prior": "wide"}, "prior"),
        ("glm-ucb", {"scale": -1.0}, "scale"),
        ("oful", {"delta": 1.0}, "delta"),
        ("oful", {"norm": -1.0}, "norm"),
        ("end-of-optimism", {"horizon": 2}, "horizon"),
        ("end-of-optimism", {"c": -1.0}, "c"),
    ],
)
def test_parameters_out_of_range_are_refused(name, parameters, field):
    with pytest.raises(InputError, match=field):
        policy(name, LINEAR, **parameters)


def test_negative_scales_are_refused_on_generalised_linear_models_too():
    instance = GeneralizedLinear(arms=ARMS, link="logistic", observation="bernoulli", phi=[2, -1])
    with pytest.raises(InputError, match="scale"):
        policy("glm-ucb", instance, scale=0.0)


@pytest.mark.parametrize("name", ["linear-thompson", "glm-ucb", "oful", "end-of-optimism"])
def test_they_are_for_linear_arms(name):
    with pytest.raises(InputError, match=r"these do: .*hgl"):
        policy(name, Unimodal(theta=[0.1, 0.5, 0.2]))


def test_regret_on_the_end_of_optimism_is_logarithmic_and_not_greedy():
    """C ln T = 8 ln T = 66; a policy locked on the third arm would have 400."""
    instance = Linear(arms=[[1, 0], [0, 1], [0.9, 0.2]], phi=[1, 0])
    result = simulate(instance, ["hgl", "glm-ucb", "linear-thompson:scale=posterior"], 4000, 60, 1)
    for found in result.policies:
        assert 1 < found.regret.mean() < 8 * math.log(4000)
        assert found.plays[0] > 3500


def test_hgl_on_the_twelve_arms():
    """Reported elsewhere: MINTS 232, OSUB 278, UCB 490."""
    theta = [0, 0.1, 0.2, 0.3, 0.4, 0.7, 0.5, 0.5, 0.4, 0.2, 0.2, 0.1]
    result = simulate(Unimodal(theta=theta), ["hgl"], 20000, 150, seed=1, workers=2)
    assert 40 < result.policies[0].regret.mean() < 200


LISTED = [[1, 0, 0], [0, 1, 1], [1, 0, 1]]


@pytest.mark.parametrize("name", ["linear-thompson", "glm-ucb", "oful", "end-of-optimism"])
def test_combinatorial_arms_that_show_their_sum_are_linear_ones(name):
    bandit = Combinatorial(feedback="bandit", arms=LISTED, phi=[0.2, 0.5, 0.4])
    linear = Linear(arms=LISTED, phi=[0.2, 0.5, 0.4])
    one, two = (
        policy(name, instance).select(told([3, 3, 3], [0.2, 0.9, 0.6]), memory, rng)
        for instance in (bandit, linear)
        for memory, rng in [(policy(name, instance).start(), np.random.default_rng(1))]
    )
    assert one == two
    shown = Combinatorial(feedback="semi_bandit", arms=LISTED, phi=[0.2, 0.5, 0.4])
    with pytest.raises(InputError, match="needs bandit feedback"):
        policy(name, shown)
