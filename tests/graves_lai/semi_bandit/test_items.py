"""Items that are not Gaussian: the programs of single alternatives, and whole bounds."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from ossb.families import family_named
from ossb.graves_lai.information.items import NO_ALTERNATIVE, set_items, told
from ossb.graves_lai.semi_bandit.bernoulli_items import BernoulliItems
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.poisson_items import PoissonItems
from ossb.graves_lai.semi_bandit.rates import rates, start
from ossb.graves_lai.semi_bandit.solve import solve

FAMILIES = {
    "gaussian": GaussianItems(0.7),
    "bernoulli": BernoulliItems(1.0),
    "bernoulli-minimised": BernoulliItems(-1.0),
    "poisson": PoissonItems(1.0),
    "poisson-minimised": PoissonItems(-1.0),
}
each_family = pytest.mark.parametrize("items", FAMILIES.values(), ids=FAMILIES)


def signed(items, means):
    return getattr(items, "sign", 1.0) * np.array(means)


def information(items, weights, need, means):
    """F, its gradient and minus its Hessian in the weights, for one alternative with all items."""
    p = len(means)
    record = set_items(items, np.eye(p), means, [need], np.zeros(p), rivals=np.ones((1, p)))
    value = told(record, weights)[0]
    gradient, curvature, every = np.zeros(p), np.zeros((p, p)), np.arange(p)
    record.gradient_at(0, every, p, gradient)
    record.add_bends(np.zeros(1, np.int64), np.ones(1), 1, every, p, np.ones(p), curvature)
    return value, gradient, np.triu(curvature) + np.triu(curvature, 1).T


@each_family
def test_one_alternative(items):
    means, weights, need = signed(items, [0.3, 0.5, 0.7]), np.array([1.0, 2.0, 0.5]), 0.3
    value, gradient, curvature = information(items, weights, need, means)
    raised = minimize(
        lambda gain: sum(
            w * items.divergence(m, g) for w, m, g in zip(weights, means, gain, strict=True)
        ),
        np.full(3, need / 3),
        bounds=[(0, 0.29)] * 3,
        constraints={"type": "eq", "fun": lambda gain: gain.sum() - need},
    )
    assert value == pytest.approx(raised.fun, rel=1e-4)
    for i, direction in enumerate(1e-5 * np.eye(3)):
        up, down = (information(items, weights + s * direction, need, means) for s in (1, -1))
        assert gradient[i] == pytest.approx((up[0] - down[0]) / 2e-5, rel=1e-6)
        assert curvature[i] == pytest.approx(-(up[1] - down[1]) / 2e-5, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("items", [BernoulliItems(1.0), BernoulliItems(-1.0), PoissonItems(-1.0)])
def test_what_cannot_be_gained_is_no_alternative(items):
    means = np.array([0.8, 0.9]) if getattr(items, "sign", 1.0) > 0 else np.array([-0.1, -0.2])
    assert information(items, np.ones(2), 0.31, means)[0] == NO_ALTERNATIVE
    assert information(items, np.ones(2), 0.29, means)[0] < NO_ALTERNATIVE


@pytest.mark.parametrize("items", [BernoulliItems(1.0), BernoulliItems(-1.0), PoissonItems(-1.0)])
def test_items_at_the_end_are_left_out(items):
    end = max(0.0, items.sign)
    means = np.array([0.5, end, end]) if items.sign > 0 else np.array([-0.5, end, end])
    alone = information(items, np.array([2.0]), 0.3, means[:1])
    value, gradient, _ = information(items, np.array([2.0, 1.0, 3.0]), 0.3, means)
    assert value == alone[0]
    assert gradient.tolist() == [alone[1][0], 0.0, 0.0]
    assert information(items, np.ones(3), 0.5, means)[0] == NO_ALTERNATIVE


@pytest.mark.parametrize(
    ("items", "name"), [(BernoulliItems(1.0), "bernoulli"), (PoissonItems(1.0), "poisson")]
)
def test_single_items_are_a_classical_bandit(items, name):
    phi = np.array([0.6, 0.3, 0.0, 0.55])
    kl = family_named(name, 1.0).kl
    value = sum((0.6 - mean) / kl(mean, 0.6) for mean in phi[1:])
    solution = solve(np.eye(4), phi, items=items)
    assert solution.gap <= 1e-6
    assert solution.upper == pytest.approx(value, rel=1e-6)


@each_family
@pytest.mark.parametrize("seed", range(6))
def test_bounds_against_cutting_planes(items, seed):
    rng = np.random.default_rng(seed)
    arms = np.unique(rng.integers(0, 2, (9, 5)).astype(float), axis=0)
    arms = arms[arms.any(axis=1)]
    phi = signed(items, rng.uniform(0.05, 0.95, 5))
    solution = solve(arms, phi, items=items)
    assert solution.gap <= 1e-6
    rewards = arms @ phi
    gaps = rewards[solution.leader] - rewards
    others = gaps > 0
    for parameter, arm in zip(solution.confusing, solution.alternatives, strict=True):
        known = arms[solution.leader] > 0
        assert np.array_equal(parameter[known], phi[known])
        assert (arms[arm] - arms[solution.leader]) @ parameter >= -1e-12
    if solution.upper == 0:
        return
    rows = [
        [arm @ [items.divergence(a, b) if b != 0.0 else 0.0 for a, b in zip(phi, step, strict=True)]
         for arm in arms[others]]
        for step in solution.confusing - phi
    ]  # fmt: skip
    relaxed = linprog(gaps[others], -np.array(rows), -np.ones(len(rows)))
    assert relaxed.fun <= solution.upper * (1 + 1e-7)
    assert relaxed.fun >= solution.lower * (1 - 1e-5)


def test_nothing_can_beat_the_best():
    arms = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    solution = solve(arms, np.array([0.9, 0.9, 0.1]), items=BernoulliItems(1.0))
    assert (solution.upper, solution.lower) == (0.0, 0.0)


@pytest.mark.parametrize("items", [BernoulliItems(1.0), PoissonItems(1.0)])
@pytest.mark.parametrize("kappa", [0.0, 1e-2])
def test_warm_rates(items, kappa):
    rng = np.random.default_rng(3)
    arms = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]], dtype=float)
    phi, memory, out = rng.uniform(0.2, 0.8, 4), start(arms, items), np.empty(4)
    for _ in range(15):
        phi = np.clip(phi + 1e-3 * rng.normal(size=4), 0.0, 1.0)
        gap = rates(phi, kappa, memory, out)
        assert gap <= max(kappa, 1e-6)
        cold = solve(arms, phi, items=items)
        cost = out @ (arms[cold.leader] @ phi - arms @ phi)
        assert cold.lower * (1 - 1e-9) <= cost <= cold.upper / (1 - gap) * (1 + 2e-6)


@pytest.mark.parametrize("phi", [[0.8, 0.5, 0.3, 0.45], [0.75, 0.5, 1.0, 0.125]])
def test_compiled_equals_interpreted_bit_for_bit(phi):
    arms = np.array([[1, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 1], [0, 0, 1, 1]], dtype=float)
    phi = np.array(phi)
    plain = solve(arms, phi, compiled=False, items=BernoulliItems(1.0))
    fast = solve(arms, phi, compiled=True, items=BernoulliItems(1.0))
    assert np.array_equal(plain.rates, fast.rates)
    assert (plain.upper, plain.lower) == (fast.upper, fast.lower)


@pytest.mark.parametrize("mean", [2 / 3, 0.1, 3.0, 1e-6])
@pytest.mark.parametrize("off", [-4, -2, -1, 0, 1, 2, 1e4])
def test_a_need_that_starts_the_search_at_the_pole(mean, off):
    """Poisson: the first guess of the multiplier is need · w/mean, and w is where it ends."""
    need = mean * (1 + off * 2.0**-53)
    items = PoissonItems(1.0)
    weight = np.array([3.1615386666])
    exact = weight[0] * family_named("poisson").kl(mean, mean + need)
    assert information(items, weight, need, np.array([mean]))[0] == pytest.approx(exact, rel=1e-9)
