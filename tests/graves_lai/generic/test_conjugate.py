import math

import numpy as np
import pytest
from flint import fmpq

from ossb.families import Bernoulli, Exponential, Gaussian, Poisson
from ossb.graves_lai.exact.balls import working
from ossb.graves_lai.generic.conjugate import conjugate_of
from ossb.graves_lai.generic.divergence import divergence_of

CONVEX = [Gaussian(0.7), Bernoulli(), Poisson()]


def exact(number):
    return fmpq(*float(number).as_integer_ratio())


@pytest.mark.parametrize("family", [*CONVEX, Exponential()], ids=lambda f: type(f).__name__)
def test_balls_hold_the_divergence(family):
    rng = np.random.default_rng(3)
    conjugate = conjugate_of(family)
    with working():
        for theta, mean in rng.uniform(0.01, 0.99, (50, 2)):
            ball = conjugate.value(exact(theta), exact(mean))
            assert float(ball) == pytest.approx(family.kl(theta, mean), rel=1e-12)
        assert conjugate.value(exact(0.5), exact(0.5)) == 0
        if not isinstance(family, Gaussian):
            assert not conjugate.value(exact(0.5), fmpq(0)).is_finite()


@pytest.mark.parametrize("family", CONVEX, ids=lambda f: type(f).__name__)
def test_the_least_term_is_below_every_term_and_reached(family):
    rng = np.random.default_rng(4)
    conjugate, divergence = conjugate_of(family), divergence_of(family)
    means = np.linspace(1e-6, 1 - 1e-6, 20001)
    with working():
        for _ in range(40):
            theta, weight = rng.choice([0.0, 0.2, 0.6, 1.0]), rng.choice([0.5, 3.0])
            slope = rng.uniform(-1.5, 0.9 * weight)
            ball = conjugate.least(exact(theta), exact(weight), exact(slope))
            terms = weight * divergence.value(np.full(means.size, theta), means)
            terms = terms - slope * (means - theta)
            assert float(ball.lower()) <= terms.min() + 1e-12
            here = np.array([theta]), np.array([weight]), np.array([slope])
            assert float(ball) == pytest.approx(divergence.least(*here)[0], rel=1e-9, abs=1e-12)


def test_slopes_at_the_limit():
    with working():
        poisson, gaussian = conjugate_of(Poisson()), conjugate_of(Gaussian(1.0))
        one, none = fmpq(1), fmpq(0)
        assert poisson.least(none, one, one) == 0
        assert poisson.least(none, one, one + fmpq(1, 10**30)).lower() == -math.inf
        assert poisson.least(one, one, one).lower() == -math.inf
        assert gaussian.least(one, none, fmpq(1, 10**300)).lower() == -math.inf
        assert gaussian.nearest(one, none, fmpq(1, 10**300)) == 0
        assert conjugate_of(Bernoulli()).least(fmpq(1, 4), none, one) == -0.75
