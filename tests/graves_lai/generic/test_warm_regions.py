"""Regions followed all at once are those that linear programs find."""

from dataclasses import replace

import numpy as np
import pytest

from ossb.graves_lai.generic.cutting import regions_of
from ossb.graves_lai.generic.region import Region, region_of
from ossb.graves_lai.generic.separation import Separation
from ossb.graves_lai.generic.warm_regions import warm_regions
from ossb.structures.polytope import Polytope
from ossb.structures.union import Union

SIMPLEX = {"A": -np.eye(4), "b": np.zeros(4), "A_eq": np.ones((1, 4)), "b_eq": [1.0]}
PIECES = [
    {"A": [[1, -1, 0], [0, 1, -1]], "b": [0, 0]},
    {"A": [[-1, 1, 0]], "b": [0]},
]


def instances(observation):
    return [
        Polytope(**SIMPLEX, theta=[0.1, 0.2, 0.3, 0.4], observation=observation),
        Union(pieces=PIECES, theta=[0.7, 0.4, 0.3], observation=observation),
    ]


@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "poisson"])
def test_followed_regions_are_the_regions_there(observation):
    for instance in instances(observation):
        program = instance.program
        regions, _ = regions_of(program)
        separation = Separation(program, regions)
        insides = [separation.witness(a) for a in range(len(regions))]
        moved = replace(program, theta=program.theta * 1.001, known=program.fixed_leader)
        near = warm_regions(moved, regions, insides)
        assert any(region is not None for region in near)
        for held, region in zip(regions, near, strict=True):
            if region is None:
                continue
            found = region_of(moved, held.piece, held.arm)
            assert isinstance(found, Region)
            ratio = found.scale / region.scale
            assert region.slacks == pytest.approx(found.slacks * ratio, rel=1e-9, abs=1e-12)
            assert region.need == pytest.approx(found.need * ratio, rel=1e-9)
            assert region.hull is found.hull
            assert region.clear > 0
            left = region.hull.basis.T @ (region.middle - found.middle * ratio)
            back = found.middle * ratio + region.hull.basis @ left
            assert region.middle == pytest.approx(back, abs=1e-9)  # the same equalities hold


def test_regions_with_tight_rows_or_left_behind_are_unsure():
    program = instances("gaussian")[1].program
    regions, _ = regions_of(program)
    separation = Separation(program, regions)
    insides = [separation.witness(a) for a in range(len(regions))]
    far = replace(program, theta=program.theta - 10.0, known=program.fixed_leader)
    outside = [program.theta] * len(regions)
    assert warm_regions(far, regions, outside) == [None] * len(regions)
    tight = Polytope(A=[[0, 1, 0], [0, -1, 0]], b=[0.4, -0.4], theta=[0.7, 0.4, 0.3]).program
    regions, _ = regions_of(tight)
    separation = Separation(tight, regions)
    insides = [separation.witness(a) for a in range(len(regions))]
    for region, near in zip(regions, warm_regions(tight, regions, insides), strict=True):
        assert (near is None) == bool(region.tight.any())
    assert warm_regions(tight, [], []) == []
