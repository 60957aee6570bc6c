"""Coordinates of arms: the same whatever the features' units, copies and combinations."""

import numpy as np
import pytest

from ossb.models.geometry import geometry
from ossb.models.spanning import barycentric_spanner, first_look
from ossb.tally import empty_tally

CASES = {
    "drawn": np.random.default_rng(0).normal(size=(12, 4)),
    "with a constant": np.column_stack([np.ones(9), np.random.default_rng(1).normal(size=(9, 2))]),
    "one-hot": np.eye(5),
    "cube": np.array([[(i >> k) & 1 for k in range(4)] for i in range(1, 16)], float),
}


@pytest.fixture(params=list(CASES))
def arms(request):
    return CASES[request.param]


def test_coordinates_are_orthogonal_and_describe_the_same_means(arms):
    shape = geometry(arms)
    assert shape.rows.T @ shape.rows / len(arms) == pytest.approx(np.eye(arms.shape[1]), abs=1e-12)
    fitted = shape.rows @ np.linalg.lstsq(shape.rows, arms, rcond=None)[0]
    assert fitted == pytest.approx(arms, abs=1e-12)
    assert np.linalg.matrix_rank(arms[shape.spanning]) == arms.shape[1]


@pytest.mark.parametrize("seed", range(3))
def test_features_in_other_units_are_the_same_arms(arms, seed):
    rng = np.random.default_rng(seed)
    d = arms.shape[1]
    shape, other = geometry(arms), geometry(arms @ rng.normal(size=(d, d)))
    assert other.spanning == shape.spanning
    assert other.rows == pytest.approx(shape.rows, abs=1e-10)
    assert other[3:] == shape[3:]


def test_powers_of_two_change_no_bit(arms):
    scaled = arms * 2.0 ** np.arange(-20, 20, 7)[: arms.shape[1]]
    assert (geometry(scaled).rows == geometry(arms).rows).all()


def test_copies_zeros_and_combinations_of_features_are_none(arms):
    more = np.column_stack([arms, 3 * arms[:, 0], np.zeros(len(arms)), arms.sum(axis=1) / 7])
    shape, padded = geometry(arms), geometry(more)
    assert padded.rows == pytest.approx(shape.rows, abs=1e-10)
    assert padded.spanning == shape.spanning


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_one_feature_far_smaller_or_larger_than_others_is_kept(arms, unit):
    scaled = arms.copy()
    scaled[:, 0] *= unit
    assert geometry(scaled).rows == pytest.approx(geometry(arms).rows, abs=1e-10)


def test_a_constant_among_the_combinations_is_a_level():
    drawn = np.random.default_rng(2).normal(size=(8, 3))
    assert not geometry(drawn).has_level
    assert geometry(drawn).n_directions == 3
    with_level = geometry(np.column_stack([drawn, 50 - drawn.sum(axis=1)]))
    assert with_level.has_level
    assert with_level.n_directions == 3
    assert with_level.rows @ with_level.centre == pytest.approx(np.ones(8))


def test_arms_that_are_alike_or_nothing():
    assert geometry(np.zeros((3, 2))).rows.shape == (3, 1)
    same = geometry(np.full((3, 2), 7.0))
    assert (same.n_distinct, same.n_directions, same.spanning) == (1, 1, [0])
    assert geometry(np.vstack([np.eye(4), np.eye(4)])).n_distinct == 4


def test_spanners_do_not_depend_on_units():
    rng = np.random.default_rng(3)
    for arms in CASES.values():
        mixed = arms @ rng.normal(size=(arms.shape[1], arms.shape[1]))
        assert barycentric_spanner(mixed) == barycentric_spanner(arms)


def test_first_looks_go_to_arms_neither_played_nor_told_of():
    tally, spanning = empty_tally(4, 4), np.array([2, 0])
    assert first_look(spanning, tally) == 2
    tally.plays[2] = 1
    assert first_look(spanning, tally) == 0
    tally.counts[0] = 3  # told of without a play
    assert first_look(spanning, tally) == -1
