import copy
import dataclasses

import numpy as np
import pytest

import golden
from ossb.errors import CertificationError, InputError
from ossb.structures.base import bound
from ossb.structures.convex import Convex

cp = pytest.importorskip("cvxpy")

THETA = np.array([0.6, 0.4, 0.3])
CENTRE = np.full(3, 0.45)


def ball(radius, theta=THETA, **keys):
    return Convex(constraints=lambda x: [cp.norm(x - CENTRE) <= radius], theta=theta, **keys)


def certified(instance):
    answer = bound(instance)
    report = answer.verify()
    assert report.valid, report.problems
    assert answer.gap <= 1e-6
    assert answer.status == "certified"
    return answer


def information(answer, radius, arm):
    """The least information with ``arm`` as good as arm 0, by CVXPY alone."""
    x = cp.Variable(3)
    value = 0.5 * cp.sum(cp.multiply(answer.rates, cp.square(x - THETA)))
    inside = [cp.norm(x - CENTRE) <= radius, x[0] == THETA[0], x[arm] >= x[0]]
    return cp.Problem(cp.Minimize(value), inside).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("radius", [0.24, 0.25, 0.3])
def test_rates_for_a_ball_are_feasible_and_tight(radius):
    answer = certified(ball(radius))
    least = min(information(answer, radius, arm) for arm in (1, 2))
    assert least == pytest.approx(1.0, rel=1e-5)


def test_the_value_does_not_decrease_with_the_radius():
    values = [certified(ball(r, observation="bernoulli")).value for r in (0.24, 0.26, 0.4)]
    assert values[0] < values[1] * (1 + 2e-6)
    assert values[1] == pytest.approx(values[2], rel=2e-6) or values[1] < values[2]


@pytest.mark.parametrize(("instance", "expected"), golden.parameters("polytope"))
def test_affine_constraints_give_the_polytopes_value(instance, expected):
    A, b = np.array(instance["A"]), np.array(instance["b"])

    def describe(x):
        equal = [np.array(instance["A_eq"]) @ x == instance["b_eq"]] if "A_eq" in instance else []
        return [A @ x <= b, *equal]

    answer = certified(
        Convex(constraints=describe, theta=instance["theta"], observation=instance["observation"])
    )
    assert answer.value == pytest.approx(expected["value"], rel=1e-5)


def test_cones_are_read_as_inequalities():
    value = certified(ball(0.25)).value
    for describe in (
        lambda x: [cp.SOC(0.25, x - CENTRE)],
        lambda x: [cp.sum_squares(x - CENTRE) <= 0.0625],
        lambda x: [cp.NonNeg(0.0625 - cp.sum_squares(x - CENTRE))],
        lambda x: [
            cp.bmat(
                [
                    [0.25 * np.eye(3), cp.reshape(x - CENTRE, (3, 1), order="F")],
                    [cp.reshape(x - CENTRE, (1, 3), order="F"), 0.25 * np.ones((1, 1))],
                ]
            )
            >> 0
        ],
    ):
        answer = certified(Convex(constraints=describe, theta=THETA))
        assert answer.value == pytest.approx(value, rel=3e-6)


def test_minimising():
    mirrored = Convex(
        constraints=lambda x: [cp.norm(x + CENTRE) <= 0.25], theta=-THETA, goal="minimize"
    )
    assert certified(mirrored).value == pytest.approx(certified(ball(0.25)).value, rel=3e-6)


def test_nothing_can_be_better():
    answer = certified(
        Convex(constraints=lambda x: [cp.norm(x[1:]) <= 0.55], theta=[0.6, 0.4, 0.3])
    )
    assert answer.value == 0.0


@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "poisson"])
@pytest.mark.parametrize("radius", [0.01, 0.1, 0.29])
@pytest.mark.parametrize("size", [lambda x: cp.norm(x), lambda x: cp.norm(x, 1)])
def test_a_set_in_which_no_other_arm_can_be_best(size, radius, observation):
    theta = np.array([0.6, 0.3, 0.2])
    answer = certified(
        Convex(
            theta=theta, constraints=lambda x: [size(x - theta) <= radius], observation=observation
        )
    )
    assert (answer.lower, answer.upper) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("theta", "radius"),
    [
        ([0.54819943, 0.37921768, 0.31910783, 0.25445183], 0.15870670930009245),
        ([0.7970579, 0.7693662, 0.57212807, 0.45513717], 0.019551713896581776),
        ([0.7336927, 0.632893, 0.51521259, 0.49150122, 0.38614513], 0.1237263725101491),
    ],
)
def test_tangents_of_which_rounding_leaves_something_in_other_columns(theta, radius):
    """What one tangent leaves where it should be 0, others have to cancel."""
    theta = np.array(theta)
    answer = certified(Convex(constraints=lambda x: [cp.norm(x - theta) <= radius], theta=theta))
    assert (answer.value > 0.0) == (radius > theta[0] - theta[1])


def test_corrupted_proofs_fail():
    answer = certified(ball(0.25))
    moved = copy.deepcopy(answer.multipliers)
    moved["tangents"] = [[v + 0.01 for v in point] for point in moved["tangents"]]
    fewer = {**answer.multipliers, "tangents": answer.multipliers["tangents"][:-1]}
    for broken in (moved, fewer, None, {"tangents": [["x"]], "duals": []}, {"duals": []}):
        assert not dataclasses.replace(answer, multipliers=broken).verify().valid
    first = answer.alternatives[0]
    out = dataclasses.replace(first, parameter=first.parameter + np.array([0, 0.1, 0.1]))
    bad = [out, *answer.alternatives[1:]]
    assert not dataclasses.replace(answer, alternatives=bad).verify().valid


def test_refusals():
    with pytest.raises(InputError, match="satisfy the constraints: off by"):
        ball(0.1)
    with pytest.raises(InputError, match="be convex"):
        Convex(constraints=lambda x: [cp.norm(x) >= 1], theta=THETA)
    with pytest.raises(InputError, match="be an inequality"):
        Convex(constraints=lambda x: [cp.ExpCone(x[0], x[1], x[2])], theta=THETA)
    with pytest.raises(InputError, match="be a function"):
        Convex(constraints=[], theta=THETA)
    with pytest.raises(InputError, match="be given"):
        Convex(constraints=lambda x: [], theta=None)
    with pytest.raises(InputError, match="polytope or union to follow"):
        ball(0.25).follow()
    with pytest.raises(InputError, match="a file can hold"):
        ball(0.25).to_dict()


def test_a_function_without_a_known_gradient_is_refused():
    with pytest.raises(InputError, match="a gradient that CVXPY knows"):
        bound(Convex(constraints=lambda x: [cp.norm(x - CENTRE, "inf") <= 0.2], theta=THETA))


def test_an_advantage_that_is_hardly_there_is_refused_honestly():
    # arm 1 reaches 0.6 by 1e-9 only: neither a strict advantage nor its absence is proved
    with pytest.raises(CertificationError, match="hardly be better"):
        bound(Convex(constraints=lambda x: [cp.norm(x[1:]) <= 0.6 + 1e-8], theta=[0.6, 0.4, 0.3]))


def test_rewards_and_components_of_its_own():
    answer = certified(
        Convex(
            constraints=lambda x: [cp.norm(x) <= 2],
            theta=[1.0, 0.5],
            reveals=[[], [], [0, 1]],
            rewards=[[1, 0], [0, 1], [0, 0]],
        )
    )
    assert answer.value == pytest.approx(16.0, rel=1e-6)
