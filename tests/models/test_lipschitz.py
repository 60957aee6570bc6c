"""Lipschitz means as policies see them, against a convex solver."""

import math

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import brentq

from ossb.families import Bernoulli, Exponential, Gaussian, Poisson
from ossb.models.base import SETTLED, WEAKEST
from ossb.models.lipschitz import lipschitz_model
from ossb.models.lipschitz_fit import bent, fit_lipschitz, new_fit, profile
from ossb.simulation import simulate
from ossb.structures.lipschitz import Lipschitz
from structured_instances import INSTANCES, made_up


def line(rng, n):
    places = np.sort(rng.uniform(0, 1, n))
    return np.abs(places[:, None] - places[None])


def plane(rng, n):
    places = rng.uniform(0, 1, (n, 2))
    return np.linalg.norm(places[:, None] - places[None], axis=2)


def divergence(family, weights, means, theta):
    """Σ N d(m, θ) as a convex expression, up to a constant."""
    if isinstance(family, Gaussian):
        return cp.sum(cp.multiply(weights / 2, cp.square(theta - means)))
    if isinstance(family, Poisson):
        return cp.sum(cp.multiply(weights, theta) - cp.multiply(weights * means, cp.log(theta)))
    gained = cp.multiply(weights * means, cp.log(theta))
    return -cp.sum(gained + cp.multiply(weights * (1 - means), cp.log(1 - theta)))


def exact(family, weights, means, distances, best=None):
    """The maximum-likelihood Lipschitz means, with arm ``best`` highest if given."""
    n = means.size
    theta = cp.Variable(n)
    rows = [theta[x] - theta[z] <= distances[x, z] for x in range(n) for z in range(n) if x != z]
    if best is not None:
        rows += [theta[best] >= theta[z] for z in range(n) if z != best]
    goal = divergence(family, weights, means, theta)
    cp.Problem(cp.Minimize(goal), rows).solve(solver=cp.CLARABEL)
    return theta.value


def deviance(family, weights, means, theta):
    rows = zip(weights, means, theta, strict=True)
    return sum(n * family.kl(float(m), float(q)) for n, m, q in rows)


def projected(model, means, weights):
    theta = np.zeros(means.size)
    fit = new_fit(means.size, model.spacing.size == means.size - 1)
    for _ in range(2):  # the second starts from the answer of the first, and stays there
        fit_lipschitz(
            model.family, model.unit, model.distances, model.order, model.spacing,
            means, weights, theta, fit,
        )  # fmt: skip
    return theta


