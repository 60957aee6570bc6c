import itertools

import numpy as np
import pytest

import golden
from ossb.errors import InputError
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.solve import solve


def m_sets(n_items, size):
    arms = [np.isin(np.arange(n_items), c) for c in itertools.combinations(range(n_items), size)]
    return np.array(arms, dtype=float)


def closed_form(phi, size):
    """C = Σ 2/(φ_k − φ_i) over the items outside the best m-set, k its worst item."""
    ordered = np.sort(phi)[::-1]
    return float(sum(2.0 / (ordered[size - 1] - ordered[size:])))


def random_arms(rng, n_items, n_arms, density=0.5):
    arms = np.unique((rng.random((n_arms, n_items)) < density).astype(float), axis=0)
    return arms[arms.sum(axis=1) > 0]


def recomputed(arms, phi, solution):
    """Both bounds from their definitions, in extended precision, with nothing of the solver."""
    arms, phi = arms.astype(np.longdouble), phi.astype(np.longdouble)
    best = int(np.argmax(arms @ phi))
    gaps = arms[best] @ phi - arms @ phi
    weights = solution.rates.astype(np.longdouble) @ arms
    outside = arms[best] == 0
    least = np.inf
    for x in range(len(arms)):
        mine = (arms[x] > 0) & outside
        if mine.any():
            least = min(least, gaps[x] ** 2 / (2 * (1 / weights[mine]).sum()))
    upper = (solution.rates @ gaps) / least if np.isfinite(least) else 0.0
    collected = solution.weights @ ((solution.confusing - phi) ** 2 / 2)
    others = np.arange(len(arms)) != best
    heaviest = (arms[others] @ collected / gaps[others]).max()
    lower = solution.weights.sum() / heaviest if heaviest > 0 else 0.0
    for arm, parameter in zip(solution.alternatives, solution.confusing, strict=True):
        assert np.array_equal(parameter[~outside], phi[~outside])
        assert abs((arms[arm] - arms[best]) @ parameter) <= 1e-12 * np.abs(phi).sum()
    return float(upper), float(lower)


@pytest.mark.parametrize(("instance", "expected"), golden.parameters("combinatorial"))
def test_golden_values(instance, expected):
    if instance.get("feedback") != "semi_bandit":
        pytest.skip("bandit feedback is linear")
    solution = solve(np.array(instance["arms"]), np.array(instance["phi"]))
    assert solution.upper == pytest.approx(expected["value"], rel=3e-6)
    assert solution.gap <= 1e-6


@pytest.mark.parametrize(("n_items", "size"), [(4, 2), (6, 3), (7, 1), (8, 5)])
@pytest.mark.parametrize("tie", [0.0, 1e-4, 1e-6])
def test_m_sets_have_a_closed_form(n_items, size, tie):
    phi = np.random.default_rng(n_items).uniform(0, 1, n_items)
    if tie:
        order = np.argsort(-phi)
        phi[order[size]] = phi[order[size - 1]] - tie
    solution = solve(m_sets(n_items, size), phi)
    value = closed_form(phi, size)
    assert solution.gap <= 1e-6
    assert solution.lower <= value * (1 + 1e-9)
    assert solution.upper >= value * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shape", [(4, 6, 0.5), (8, 40, 0.5), (10, 60, 0.3)])
def test_bounds_hold_by_definition(seed, shape):
    rng = np.random.default_rng(seed)
    arms = random_arms(rng, *shape)
    phi = rng.normal(0, 1, shape[0])
    solution = solve(arms, phi)
    upper, lower = recomputed(arms, phi, solution)
    assert solution.gap <= 1e-6
    assert upper == pytest.approx(solution.upper, rel=1e-9)
    assert lower == pytest.approx(solution.lower, rel=1e-9)


def test_agrees_with_a_conic_solver():
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(5)
    arms = random_arms(rng, 6, 14)
    phi = rng.uniform(0, 1, 6)
    solution = solve(arms, phi)
    gaps = (arms @ phi).max() - arms @ phi
    outside = arms[solution.leader] == 0
    rates = cvxpy.Variable(len(arms), nonneg=True)
    scale = solution.upper  # the plain model is badly scaled and wrong by percents
    constraints = []
    for x in range(len(arms)):
        mine = np.flatnonzero((arms[x] > 0) & outside)
        if mine.size:
            inverse = cvxpy.sum(cvxpy.inv_pos(arms[:, mine].T @ rates))
            constraints.append(inverse <= scale * gaps[x] ** 2 / 2)
    problem = cvxpy.Problem(cvxpy.Minimize(gaps @ rates), constraints)
    problem.solve(solver="CLARABEL")
    assert problem.value * scale == pytest.approx(solution.upper, rel=1e-5)


def test_relabelling_items_and_arms_changes_nothing():
    rng = np.random.default_rng(2)
    arms = random_arms(rng, 8, 30)
    phi = rng.uniform(0, 1, 8)
    items, order = rng.permutation(8), rng.permutation(len(arms))
    plain, other = solve(arms, phi), solve(arms[order][:, items], phi[items])
    assert other.upper == pytest.approx(plain.upper, rel=2e-6)
    assert order[other.leader] == plain.leader


@pytest.mark.parametrize("sigma", [0.01, 3.0])
def test_variance_scales_the_bound(sigma):
    phi = np.array([0.9, 0.3, 0.5, 0.2, 0.8])
    arms = m_sets(5, 2)
    scaled = solve(arms, phi, items=GaussianItems(sigma))
    assert scaled.upper == pytest.approx(sigma**2 * solve(arms, phi).upper, rel=2e-6)
    assert scaled.gap <= 1e-6


def test_arms_inside_the_best_one_are_no_alternatives():
    arms = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0]])
    solution = solve(arms, np.array([0.5, 0.7, 0.0]))
    assert (solution.upper, solution.lower) == (0.0, 0.0)
    assert not solution.rates.any()
    assert solution.gap == 0.0


def test_items_in_no_arm_and_negative_means():
    arms = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0]])
    solution = solve(arms, np.array([-0.1, -0.5, -0.2, 0.9]))
    # separate items: Δ = 0.4 on item 1 alone; the third arm needs item 2 as well
    upper, lower = recomputed(arms, np.array([-0.1, -0.5, -0.2, 0.9]), solution)
    assert solution.gap <= 1e-6
    assert lower <= upper


def test_compiled_equals_interpreted_bit_for_bit():
    rng = np.random.default_rng(3)
    for shape in [(5, 8, 0.5), (9, 40, 0.4)]:
        arms = random_arms(rng, *shape)
        phi = rng.normal(0, 1, shape[0])
        plain, fast = solve(arms, phi, compiled=False), solve(arms, phi, compiled=True)
        assert (plain.upper, plain.lower) == (fast.upper, fast.lower)
        assert np.array_equal(plain.rates, fast.rates)
        assert np.array_equal(plain.confusing, fast.confusing)


@pytest.mark.parametrize(
    ("arms", "phi", "field"),
    [
        (np.zeros((0, 2)), [1, 2], "arms"),
        ([[1, 0.5], [0, 1]], [1, 2], "arms"),
        ([[1, 0], [0, 1]], [1, 2, 3], "phi"),
        ([[1, 0], [0, 1]], [1, np.nan], "phi"),
        ([[1, 0], [0, 1]], [1, 1], "phi"),
    ],
)
def test_refusals(arms, phi, field):
    with pytest.raises(InputError) as error:
        solve(np.array(arms), np.array(phi))
    assert error.value.field == field
