import numpy as np
import pytest

from ossb.graves_lai.semi_bandit.bernoulli_items import BernoulliItems
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.poisson_items import PoissonItems
from ossb.graves_lai.semi_bandit.units import power_below, units_of


@pytest.mark.parametrize("size", [1e-300, 0.3, 1.0, 7.0, 1e300])
def test_units_are_powers_of_two(size):
    unit = power_below(size)
    assert 1 <= size / unit < 2
    assert np.frexp(unit)[0] == 0.5


@pytest.mark.parametrize("size", [0.0, np.inf])
def test_what_has_no_size_has_unit_one(size):
    assert power_below(size) == 1.0


def test_units_of_each_family():
    phi, gaps = np.array([4.0, 1.0]), np.array([0.0, 3.0])
    assert units_of(GaussianItems(6.0), phi, gaps) == (2.0, 9.0, GaussianItems(1.0))
    assert units_of(PoissonItems(-1.0), -phi, gaps) == (4.0, 0.25, PoissonItems(-1.0))
    assert units_of(BernoulliItems(1.0), phi, gaps) == (1.0, 1.0, BernoulliItems(1.0))