@pytest.mark.parametrize("metric", [line, plane])
@pytest.mark.parametrize("family", [Gaussian(), Bernoulli(), Poisson()], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_projection_is_the_maximum_likelihood(metric, family, seed):
    rng = np.random.default_rng(seed)
    distances = 0.4 * metric(rng, 6)
    model = lipschitz_model(family, distances, 1.0)
    assert (model.spacing.size == 5) == (metric is line)
    weights = rng.integers(1, 40, 6).astype(float)
    means = rng.uniform(0.05, 0.95, 6)
    theta = projected(model, means, weights)
    reference = exact(family, weights, means, distances)
    assert theta == pytest.approx(reference, abs=1e-3)
    assert deviance(family, weights, means, theta) == pytest.approx(
        deviance(family, weights, means, reference), rel=1e-5
    )
    assert (np.abs(theta[:, None] - theta[None]) <= distances + 1e-12).all()


def test_projection_of_means_at_the_ends_of_their_range():
    distances = line(np.random.default_rng(1), 5)
    model = lipschitz_model(Bernoulli(), distances, 1.0)
    means, weights = np.array([0.0, 1.0, 0.0, 0.4, 1.0]), np.array([3.0, 2.0, 5.0, 10.0, 1.0])
    theta = projected(model, means, weights)
    assert theta == pytest.approx(exact(Bernoulli(), weights, means, distances), abs=1e-3)


def test_what_fits_is_left_alone_and_unseen_arms_follow():
    model = lipschitz_model(Exponential(), line(np.random.default_rng(2), 4), 1.0)
    gentle = np.full(4, 1.0)
    assert projected(model, gentle, np.ones(4)).tolist() == gentle.tolist()
    flat = lipschitz_model(Gaussian(), np.full((3, 3), 0.1) - 0.1 * np.eye(3), 1.0)
    theta = projected(flat, np.array([1.0, 0.0, 1.0]), np.array([5.0, 0.0, 5.0]))
    assert theta == pytest.approx([1.0, 0.9, 1.0], abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_likelihood_ratio_around_the_projection(seed):
    instance = INSTANCES["lipschitz"]
    model = instance.model()
    memory, tally = model.start(), made_up(instance, seed, most=40)
    leader = model.project(tally, memory)
    model.test(leader, math.inf, tally, memory)
    theta, counts = memory.estimate.copy(), tally.counts.astype(float)
    ratios, known = [], []
    for j in range(5):
        if j == leader:
            continue
        other = exact(instance.family, counts, np.clip(theta, 1e-9, 1 - 1e-9), instance.metric, j)
        ratios.append(deviance(instance.family, counts, theta, other))
        raised = np.maximum(theta, theta[leader] - instance.metric[j])
        known.append(deviance(instance.family, counts, theta, raised))
    assert memory.numbers[WEAKEST] == pytest.approx(min(ratios), rel=1e-4, abs=1e-6)
    assert memory.numbers[SETTLED] == pytest.approx(min(known), rel=1e-9)


@pytest.mark.parametrize("family", [Gaussian(0.5), Bernoulli(), Poisson()])
@pytest.mark.parametrize("seed", range(4))
def test_the_level_at_which_an_arm_is_cheapest_to_make_best(family, seed):
    """What a play tells is as far off as the level: gains that differ less would be at random."""
    rng = np.random.default_rng(seed)
    distances, weights = 0.4 * plane(rng, 6), rng.uniform(1.0, 30.0, 6)
    theta = 0.5 + 0.4 * distances[0]  # Lipschitz
    leader, arm = int(np.argmax(theta)), int(np.argmin(theta))
    level = profile(family, distances, theta, weights, arm, leader, 0.0)

    def rise(v):
        targets = np.clip(theta, v - distances[arm], v)
        moved = zip(weights, theta, targets, strict=True)
        return sum(n * family.slope(m, q) for n, m, q in moved)

    assert level == pytest.approx(brentq(rise, theta[arm], theta[leader], xtol=1e-15), rel=1e-9)


@pytest.mark.parametrize("observation", ["gaussian", "poisson", "exponential", "bounded"])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_policies_run_with_every_family(observation, goal):
    theta = [0.3, 0.5, 0.45, 0.6, 0.35]
    points = [[0.0, 0.0], [1.0, 0.0], [1.5, 0.5], [2.5, 0.0], [3.5, 1.0]]
    instance = Lipschitz(
        observation=observation, goal=goal, theta=theta, points=points, lipschitz_constant=0.3
    )
    result = simulate(instance, ["hgl", "ossb", "ossb-paper"], 25, 1, compiled=False)
    for answer in result.policies:
        assert answer.plays.sum() == 25
        assert np.isfinite(answer.curves).all()


def test_the_leader_is_found():
    result = simulate(INSTANCES["lipschitz"], ["hgl"], 2000, 4, compiled=False)
    assert int(np.argmax(result["hgl"].plays)) == 3
    assert result["hgl"].regret.mean() < 3 * result.bound.value * math.log(2000)


def test_the_curvature_of_waiting_times_has_no_unit():
    for unit in (2.0**-40, 2.0**40):
        for mean, away in ((0.7, -0.2), (0.7, 0.4), (3.0, -2.5)):
            here = bent(Exponential(), mean, away, mean * mean)
            there = bent(Exponential(), unit * mean, unit * away, unit * unit * mean * mean)
            assert here == there
    assert bent(Exponential(), 1.0, -0.5, 1.0) == pytest.approx(2.0)  # 1 + 2 · ½
