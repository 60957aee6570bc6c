"""One-off solves against a second method, at the edges, and both ways to run."""

import numpy as np
import pytest

from glm_instances import reference, unit_arms
from ossb.graves_lai.glm import certificate
from ossb.graves_lai.glm.solution import solve
from ossb.graves_lai.information.links import IDENTITY, LINKS, LOG, LOGISTIC
from ossb.graves_lai.linear import solution as linear


def posed(arms, phi, link, sign=1.0):
    """Arguments of a solve that observes its rewards."""
    index = arms @ phi
    best = int(np.argmax(sign * index))
    top = np.full(len(arms), index[best])
    costs = np.abs(certificate.changes(link, top, index - index[best]))
    return np.ascontiguousarray(arms), index, best, costs, link


def certified(arguments, gap=1e-6, **others):
    """A solution whose bounds were recomputed in numpy."""
    arms, index, best, costs, link = arguments
    answer = solve(*arguments, gap, **others)
    assert np.isfinite(answer.rates).all()
    assert (answer.rates >= 0).all()
    assert answer.rates[best] == 0
    assert answer.rates @ costs == pytest.approx(answer.upper, rel=1e-12)
    directions = dict(zip(answer.open_arms.tolist(), answer.most_confusing, strict=True))
    proved = certificate.information(link, arms, index, best, answer.rates, directions)
    assert proved >= 1 - 1e-8
    others = np.delete(np.arange(len(arms)), best)
    heaviest = certificate.heaviest(
        link, arms, index, costs, others, answer.directions, answer.weights
    )
    assert answer.weights.sum() / heaviest == pytest.approx(answer.lower, rel=1e-8)
    assert answer.upper - answer.lower <= gap * answer.upper
    return answer


@pytest.mark.parametrize("link", [LOGISTIC, LOG])
@pytest.mark.parametrize(("n_arms", "dimension"), [(5, 2), (6, 3), (6, 4)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_agrees_with_cutting_planes(link, n_arms, dimension, sign):
    rng = np.random.default_rng([link, n_arms, dimension])
    arms, phi = unit_arms(rng, n_arms, dimension), rng.standard_normal(dimension)
    answer = certified(posed(arms, phi, link, sign))
    wanted = reference(arms, phi, LINKS[link], sign, gap=1e-6)
    assert answer.upper == pytest.approx(wanted, rel=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_quadratic_divergences_are_the_linear_case(seed):
    rng = np.random.default_rng(seed)
    arms, phi = unit_arms(rng, 12, 3), rng.standard_normal(3)
    arguments = posed(arms, phi, IDENTITY)
    gaps = arguments[3]
    wanted = linear.solve(arms, arguments[2], gaps, gaps)
    assert certified(arguments).upper == pytest.approx(wanted.upper, rel=2e-6)


def near_tie(rng, link, distance):
    """Arm 0 best, arm 1 behind it by ``distance`` in index, in a direction of its own."""
    phi = rng.standard_normal(3)
    arms = unit_arms(rng, 12, 3)
    arms = arms[np.argsort(-(arms @ phi))]
    arms[1] += phi * (arms[0] @ phi - distance - arms[1] @ phi) / (phi @ phi)
    return arms, phi


FAMILIES = {
    "tie 1e-4": lambda rng, link: near_tie(rng, link, 1e-4),
    "tie 1e-6": lambda rng, link: near_tie(rng, link, 1e-6),
    "saturated": lambda rng, link: (
        unit_arms(rng, 15, 3),
        (14.0 if link == LOGISTIC else 4.0) * rng.standard_normal(3),
    ),
    "norms": lambda rng, link: (
        unit_arms(rng, 15, 3) * 10 ** rng.uniform(-1.5, 0.5, (15, 1)),
        rng.standard_normal(3),
    ),
    "flat": lambda rng, link: (
        unit_arms(rng, 12, 3) @ rng.standard_normal((3, 5)),
        0.5 * rng.standard_normal(5),
    ),
    "collinear": lambda rng, link: (
        unit_arms(rng, 12, 3) * np.array([1.0, 1.0, 1e-4]),
        rng.standard_normal(3),
    ),
    "binary": lambda rng, link: (
        np.array(np.meshgrid(*[[0.0, 1.0]] * 3)).reshape(3, -1).T,
        rng.standard_normal(3),
    ),
    "many": lambda rng, link: (unit_arms(rng, 60, 3), rng.standard_normal(3)),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("link", [LOGISTIC, LOG])
@pytest.mark.parametrize("seed", range(2))
def test_families(family, link, seed):
    arms, phi = FAMILIES[family](np.random.default_rng([seed, link]), link)
    certified(posed(arms, phi, link))


def test_five_dimensions():
    rng = np.random.default_rng(1)
    certified(posed(unit_arms(rng, 30, 5), rng.standard_normal(5), LOGISTIC), gap=1e-5)


@pytest.mark.parametrize("link", [LOGISTIC, LOG])
def test_two_arms_on_a_plane_have_a_closed_form(link):
    """x* = (1, 0), x = (0, 1): only x tells, and it must catch up with the best index."""
    arms, phi = np.eye(2), np.array([0.8, -0.5])
    answer = certified(posed(arms, phi, link))
    cost = answer.rates @ posed(arms, phi, link)[3]
    divergence = certificate.divergences(link, np.array([-0.5]), np.array([1.3]))[0]
    assert answer.rates[1] == pytest.approx(1 / divergence, rel=1e-9)
    assert answer.upper == pytest.approx(cost)


def test_nothing_to_tell():
    for arms in (np.array([[1.0], [0.5], [-2.0]]), np.array([[1.0, 1.0], [0.5, 0.5]])):
        answer = solve(*posed(arms, np.ones(arms.shape[1]), LOGISTIC))
        assert (answer.upper, answer.lower) == (0.0, 0.0)
        assert not answer.rates.any()
        assert not answer.open_arms.size


def test_the_best_arm_may_be_zero():
    arms = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    answer = certified(posed(arms, np.array([-1.0, -0.5]), LOGISTIC))
    assert answer.upper > 0


def test_failure_is_open_not_wrong():
    """No step left to take: the bounds stay honest."""
    rng = np.random.default_rng(2)
    arguments = posed(unit_arms(rng, 20, 3), rng.standard_normal(3), LOGISTIC)
    answer = solve(*arguments, 1e-15)
    assert answer.lower <= answer.upper * (1 + 1e-12)
    assert answer.upper - answer.lower <= 1e-9 * answer.upper
