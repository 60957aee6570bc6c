"""Slopes, conjugates, ranges, sampling and mirror images of the observation families."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ossb.errors import InputError
from ossb.families import (
    FAMILIES,
    Bernoulli,
    Bounded,
    Exponential,
    Gaussian,
    Poisson,
    check_means,
    family_named,
)

ALL = [family_named(name) for name in FAMILIES]
UNIT = [Bernoulli(), Bounded()]
CONVEX = [Gaussian(), Gaussian(0.3), Bernoulli(), Bounded(), Poisson()]
INSIDE = st.floats(0.01, 0.99)


@pytest.mark.parametrize("family", ALL, ids=FAMILIES)
@given(p=INSIDE, q=INSIDE)
def test_slope_is_the_derivative(family, p, q):
    step = 1e-5 * q * (1.0 - q)
    numeric = (family.kl(p, q + step) - family.kl(p, q - step)) / (2.0 * step)
    scale = max(1.0, abs(family.slope(p, q)))
    assert family.slope(p, q) == pytest.approx(numeric, abs=2e-5 * scale / (q * (1.0 - q)))


def test_slope_at_the_ends():
    for family in UNIT:
        assert family.slope(0.3, 0.3) == family.slope(0.0, 0.0) == 0.0
        assert family.slope(0.3, 0.0) == -math.inf
        assert family.slope(0.3, 1.0) == math.inf
        assert family.slope(0.0, 0.75) == 4.0
    for family in (Poisson(), Exponential()):
        assert family.slope(2.0, 2.0) == 0.0
        assert family.slope(2.0, 0.0) == -math.inf
    assert Exponential().slope(1.0, 1e-200) == -math.inf  # q² underflows


@pytest.mark.parametrize("family", CONVEX, ids=repr)
@given(
    theta=st.floats(0.0, 1.0),
    weight=st.floats(0.0, 50.0),
    ratio=st.floats(-3.0, 0.9),
    data=st.data(),
)
def test_conjugate_is_the_supremum(family, theta, weight, ratio, data):
    slope = ratio * weight if weight > 0.0 else ratio
    value = family.conjugate(theta, weight, slope)
    ends = (0.0, 1.0) if family in UNIT else (0.0, 50.0)
    m = data.draw(st.floats(*ends))
    penalty = weight * family.kl(theta, m) if weight > 0.0 else 0.0
    assert slope * m - penalty <= value + 1e-9 * (1.0 + abs(slope))


@pytest.mark.parametrize("family", CONVEX, ids=repr)
@pytest.mark.parametrize("theta", [0.0, 1e-9, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(("weight", "slope"), [(1.0, 0.5), (2.0, -3.0), (0.7, 0.69), (1.0, -1.0)])
def test_conjugate_is_attained(family, theta, weight, slope):
    def objective(m):
        return slope * m - weight * family.kl(theta, m)

    low, high = max(family.lowest(), -100.0), min(family.highest(), 100.0)
    grid = np.concatenate([np.linspace(low, high, 2001), np.geomspace(1e-12, high, 2001)])
    for _ in range(3):
        grid = np.unique(grid)
        at = int(np.argmax([objective(m) for m in grid.tolist()]))
        brute = objective(float(grid[at]))
        grid = np.linspace(grid[max(at - 1, 0)], grid[min(at + 1, grid.size - 1)], 401)
    value = family.conjugate(theta, weight, slope)
    assert value >= brute - 1e-12
    assert value == pytest.approx(brute, abs=1e-9)


def test_conjugate_at_its_ends():
    for family in UNIT:
        assert family.conjugate(0.5, 0.0, 2.0) == 2.0
        assert family.conjugate(0.5, 0.0, -2.0) == 0.0
        assert family.conjugate(0.0, 1.0, 1.0) == 0.0
        assert family.conjugate(1.0, 1.0, -1.0) == -1.0
        assert family.conjugate(5e-324, 1e-20, -1.0) >= 0.0
    assert Poisson().conjugate(1.0, 1.0, 1.0) == math.inf
    assert Poisson().conjugate(0.0, 1.0, 1.0) == 0.0
    assert Poisson().conjugate(0.0, 1.0, 1.5) == math.inf
    assert Poisson().conjugate(1.0, 0.0, -1.0) == 0.0
    assert Gaussian().conjugate(1.0, 0.0, 1.0) == math.inf
    assert all(family.conjugate(0.5, 1.0, 0.0) == 0.0 for family in CONVEX)


@pytest.mark.parametrize("steepness", [1e3, 1e8, 1e16, 1e18, 1e100])
def test_steep_slopes_never_understate_the_supremum(steepness):
    """An understated conjugate would overstate the information, and prove a false bound."""
    for theta in (1e-6, 0.5, 1.0 - 1e-6):
        up = Bernoulli().conjugate(theta, 1.0, steepness)
        down = Bernoulli().conjugate(theta, 1.0, -steepness)
        assert steepness * theta <= up <= steepness
        assert -steepness * theta <= down <= 0.0
        assert up == pytest.approx(steepness, rel=1e-1)
        assert Bernoulli().conjugate(1.0 - theta, 1.0, -steepness) + steepness == pytest.approx(up)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_mirrored_family_is_the_family_of_the_negatives(name, sign):
    plain, mirrored = family_named(name, 1.0), family_named(name, 1.0, sign)
    for p in (0.0, 0.2, 0.7, 1.0):
        for q in (0.1, 0.2, 0.9):
            assert mirrored.kl(sign * p, sign * q) == plain.kl(p, q)
            assert mirrored.slope(sign * p, sign * q) == sign * plain.slope(p, q)
        assert mirrored.variance(sign * p) == plain.variance(p)
        draws = [
            family.sample(m, np.random.default_rng(5))
            for family, m in ((plain, p), (mirrored, sign * p))
        ]
        if name != "gaussian":  # whose mirror image is itself
            assert draws[1] == sign * draws[0]
        if name != "exponential":
            conjugates = [
                plain.conjugate(p, 2.0, 0.7),
                mirrored.conjugate(sign * p, 2.0, sign * 0.7),
            ]
            assert conjugates[0] == pytest.approx(conjugates[1], rel=1e-15)
    ends = sorted([sign * plain.lowest(), sign * plain.highest()])
    assert [mirrored.lowest(), mirrored.highest()] == ends


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("mean", [0.15, 0.5, 0.9])
def test_samples_have_the_mean_and_the_variance(name, mean, sign):
    family = family_named(name, 1.0, sign)
    rng = np.random.default_rng(20170)
    n = 4000
    draws = [family.sample(sign * mean, rng) for _ in range(n)]
    assert all(family.covers(x) for x in draws)
    variance = family.variance(sign * mean)
    # five standard errors; a bounded law has at most the Bernoulli variance of its mean
    assert abs(statistics.fmean(draws) - sign * mean) <= 5.0 * math.sqrt(variance / n)
    sampled = statistics.variance(draws)
    if name == "bounded":
        half = min(mean, 1.0 - mean)
        assert sampled == pytest.approx(half * half / 3.0, rel=0.1)
        assert sampled <= variance
    else:
        fourth = {"gaussian": 3.0, "exponential": 9.0, "poisson": 3.0 + 1.0 / mean}
        kurtosis = fourth.get(name, 1.0 / variance - 3.0)
        assert abs(sampled / variance - 1.0) <= 5.0 * math.sqrt(kurtosis / n)


def test_samples_at_the_ends_never_vary():
    rng = np.random.default_rng(1)
    for family in (*UNIT, Poisson()):
        assert {family.sample(0.0, rng) for _ in range(50)} == {0.0}
    for family in UNIT:
        assert {family.sample(1.0, rng) for _ in range(50)} == {1.0}


@pytest.mark.parametrize(
    ("family", "yes", "no"),
    [
        (Gaussian(), [-3.5, 0.0, 1e300], [math.inf, math.nan]),
        (Bernoulli(), [0.0, 1.0], [0.5, -1.0, 2.0, math.nan]),
        (Bernoulli(-1.0), [0.0, -1.0], [1.0]),
        (Bounded(), [0.0, 0.5, 1.0], [-0.1, 1.1, math.nan]),
        (Bounded(-1.0), [-0.5, -1.0], [0.5]),
        (Poisson(), [0.0, 3.0], [0.5, -1.0, math.inf, math.nan]),
        (Poisson(-1.0), [0.0, -3.0], [3.0, -0.5]),
        (Exponential(), [5e-324, 0.3], [0.0, -0.1, math.inf, math.nan]),
        (Exponential(-1.0), [-0.3], [0.3, 0.0]),
    ],
)
def test_covers(family, yes, no):
    assert all(family.covers(x) for x in yes)
    assert not any(family.covers(x) for x in no)


@pytest.mark.parametrize(
    ("name", "sign", "bad", "message"),
    [
        ("bernoulli", 1.0, 1.5, r"`theta\[1\]` must lie in \[0, 1\], got 1.5"),
        ("bounded", 1.0, -0.5, r"`theta\[1\]` must lie in \[0, 1\], got -0.5"),
        ("poisson", 1.0, -1.0, r"`theta\[1\]` must be at least 0, got -1.0"),
        ("poisson", -1.0, 1.0, r"`theta\[1\]` must be at most 0, got 1.0"),
        ("exponential", 1.0, 0.0, r"`theta\[1\]` must be positive, got 0.0"),
        ("exponential", 1.0, -2.0, r"`theta\[1\]` must be positive, got -2.0"),
        ("exponential", -1.0, 2.0, r"`theta\[1\]` must be negative, got 2.0"),
    ],
)
def test_means_outside_are_refused_by_place(name, sign, bad, message):
    with pytest.raises(InputError, match=message):
        check_means(family_named(name, 1.0, sign), np.array([sign * 0.5, bad]), "theta")


def test_every_gaussian_mean_is_fine():
    check_means(Gaussian(), np.array([-1e300, 0.0, 1e300]), "theta")


def test_names_and_standard_deviations():
    assert family_named("gaussian", 2.0) == Gaussian(2.0)
    with pytest.raises(InputError, match="`observation` must be one of gaussian"):
        family_named("cauchy")
    for sigma in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="`sigma` must be a positive number"):
            Gaussian(sigma)
