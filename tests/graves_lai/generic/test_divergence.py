import numpy as np
import pytest

from ossb.errors import InputError
from ossb.families import Bernoulli, Bounded, Exponential, Gaussian, Poisson
from ossb.graves_lai.generic.divergence import divergence_of, excess
from ossb.graves_lai.generic.divergence_kernels import bend_at, divergence_at, slope_at

CASES = [
    (Gaussian(0.7), np.linspace(-2, 2, 9)),
    (Bernoulli(), np.array([0.0, 1e-9, 0.2, 0.5, 0.5 + 1e-9, 0.9, 1.0])),
    (Bounded(), np.array([0.0, 0.3, 0.7])),
    (Poisson(), np.array([0.0, 1e-9, 0.5, 2.0, 50.0])),
]


@pytest.mark.parametrize(("family", "means"), CASES)
def test_values_slopes_and_curvatures_are_those_of_the_family(family, means):
    divergence = divergence_of(family)
    assert (divergence.lowest, divergence.highest) == (family.lowest(), family.highest())
    p, q = (grid.ravel() for grid in np.meshgrid(means, means))
    expected = [family.kl(float(a), float(b)) for a, b in zip(p, q, strict=True)]
    assert divergence.value(p, q) == pytest.approx(expected, rel=1e-13)
    inside = (q > 1e-6) & (q < family.highest() - 1e-6) & (p != q)
    p, q = p[inside], q[inside]
    slopes = np.array([family.slope(float(a), float(b)) for a, b in zip(p, q, strict=True)])
    assert at(slope_at, divergence, p, q) == pytest.approx(slopes, rel=1e-12)
    step = 1e-6
    above, below = at(slope_at, divergence, p, q + step), at(slope_at, divergence, p, q - step)
    change = (above - below) / (2 * step)
    assert divergence.curvature(p, q) == pytest.approx(change, rel=1e-5, abs=1e-6)
    assert at(bend_at, divergence, p, q) == pytest.approx(divergence.curvature(p, q), rel=1e-13)
    values = divergence.value(p, q)
    assert at(divergence_at, divergence, p, q) == pytest.approx(values, rel=1e-13)


def at(term, divergence, p, q):
    """A kernel's term at every pair of means."""
    kind, precision = divergence.kind, divergence.precision
    return np.array([term(kind, precision, a, b) for a, b in zip(p, q, strict=True)])


@pytest.mark.parametrize(("family", "means"), CASES)
def test_least_is_the_conjugate_seen_from_theta(family, means):
    divergence = divergence_of(family)
    for theta in means:
        for weight in (0.0, 1e-3, 2.0):
            for slope in (-3.0, -1e-4, 0.0, 1e-4, 0.9, 1.9, 2.0, 5.0):
                expected = slope * theta - family.conjugate(float(theta), weight, slope)
                got = divergence.least(np.array(theta), np.array(weight), np.array(slope))
                if family == Poisson() and theta == 0.0 and weight > 0.0 and slope == weight:
                    assert got == 0.0  # the supremum is approached at the end itself
                else:
                    assert got == pytest.approx(expected, rel=1e-9, abs=1e-13)


def test_excess_and_the_family_that_is_not_convex():
    x = np.array([-1.0, -0.9, -1e-8, 0.0, 1e-8, 3.0])
    assert excess(x) == pytest.approx([np.inf, -0.9 - np.log(0.1), 5e-17, 0, 5e-17, 3 - np.log(4)])
    with pytest.raises(InputError, match="convex"):
        divergence_of(Exponential())


@pytest.mark.parametrize("steepness", [1e3, 1e9, 1e16, 1e18])
def test_steep_slopes_never_overstate_the_least_value(steepness):
    theta = np.array([1e-6, 0.5, 1.0 - 1e-6])
    for slope in (steepness, -steepness):
        least = divergence_of(Bernoulli()).least(theta, np.ones(3), np.full(3, slope))
        expected = [slope * t - Bernoulli().conjugate(float(t), 1.0, slope) for t in theta]
        assert (least <= 0.0).all()
        assert least == pytest.approx(expected, rel=1e-9)
