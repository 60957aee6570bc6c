import numpy as np
import pytest

from ossb.graves_lai.generic.tracked_rates import RateTracker
from ossb.structures.base import bound
from ossb.structures.finite import Finite
from ossb.structures.polytope import Polytope
from ossb.structures.union import Union

CONCAVE = np.array([[1.0, -2, 1, 0, 0], [0, 1, -2, 1, 0], [0, 0, 1, -2, 1]])
THETA = np.array([0.35, 0.62, 0.8, 0.71, 0.4])
ORDERS = [
    {"A": [[1, -1, 0], [0, 1, -1]], "b": [0, 0]},
    {"A": [[-1, 1, 0], [0, -1, 1]], "b": [0, 0]},
]


def concave(theta, observation):
    return Polytope(A=CONCAVE, b=np.full(3, 0.02), theta=theta, observation=observation)


def agrees(held, instance, slack):
    """The held rates are feasible, cost what they say, and bound the true value."""
    answer = bound(instance)
    assert held.best == answer.best_arm
    assert held.lower <= answer.upper * (1 + 1e-9)
    assert held.upper >= answer.lower * (1 - 1e-9)
    assert held.upper <= answer.lower * (1 + slack) + 1e-12
    assert held.rates @ instance.gaps == pytest.approx(held.upper, rel=1e-9)
    assert held.rates[held.best] == 0.0


@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "poisson"])
def test_rates_follow_the_estimate(observation):
    follower = concave(THETA, observation).follow(kappa=1e-2, gap=1e-3)
    rng = np.random.default_rng(5)
    seen = set()
    for step in (0.0, 1e-6, 1e-4, 1e-3, 1e-2, 1e-2):
        theta = THETA * (1 + step * rng.normal(size=THETA.size))
        held = follower.rates(theta)
        seen.add(held.kept)
        agrees(held, concave(theta, observation), 1.1e-2)
    assert seen == {True, False}


def test_the_same_estimate_keeps_the_rates():
    follower = concave(THETA, "gaussian").follow()
    first, again = follower.rates(THETA), follower.rates(THETA)
    assert (first.kept, again.kept) == (False, True)
    assert again.rates == pytest.approx(first.rates, rel=1e-3, abs=1e-6)


def test_another_best_arm_starts_afresh():
    follower = concave(THETA, "gaussian").follow()
    follower.rates(THETA)
    moved = np.array([0.3, 0.5, 0.7, 0.75, 0.6])
    held = follower.rates(moved)
    assert held.best == 3
    assert not held.kept
    agrees(held, concave(moved, "gaussian"), 1.1e-3)


def test_nothing_to_confuse_stays_nothing():
    increasing = Polytope(**ORDERS[0], theta=[0.1, 0.4, 0.7]).follow()
    for theta in ([0.1, 0.4, 0.7], [0.2, 0.3, 0.8]):
        held = increasing.rates(np.array(theta))
        assert (held.lower, held.upper, held.rates.any()) == (0.0, 0.0, False)


def test_an_estimate_that_breaks_an_equality_leaves_nothing():
    """The best arm's own mean is known: an estimate off it agrees with no parameter."""
    theta = np.array([1.2, 0.0, 0.0])
    known = {"A_eq": [[1, 0, 0]], "b_eq": [1.2], "A": [[-1, 0, -1]], "b": [-1.1]}
    follower = Polytope(**known, theta=theta, observation="poisson").follow()
    assert follower.rates(theta).upper == pytest.approx(2.0, rel=1e-3)
    held = follower.rates(theta * (1 + 1e-6))
    assert (held.lower, held.upper, held.rates.any()) == (0.0, 0.0, False)


def test_unions_are_followed():
    theta = np.array([0.7, 0.4, 0.1])
    follower = Union(pieces=ORDERS, theta=theta).follow()
    for shift in (0.0, 1e-5, 1e-3, 1e-1):
        agrees(
            follower.rates(theta + shift * np.array([1, -1, 0])),
            Union(pieces=ORDERS, theta=theta + shift * np.array([1, -1, 0])),
            1.1e-2,
        )


