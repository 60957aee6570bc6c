import itertools

import numpy as np
import pytest

from ossb.graves_lai.semi_bandit.bernoulli_items import BernoulliItems
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.poisson_items import PoissonItems
from ossb.graves_lai.semi_bandit.rates import rates, start
from ossb.graves_lai.semi_bandit.solve import solve


def m_sets(n_items, size):
    arms = [np.isin(np.arange(n_items), c) for c in itertools.combinations(range(n_items), size)]
    return np.array(arms, dtype=float)


def least_information(arms, phi, eta):
    """F(η), from its definition."""
    best = int(np.argmax(arms @ phi))
    gaps = arms[best] @ phi - arms @ phi
    weights, outside = eta @ arms, arms[best] == 0
    least = np.inf
    for x in range(len(arms)):
        mine = (arms[x] > 0) & outside
        if mine.any():
            least = min(least, gaps[x] ** 2 / (2 * (1 / weights[mine]).sum()))
    return least


def walk(arms, kappa, scale, n_rounds, run=rates):
    """Rates along a random walk of the means."""
    rng = np.random.default_rng(1)
    phi = rng.uniform(0, 1, arms.shape[1])
    memory, out = start(arms, GaussianItems()), np.empty(len(arms))
    for _ in range(n_rounds):
        phi = phi + scale * rng.normal(size=phi.size)
        gap = run(phi, kappa, memory, out)
        yield phi, gap, out.copy(), memory


@pytest.mark.parametrize("scale", [1e-2, 1e-4])
def test_warm_equals_cold(scale):
    arms = m_sets(6, 3)
    for phi, gap, eta, _ in walk(arms, 0.0, scale, 25):
        cold = solve(arms, phi)
        gaps = (arms @ phi).max() - arms @ phi
        assert gap <= 1e-6
        assert least_information(arms, phi, eta) >= 1 - 1e-9
        assert cold.lower * (1 - 1e-9) <= eta @ gaps <= cold.upper * (1 + 2e-6)
        assert eta[cold.leader] == 0.0


def test_rates_are_kept_while_their_gap_is_small():
    arms = m_sets(6, 3)
    rounds = list(walk(arms, 1e-2, 1e-4, 40))
    for phi, gap, eta, _ in rounds:
        gaps = (arms @ phi).max() - arms @ phi
        assert gap <= 1e-2
        assert least_information(arms, phi, eta) >= 1 - 1e-9
        assert eta @ gaps <= solve(arms, phi).lower * (1 + gap) / (1 - gap)
    kept = [
        np.allclose(after / after.max(), before / before.max(), rtol=1e-12, atol=0.0)
        for (_, _, before, _), (_, _, after, _) in itertools.pairwise(rounds)
    ]
    assert sum(kept) > 30


def test_what_becomes_possible_is_told_apart():
    """Nothing can beat two means of .9; no solution is held on to then."""
    arms = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    memory, out = start(arms, BernoulliItems()), np.empty(2)
    for phi, is_possible in (([0.9, 0.9, 0.1], False), ([0.4, 0.5, 0.1], True)):
        for _ in range(2):
            assert rates(np.array(phi), 1e-2, memory, out) <= 1e-2
            assert out.any() == is_possible


def test_ties_of_estimates_give_finite_rates():
    arms = m_sets(5, 2)
    rng = np.random.default_rng(0)
    memory, out = start(arms, GaussianItems()), np.empty(len(arms))
    for phi in [np.zeros(5), np.ones(5), *rng.integers(-1, 2, (40, 5)).astype(float)]:
        gap = rates(phi, 0.0, memory, out)
        assert gap <= 1e-6
        assert np.isfinite(out).all()
        assert (out >= 0).all()
        assert out[int(np.argmax(arms @ phi))] == 0.0


def test_nothing_to_tell_apart():
    arms = np.array([[1.0, 1.0], [1.0, 0.0]])
    memory, out = start(arms, GaussianItems()), np.ones(2)
    for _ in range(2):
        assert rates(np.array([0.5, 0.5]), 0.0, memory, out) == 0.0
        assert not out.any()


def test_many_arms_with_generation():
    rng = np.random.default_rng(4)
    arms = np.unique((rng.random((120, 9)) < 0.4).astype(float), axis=0)
    arms = arms[arms.sum(axis=1) > 0]
    for phi, gap, eta, _ in walk(arms, 0.0, 3e-3, 6):
        assert gap <= 1e-6
        assert least_information(arms, phi, eta) >= 1 - 1e-9


def test_compiled_equals_interpreted_bit_for_bit():
    arms = m_sets(6, 3)
    for kappa in (0.0, 1e-2):
        slow = walk(arms, kappa, 5e-3, 12)
        fast = walk(arms, kappa, 5e-3, 12, rates.compiled)
        for (_, gap, eta, _), (_, other_gap, other, _) in zip(slow, fast, strict=True):
            assert gap == other_gap
            assert np.array_equal(eta, other)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_estimates_at_the_ends_of_the_means(sign, seed):
    """Ties by the dozen, and gaps of 1e-12 beside items that are 1e-6 from the end."""
    rng = np.random.default_rng(seed)
    arms = np.unique((rng.random((30, 10)) < 0.5).astype(float), axis=0)
    memory, out = start(arms, BernoulliItems(sign)), np.empty(len(arms))
    for _ in range(3):
        phi = rng.choice([1e-6, 0.5, 1.0 - 1e-6], 10)
        gap = rates(sign * phi, 0.0, memory, out)
        assert 0.0 <= gap <= 1e-6
        assert np.isfinite(out).all()


@pytest.mark.parametrize(
    ("items", "variance"), [(PoissonItems(), 0.5), (BernoulliItems(), 0.25), (GaussianItems(), 1.0)]
)
@pytest.mark.parametrize("gap", [1e-3, 1e-8, 1e-11])
def test_near_ties_are_told_apart_to_all_digits(items, variance, gap):
    arms, out, phi = np.eye(2), np.empty(2), np.array([0.5, 0.5 - gap])
    assert rates(phi, 0.0, start(arms, items), out) <= 1e-6
    apart = phi[0] - phi[1]
    assert out[1] * apart**2 / (2.0 * variance) == pytest.approx(1.0, rel=2.0 * gap + 2e-6)
