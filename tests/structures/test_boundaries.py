"""Instances within rounding of a boundary: right, or said not to be certified; never wrong."""

import math

import numpy as np
import pytest

from ossb.errors import CertificationError, InputError
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.finite import Finite
from ossb.structures.linear import Linear
from ossb.structures.lipschitz import Lipschitz
from ossb.structures.polytope import Polytope
from ossb.structures.unimodal import Unimodal
from ossb.structures.union import Union


def test_a_best_mean_next_to_the_end_of_its_space():
    answer = bound(Polytope(A=[], b=[], theta=[0.9999999999, 0.5], observation="bernoulli"))
    assert answer.value == pytest.approx(0.0462117, rel=1e-5)
    assert answer.verify().valid


@pytest.mark.parametrize("more", [2e-10, 1e-7, 1e-12, 1e-14])
def test_a_row_that_leaves_hardly_any_room(more):
    answer = bound(Polytope(A=[[0, 1]], b=[0.5 + more], theta=[0.5, 0.2]))
    assert answer.value == pytest.approx(2 / 0.3, rel=1e-6)
    assert answer.verify().valid


def test_a_row_that_leaves_a_tie_alone():
    answer = bound(Polytope(A=[[0, 1]], b=[0.5], theta=[0.5, 0.2]))
    assert (answer.lower, answer.upper) == (0.0, 0.0)
    assert answer.verify().valid
    try:
        least = bound(Polytope(A=[[0, 1]], b=[np.nextafter(0.5, 1)], theta=[0.5, 0.2]))
    except CertificationError:
        return
    assert least.value == pytest.approx(2 / 0.3, rel=1e-6)


@pytest.mark.parametrize("exponent", [5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 100])
@pytest.mark.parametrize("observation", ["bernoulli", "poisson"])
def test_a_least_mean_next_to_zero(observation, exponent):
    mean = 10.0**-exponent
    keys = {"A": [], "b": [], "observation": observation, "goal": "minimize"}
    instance = Polytope(theta=[mean, 0.5], **keys)
    try:
        answer = bound(instance)
    except CertificationError:
        assert exponent > 10
        return
    value = (0.5 - mean) / instance.plain_family.kl(0.5, mean)
    assert answer.verify().valid
    assert answer.lower <= value * (1 + 1e-12)
    assert answer.upper >= value * (1 - 1e-12)
    assert math.isclose(answer.value, value, rel_tol=1e-6)


def test_a_mean_of_zero_can_still_be_told():
    keys = {"A": [], "b": [], "observation": "poisson", "goal": "minimize"}
    answer = bound(Polytope(theta=[0.0, 0.5], **keys))
    assert (answer.lower, answer.upper) == (0.0, 0.0)  # another mean of 0 is infinitely far


def test_a_parameter_that_rounding_put_outside_widens_its_set():
    theta = np.array([0.1 + 0.2, 0.2, 0.1])  # above 0.3 by rounding
    row = {"A": [[1, 0, 0]], "b": [0.3], "A_eq": [[0, 1, 1]], "b_eq": [0.3]}
    assert theta[0] > 0.3
    assert theta[1] + theta[2] > 0.3
    answer = bound(Polytope(theta=theta, **row))
    assert answer.verify().valid
    exact = bound(Polytope(theta=[0.25, 0.125, 0.0625], A=[[1, 0, 0]], b=[0.25]))
    assert exact.verify().valid


@pytest.mark.parametrize(
    ("observation", "goal", "means"),
    [
        ("bernoulli", "maximize", [1.8e-10, 3.3e-10, 5.2e-11, 2.1e-10]),
        ("bernoulli", "maximize", [8.4e-12, 1.3e-11, 1.0e-11, 2.3e-11, 1.6e-11]),
        ("bernoulli", "minimize", [3.3e-11, 0.33, 0.71]),
        ("bounded", "maximize", [4.1e-9, 3.2e-9, 4.0e-9, 1.3e-9]),
        ("bounded", "maximize", [0.69, 0.35, 0.99999999985, 0.4]),
        ("bounded", "minimize", [0.27, 2.3e-10]),
        ("poisson", "minimize", [31236968.0, 0.346, 1258.4, 0.00121]),
    ],
)
def test_single_items_near_the_ends_of_their_means(observation, goal, means):
    """Arms of one item each are independent arms."""
    keys = {"observation": observation, "goal": goal}
    arms = np.eye(len(means), dtype=int)
    answer = bound(Combinatorial(arms=arms, phi=means, feedback="semi_bandit", **keys))
    right = bound(Classical(theta=means, **keys)).value
    assert answer.verify().valid
    assert answer.lower <= right <= answer.upper
    assert answer.value == pytest.approx(right, rel=1e-6)


