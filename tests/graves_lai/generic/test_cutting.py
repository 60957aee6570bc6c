import numpy as np

from ossb.graves_lai.generic.cutting import Search, regions_of
from ossb.graves_lai.generic.separation import Separation
from ossb.structures.polytope import Polytope

INSTANCE = Polytope(A=[[0, 1, 1]], b=[2.0], theta=[1.0, 0.5, 0.2])


def searched():
    program = INSTANCE.program
    regions, empty = regions_of(program)
    return Search(program, Separation(program, regions), 1e-6, (), None), empty


def confuses(separation, a, parameter):
    return bool(separation.confuse(np.array([parameter]), np.array([a]))[0])


def test_parameters_outside_their_region_are_no_cuts():
    search, _ = searched()
    separation = search.separation
    for a, region in enumerate(separation.regions):
        inside = separation.witness(a)
        assert confuses(separation, a, inside)
        assert not confuses(separation, a, INSTANCE.theta)  # its arm is not as good
        assert not confuses(separation, a, inside + np.array([1e-6, 0, 0]))  # disagrees
        out = inside.copy()
        out[region.arm] = 10.0
        assert not confuses(separation, a, out)  # breaks the row
    evaluation = separation.evaluate(np.array([0.0, 1.0, 1.0]), 1e-8)
    assert len(search._cuts(evaluation)) == len(separation.regions)
    evaluation.parameters[0] += 1.0
    assert len(search._cuts(evaluation)) == len(separation.regions) - 1
