"""Generalised linear bandits: both readings, what proves their bounds, what is refused."""

import dataclasses
import math

import numpy as np
import pytest

import golden
from glm_instances import reference, rewarding, unit_arms
from ossb.errors import CertificationError, InputError
from ossb.graves_lai.proof import Alternative
from ossb.structures import bound
from ossb.structures.generalized_linear import FITS, GeneralizedLinear

ARMS = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [-0.3, 0.8]]
PHI = [0.9, 0.2]


def instance(**keys):
    return GeneralizedLinear(**{**rewarding(ARMS, PHI, "logistic"), **keys})


@pytest.mark.parametrize(("content", "expected"), golden.parameters("generalized_linear"))
def test_reference_values(content, expected):
    keys = {key: value for key, value in content.items() if key != "structure"}
    answer = bound(GeneralizedLinear(**keys))
    assert answer.value == pytest.approx(expected["value"], rel=1e-5)
    assert answer.gap <= 1e-6
    assert answer.verify().valid


@pytest.mark.parametrize("link", ["logistic", "log", "identity"])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_both_readings_agree_with_cutting_planes(link, goal):
    rng = np.random.default_rng(len(link))
    arms, phi = unit_arms(rng, 6, 3), rng.standard_normal(3)
    sign = 1.0 if goal == "maximize" else -1.0
    answer = bound(GeneralizedLinear(**rewarding(arms, phi, link, goal=goal)))
    assert answer.value == pytest.approx(reference(arms, phi, link, sign, gap=1e-6), rel=2e-6)
    assert answer.verify().valid
    index = GeneralizedLinear(arms=arms, phi=phi, link=link, goal=goal, sigma=2.0)
    answer = bound(index)
    assert index.observes == "index"
    wanted = 4.0 * reference(arms, phi, "identity", sign, reward=link, gap=1e-6)
    assert answer.value == pytest.approx(wanted, rel=2e-6)
    assert answer.verify().valid


def test_defaults_follow_the_observation():
    assert instance(observes=None).observes == "reward"
    assert instance(observes=None, observation="gaussian").observes == "index"
    assert instance(observation="bounded").to_dict()["observes"] == "reward"


def test_bounded_observations_count_as_bernoulli():
    assert bound(instance(observation="bounded")).value == bound(instance()).value


def test_one_arm_and_arms_along_the_best_one():
    assert bound(instance(arms=[[1.0, 2.0]])).value == 0.0
    answer = bound(instance(arms=[[1.0, 1.0], [0.5, 0.5], [-1.0, -1.0]]))
    assert (answer.lower, answer.upper, list(answer.support)) == (0.0, 0.0, [])
    assert answer.verify().valid


@pytest.mark.parametrize("link", ["logistic", "log"])
@pytest.mark.parametrize("size", [1.0, 8.0, 25.0])
def test_means_that_round_to_the_edge(link, size):
    rng = np.random.default_rng(7)
    phi = np.array([1.0, 0.3, -0.2]) * (size if link == "logistic" else size / 4)
    answer = bound(GeneralizedLinear(**rewarding(unit_arms(rng, 8, 3), phi, link)))
    assert 0 < answer.value < math.inf
    assert answer.verify().valid


def corrupted(answer, **changes):
    return dataclasses.replace(answer, **changes).verify()


def test_a_corrupted_proof_fails():
    answer = bound(instance())
    assert answer.verify().valid
    assert not corrupted(answer, lower=answer.lower * 1.001).valid
    assert not corrupted(answer, upper=answer.upper * 0.999).valid
    assert not corrupted(answer, support=[(x, 0.999 * r) for x, r in answer.support]).valid
    directions = [[0.9 * v for v in row] for row in answer.multipliers["directions"]]
    assert not corrupted(answer, multipliers={**answer.multipliers, "directions": directions}).valid
    for change in (np.array([1e-3, 0.0]), np.array([0.0, -1e-3])):
        moved = [
            Alternative(one.arm, one.parameter + change, one.witness, one.weight)
            for one in answer.alternatives
        ]
        assert not corrupted(answer, alternatives=moved).valid


@pytest.mark.parametrize(
    ("keys", "field", "words"),
    [
        ({"arms": None}, "arms", "be given"),
        ({"arms": []}, "arms", "at least one arm"),
        ({"arms": [[1.0, 0.0], [1.0]]}, "arms[1]", "as many numbers"),
        ({"link": None}, "link", "be given"),
        ({"link": "logit"}, "link", "logistic"),
        ({"observes": "both"}, "observes", "index"),
        ({"observation": "poisson"}, "observation", "bernoulli or bounded"),
        ({"observation": "exponential"}, "observation", "gaussian"),
        ({"observes": "index"}, "observation", "gaussian"),
        ({"phi": [1.0]}, "phi", "hold 2 numbers"),
        ({"phi": [1e4, 0.0]}, "phi", "within ±300"),
        ({"arms": [[1e200, 0.0]], "phi": [1e200, 0.0]}, "phi", "finite index"),
    ],
)
def test_refused(keys, field, words):
    with pytest.raises(InputError) as caught:
        instance(**keys)
    assert caught.value.field == field
    assert words in str(caught.value)


