"""Warm rates: they agree with cold solves, stay feasible, and run alike in both ways."""

import numpy as np
import pytest

from ossb.graves_lai.linear import rates as rates_of
from ossb.graves_lai.linear import solve, start
from ossb.graves_lai.linear.certificate import feasible_scale
from ossb.graves_lai.program.warm import COLD, FAILED, KEPT, NEWTON, WARM
from ossb.kernels import separate_kernel


@separate_kernel
def rates(means, rewards, kappa, memory, out):
    """Rates where the first of the best leads."""
    leader = 0
    for x in range(means.shape[0]):
        if means[x] > means[leader]:
            leader = x
    return rates_of(means, rewards, leader, kappa, memory, out)


def unit_arms(n_arms, dimension, seed):
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(n_arms, dimension))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True), rng.normal(size=dimension)


def trajectory(phi, rounds, seed, start_at=10):
    """Estimates as an experiment sees them: errors of order 1/√t, one observation at a time."""
    rng = np.random.default_rng(seed)
    total = np.zeros_like(phi)
    for t in range(1, rounds + start_at):
        total += phi + rng.normal(size=phi.size)
        if t >= start_at:
            yield total / t


def cost(means, out):
    return float(out @ (means.max() - means))


@pytest.mark.parametrize(("n_arms", "dimension", "rounds"), [(12, 2, 60), (40, 3, 60), (30, 4, 15)])
def test_rates_agree_with_cold_solves_along_a_path(n_arms, dimension, rounds):
    arms, phi = unit_arms(n_arms, dimension, dimension)
    memory, out = start(arms), np.empty(n_arms)
    for estimate in trajectory(phi, rounds, 0):
        means = arms @ estimate
        best = int(np.argmax(means))
        gaps = means[best] - means
        gap = rates(means, means, 0.0, memory, out)
        assert 0.0 <= gap <= 1e-6
        assert np.isfinite(out).all()
        assert (out >= 0.0).all()
        assert out[best] == 0.0
        exact = solve(arms, best, gaps, gaps)
        assert cost(means, out) * (1.0 - gap) <= exact.upper * (1.0 + 1e-9)
        assert exact.lower <= cost(means, out) * (1.0 + 1e-9)
        assert feasible_scale(arms, best, gaps, out) <= 1.0 + 1e-12
    assert memory.held.counts[NEWTON] + memory.held.counts[KEPT] > 0
    assert memory.held.counts[FAILED] == 0


def test_a_held_solution_is_kept_while_its_gap_is_small():
    arms, phi = unit_arms(40, 3, 7)
    memory, out = start(arms), np.empty(40)
    for estimate in trajectory(phi, 150, 1, start_at=2000):
        means = arms @ estimate
        best = int(np.argmax(means))
        gaps = means[best] - means
        gap = rates(means, means, 0.05, memory, out)
        assert gap <= 0.05
        assert feasible_scale(arms, best, gaps, out) <= 1.0 + 1e-12
        exact = solve(arms, best, gaps, gaps)
        assert exact.lower * (1 - 1e-9) <= cost(means, out) <= exact.upper / (1.0 - gap) * 1.000001
    assert memory.held.counts[KEPT] > 75


@pytest.mark.parametrize("n_arms", [3, 4, 5])
def test_few_arms_are_solved_again_by_newton(n_arms):
    """All arms but the best are columns and rows at once: more than there are arms."""
    memory, out = start(np.eye(n_arms)), np.zeros(n_arms)
    rng = np.random.default_rng(n_arms)
    means = np.linspace(0.2, 1.0, n_arms)
    for _ in range(10):
        gap = rates(means, means, 0.0, memory, out)
        assert gap <= 1e-6
        expected = np.where(
            means < means.max(), 2.0 / np.maximum(means.max() - means, 1e-9) ** 2, 0
        )
        assert out == pytest.approx(expected, rel=1e-5)
        means = means + 1e-3 * rng.normal(size=n_arms)
    assert memory.held.counts[COLD] == 1
    assert memory.held.counts[NEWTON] == 9


def test_the_active_set_changes_on_the_way():
    """Arms enter and leave it by Newton's method; most rounds need no other."""
    arms, phi = unit_arms(60, 4, 5)
    memory, out = start(arms), np.zeros(60)
    bases = set()
    for estimate in trajectory(phi, 60, 1, start_at=60):
        means = arms @ estimate
        assert rates(means, means, 0.0, memory, out) <= 1e-6
        bases.add(tuple(np.flatnonzero(out)))
    assert len(bases) > 3
    solved = memory.held.counts[WARM] + memory.held.counts[COLD]
    assert memory.held.counts[NEWTON] > 3 * solved