def test_pieces_that_reach_much_farther_than_others():
    """An equality of the piece holds an alternative to 1e-16 of its scale, where others are far.

    Rows of so different sizes were refused by the solver of linear programs, and left out.
    """
    narrow = {
        "A": [[-1, 1, -2, 0], [1, -1, 2, 0], [2, 2, 0, -1]],
        "b": [-0.15000000000000002, 0.15000000000000002, 2.2],
        "A_eq": [[1, -1, 0, 0]],
        "b_eq": [-0.25],
    }
    wide = {
        "A": [[-2, 1, -1, 2], [-1, 0, -2, 2], [-1, 1, -1, 2], [1, -1, 1, -2]],
        "b": [0.14999999999999997, -5.551115123125783e-17, 0.7499999999999999, -0.6499999999999999],
    }
    keys = {"theta": [0.5, 0.75, 0.2, 0.3], "goal": "minimize"}
    answer = bound(Union(pieces=[narrow, wide], **keys), 1e-4, "samples")
    assert answer.verify().valid
    assert answer.value == pytest.approx(393.6508, rel=1e-4)


@pytest.mark.parametrize(("size", "seed", "goal"), [(20, 13, "minimize"), (40, 4, "maximize")])
def test_neighbours_of_very_different_distances(size, seed, goal):
    """Smooth means at random points of a line, some next to one another, as a polytope."""
    rng = np.random.default_rng(seed)
    points = np.sort(rng.uniform(0, 1, size))
    phase = rng.uniform(0, 6)
    theta = 0.5 + 0.4 * np.sin(2 * points + phase) * rng.uniform(0.3, 1)
    agrees_with_lipschitz(points, theta, 1.0, goal)


def test_walls_so_close_that_programs_take_a_hundred_steps():
    rng = np.random.default_rng([40, 1, 77])
    points = np.sort(rng.uniform(0, 1, 40))
    pace, phase = rng.uniform(1, 4), rng.uniform(0, 3)
    theta = 0.5 + rng.uniform(0.2, 0.4) * np.sin(pace * points + phase)
    steepest = np.abs(np.diff(theta) / np.diff(points)).max()
    agrees_with_lipschitz(points, theta, 1.05 * steepest, "minimize")


def agrees_with_lipschitz(points, theta, limit, goal):
    """The polytope of neighbours has the value that the structure has."""
    keys = {"theta": theta, "observation": "bernoulli", "goal": goal}
    right = bound(Lipschitz(points=points, lipschitz_constant=limit, **keys)).value
    steps, room = np.diff(np.eye(theta.size), axis=0), limit * np.diff(points)
    instance = Polytope(A=np.concatenate([steps, -steps]), b=np.concatenate([room, room]), **keys)
    answer = bound(instance)
    assert answer.lower <= right * (1 + 1e-12)
    assert answer.upper >= right * (1 - 1e-12)
    assert answer.value == pytest.approx(right, rel=1e-6)


FAR = -1e20  # a reward beside which others are level to doubles


@pytest.mark.parametrize(
    ("instance", "value"),
    [
        (Classical(theta=[0.4, 0.0, FAR]), 5.0),
        (Classical(theta=[3e-5, 2e-5, 1e21], observation="poisson", goal="minimize"), 4.638361727),
        (Unimodal(theta=[FAR, 0.0, 0.4]), 5.0),
        (Lipschitz(theta=[FAR, 0.0, 0.4], points=[0, 1, 2], lipschitz_constant=-2 * FAR), 5.0),
        (Finite(theta=[0.4, 0.0, FAR], parameters=[[0.4, 0.0, FAR], [0.4, 1.0, FAR]]), 0.8),
        (Linear(arms=np.eye(3), phi=[0.4, 0.0, FAR]), 5.0),
        (Combinatorial(arms=np.eye(3), phi=[0.4, 0.0, FAR], feedback="semi_bandit"), 5.0),
        (Combinatorial(arms=np.eye(3), phi=[0.4, 0.0, FAR], feedback="bandit"), 5.0),
        (Polytope(theta=[0.4, 0.0, FAR], A=[], b=[]), 5.0),
    ],
)
def test_the_rewards_of_others_make_no_tie(instance, value):
    answer = bound(instance)
    assert answer.value == pytest.approx(value, rel=1e-6)
    assert answer.verify().valid


def test_what_rounding_may_have_made_of_a_tie_is_one():
    third = Linear(arms=[[0.1, 0.2], [0.3, 0.0], [-1.0, 0.0]], phi=[1.0, 1.0])
    with pytest.raises(InputError, match="arms 0 and 1 are both best"):
        bound(third)
