import dataclasses

import numpy as np
import pytest
from scipy.optimize import linprog

import golden
from ossb.errors import InputError
from ossb.structures.base import bound
from ossb.structures.finite import Finite


def make(instance):
    return Finite(**{key: value for key, value in instance.items() if key != "structure"})


@pytest.mark.parametrize(("instance", "expected"), golden.parameters("finite"))
def test_reference_values(instance, expected):
    answer = bound(make(instance))
    assert answer.value == pytest.approx(expected["value"], rel=1e-5)
    assert answer.gap <= 1e-6
    assert answer.verify().valid


THETA = [0.5, 0.3, 0.2]
PARAMETERS = [THETA, [0.5, 0.6, 0.2], [0.5, 0.3, 0.8], [0.5, 0.7, 0.1], [0.9, 0.2, 0.95]]


@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "poisson", "exponential"])
def test_equals_the_linear_program_written_out(observation):
    instance = Finite(parameters=PARAMETERS, theta=THETA, observation=observation)
    answer = bound(instance)
    kl = instance.family.kl
    rows = [[kl(THETA[x], PARAMETERS[k][x]) for x in (1, 2)] for k in (1, 2, 3)]
    reference = linprog([0.2, 0.3], -np.array(rows), -np.ones(3))
    assert answer.value == pytest.approx(reference.fun, rel=1e-9)
    assert answer.gap <= 1e-9
    assert answer.verify().valid
    assert {alternative.piece for alternative in answer.alternatives} <= {1, 2, 3}


def test_minimising_is_maximising_the_negatives():
    largest = bound(Finite(parameters=PARAMETERS, theta=THETA))
    mirrored = Finite(parameters=-np.array(PARAMETERS), theta=-np.array(THETA), goal="minimize")
    least = bound(mirrored)
    assert least.value == pytest.approx(largest.value, rel=1e-12)
    assert least.best_arm == largest.best_arm
    assert least.verify().valid


def test_nothing_to_confuse_costs_nothing():
    only = bound(Finite(parameters=[THETA, [0.6, 0.9, 0.1], [0.5, 0.5, 0.2]], theta=THETA))
    assert (only.lower, only.upper, list(only.support)) == (0.0, 0.0, [])
    assert only.verify().valid
    assert bound(Finite(parameters=[[1.0]], theta=[1.0])).value == 0.0


def test_a_parameter_ruled_out_by_one_observation_gives_no_row():
    answer = bound(
        Finite(parameters=[THETA, [0.5, 1.0, 0.2]], theta=THETA, observation="bernoulli")
    )
    assert answer.value == 0.0
    assert answer.verify().valid


def test_tiny_gaps_and_far_apart_scales():
    theta = [0.5, 0.5 - 1e-6, -1e3]
    parameters = [theta, [0.5, 0.5 + 1e-6, -1e3], [0.5, 0.4, 1e3], [0.5, 0.5 + 1e-9, 1.0]]
    answer = bound(Finite(parameters=parameters, theta=theta))
    assert np.isfinite(answer.value)
    assert answer.gap <= 1e-6
    assert answer.verify().valid


def test_a_corrupted_proof_fails():
    answer = bound(Finite(parameters=PARAMETERS, theta=THETA))
    low = dataclasses.replace(
        answer, support=[(arm, 0.9 * rate) for arm, rate in answer.support][:1]
    )
    assert not low.verify().valid
    first = answer.alternatives[0]
    for change in (
        {"parameter": first.parameter + 0.01},
        {"piece": 17},
        {"piece": 4},
        {"weight": -1.0},
        {"arm": 0},
    ):
        bad = [dataclasses.replace(first, **change), *answer.alternatives[1:]]
        assert not dataclasses.replace(answer, alternatives=bad).verify().valid


def test_refusals():
    with pytest.raises(InputError, match=r"nearest, parameters\[0\], differs by 0.01"):
        Finite(parameters=PARAMETERS, theta=[0.51, 0.3, 0.2])
    with pytest.raises(InputError, match="at least one parameter"):
        Finite(parameters=[])
    with pytest.raises(InputError, match=r"parameters\[1\]\[0\]` must lie in"):
        Finite(parameters=[THETA, [2, 0, 0]], theta=THETA, observation="bernoulli")
    with pytest.raises(InputError, match="both best"):
        bound(Finite(parameters=[[1.0, 1.0]], theta=[1.0, 1.0]))
    with pytest.raises(InputError, match="hold 3 numbers"):
        Finite(parameters=PARAMETERS, theta=[0.5, 0.3])


def test_to_dict_holds_the_keys_of_the_file():
    content = Finite(parameters=PARAMETERS, theta=THETA, name="three").to_dict()
    assert content == {
        "structure": "finite",
        "observation": "gaussian",
        "name": "three",
        "theta": THETA,
        "parameters": PARAMETERS,
    }


@pytest.mark.parametrize(
    ("parameters", "sigma"),
    [
        ([[1e-9, 0.0], [1.0005e-9, 2e-9]], 1e-9),
        ([[1.0, 0.9999], [1.0 + 1e-12, 1.1]], 1.0),
    ],
)
def test_a_best_arm_told_apart_beside_the_gaps_confuses_nobody(parameters, sigma):
    answer = bound(Finite(parameters=parameters, theta=parameters[0], sigma=sigma))
    assert answer.value == 0.0
    assert answer.verify().valid
