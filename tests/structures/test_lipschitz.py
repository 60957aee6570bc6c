"""Lipschitz bandits: bounds, what proves them, and what is refused."""

import dataclasses
import warnings

import numpy as np
import pytest

import golden
from lipschitz_instances import METRICS, distances_of, lipschitz_means
from ossb.errors import CertificationError, InputError
from ossb.structures import bound
from ossb.structures.classical import Classical
from ossb.structures.lipschitz import Lipschitz
from ossb.structures.polytope import Polytope


def random_instance(metric, n, seed, **keys):
    rng = np.random.default_rng(seed)
    distances = distances_of(metric, n, rng)
    return Lipschitz(theta=lipschitz_means(distances, rng), distances=distances, **keys)


def as_polytope(instance):
    """The same instance, its parameter set as inequalities λ_x − λ_z ≤ ℓ(x, z)."""
    n = instance.n_arms
    pairs = [(x, z) for x in range(n) for z in range(n) if x != z]
    rows = np.zeros((len(pairs), n))
    for row, (x, z) in enumerate(pairs):
        rows[row, [x, z]] = 1.0, -1.0
    sides = [instance.metric[pair] for pair in pairs]
    return Polytope(
        A=rows, b=sides, theta=instance.theta, observation=instance.observation, goal=instance.goal
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("observation", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_equals_the_general_engine(metric, observation, goal):
    instance = random_instance(metric, 6, 3, observation=observation, goal=goal)
    answer = bound(instance)
    assert answer.verify().valid
    assert answer.value == pytest.approx(bound(as_polytope(instance)).value, rel=2e-6)


@pytest.mark.parametrize("observation", ["poisson", "exponential", "bounded"])
def test_other_families_are_certified(observation):
    answer = bound(random_instance("plane", 12, 1, observation=observation))
    assert answer.gap <= 1e-9
    assert answer.verify().valid


@pytest.mark.parametrize("name", ["lipschitz_bernoulli_18", "lipschitz_bernoulli_19"])
def test_bernoulli_reference_values_in_the_general_form(name):
    # 19: every confusing parameter is held by a hundred rows, between which a program could jam
    (case,) = [case for case in golden.parameters("lipschitz") if case.id == name]
    instance, expected = case.values
    keys = {key: value for key, value in instance.items() if key != "structure"}
    answer = bound(as_polytope(Lipschitz(**keys)))
    assert answer.value == pytest.approx(expected["value"], rel=1e-5)
    assert answer.verify().valid


def test_far_apart_arms_are_classical():
    theta = [0.2, 0.7, 0.4]
    answer = bound(Lipschitz(theta=theta, points=[0, 10, 20], lipschitz_constant=3))
    assert answer.value == pytest.approx(bound(Classical(theta=theta)).value)
    assert answer.rates == pytest.approx(bound(Classical(theta=theta)).rates)


def test_points_in_the_plane_and_their_distances_agree():
    points = [[0.0, 0.0], [0.3, 0.4], [0.6, 0.8], [0.0, 1.0]]
    theta = [0.1, 0.4, 0.7, 0.3]
    placed = Lipschitz(theta=theta, points=points, lipschitz_constant=1.0)
    table = Lipschitz(theta=theta, distances=placed.metric)
    assert placed.metric[0, 1] == pytest.approx(0.5)
    assert bound(placed).value == pytest.approx(bound(table).value)


def test_a_shorter_detour_counts_and_is_announced():
    with pytest.warns(UserWarning, match="10 between arms 0 and 2 becomes 2"):
        bent = Lipschitz(theta=[0.1, 0.3, 0.6], distances=[[0, 1, 10], [1, 0, 1], [10, 1, 0]])
    straight = Lipschitz(theta=[0.1, 0.3, 0.6], points=[0, 1, 2], lipschitz_constant=1.0)
    assert bound(bent).value == pytest.approx(bound(straight).value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Lipschitz(theta=[0.1, 0.3, 0.6], distances=straight.metric)


def test_the_best_mean_at_the_top_leaves_nothing_to_learn():
    theta = [0.4, 1.0, 0.7]
    answer = bound(
        Lipschitz(theta=theta, points=[0, 1, 2], lipschitz_constant=1, observation="bernoulli")
    )
    assert answer.value == 0.0
    assert answer.verify().valid


def test_one_arm_costs_nothing():
    answer = bound(Lipschitz(theta=[0.3], points=[1.0], lipschitz_constant=1.0))
    assert answer.value == 0.0
    assert answer.verify().valid


def test_duplicated_suboptimal_points_are_accepted():
    plain = Lipschitz(theta=[0.1, 0.5, 0.3], points=[0, 1, 2], lipschitz_constant=1.0)
    doubled = Lipschitz(theta=[0.1, 0.1, 0.5, 0.3], points=[0, 0, 1, 2], lipschitz_constant=1.0)
    assert bound(doubled).value == pytest.approx(bound(plain).value)


def test_gaps_beyond_the_range_of_doubles_are_not_certified():
    with pytest.raises(CertificationError, match="arms 1 and 0 differ too little"):
        Lipschitz(theta=[0.0, 1e-6], points=[0, 1], lipschitz_constant=1, sigma=1e150).solve(1e-6)


def test_large_instances_are_certified():
    points = np.linspace(0, 1, 120)
    theta = 0.8 - np.abs(points - 0.3037) * 0.6
    answer = bound(
        Lipschitz(theta=theta, points=points, lipschitz_constant=0.7, observation="bernoulli")
    )
    assert answer.gap <= 1e-6
    assert answer.verify().valid


def test_without_theta_it_is_still_a_structure():
    instance = Lipschitz(points=[0.0, 0.5], lipschitz_constant=2.0)
    assert not instance.known
    assert instance.n_arms == 2
    assert instance.to_dict()["points"] == [0.0, 0.5]


LINE = {"points": [0, 1, 2], "lipschitz_constant": 1.0}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"theta": [0.1, 0.2]}, "`points` must be given with lipschitz_constant, or distances"),
        ({"points": [0, 1]}, "`lipschitz_constant` must be given with points"),
        ({"points": [0, 1], "lipschitz_constant": 0}, "`lipschitz_constant` must be positive"),
        ({"points": 3, "lipschitz_constant": 1}, "`points` must be a list"),
        ({"points": [], "lipschitz_constant": 1}, "hold at least one point"),
        ({"points": [[0, 1], [2]], "lipschitz_constant": 1}, r"`points\[1\]` must have as many"),
        ({**LINE, "distances": [[0]]}, "`points` must be left out"),
        ({"distances": [[0, 1]]}, "`distances` must have as many rows as columns"),
        ({"distances": [[0, -1], [-1, 0]]}, r"`distances\[0\]\[1\]` must be non-negative"),
        ({"distances": [[0, 1], [1, 2]]}, r"`distances\[1\]\[1\]` must be 0"),
        ({"distances": [[0, 1], [2, 0]]}, r"`distances\[0\]\[1\]` must be the same"),
        ({**LINE, "theta": [0.1, 0.2]}, "`theta` must hold 3 numbers"),
        ({**LINE, "theta": [0, 5, 0.5]}, "be Lipschitz: arms 0 and 1 may differ by 1, got 5"),
        ({**LINE, "theta": [0.5, 0.1, 0.5]}, "arms 0 and 2 are both best"),
        (
            {"points": [0, 1, 1], "lipschitz_constant": 1, "theta": [0.1, 0.5, 0.5]},
            "`points` must keep the best arm apart: arm 2 is at distance 0 from the best arm 1",
        ),
        (
            {"distances": [[0, 0], [0, 0]], "theta": [0.5, 0.5], "arm_names": ["a", "b"]},
            "`distances` must keep the best arm apart: arm b is at distance 0",
        ),
    ],
)
def test_refusals(keys, message):
    with pytest.raises(InputError, match=message):
        bound(Lipschitz(**keys))


