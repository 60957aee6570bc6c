"""The prior of arms that are alike, against exact likelihoods and by what it does."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from ossb.models.alike import CERTAINTY, COMPARISONS, ODDS, belief, likeness
from ossb.models.linear import linear_model
from ossb.tally import empty_tally, observe


def test_it_is_the_ridge_after_comparisons_with_the_average():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6, 3))
    precision = np.eye(3)
    for x in rows:
        apart = x - rows.mean(axis=0)
        precision += COMPARISONS / 6 * np.outer(apart, apart)
    assert likeness(rows) == pytest.approx(precision)


def log_likelihood(arms, values, sigma, precision):
    """Of single observations, whose law under a prior is normal."""
    law = sigma**2 * (np.eye(len(arms)) + arms @ np.linalg.inv(precision) @ arms.T)
    return float(multivariate_normal.logpdf(values, np.zeros(len(arms)), law))


@pytest.mark.parametrize("dimension", [2, 3, 6, 9])
@pytest.mark.parametrize("spread", [0.0, 0.1, 1.0])
def test_belief_is_that_of_bayes(dimension, spread):
    rng = np.random.default_rng(dimension)
    arms, sigma = np.column_stack([np.ones(9), rng.normal(size=(9, dimension - 1))]), 0.7
    model = linear_model(arms, sigma)
    memory, tally = model.start(), empty_tally(9, 9)
    granted = {2: ODDS, 3: ODDS, 6: ODDS / 2, 9: 0.0}[dimension]  # nine arms
    played, values = [], []
    for _ in range(12):
        x = int(rng.integers(9))
        value = sigma * (1.0 + spread * rng.normal() + rng.normal())
        observe(tally, x, value)
        played.append(x)
        values.append(value)
        model.weigh(tally, memory)
        alike = likeness(arms)
        odds = min(granted, CERTAINTY / math.sqrt(np.linalg.det(alike)))
        for sign, prior in ((1, alike), (-1, np.eye(dimension))):
            odds *= math.exp(sign * log_likelihood(arms[played], values, sigma, prior))
        share = belief(model.favour, sigma, memory.squares, memory.likewise)
        assert share == pytest.approx(odds / (1 + odds), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("dimension", [2, 5, 20])
@pytest.mark.parametrize("length", [1.0, 1e4, 1e8])
def test_it_is_never_believed_beyond_its_certainty(dimension, length):
    rng = np.random.default_rng(1)
    arms = length * np.column_stack([np.ones(40), rng.normal(size=(40, dimension - 1))])
    model = linear_model(arms, 1.0)
    memory, tally = model.start(), empty_tally(40, 40)
    for turn in range(2000):
        observe(tally, turn % 40, 0.5 * length)  # no arm is ever seen to be another
        if turn % 50 == 0:
            model.weigh(tally, memory)
            share = belief(model.favour, 1.0, memory.squares, memory.likewise)
            assert share <= CERTAINTY / (1 + CERTAINTY) * (1 + 1e-12)
            assert np.isfinite(memory.gain).all()


def test_many_observations_at_once_count_as_if_one_by_one():
    arms = np.column_stack([np.ones(8), np.linspace(-1, 1, 8)])
    model = linear_model(arms, 1.0)
    tally, memory, afresh = empty_tally(8, 8), model.start(), model.start()
    for x in range(8):
        observe(tally, x, 0.5)
    model.weigh(tally, memory)
    tally.counts[3] += 10**9
    model.weigh(tally, memory)
    model.weigh(tally, afresh)
    shares = [belief(model.favour, 1.0, m.squares, m.likewise) for m in (memory, afresh)]
    assert shares[0] == pytest.approx(shares[1], rel=1e-6)


def test_what_tells_nothing_new_counts_for_nothing():
    rng = np.random.default_rng(2)
    arms = rng.normal(size=(8, 4))
    plain = linear_model(arms, 1.0)
    padded = linear_model(np.hstack([arms, arms]), 1.0)  # of rank 4 all the same
    assert math.isfinite(plain.favour)
    assert math.isfinite(padded.favour)
    none = linear_model(np.vstack([np.eye(4), np.eye(4)]), 1.0)  # four arms, twice each
    assert none.favour == -math.inf


def test_arms_that_are_not_alike_refute_it():
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])
    model = linear_model(arms, 1.0)
    memory, tally = model.start(), empty_tally(3, 3)
    for _ in range(20):
        observe(tally, 0, 2.0)
        observe(tally, 1, 0.0)
    model.weigh(tally, memory)
    assert belief(model.favour, 1.0, memory.squares, memory.likewise) == 0.0