def test_two_best_arms_are_refused():
    with pytest.raises(InputError, match=r"arms 0 and 1 are both best") as caught:
        bound(instance(phi=[1.0, 1.0], arms=[[1.0, 0.0], [0.0, 1.0], [0.2, 0.1]]))
    assert caught.value.field == "phi"
    with pytest.raises(InputError, match="differ from the best arm") as caught:
        bound(instance(arms=[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    assert caught.value.field == "arms[2]"


def test_every_combination_is_accepted_or_refused_by_the_table():
    for (observes, link), fit in FITS.items():
        for observation in ("gaussian", "bernoulli", "bounded", "poisson"):
            keys = {"observes": observes, "link": link, "observation": observation}
            if observation in fit:
                assert bound(instance(**keys)).value > 0
            else:
                with pytest.raises(InputError, match="poisson, identity with gaussian"):
                    instance(**keys)


@pytest.mark.parametrize("power", [4, 8, 9, 10, 11])
def test_proofs_hold_near_the_direction_of_the_best_arm(power):
    arms = [[1.0, 0.3], [0.5, 0.15 + 10.0**-power]]
    keys = {"observation": "bernoulli", "link": "logistic", "phi": [1.0, 0.0]}
    answer = bound(GeneralizedLinear(arms=arms, **keys))
    assert answer.value == pytest.approx(3.884782716, rel=1e-6)
    assert answer.verify().valid, answer.verify().problems


@pytest.mark.parametrize("z", [1e-12, 1e-14])
@pytest.mark.parametrize("observes", ["index", "reward"])
def test_arms_that_doubles_cannot_tell_from_parallel_ones_are_named(z, observes):
    keys = {"observation": "gaussian" if observes == "index" else "bernoulli"}
    instance = GeneralizedLinear(
        arms=[[1, 0], [0.5, z]], phi=[1, 0], link="logistic", observes=observes, **keys
    )
    with pytest.raises(InputError, match=r"`arms\[1\]` must be parallel to .* arms\[0\]"):
        bound(instance)


def test_arms_nearly_parallel_to_each_other_end_in_no_traceback():
    """Their most confusing directions are so long that rounding leaves nothing of them."""
    arms = [
        [-1.2123904237485106, -0.30728329387106235, 1.967088006262017],
        [-2.060680689257575, -0.5222845072507539, 3.3434280974234527],
        [-1.180287168610006, -0.1824629586733057, 0.2284003802819511],
    ]
    phi = [0.30502727017687825, 0.7260538568577324, -0.18398931324383955]
    with pytest.raises(CertificationError):
        bound(GeneralizedLinear(observation="bernoulli", link="logistic", arms=arms, phi=phi))


@pytest.mark.parametrize("scale", [1e-200, 1e160])
def test_features_that_cannot_be_squared_are_refused(scale):
    arms, phi = scale * np.array(ARMS), np.array(PHI) / scale
    instance = GeneralizedLinear(observation="bernoulli", link="logistic", arms=arms, phi=phi)
    with pytest.raises(InputError, match="other units"):
        instance.solve(1e-6)
    with pytest.raises(InputError, match="in size"):
        bound(instance)


@pytest.mark.parametrize("cost", ["regret", "samples"])
@pytest.mark.parametrize("apart", [1e-9, 1e-10, 1e-11, 1e-12])
@pytest.mark.parametrize(
    "keys",
    [
        {"link": "logistic", "observation": "bernoulli"},
        {"link": "log", "observation": "poisson", "goal": "minimize"},
        {"link": "identity", "observes": "reward"},
    ],
)
def test_arms_whose_indices_are_close(keys, apart, cost):
    """Their difference has no digits to spare: it is taken of the features, and rounded once."""
    rng = np.random.default_rng(3)
    arms, phi = rng.normal(size=(10, 3)), rng.normal(size=3)
    sign = -1.0 if keys.get("goal") == "minimize" else 1.0
    best = arms[int(np.argmax(sign * arms @ phi))]
    along = rng.normal(size=3)
    along -= along @ phi / (phi @ phi) * phi
    close = best + 0.3 * along - sign * apart / (phi @ phi) * phi
    instance = GeneralizedLinear(arms=np.vstack([arms, close]) / 3, phi=phi, **keys)
    try:
        answer = bound(instance, cost=cost)
    except CertificationError:  # rates that differ by 22 decades say too little of some direction
        assert apart < 1e-10
        return
    assert answer.verify().valid
    assert answer.gap <= 1e-6
