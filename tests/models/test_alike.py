"""The prior of arms that are alike, against exact likelihoods and by what it does."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from ossb.models.alike import CERTAINTY, COMPARISONS, ODDS, belief, favour, likeness
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


def test_it_is_never_believed_beyond_its_certainty():
    rng = np.random.default_rng(1)
    for dimension in (2, 5, 20):
        arms = np.column_stack([np.ones(40), rng.normal(size=(40, dimension - 1))])
        model = linear_model(arms, 1.0)
        memory, tally = model.start(), empty_tally(40, 40)
        for turn in range(30_000):
            observe(tally, turn % 40, 0.5)  # no arm is ever seen to be another
        model.weigh(tally, memory)
        share = belief(model.favour, 1.0, memory.squares, memory.likewise)
        assert share <= CERTAINTY / (1 + CERTAINTY)
        assert favour(40, likeness(arms)) <= math.log(CERTAINTY)


def test_arms_that_are_not_alike_refute_it():
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])
    model = linear_model(arms, 1.0)
    memory, tally = model.start(), empty_tally(3, 3)
    for _ in range(20):
        observe(tally, 0, 2.0)
        observe(tally, 1, 0.0)
    model.weigh(tally, memory)
    assert belief(model.favour, 1.0, memory.squares, memory.likewise) == 0.0
