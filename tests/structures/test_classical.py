"""Classical bandits: the closed form, its edges and what is refused."""

import math

import numpy as np
import pytest

from ossb.errors import CertificationError, InputError
from ossb.families import FAMILIES, family_named
from ossb.structures import bound
from ossb.structures.classical import Classical


@pytest.mark.parametrize("observation", FAMILIES)
def test_every_family(observation):
    theta = [0.2, 0.9, 0.6]
    answer = bound(Classical(observation=observation, theta=theta))
    kl = family_named(observation).kl
    assert dict(answer.support) == {x: 1.0 / kl(theta[x], 0.9) for x in (0, 2)}
    assert answer.value == pytest.approx(sum((0.9 - theta[x]) / kl(theta[x], 0.9) for x in (0, 2)))
    assert answer.verify().valid


@pytest.mark.parametrize("observation", FAMILIES)
def test_minimising_seeks_the_least_mean(observation):
    theta = [0.2, 0.9, 0.6]
    answer = bound(Classical(observation=observation, theta=theta, goal="minimize"))
    kl = family_named(observation).kl
    assert answer.best_arm == 0
    assert answer.value == pytest.approx(sum((theta[x] - 0.2) / kl(theta[x], 0.2) for x in (1, 2)))
    assert answer.verify().valid
    assert all(a.parameter[a.arm] == 0.2 and a.witness[a.arm] < 0.2 for a in answer.alternatives)


def test_one_arm_costs_nothing():
    answer = bound(Classical(theta=[0.4]))
    assert (answer.lower, answer.upper, list(answer.support)) == (0.0, 0.0, [])
    assert answer.rates.tolist() == [0.0]
    assert answer.verify().valid


@pytest.mark.parametrize(
    ("observation", "goal", "theta"),
    [
        ("bernoulli", "maximize", [1.0, 0.5, 0.0]),
        ("bounded", "maximize", [1.0, 0.5]),
        ("bernoulli", "minimize", [0.0, 0.5, 1.0]),
        ("poisson", "minimize", [0.0, 2.0]),
    ],
)
def test_a_mean_that_cannot_be_beaten(observation, goal, theta):
    answer = bound(Classical(observation=observation, theta=theta, goal=goal))
    assert (answer.value, list(answer.support)) == (0.0, [])
    assert answer.verify().valid


@pytest.mark.parametrize(
    ("observation", "goal", "theta", "value"),
    [
        ("bernoulli", "maximize", [0.6, 0.0], 0.6 / -math.log(0.4)),
        ("bernoulli", "minimize", [0.6, 1.0], 0.4 / -math.log(0.6)),
        ("poisson", "maximize", [2.0, 0.0], 1.0),
    ],
)
def test_means_at_the_other_end(observation, goal, theta, value):
    answer = bound(Classical(observation=observation, theta=theta, goal=goal))
    assert answer.value == pytest.approx(value, rel=1e-12)
    assert answer.verify().valid


def test_a_duplicated_arm_adds_its_own_term():
    once = bound(Classical(theta=[1.0, 0.5, 0.2])).value
    twice = bound(Classical(theta=[1.0, 0.5, 0.2, 0.5])).value
    assert twice - once == pytest.approx(4.0)


def test_tiny_gaps():
    for gap in (1e-3, 1e-6, 1e-9, 1e-12):
        answer = bound(Classical(observation="bernoulli", theta=[0.5, 0.5 - gap]))
        assert answer.value == pytest.approx(2 * 0.25 / gap, rel=1e-3)
        assert answer.verify().valid


def test_a_best_mean_next_to_one():
    answer = bound(Classical(observation="bernoulli", theta=[1.0 - 2**-53, 0.5]))
    assert answer.value > 0.0
    assert answer.verify().valid


def test_what_is_too_close_for_doubles_is_said():
    with pytest.raises(CertificationError, match="arms 0 and 1"):
        Classical(theta=[1.0, 0.0], sigma=1e200).solve(1e-6)
    with pytest.raises(InputError, match="`sigma` must be 0, or from 1e-100 to 1e\\+100 in size"):
        bound(Classical(theta=[1.0, 0.0], sigma=1e200))


