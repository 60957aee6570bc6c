"""Interpreted and compiled families agree bit for bit, samples included."""

import math

import numpy as np
import pytest

from ossb.families import FAMILIES, family_named
from ossb.kernels import kernel

MEANS = [0.0, 1e-300, 1e-20, 1e-9, 0.1, 0.5 - 1e-9, 0.5, 0.7, 1.0 - 2**-53, 1.0]


@kernel
def pairwise(family, means, values):
    """Every method that takes two means, or one."""
    place = 0
    for p in means:
        values[place] = family.variance(p)
        values[place + 1] = family.lowest()
        values[place + 2] = family.highest()
        values[place + 3] = family.covers(p)
        place += 4
        for q in means:
            values[place] = family.kl(p, q)
            values[place + 1] = family.slope(p, q)
            place += 2


@kernel
def conjugates(family, means, slopes, values):
    place = 0
    for theta in means:
        for slope in slopes:
            values[place] = family.conjugate(theta, 1.25, slope)
            place += 1


@kernel
def draws(family, means, rng, values):
    for place in range(values.shape[0]):
        values[place] = family.sample(means[place % means.shape[0]], rng)


def both(function, size, *arguments):
    found = []
    for run in (function, function.compiled):
        values = np.full(size, -7.0)
        run(*arguments, values)
        found.append(values.tobytes())
    assert found[0] == found[1]
    return np.frombuffer(found[0])


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_bit_for_bit(name, sign):
    family = family_named(name, 0.7 if name == "gaussian" else 1.0, sign)
    means = sign * np.array(MEANS)
    values = both(pairwise, len(MEANS) * (4 + 2 * len(MEANS)), family, means)
    assert not np.isnan(values).any()
    if name != "exponential":
        slopes = np.array([-1e18, -3.0, -1.25, -1e-9, 0.0, 1e-9, 1.0, 1.25, 3.0, 1e18])
        values = both(conjugates, len(MEANS) * slopes.size, family, means, slopes)
        assert not np.isnan(values).any()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_the_same_stream_of_samples(name, sign):
    family = family_named(name, 1.0, sign)
    means = sign * np.array([0.1, 0.5, 1.0])
    found = []
    for run in (draws, draws.compiled):
        values, rng = np.zeros(300), np.random.default_rng(11)
        run(family, means, rng, values)
        found.append((values.tolist(), rng.random()))
    assert found[0] == found[1]
    assert math.isfinite(sum(found[0][0]))