@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "poisson"])
@pytest.mark.parametrize(
    "theta",
    [
        [0.5, 0.5, 0.5, 0.5, 0.5],  # all tie
        [0.8, 0.8, 0.1, 0.2, 0.3],  # two tie, outside the set
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 1.0, 0.0, 1.0, 0.0],
        [0.2, 1.0, 1.0 - 1e-12, 0.7, 0.3],
        [1.3, 0.2, -0.1, 0.7, 0.3],  # outside the mean space
    ],
)
def test_any_estimate_gives_finite_rates(theta, observation):
    follower = concave(THETA, observation).follow()
    for estimate in (THETA, np.array(theta), THETA):
        held = follower.rates(estimate)
        assert np.isfinite(held.rates).all()
        assert np.isfinite([held.lower, held.upper]).all()
        assert 0 <= held.lower <= held.upper * (1 + 1e-9)


def test_pairs_that_no_arm_tells_apart_are_left_out():
    blind = RateTracker(
        concave(THETA, "gaussian").program.divergence,
        np.eye(5),
        np.diag([1.0, 1, 1, 1, 0]),
        concave(THETA, "gaussian").polytopes,
    )
    assert np.isfinite(blind.rates(THETA).rates).all()


def test_finite_sets_are_followed_by_their_nearest_parameter():
    parameters = [[0.5, 0.3, 0.2], [0.5, 0.6, 0.2], [0.5, 0.3, 0.8], [0.4, 0.4, 0.1]]
    follower = Finite(parameters=parameters).follow()
    held = follower.rates(np.array([0.52, 0.31, 0.2]))
    answer = bound(Finite(parameters=parameters, theta=parameters[0]))
    assert held.rates == pytest.approx(answer.rates)
    assert (held.lower, held.upper) == pytest.approx((answer.lower, answer.upper), rel=1e-14)
    assert follower.rates(np.array([0.5, 0.3, 0.21])).kept
    tied = follower.rates(np.array([0.4, 0.4, 0.1]))
    assert tied.best == 0
    assert np.isfinite(tied.rates).all()


def test_rates_of_a_near_tie_are_left_behind():
    """An arm with a gap of nearly 0 is free: rates that rely on it lead nowhere afterwards."""
    first_best = {"A": [[-1, 1, 0], [-1, 0, 1]], "b": [0, 0]}
    second_best = {"A": [[1, -1, 0], [0, -1, 1], [0, 0, 1]], "b": [0, 0, -0.5]}
    pieces = [first_best, second_best]
    plain = np.array([0.9946309, -0.8063414854100301, -0.65347017])
    follower = Union(pieces=pieces, theta=plain).follow(gap=1e-4)
    near_tie = follower.rates(
        np.array([0.9961574908993498, -0.8063414854100301, 0.9961574873829022])
    )
    assert near_tie.rates[2] > 1e6 * near_tie.rates[1]
    for step in (0.0, 0.3):
        theta = plain - step * np.array([0, 0, 1])
        agrees(follower.rates(theta), Union(pieces=pieces, theta=theta), 1.1e-2)


@pytest.mark.parametrize("level", [0.0, 1e4])
def test_near_ties_are_such_in_any_unit_and_at_any_level(level):
    """What counts as a tie is a share of σ and of the differences, not of 1 or of the rewards."""
    close = THETA.copy()
    close[3] = close[2] - 4e-6
    held = []
    for unit, shift in ((1.0, 0.0), (2.0**-12, level * 2.0**-12), (2.0**12, level * 2.0**12)):
        theta = unit * close + shift
        instance = Polytope(A=CONCAVE, b=np.full(3, 0.02 * unit), theta=theta, sigma=unit)
        held.append(instance.follow().rates(theta).rates)
    for other in held[1:]:
        assert other == pytest.approx(held[0], rel=1e-2)