def test_refusals():
    with pytest.raises(InputError, match="arms 0 and 2 are both best"):
        bound(Classical(theta=[0.5, 0.1, 0.5]))
    with pytest.raises(InputError, match="arms left and right are both best"):
        bound(Classical(theta=[0.5, 0.5], arm_names=["left", "right"]))
    with pytest.raises(InputError, match="both best"):
        bound(Classical(theta=[0.0, 0.0], observation="bernoulli"))
    with pytest.raises(InputError, match="`theta` must hold at least one arm, got none"):
        Classical(theta=[])
    with pytest.raises(InputError, match="`theta` must be given, or n_arms"):
        Classical()
    with pytest.raises(InputError, match="`n_arms` must be at least 1, got 0"):
        Classical(n_arms=0)
    with pytest.raises(InputError, match="`theta` must hold 3 numbers, got 2"):
        Classical(n_arms=3, theta=[0.5, 0.2])
    with pytest.raises(InputError, match=r"`theta\[1\]` must lie in \[0, 1\], got 1\.5"):
        Classical(observation="bernoulli", theta=[0.5, 1.5])
    with pytest.raises(InputError, match=r"`theta\[0\]` must be positive"):
        Classical(observation="exponential", theta=[0.0, 1.5])


def test_arms_are_asked_for_by_number():
    instance = Classical(theta=[1.0, 0.0])
    for arm in (2, -1, "0", True, (0,)):
        with pytest.raises(InputError, match="`arm` must"):
            instance.gap_of(arm)
    assert instance.gap_of(1) == 1.0
    assert instance.total_gap() == 1.0


def test_the_common_keys():
    with pytest.raises(InputError, match="`goal` must be one of maximize, minimize"):
        Classical(theta=[1.0], goal="max")
    with pytest.raises(InputError, match="did you mean 'bernoulli'"):
        Classical(theta=[1.0], observation="bernouli")
    with pytest.raises(InputError, match="`sigma` must be left out: it belongs to gaussian"):
        Classical(theta=[1.0], observation="poisson", sigma=2.0)
    with pytest.raises(InputError, match="`sigma` must be a positive number, got 0"):
        Classical(theta=[1.0], sigma=0)
    with pytest.raises(InputError, match="`name` must be a string, got 3"):
        Classical(theta=[1.0], name=3)
    with pytest.raises(InputError, match="`arm_names` must hold 1 name,"):
        Classical(theta=[1.0], arm_names=["a", "b"])
    with pytest.raises(InputError, match="`arm_names` must be distinct, got a"):
        Classical(theta=[1.0, 2.0], arm_names=["a", "a"])
    for names in (None, 5, "ab"):
        with pytest.raises(InputError, match="`arm_names` must be a list"):
            Classical(theta=[1.0], arm_names=names)


def test_names_of_arms_that_are_not_listed():
    with pytest.raises(InputError, match="`arm_names` must be left out: the arms are not listed"):
        Classical(theta=[1.0], arm_names=["a"])._read_common(None)
    assert Classical(theta=[1.0, 2.0], arm_names=["a", "b"]).arm_name(1) == "b"
    assert Classical(theta=[1.0, 2.0]).arm_name((1, 2)) == "[1, 2]"


def test_the_file_of_an_instance():
    instance = Classical(
        theta=np.array([1.0, 0.5]), sigma=2.0, goal="minimize", arm_names=("a", "b")
    )
    assert instance.to_dict() == {
        "structure": "classical",
        "observation": "gaussian",
        "sigma": 2.0,
        "goal": "minimize",
        "arm_names": ["a", "b"],
        "theta": [1.0, 0.5],
        "n_arms": 2,
    }
    assert repr(instance) == "<Classical gaussian>"
    assert repr(Classical(n_arms=2, name="x")) == "<Classical 'x' gaussian>"
    assert not instance.theta.flags.writeable


@pytest.mark.parametrize("wrong", ["arms.toml", {"structure": "classical", "theta": [0.1, 0.2]}])
def test_what_is_no_structure_is_refused_by_name(wrong):
    with pytest.raises(InputError, match=r"`instance` must be a structure such as Classical"):
        bound(wrong)
