"""The divergences against hundred-digit arithmetic, for close, far and boundary means."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exact_divergences as exact
from ossb.families import Bernoulli, Bounded, Exponential, Gaussian, Poisson
from ossb.families.excess import excess

UNIT = st.floats(1e-12, 1.0 - 1e-12)
POSITIVE = st.floats(1e-9, 1e9)
ANY = st.floats(-1e6, 1e6)
CASES = [
    (Gaussian(), exact.gaussian, ANY),
    (Bernoulli(), exact.bernoulli, UNIT),
    (Bounded(), exact.bernoulli, UNIT),
    (Poisson(), exact.poisson, POSITIVE),
    (Exponential(), exact.exponential, POSITIVE),
]
NAMES = ["gaussian", "bernoulli", "bounded", "poisson", "exponential"]
each_family = pytest.mark.parametrize(("family", "reference", "means"), CASES, ids=NAMES)


@each_family
@given(data=st.data())
def test_random_means(family, reference, means, data):
    p, q = data.draw(means), data.draw(means)
    assert family.kl(p, q) == pytest.approx(exact.value(reference, p, q), rel=1e-12, abs=1e-80)


@each_family
@pytest.mark.parametrize("step", [1e-3, 1e-6, 1e-9, 1e-12, -1e-4, -1e-9])
@pytest.mark.parametrize("p", [1e-6, 0.03, 0.25, 0.5, 0.75, 0.999])
def test_close_means_are_right_to_ten_digits(family, reference, means, step, p):
    q = p * (1.0 + step)
    expected = exact.value(reference, p, q)
    assert family.kl(p, q) == pytest.approx(expected, rel=1e-10, abs=0.0)
    assert family.kl(q, p) == pytest.approx(exact.value(reference, q, p), rel=1e-10, abs=0.0)


@each_family
@pytest.mark.parametrize(
    ("p", "q"), [(0.5, 1e-20), (1e-20, 0.5), (0.3, 1e-11), (0.9, 1e-300), (1e-300, 0.9)]
)
def test_means_far_apart(family, reference, means, p, q):
    assert family.kl(p, q) == pytest.approx(exact.value(reference, p, q), rel=1e-12, abs=0.0)


@pytest.mark.parametrize("family", [Bernoulli(), Bounded()])
def test_near_one(family):
    for p, q in [(0.5, 1 - 2**-53), (0.1, 1 - 1e-10), (1 - 2**-53, 0.5), (1 - 1e-10, 1 - 2**-53)]:
        assert family.kl(p, q) == pytest.approx(exact.value(exact.bernoulli, p, q), rel=1e-12)


def test_any_standard_deviation():
    for sigma in (1e-6, 0.3, 17.0):
        expected = exact.value(exact.gaussian, 0.25, 0.7, sigma)
        assert Gaussian(sigma).kl(0.25, 0.7) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("family", [Bernoulli(), Bounded()])
def test_ends_of_the_unit_interval(family):
    assert family.kl(0.0, 0.0) == family.kl(1.0, 1.0) == family.kl(0.4, 0.4) == 0.0
    assert family.kl(0.5, 0.0) == family.kl(0.5, 1.0) == math.inf
    assert family.kl(0.0, 1.0) == family.kl(1.0, 0.0) == math.inf
    assert family.kl(0.0, 0.6) == pytest.approx(-math.log(0.4), rel=1e-15)
    assert family.kl(1.0, 0.6) == pytest.approx(-math.log(0.6), rel=1e-15)
    assert family.kl(0.0, 1e-18) == 1e-18
    assert family.kl(1.0, 1.0 - 2**-53) == 2**-53
    assert family.kl(0.0, 1.0 - 2**-53) == pytest.approx(53 * math.log(2), rel=1e-15)


def test_zero_counts():
    poisson = Poisson()
    assert poisson.kl(0.0, 0.0) == 0.0
    assert poisson.kl(0.0, 2.5) == 2.5
    assert poisson.kl(2.5, 0.0) == math.inf
    assert poisson.kl(5e-324, 1.0) == pytest.approx(1.0)
    assert poisson.kl(1.0, 5e-324) == pytest.approx(-1.0 + 1074 * math.log(2))


def test_waiting_times_of_no_length():
    exponential = Exponential()
    assert exponential.kl(0.0, 0.0) == 0.0
    assert exponential.kl(0.0, 1.0) == exponential.kl(1.0, 0.0) == math.inf
    assert exponential.kl(1.0, 5e-324) == math.inf  # 1/q overflows
    assert exponential.kl(5e-324, 1.0) == pytest.approx(-1.0 + 1074 * math.log(2))


@given(st.floats(-0.999, 1e6).filter(lambda x: abs(x) > 1e-35))
def test_excess(x):
    with exact.localcontext() as context:
        context.prec = exact.DIGITS
        exactly = float(exact.Decimal(x) - (1 + exact.Decimal(x)).ln())
    assert excess(x) == pytest.approx(exactly, rel=2e-14, abs=0.0)


def test_excess_at_its_pole():
    assert excess(-1.0) == math.inf
    assert excess(0.0) == 0.0


@pytest.mark.parametrize("name", ["kl", "slope"])
def test_no_warning_and_no_error_anywhere(name):
    extreme = [0.0, 5e-324, 1e-200, 1e-20, 0.5, 1.0 - 2**-53, 1.0]
    for family in (Bernoulli(), Bounded(), Poisson(), Exponential(), Gaussian()):
        for p in np.array(extreme):
            for q in np.array(extreme):
                assert not math.isnan(getattr(family, name)(p, q)), (family, p, q)
