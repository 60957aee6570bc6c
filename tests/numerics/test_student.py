"""Student's t against scipy's, far into the tails."""

import pytest
from scipy import stats

from ossb.numerics.student import quantile, two_sided

FREEDOMS = [1, 2, 3, 7, 39, 99, 999, 20_000]


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("t", [1e-3, 0.3, 1.0, 2.0, 4.0, 12.0, 35.0, 1e4])
def test_tails(t, freedom):
    expected = 2.0 * float(stats.t.sf(t, freedom))
    assert two_sided(t, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-290)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("level", [0.6, 0.9, 0.975, 0.9999])
def test_quantiles(level, freedom):
    assert quantile(level, freedom) == pytest.approx(float(stats.t.ppf(level, freedom)), rel=1e-8)


def test_the_ends():
    assert two_sided(0.0, 4) == 1.0
    assert two_sided(float("inf"), 4) == two_sided(1e200, 4) == 0.0
