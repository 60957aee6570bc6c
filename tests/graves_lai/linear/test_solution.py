"""One-off linear bounds: reference values, invariances, edge cases."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import golden
from ossb.errors import InputError
from ossb.graves_lai.linear import solve


def unit_arms(n_arms, dimension, seed):
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(n_arms, dimension))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True), rng.normal(size=dimension)


def plain(arms, phi, **options):
    means = arms @ phi
    best = int(np.argmax(means))
    gaps = means[best] - means
    return solve(arms, best, gaps, gaps, **options), best, gaps


def assert_proved(arms, best, costs, margins, solution, gap=1e-6):
    """Check both sides from the definition, with explicit matrices in long double."""
    others = np.arange(arms.shape[0]) != best
    assert np.isfinite(solution.rates).all()
    assert (solution.rates >= 0).all()
    assert solution.rates[best] == 0
    assert 0 <= solution.upper - solution.lower <= gap * solution.upper
    assert solution.status == "certified"
    assert math.isclose(solution.rates @ costs, solution.upper, rel_tol=1e-12)
    assert math.isclose(solution.weights.sum(), solution.lower, rel_tol=1e-9)
    reached = solution.directions @ arms.T
    scale = np.linalg.norm(solution.directions, axis=1) * np.linalg.norm(arms[best]) + 1e-300
    assert (np.abs(reached[:, best]) <= 1e-12 * scale).all()
    picked = reached[np.arange(len(solution.alternatives)), solution.alternatives]
    assert np.allclose(picked, margins[solution.alternatives], rtol=1e-9)
    weights = solution.weights[solution.alternatives]
    information = 0.5 * weights @ reached**2
    assert (information[others] <= costs[others] * (1 + 1e-9)).all()


@pytest.mark.parametrize(("instance", "expected"), golden.parameters("linear", "combinatorial"))
def test_reference_values(instance, expected):
    if instance.get("feedback") == "semi_bandit":
        pytest.skip("semi-bandit feedback is another program")
    arms, phi = np.array(instance["arms"], float), np.array(instance["phi"], float)
    solution, best, gaps = plain(arms, phi, compiled=False)
    assert math.isclose(solution.upper, expected["value"], rel_tol=1e-5)
    assert_proved(arms, best, gaps, gaps, solution)
    for entry in expected.get("rates", []):
        assert math.isclose(solution.rates[entry["arm"]], entry["rate"], rel_tol=1e-4)


@pytest.mark.parametrize("epsilon", [1e-4, 1e-2, 0.1, 0.25, 0.3, 0.49])
def test_end_of_optimism(epsilon):
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [1 - epsilon, 2 * epsilon]])
    solution, best, gaps = plain(arms, np.array([1.0, 0.0]))
    assert math.isclose(solution.upper, min(8.0, 2 / epsilon), rel_tol=2e-6)
    assert_proved(arms, best, gaps, gaps, solution)


@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(2, 4))
def test_random_arms_are_proved(seed, n_arms, dimension):
    arms, phi = unit_arms(n_arms, dimension, seed)
    solution, best, gaps = plain(arms, phi)
    assert_proved(arms, best, gaps, gaps, solution)


@given(st.integers(0, 10_000), st.floats(1e-6, 1e-3))
def test_near_ties(seed, nearest):
    arms, phi = unit_arms(12, 3, seed)
    best = int(np.argmax(arms @ phi))
    runner = (best + 1) % 12
    phi = phi - (arms[runner] @ phi - arms[best] @ phi + nearest) * arms[runner]
    solution, best, gaps = plain(arms, phi)
    assert_proved(arms, best, gaps, gaps, solution)


def test_costs_apart_from_margins_and_sigma():
    arms, phi = unit_arms(25, 3, 3)
    solution, best, gaps = plain(arms, phi)
    sigma = 2.5
    scaled = solve(arms, best, gaps, gaps / sigma)
    assert math.isclose(scaled.upper, sigma**2 * solution.upper, rel_tol=2e-6)
    costs = np.tanh(gaps)
    other = solve(arms, best, costs, gaps)
    assert_proved(arms, best, costs, gaps, other)
    assert other.upper < solution.upper


@given(st.integers(0, 1000))
def test_relabelling_rotation_and_duplication_change_nothing(seed):
    rng = np.random.default_rng(seed)
    arms, phi = unit_arms(15, 3, seed)
    solution, best, _ = plain(arms, phi)
    order = rng.permutation(15)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    worst = int(np.argmin(arms @ phi))
    for changed, parameter in (
        (arms[order], phi),
        (arms @ rotation, phi @ rotation),
        (np.vstack([arms, arms[worst], arms[(best + 1) % 15]]), phi),
    ):
        other, _, _ = plain(changed, parameter)
        assert math.isclose(other.upper, solution.upper, rel_tol=2e-6)


def test_arms_that_do_not_span():
    arms, phi = unit_arms(20, 3, 5)
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0][:3]
    solution, _, _ = plain(arms, phi)
    wide, best, gaps = plain(arms @ basis, phi @ basis)
    assert math.isclose(wide.upper, solution.upper, rel_tol=2e-6)
    assert_proved(arms @ basis, best, gaps, gaps, wide)
    assert wide.directions.shape[1] == 6


def test_best_arm_zero_is_not_projected_away():
    arms = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    solution, best, gaps = plain(arms, np.array([-1.0, -2.0]))
    assert best == 0
    assert_proved(arms, best, gaps, gaps, solution)


def test_parallel_arms_need_nothing():
    for arms in (np.array([[2.0], [1.0], [-1.0]]), np.array([[1.0, 1.0], [0.5, 0.5]]), np.eye(1)):
        solution, _, _ = plain(arms, np.ones(arms.shape[1]))
        assert solution.upper == solution.lower == 0.0
        assert not solution.rates.any()
        assert solution.status == "certified"


def test_parallel_arm_beside_others():
    arms = np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0]])
    solution, best, gaps = plain(arms, np.array([1.0, 0.0]))
    assert_proved(arms, best, gaps, gaps, solution)
    assert math.isclose(solution.upper, 2.0, rel_tol=1e-6)
    assert solution.rates[1] == 0.0


def test_lengths_from_a_hundredth_to_a_hundred():
    arms, phi = unit_arms(30, 3, 8)
    arms = arms * np.exp(np.random.default_rng(2).uniform(-4.6, 4.6, size=(30, 1)))
    solution, best, gaps = plain(arms, phi)
    assert_proved(arms, best, gaps, gaps, solution)


def test_nearly_collinear_arms():
    rng = np.random.default_rng(0)
    for width in (1e-2, 1e-4, 1e-6):
        arms = rng.normal(size=3) + width * rng.normal(size=(30, 3))
        solution, best, gaps = plain(arms, rng.normal(size=3))
        assert_proved(arms, best, gaps, gaps, solution)


def test_one_bound_needs_no_compiler():
    code = (
        "import sys, numpy as np\n"
        "from ossb.graves_lai.linear import solve\n"
        "rng = np.random.default_rng(0)\n"
        "arms = rng.normal(size=(81, 3))\n"
        "means = arms @ rng.normal(size=3)\n"
        "best = int(means.argmax())\n"
        "gaps = means[best] - means\n"
        "assert solve(arms, best, gaps, gaps).status == 'certified'\n"
        "assert 'numba' not in sys.modules\n"
    )
    import subprocess

    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"arms": np.zeros(3)}, "arms"),
        ({"arms": np.array([[1.0, np.nan], [0.0, 1.0]])}, "arms"),
        ({"best": 2}, "best"),
        ({"costs": np.array([0.0, 0.0])}, "costs"),
        ({"margins": np.array([0.0, np.inf])}, "margins"),
        ({"margins": np.array([0.0])}, "margins"),
        ({"gap": 0.0}, "gap"),
    ],
)
def test_bad_input_is_refused(change, field):
    call = {"arms": np.eye(2), "best": 0, "costs": np.array([0.0, 1.0])}
    call = {**call, "margins": np.array([0.0, 1.0]), "gap": 1e-6, **change}
    with pytest.raises(InputError) as error:
        solve(**call)
    assert error.value.field == field
