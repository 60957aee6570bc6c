"""Least squares that follow a tally, against numpy; spanning sets."""

import math

import numpy as np
import pytest

from ossb.models.least_squares import (
    ASKED,
    GRAM,
    INVERSE,
    LEVERAGE,
    OFTEN,
    THETA,
    TOLD,
    follow,
    follow_tally,
    new_least_squares,
    predict,
    quadratic_form,
)
from ossb.models.spanning import barycentric_spanner, spanning_arms
from ossb.tally import empty_tally, observe


def assert_right(arms, counts, means, which, state, tolerance=1e-9):
    gram = (arms * counts) @ arms.T
    inverse = np.linalg.inv(np.eye(len(arms)) + gram)
    assert state.square[which, GRAM] == pytest.approx(gram, rel=1e-12, abs=1e-9)
    assert state.square[which, INVERSE] == pytest.approx(inverse, rel=tolerance, abs=1e-12)
    assert state.arm[which, LEVERAGE] == pytest.approx(
        np.einsum("ik,ij,jk->k", arms, inverse, arms), rel=tolerance, abs=1e-12
    )
    theta = inverse @ (arms @ (counts * means))
    assert state.line[which, THETA] == pytest.approx(theta, rel=tolerance, abs=1e-10)


def test_rank_one_corrections_follow_the_tally():
    rng = np.random.default_rng(0)
    arms = np.ascontiguousarray(rng.normal(size=(3, 7)))
    tally, state = empty_tally(7, 7), new_least_squares(3, 7)
    for _ in range(400):
        observe(tally, int(rng.integers(7)), rng.normal())
        follow(arms, tally.counts, tally, TOLD, True, state)
    assert state.age[TOLD, 0] > 300
    assert_right(arms, tally.counts, tally.means, TOLD, state)


@pytest.mark.parametrize("length", [1.0, 1e4, 1e8, 1e12])
def test_long_arms_raise_nothing_and_keep_the_determinant(length):
    rng = np.random.default_rng(4)
    arms = length * np.ascontiguousarray(np.vstack([np.ones(7), rng.normal(size=(2, 7))]))
    tally, state = empty_tally(7, 7), new_least_squares(3, 7)
    for _ in range(300):
        observe(tally, int(rng.integers(7)), rng.normal())
        follow(arms, tally.counts, tally, TOLD, True, state)
    assert np.isfinite(state.square[TOLD, INVERSE]).all()
    gram = (arms * tally.counts) @ arms.T / length**2  # with a ridge that is next to nothing
    exact = np.linalg.slogdet(np.eye(3) / length**2 + gram)[1] + 6 * math.log(length)
    assert state.log_det[TOLD] == pytest.approx(exact, rel=1e-6)
    theta = np.linalg.solve(gram + np.eye(3) / length**2, arms @ (tally.counts * tally.means))
    assert state.line[TOLD, THETA] == pytest.approx(theta / length**2, rel=1e-4)


def test_widths_left_behind_are_caught_up_with():
    rng = np.random.default_rng(3)
    arms = np.ascontiguousarray(rng.normal(size=(3, 7)))
    tally, state = empty_tally(7, 7), new_least_squares(3, 7)
    for turn in range(60):
        observe(tally, int(rng.integers(7)), rng.normal())
        wide = turn % 5 == 0
        follow(arms, tally.counts, tally, TOLD, wide, state)
        if wide:
            assert_right(arms, tally.counts, tally.means, TOLD, state)
    follow(arms, tally.counts, tally, TOLD, True, state)  # nothing new but the widths
    assert_right(arms, tally.counts, tally.means, TOLD, state)


def test_it_is_computed_anew_often_and_where_much_changed_or_was_taken_back():
    rng = np.random.default_rng(1)
    arms = np.ascontiguousarray(rng.normal(size=(2, 6)))
    tally, state = empty_tally(6, 6), new_least_squares(2, 6)
    state.age[TOLD, 0] = OFTEN
    follow(arms, tally.counts, tally, TOLD, True, state)
    assert state.age[TOLD, 0] == 0
    tally.counts[:3] = 4
    tally.means[:3] = rng.normal(size=3)
    follow(arms, tally.counts, tally, TOLD, True, state)
    assert state.age[TOLD, 0] == 0
    assert_right(arms, tally.counts, tally.means, TOLD, state)
    observe(tally, 5, 0.3)
    observe(tally, 0, 0.3)
    follow(arms, tally.counts, tally, TOLD, True, state)
    assert state.age[TOLD, 0] == 2
    assert_right(arms, tally.counts, tally.means, TOLD, state)
    tally.counts[5] = 0
    tally.means[5] = 0.0
    follow(arms, tally.counts, tally, TOLD, True, state)
    assert state.age[TOLD, 0] == 0
    assert_right(arms, tally.counts, tally.means, TOLD, state)
    tally.means[1] = 7.0  # taken back and told anew: the same count, another mean
    follow(arms, tally.counts, tally, TOLD, True, state)
    assert_right(arms, tally.counts, tally.means, TOLD, state)


def test_what_is_on_its_way_narrows_widths_and_moves_no_estimate():
    rng = np.random.default_rng(2)
    arms = np.ascontiguousarray(rng.normal(size=(3, 5)))
    tally, state = empty_tally(5, 5), new_least_squares(3, 5)
    for _ in range(20):
        observe(tally, int(rng.integers(5)), rng.normal())
    assert follow_tally(arms, tally, state) == TOLD
    before = state.line[TOLD, THETA].copy()
    tally.pending[:] = [3, 0, 1, 0, 0]
    assert follow_tally(arms, tally, state) == ASKED
    assert (state.line[TOLD, THETA] == before).all()
    assert_right(arms, tally.counts + tally.pending, tally.means, ASKED, state)


def test_predictions_and_forms():
    rng = np.random.default_rng(3)
    arms = np.ascontiguousarray(rng.normal(size=(4, 9)))
    half = rng.normal(size=(4, 4))
    matrix, out = half + half.T, np.zeros(9)
    quadratic_form(arms, matrix, out)
    assert out == pytest.approx(np.einsum("ik,ij,jk->k", arms, matrix, arms))
    theta = rng.normal(size=4)
    assert predict(arms, theta, out) == int(np.argmax(theta @ arms))
    assert out == pytest.approx(theta @ arms)
    assert predict(arms, np.zeros(4), out) == 0


def test_spanning_sets_span_and_spanners_have_coefficients_up_to_one():
    rng = np.random.default_rng(4)
    for k, d in ((5, 2), (30, 4), (12, 6)):
        arms = rng.normal(size=(k, d))
        chosen = spanning_arms(arms)
        assert len(chosen) == len(set(chosen)) == d
        assert np.linalg.matrix_rank(arms[chosen]) == d
        spanner = barycentric_spanner(arms)
        assert len(set(spanner)) == d
        coefficients = np.linalg.solve(arms[spanner].T, arms.T)
        assert np.abs(coefficients).max() <= 1 + 1e-8


def test_arms_that_do_not_span_are_spanned_by_fewer():
    flat = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
    assert spanning_arms(flat) == [1]
    assert barycentric_spanner(flat) == [1]
    assert spanning_arms(np.zeros((3, 2))) == [0]
