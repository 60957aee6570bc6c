"""Linear bandits: reference values, what proves their bounds, what is refused."""

import math

import numpy as np
import pytest

import golden
from ossb.errors import InputError
from ossb.graves_lai.proof import check, prove
from ossb.instances import from_dict
from ossb.structures import bound
from ossb.structures.linear import Linear


def random_instance(seed, **keys):
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(20, 3))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    return Linear(arms=arms, phi=rng.normal(size=3), **keys)


@pytest.mark.parametrize(("content", "expected"), golden.parameters("linear"))
def test_reference_values(content, expected):
    answer = bound(from_dict(content))
    assert answer.value == pytest.approx(expected["value"], rel=1e-5)
    assert answer.gap <= 1e-6
    assert answer.verify().valid
    for entry in expected.get("rates", []):
        assert answer.rates[entry["arm"]] == pytest.approx(entry["rate"], rel=1e-4)


def test_the_bound_grows_with_the_variance():
    one, two = bound(random_instance(1)), bound(random_instance(1, sigma=3.0))
    assert two.value == pytest.approx(9.0 * one.value, rel=2e-6)
    assert two.verify().valid


def test_minimising_is_maximising_the_opposite():
    one = random_instance(2)
    other = Linear(arms=one.arms, phi=-one.phi, goal="minimize")
    assert bound(other).value == pytest.approx(bound(one).value, rel=2e-6)
    assert bound(other).verify().valid
    assert bound(other).best_arm == bound(one).best_arm


def test_parallel_arms_need_no_exploration():
    answer = bound(Linear(arms=[[1.0, 2.0], [0.5, 1.0], [-1.0, -2.0]], phi=[1.0, 1.0]))
    assert answer.value == answer.lower == 0.0
    assert not answer.rates.any()


def test_one_arm():
    assert bound(Linear(arms=[[1.0]], phi=[2.0])).value == 0.0


def test_the_model_has_the_arms_as_columns():
    """In coordinates of their own: some linear map of the features, which loses nothing."""
    instance = random_instance(3)
    own = instance.model().features.T
    there = np.linalg.lstsq(instance.arms, own, rcond=None)[0]
    assert instance.arms @ there == pytest.approx(own, abs=1e-12)
    back = np.linalg.lstsq(own, instance.arms, rcond=None)[0]
    assert own @ back == pytest.approx(instance.arms, abs=1e-12)


def test_rates_that_do_not_span_prove_nothing():
    instance = random_instance(4)
    first, every = (
        [(int(x), 1.0) for x in instance.others[:1]],
        [(int(x), 1.0) for x in instance.others],
    )
    assert prove(instance, first, [], None).information == 0.0
    assert 0.0 < prove(instance, every, [], None).information < math.inf


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({}, "arms"),
        ({"arms": np.zeros((0, 2))}, "arms"),
        ({"arms": [[1.0, 0.0]], "phi": [1.0]}, "phi"),
        ({"arms": [[1e308, 1e308], [0.0, 1.0]], "phi": [10.0, 10.0]}, "phi"),
        ({"arms": np.eye(2), "observation": "bernoulli"}, "observation"),
    ],
)
def test_bad_input_is_refused(keys, field):
    with pytest.raises(InputError) as error:
        Linear(**keys)
    assert error.value.field == field


def test_two_best_arms_are_refused():
    with pytest.raises(InputError, match="both best"):
        bound(Linear(arms=[[1.0, 0.0], [0.0, 1.0]], phi=[1.0, 1.0]))
    with pytest.raises(InputError, match="two best arms"):
        bound(Linear(arms=[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], phi=[1.0, 0.5]))


def test_a_tie_beside_the_largest_mean_is_refused_whoever_looks():
    """The filter would prove the best arm, which ``best`` takes for a tie."""
    arms = [[1.0, 0.0, 0.0], [1.0 - 1e-8, 1e-3, 0.0], [0.0, 1.0, -1e6], [0.0, 0.0, 1.0]]
    with pytest.raises(InputError, match="both best"):
        bound(Linear(arms=arms, phi=[1.0, 0.0, 1.0]))