def test_a_wrong_proof_is_found():
    answer = bound(random_instance("line", 5, 2))
    one = answer.alternatives[0]
    bent = one.parameter.copy()
    bent[0] += 5.0
    forged = [dataclasses.replace(one, parameter=bent), *answer.alternatives[1:]]
    report = dataclasses.replace(answer, alternatives=forged).verify()
    assert any("outside the parameter set" in problem for problem in report.problems)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e10, -1e10])
@pytest.mark.parametrize("table", [False, True])
def test_the_level_of_rewards_takes_no_digits_from_the_proof(offset, table):
    """At 10¹⁰ doubles are 2e-6 apart: a confusing parameter that is rounded proves too little."""
    points = [0.0, 0.3, 0.7, 0.8, 1.3]
    theta = offset + np.array([0.5, 1.0, 0.75, 0.625, 0.25])
    apart = np.abs(np.subtract.outer(points, points)).tolist()
    where = {"distances": apart} if table else {"points": points, "lipschitz_constant": 2.0}
    if table:
        where = {"distances": (2.0 * np.array(apart)).tolist()}
    answer = bound(Lipschitz(theta=theta, **where))
    assert answer.verify().valid
    assert answer.value == pytest.approx(bound(Lipschitz(theta=theta - offset, **where)).value)
