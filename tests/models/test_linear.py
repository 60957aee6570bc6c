"""The linear model: likelihood ratios in closed form, gains by their definition, rates."""

import math

import numpy as np
import pytest

from ossb.models.base import NU, SETTLED, TOP_SHARE, WEAKEST
from ossb.models.geometry import geometry
from ossb.models.linear import linear_model
from ossb.models.scales import LEVEL, precisions
from ossb.tally import empty_tally, observe


def told(counts, means, pending=None):
    tally = empty_tally(len(counts), len(counts))
    tally.counts[:] = counts
    tally.means[:] = means
    tally.plays[:] = counts
    tally.clock[0] = int(np.sum(counts))
    if pending is not None:
        tally.pending[:] = pending
    return tally


def least_cost(arms, counts, means, sigma, j, leader, fixed=None):
    """½ Σ n (m − ⟨θ, x⟩)² / σ² at its least subject to ⟨θ, x_j − x_b⟩ ≥ 0, by its multiplier."""
    gram = (arms.T * counts) @ arms / sigma**2
    target = arms.T @ (counts * means) / sigma**2
    rows = [arms[j] - arms[leader]]
    if fixed is not None:
        rows.append(arms[leader])
    rows = np.array(rows)
    values = np.array([0.0] if fixed is None else [0.0, fixed])
    system = np.block([[gram, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    theta = np.linalg.lstsq(system, np.concatenate([target, values]), rcond=None)[0][: len(gram)]
    return 0.5 * (counts * (means - arms @ theta) ** 2).sum() / sigma**2


@pytest.mark.parametrize("seed", range(6))
def test_likelihood_ratios_are_differences_of_least_costs(seed):
    rng = np.random.default_rng(seed)
    arms, sigma = rng.normal(size=(8, 3)), 0.8
    counts, means = rng.integers(1, 30, 8), rng.normal(size=8)
    model = linear_model(arms, sigma)
    memory, tally = model.start(), told(counts, means)
    gram = (arms.T * counts) @ arms
    theta = np.linalg.solve(gram, arms.T @ (counts * means))
    leader = int(np.argmax(arms @ theta))
    model.test(leader, math.inf, tally, memory)
    base = 0.5 * (counts * (means - arms @ theta) ** 2).sum() / sigma**2
    others = [j for j in range(8) if j != leader]
    ratios = [least_cost(arms, counts, means, sigma, j, leader) - base for j in others]
    assert memory.numbers[WEAKEST] == pytest.approx(min(ratios), rel=1e-6)
    top = float(arms[leader] @ theta)
    known = [least_cost(arms, counts, means, sigma, j, leader, top) - base for j in others]
    assert memory.numbers[SETTLED] == pytest.approx(min(known), rel=1e-6)
    assert memory.numbers[SETTLED] >= memory.numbers[WEAKEST]


def test_nothing_is_established_before_all_directions_are_seen():
    model = linear_model(np.eye(3), 1.0)
    memory = model.start()
    model.test(0, math.inf, told([0, 0, 0], [0.0] * 3), memory)
    assert memory.numbers[WEAKEST] == memory.numbers[SETTLED] == 0.0
    model.test(0, math.inf, told([50, 50, 0], [3.0, 0.0, 0.0]), memory)
    assert memory.numbers[WEAKEST] < 1e-6


def test_parallel_and_equal_arms_are_no_alternatives_to_a_known_leader():
    model = linear_model(np.array([[2.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), 1.0)
    memory = model.start()
    model.test(0, math.inf, told([5, 5, 5], [2.0, 1.0, 2.0]), memory)
    assert 0 < memory.numbers[WEAKEST] < math.inf
    assert memory.numbers[SETTLED] == math.inf


def by_hand(arms, counts, means, sigma):
    """The gains as they are defined, with numpy, under each prior and mixed as believed."""
    shape, model = geometry(arms), linear_model(arms, sigma)
    memory, arms = model.start(), shape.rows
    model.weigh(told(counts, means), memory)
    apart, centre = arms - arms.mean(axis=0), np.outer(shape.centre, shape.centre)
    spread = apart.T @ apart / len(arms)
    gram, target = (arms.T * counts) @ arms, arms.T @ (counts * means)
    priors = [one * spread + LEVEL * centre for one in precisions(shape)]
    parts = [pair for pair in zip(memory.space.shares[1], priors, strict=True) if pair[0] > 0]
    inverses = [np.linalg.inv(prior + gram) for _, prior in parts]
    each = [arms @ (inverse @ target) for inverse in inverses]
    rewards = sum(part[0] * own for part, own in zip(parts, each, strict=True))
    leader = int(np.argmax(rewards))
    gain, nu, top = np.zeros(len(arms)), 0.0, 0.0
    for (weight, _), inverse, own in zip(parts, inverses, each, strict=True):
        matrix, chances, expected = np.zeros_like(inverse), 0.0, []
        for j in range(len(arms)):
            u = arms[j] - arms[leader]
            s = math.sqrt(u @ inverse @ u)
            if j == leader or s == 0:
                continue
            z = (own[leader] - own[j]) / (sigma * s)
            height = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
            chance = 0.5 * math.erfc(z / 2**0.5)
            matrix += sigma * height / (2 * s) * np.outer(inverse @ u, inverse @ u)
            chances += chance
            expected.append(sigma * s * (height - z * chance))
        once = np.array([x @ matrix @ x / (1 + x @ inverse @ x) for x in arms])
        gain += weight / (1 + chances) * once
        nu += weight / (1 + chances)
        top += weight * max(expected) / sum(expected)
    return leader, rewards, gain / nu, nu, top


@pytest.mark.parametrize("sigma", [1.0, 0.3])
@pytest.mark.parametrize(("level", "spread"), [(0.0, 1.0), (1.0, 0.02)])
def test_gains_follow_the_definition(sigma, level, spread):
    rng = np.random.default_rng(7)
    arms = np.column_stack([np.ones(9), rng.normal(size=(9, 2))])
    counts, means = rng.integers(0, 12, 9), sigma * (level + spread * rng.normal(size=9))
    model = linear_model(arms, sigma)
    memory = model.start()
    leader, rewards, gain, nu, share = by_hand(arms, counts, means, sigma)
    assert model.weigh(told(counts, means), memory) == leader
    assert memory.rewards == pytest.approx(rewards)
    assert memory.gain == pytest.approx(gain, rel=1e-9)
    assert memory.numbers[NU] == pytest.approx(nu)
    assert memory.numbers[TOP_SHARE] == pytest.approx(share)


def test_gains_are_the_fall_of_the_expected_improvement():
    """−∂Ψ/∂N of one more play, up to the one-pull factor; Ψ summed over alternatives."""
    rng = np.random.default_rng(9)
    arms = rng.normal(size=(5, 2))
    counts, means = rng.integers(100, 300, 5).astype(float), 0.3 * (arms @ rng.normal(size=2))

    def improvement(counts):
        inverse = np.linalg.inv((arms.T * counts) @ arms)
        total = 0.0
        for j in range(5):
            u = arms[j] - arms[leader]
            s = math.sqrt(u @ inverse @ u) if j != leader else 0.0
            if s > 0:
                z = (rewards[leader] - rewards[j]) / s
                height = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
                total += s * (height - z * 0.5 * math.erfc(z / 2**0.5))
        return total, inverse

    model = linear_model(arms, 1.0)
    memory = model.start()
    leader = model.weigh(told(counts, means), memory)
    assert memory.space.shares[1, 0] > 0.999  # many observations: as good as no prior
    rewards, gain = memory.rewards, memory.gain
    for x in range(5):
        step = np.zeros(5)
        step[x] = 1e-3
        fall = (improvement(counts - step)[0] - improvement(counts + step)[0]) / 2e-3
        factor = 1 / (1 + arms[x] @ improvement(counts)[1] @ arms[x])
        assert gain[x] == pytest.approx(factor * fall, rel=1e-4)


def test_rates_at_the_estimate_are_feasible_and_scale_with_the_variance():
    rng = np.random.default_rng(5)
    arms = rng.normal(size=(6, 2))
    counts, means = rng.integers(2, 9, 6), rng.normal(size=6)
    out, scaled = np.zeros(6), np.zeros(6)
    for sigma, rates in ((1.0, out), (0.5, scaled)):
        model = linear_model(arms, sigma)
        memory = model.start()
        leader = model.project(told(counts, means), memory)
        assert model.rates(leader, 0.0, memory, rates) <= 1e-5
    assert out[leader] == 0
    assert scaled == pytest.approx(0.25 * out)
    unit = arms[leader] / np.linalg.norm(arms[leader])
    off = arms - np.outer(arms @ unit, unit)
    inverse = np.linalg.pinv((off.T * out) @ off)
    for x in range(6):
        if x != leader:
            gap = memory.rewards[leader] - memory.rewards[x]
            assert 2 * off[x] @ inverse @ off[x] <= gap**2 * (1 + 1e-9)


def test_bare_means_are_taken_as_they_stand():
    model = linear_model(np.eye(3), 1.0)
    memory = model.start()
    assert model.plug_in(told([1, 1, 1], [0.1, 0.7, 0.7]), memory) == 1
    assert memory.estimate == pytest.approx([0.1, 0.7, 0.7])
    assert [model.informative(place) for place in range(4)] == [0, 1, 2, -1]
    assert model.unseen(told([0, 0, 0], [0.0] * 3)) == 0
    assert model.unseen(told([1, 0, 1], [0.0] * 3)) == 1
    assert model.unseen(told([1, 1, 1], [0.0] * 3)) == -1
    assert model.is_informative(0)


def test_pending_plays_count_in_gains_and_never_in_tests():
    model = linear_model(np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]]), 1.0)
    counts, means = [4, 3, 5], [0.5, 0.1, 0.4]
    plain, waiting = model.start(), model.start()
    leader = model.weigh(told(counts, means), plain)
    assert model.weigh(told(counts, means, [0, 40, 0]), waiting) == leader
    assert waiting.gain[1] < plain.gain[1]
    assert (waiting.rewards == plain.rewards).all()
    for memory, pending in ((plain, None), (waiting, [0, 40, 0])):
        model.test(leader, math.inf, told(counts, means, pending), memory)
    assert (plain.numbers[2:] == waiting.numbers[2:]).all()


def test_gains_do_not_suffer_from_a_common_offset():
    rng = np.random.default_rng(3)
    arms, values = rng.normal(size=(6, 2)), rng.normal(size=(6, 4))
    looks = []
    for offset, level in ((1.0, 0.0), (1e5, 0.0), (1.0, 1e6)):
        model = linear_model(np.hstack([arms, np.full((6, 1), offset)]), 1.0)
        memory, tally = model.start(), empty_tally(6, 6)
        for arm in range(6):
            for value in values[arm]:
                observe(tally, arm, float(level + value))
        looks.append((model.weigh(tally, memory), memory))
    (leader, plain), *others = looks
    for found, memory in others:
        assert found == leader
        assert memory.gain == pytest.approx(plain.gain, rel=1e-6)
        assert memory.numbers[:2] == pytest.approx(plain.numbers[:2], rel=1e-6)
