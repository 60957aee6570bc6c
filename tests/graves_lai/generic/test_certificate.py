import numpy as np
import pytest

from ossb.graves_lai.generic.certificate import stationary
from ossb.graves_lai.generic.duals import Dual, settled
from ossb.structures.base import bound
from ossb.structures.polytope import Polytope

NOTHING = np.zeros(0)


def two_arms(unit):
    """Two arms, means 1 and 0.5, the second parameter in units of its own."""
    return Polytope(A=[], b=[], means=[[1, 0], [0, unit]], theta=[1, 0.5 / unit])


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e-10, 1e-12, 1e10])
def test_a_column_that_does_not_cancel_proves_nothing_however_small(unit):
    claimed = [{"piece": 0, "arm": 1, "tau": 1.0, "bounds": [], "equal": [], "means": [-1.0, 0.0]}]
    assert not two_arms(unit).exact_information([], claimed) > 0


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e-10, 1e-12, 1e-30, 1e10])
def test_the_units_of_a_parameter_do_not_matter(unit):
    answer = bound(two_arms(unit))
    assert answer.value == pytest.approx(4.0, rel=1e-6)
    assert answer.verify().valid


def test_units_of_many_sizes():
    rng = np.random.default_rng(5)
    means, theta = rng.normal(size=(6, 4)), rng.normal(size=4)
    A = rng.normal(size=(3, 4))
    b = A @ theta + 0.3
    units = 10.0 ** np.array([-9.0, 0.0, 7.0, 3.0])
    plain = bound(Polytope(A=A, b=b, means=means, theta=theta))
    other = bound(Polytope(A=A * units, b=b, means=means * units, theta=theta / units))
    assert other.value == pytest.approx(plain.value, rel=2e-6)
    assert other.verify().valid


def test_multipliers_settle_in_proportion_to_themselves():
    program = two_arms(1e-10).program
    # the slopes of both means cancel the advantage, to nine digits
    rough = Dual(0, 1, 1.0, NOTHING, NOTHING, np.array([-1.0 - 1e-9, 1.0 - 1e-9]))
    assert not stationary(program, rough)
    fine = settled(program, rough)
    assert stationary(program, fine)
    assert fine.means == pytest.approx(rough.means, rel=1e-8)


def test_a_multiplier_that_is_rounding_vanishes():
    program = Polytope(A=[[0, 0, 1]], b=[1.0], theta=[1.0, 0.5, 0.2]).program
    noise = np.array([1e-17])
    fine = settled(program, Dual(0, 1, 1.0, noise, NOTHING, np.array([-1.0, 1.0, 1e-17])))
    assert stationary(program, fine)
    assert (fine.bounds[0], fine.means[2]) == (0.0, 0.0)