@pytest.mark.parametrize("power", range(1, 11))
def test_proofs_hold_near_the_direction_of_the_best_arm(power):
    for arms in ([[1.0, 0.0], [0.5, 10.0**-power]], [[1.0, 0.3], [0.5, 0.15 + 10.0**-power]]):
        answer = bound(Linear(arms=arms, phi=[1.0, 0.0]))
        assert answer.value == pytest.approx(4.0, rel=1e-6)
        assert answer.verify().valid, answer.verify().problems


@pytest.mark.parametrize("z", [3e-12, 1e-12, 1e-13, 1e-14])
def test_arms_that_doubles_cannot_tell_from_parallel_ones_are_named(z):
    for arms in ([[1, 0], [0.5, z]], [[1, 0, 0], [0.5, z, 0], [0.2, 0, 1]]):
        instance = Linear(arms=arms, phi=[1.0, *[0.0] * (len(arms[0]) - 1)])
        with pytest.raises(InputError, match=r"`arms\[1\]` must be parallel to .* arms\[0\]"):
            bound(instance)
        claim = check(instance, [], [], None, 0.0, 0.0)
        assert "arms[1]" in " ".join(claim.problems)


def test_arms_parallel_up_to_rounding_are_parallel():
    top = np.array([0.1, 0.7, -1.3])
    for factor in (3.0, 1 / 7, -0.9):
        answer = bound(Linear(arms=[10.0 * top, factor * top], phi=[0.0, 0.0, -1.0]))
        assert answer.value == 0.0


def test_arms_that_nearly_depend_on_each_other_are_refused():
    """With z = 0 the last two arms are one, and C is half of what it is for every other z."""
    for z in (1e-3, 1e-6):
        arms = [[1, 0, 0], [0.5, 1, 0], [0.5, 1, z]]
        assert bound(Linear(arms=arms, phi=[1, 0, 0])).value == pytest.approx(8.0, rel=1e-5)
    with pytest.raises(InputError, match="dependent"):
        bound(Linear(arms=[[1, 0, 0], [0.5, 1, 0], [0.5, 1, 1e-13]], phi=[1, 0, 0]))


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e160, 1e300])
def test_features_that_cannot_be_squared_are_refused(scale):
    arms = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    for find in (bound, lambda instance: instance._solve_closely(1e-6)):
        with pytest.raises(InputError, match=r"other units|in size"):
            find(Linear(arms=scale * arms, phi=[1.0, 2.0, 4.0]))
    mixed = [[1.0, 0.0], [min(scale, 1 / scale), min(scale, 1 / scale)]]
    for find in (bound, lambda instance: instance._solve_closely(1e-6)):
        with pytest.raises(InputError, match=r"arms\[1\].*(other units|in size)"):
            find(Linear(arms=mixed, phi=[1.0, 0.0]))


@pytest.mark.parametrize(
    "keys", [{"phi": 1e-170}, {"phi": 1e250}, {"sigma": 1e-170}, {"sigma": 1e250}]
)
def test_what_is_beyond_doubles_is_said(keys):
    phi = np.array([1.0, 2.0, 4.0]) * keys.get("phi", 1.0)
    arms = [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
    with pytest.raises(InputError, match="in size, to be checked"):
        bound(Linear(arms=arms, phi=phi, sigma=keys.get("sigma", 1.0)))


@pytest.mark.parametrize("share", [1e-8, 1e-9, 1e-10, 1e-11, 1e-12])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_near_ties_are_certified(seed, share):
    """The second arm is within a share of the best one: gaps by subtraction keep few digits."""
    rng = np.random.default_rng(seed)
    arms, phi = rng.standard_normal((10, 4)), rng.standard_normal(4)
    means = arms @ phi
    first, second = np.argsort(-means)[:2]
    step = means[first] - means[second] - share * abs(means[first])
    arms[second] += step * phi / (phi @ phi)
    answer = bound(Linear(arms=arms, phi=phi))
    assert answer.gap <= 1e-6
    assert answer.verify().valid