def test_costs_apart_from_margins():
    arms, phi = unit_arms(25, 3, 11)
    memory, out = start(arms), np.empty(25)
    for estimate in trajectory(phi, 10, 2):
        means = arms @ estimate
        rewards = 1.0 / (1.0 + np.exp(-means))
        best = int(np.argmax(means))
        gap = rates(means, rewards, 0.0, memory, out)
        exact = solve(arms, best, rewards[best] - rewards, means[best] - means)
        spent = float(out @ (rewards[best] - rewards))
        assert gap <= 1e-6
        assert spent == pytest.approx(exact.upper, rel=3e-6)


def test_a_jump_is_solved_from_the_held_solution_or_afresh():
    arms, phi = unit_arms(60, 3, 13)
    memory, out = start(arms), np.empty(60)
    rng = np.random.default_rng(0)
    for size in (0.01, 0.03, 0.1, 0.03, 0.2, 0.05) * 5:
        means = arms @ (phi + size * rng.normal(size=3))
        assert rates(means, means, 0.0, memory, out) <= 1e-6
    assert memory.held.counts[WARM] > 0
    assert memory.held.counts[COLD] > 1


def test_ties_of_estimates_give_finite_rates():
    arms, _ = unit_arms(10, 3, 5)
    memory, out = start(arms), np.empty(10)
    for means in (
        np.zeros(10),
        np.ones(10),
        np.repeat([1.0, 0.0], 5),
        np.full(10, -3.0),
        np.arange(10) * 1e-9,
        np.array([1.0, 1.0 - 1e-15, *np.zeros(8)]),
        np.array([1e9, *np.zeros(9)]),
    ):
        gap = rates(means, means, 0.0, memory, out)
        assert 0.0 <= gap <= 1.0
        assert np.isfinite(out).all()
        assert (out >= 0.0).all()
        assert out[int(np.argmax(means))] == 0.0


def test_the_least_recently_used_leader_is_forgotten():
    arms, _ = unit_arms(8, 2, 1)
    memory, out = start(arms, most=2), np.empty(8)
    for leader in (0, 1, 2, 0, 3, 0, 1):
        means = arms @ arms[leader]
        assert rates(means, means, 0.0, memory, out) <= 1e-6
    kept = {int(x) for x in np.flatnonzero(memory.slots.slot_of >= 0)}
    assert kept == {0, 3}  # beside 1, which leads
    assert memory.held.counts[COLD] == 5


@pytest.mark.parametrize(
    "arms", [np.ones((1, 2)), np.array([[1.0, 1.0], [2.0, 2.0]]), np.zeros((3, 2))]
)
def test_nothing_to_rule_out(arms):
    memory, out = start(arms), np.empty(len(arms))
    means = arms @ np.ones(2)
    for _ in range(2):
        assert rates(means, means, 0.0, memory, out) == 0.0
        assert not out.any()


def test_slots_are_fewer_for_many_arms():
    assert start(np.eye(3)).slots.sizes.shape[0] == 3
    many = np.random.default_rng(0).normal(size=(400_000, 4))
    assert start(many).slots.sizes.shape[0] < 25


@pytest.mark.parametrize(("n_arms", "dimension"), [(20, 2), (60, 3)])
def test_interpreted_and_compiled_agree_bit_for_bit(n_arms, dimension):
    arms, phi = unit_arms(n_arms, dimension, 17)
    plain, fast = start(arms), start(arms)
    one, two = np.empty(n_arms), np.empty(n_arms)
    for size in (0.3, 0.01, 0.1, 0.001, 0.5, 0.02):
        for estimate in trajectory(phi, 4, 3, start_at=int(1 / size)):
            means = arms @ estimate
            assert rates(means, means, 1e-3, plain, one) == rates.compiled(
                means, means, 1e-3, fast, two
            )
            assert np.array_equal(one, two)
    assert np.array_equal(plain.held.counts, fast.held.counts)
    assert np.array_equal(plain.held.feasible, fast.held.feasible)


def test_one_off_solutions_agree_bit_for_bit():
    arms, phi = unit_arms(40, 4, 19)
    means = arms @ phi
    best = int(np.argmax(means))
    gaps = means[best] - means
    one = solve(arms, best, gaps, gaps, compiled=False)
    two = solve(arms, best, gaps, gaps, compiled=True)
    assert np.array_equal(one.rates, two.rates)
    assert (one.upper, one.lower) == (two.upper, two.lower)
