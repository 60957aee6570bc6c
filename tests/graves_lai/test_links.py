"""Divergences in the natural parameter, against two hundred digits and in numpy."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from ossb.graves_lai.glm import certificate
from ossb.graves_lai.information import links
from ossb.graves_lai.information.links import IDENTITY, LOG, LOGISTIC

INDICES = (-250.0, -30.0, -3.0, -1e-3, 0.0, 0.7, 5.0, 29.5, 200.0)
SHIFTS = (-300.0, -60.0, -5.0, -0.4, -1e-3, -1e-8, 1e-9, 1e-3, 0.3, 2.0, 40.0, 90.0)


def exact(link, index, shift):
    """g(u + h) − g(u) and d(u, h)."""
    u, h = Decimal(index), Decimal(shift)
    if link == LOGISTIC:
        partition, mean = (lambda x: (1 + x.exp()).ln()), (lambda x: 1 / (1 + (-x).exp()))
    elif link == LOG:
        partition, mean = Decimal.exp, Decimal.exp
    else:
        partition, mean = (lambda x: x * x / 2), (lambda x: x)
    return mean(u + h) - mean(u), partition(u + h) - partition(u) - mean(u) * h


def exact_conjugate(link, index, slope):
    u, r = Decimal(index), Decimal(slope)
    if link == IDENTITY:
        return r * r / 2
    high = 1 / (1 + (-u).exp()) if link == LOGISTIC else u.exp()
    total = (high + r) * ((high + r) / high).ln()
    if link == LOG:
        return total - r
    low = 1 - high
    return total + (low - r) * ((low - r) / low).ln()


def conjugate(link, index, slope):
    return links.conjugate(link, links.mean(link, index), links.rest(link, index), slope)


def admissible(link, index, slope):
    return links.admissible(link, links.mean(link, index), links.rest(link, index), slope)


@pytest.mark.parametrize("link", [LOGISTIC, LOG, IDENTITY])
@pytest.mark.parametrize("index", INDICES)
def test_against_many_digits(link, index):
    with localcontext() as context:
        context.prec = 400
        for shift in SHIFTS:
            change, divergence = exact(link, index, shift)
            assert links.change(link, index, shift) == pytest.approx(float(change), rel=1e-12)
            found = links.divergence(link, index, shift)
            assert found == pytest.approx(float(divergence), rel=1e-12)
            slope = 0.5 * links.change(link, index, shift)
            wanted = float(exact_conjugate(link, index, slope))
            assert conjugate(link, index, slope) == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize("link", [LOGISTIC, LOG, IDENTITY])
def test_numpy_says_the_same(link):
    index, shift = (grid.ravel() for grid in np.meshgrid(INDICES, SHIFTS))
    each = range(index.size)
    for function, whole in (
        (links.change, certificate.changes),
        (links.divergence, certificate.divergences),
    ):
        one = [function(link, index[i], shift[i]) for i in each]
        assert whole(link, index, shift) == pytest.approx(one, rel=1e-12)
    slope = 0.9 * certificate.changes(link, index, shift)
    one = [conjugate(link, index[i], slope[i]) for i in each]
    assert certificate.conjugates(link, index, slope) == pytest.approx(one, rel=1e-11)
    one = [links.mean(link, u) for u in index]
    assert certificate.means(link, index)[0] == pytest.approx(one, rel=1e-13)
    one = [links.curvature(link, u, 0.0) for u in index]
    assert certificate.variances(link, index) == pytest.approx(one, rel=1e-13)


@pytest.mark.parametrize("link", [LOGISTIC, LOG, IDENTITY])
def test_the_conjugate_touches_the_divergence(link):
    """slope · h − d(u, h) is greatest where g(u + h) − g(u) is the slope."""
    for index, shift in ((0.3, 1.7), (-2.0, -0.6), (1.1, -4.0)):
        slope = links.change(link, index, shift)
        touched = slope * shift - links.divergence(link, index, shift)
        assert conjugate(link, index, slope) == pytest.approx(touched, rel=1e-12)
        assert links.curvature(link, index, shift) == pytest.approx(
            (links.change(link, index, shift + 1e-5) - links.change(link, index, shift - 1e-5))
            / 2e-5,
            rel=1e-6,
        )


def test_no_law_has_such_a_mean():
    assert conjugate(LOGISTIC, 0.0, 0.6) == math.inf
    assert conjugate(LOGISTIC, 0.0, -0.6) == math.inf
    assert conjugate(LOG, 0.0, -1.1) == math.inf
    assert certificate.conjugates(LOG, np.zeros(1), np.array([-1.1]))[0] == np.inf
    assert conjugate(LOG, 0.0, -1.0) == pytest.approx(1.0)
    assert conjugate(LOG, 0.0, 0.0) == 0.0
    assert links.entropy(-1.5) == math.inf


def test_admissible_slopes():
    assert admissible(LOGISTIC, 0.0, 0.4) == 1.0
    assert admissible(LOGISTIC, 0.0, 1.0) == pytest.approx(0.5)
    assert admissible(LOGISTIC, 0.0, -2.0) == pytest.approx(0.25)
    assert admissible(LOG, 0.0, 100.0) == 1.0
    assert admissible(LOG, 0.0, -2.0) == pytest.approx(0.5)
    assert admissible(IDENTITY, 0.0, -2.0) == 1.0


def test_beyond_the_range_of_doubles():
    assert links.divergence(LOG, 200.0, 600.0) == math.inf
    assert math.isfinite(links.change(LOG, 200.0, 1e9))
    assert math.isfinite(links.curvature(LOG, 200.0, 1e9))
    assert links.divergence(LOGISTIC, -250.0, 1e6) == pytest.approx(1e6, rel=1e-3)
