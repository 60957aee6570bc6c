"""Priors of several scales, against exact likelihoods and by what they do."""

import math

import numpy as np
import pytest
from scipy.linalg import null_space

from ossb.models.geometry import geometry
from ossb.models.linear import linear_model
from ossb.models.scales import LEVEL, NARROW, SAME, WIDE, narrow_odds, precisions, slack, stray
from ossb.tally import empty_tally, observe


def priors(arms):
    """V₀ of every scale in the coordinates of the arms, by its definition."""
    shape = geometry(arms)
    apart = shape.rows - shape.rows.mean(axis=0)
    spread = apart.T @ apart / len(arms)
    centre = np.outer(shape.centre, shape.centre)
    return [spread * one + LEVEL * centre for one in precisions(shape)]


def test_precisions_are_those_of_arms_that_differ_by_a_scale_on_average():
    arms = np.random.default_rng(0).normal(size=(20, 3))
    shape = geometry(arms)
    assert precisions(shape) == pytest.approx(3 / np.square([*WIDE, NARROW]))
    rng, prior = np.random.default_rng(1), priors(arms)[-2]  # τ = 1
    rewards = rng.multivariate_normal(np.zeros(3), np.linalg.inv(prior), 20_000) @ shape.rows.T
    assert rewards.var(axis=1).mean() == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize(("n_arms", "odds"), [(3, 0.0), (4, 0.05), (5, 0.1), (40, 0.1)])
def test_few_arms_are_not_thought_alike(n_arms, odds):
    arms = np.column_stack([np.ones(n_arms), np.random.default_rng(2).normal(size=(n_arms, 2))])
    assert max(narrow_odds(geometry(arms)), 0.0) == pytest.approx(odds)


def test_many_directions_are_not_thought_alike():
    arms = np.random.default_rng(3).normal(size=(40, 8))
    assert narrow_odds(geometry(arms)) == pytest.approx(100 * NARROW**8)


@pytest.mark.parametrize("dimension", [2, 4])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("level", [0.0, 1000.0])
def test_belief_is_that_of_bayes(dimension, spread, level):
    """Of what single observations differ by, whose law under a prior is normal."""
    rng = np.random.default_rng(dimension)
    arms, sigma = np.column_stack([np.ones(9), rng.normal(size=(9, dimension - 1))]), 0.7
    shape, model = geometry(arms), linear_model(arms, sigma)
    memory, tally = model.start(), empty_tally(9, 9)
    means, played, values = spread * rng.normal(size=9), [], []
    for turn in range(14):
        x = int(shape.spanning[turn] if turn < dimension else rng.integers(9))
        values.append(sigma * (level + means[x] + rng.normal()))
        played.append(x)
        observe(tally, x, values[-1])
        if turn < dimension:
            continue
        model.weigh(tally, memory)
        scores = []
        apart = null_space(np.ones((1, len(played)))).T  # of the level, which is free to move
        rows, off = apart @ (shape.rows - shape.centre)[played], apart @ np.array(values)
        for precision in precisions(shape):
            law = np.eye(len(rows)) + rows @ rows.T / precision
            cost = off @ np.linalg.solve(law, off) / sigma**2
            scores.append(-0.5 * np.linalg.slogdet(law)[1] - 0.5 * cost)
        scores[-1] += math.log(narrow_odds(shape))
        exact = np.exp(scores - np.max(scores))
        exact /= exact.sum()
        # as believed, with those that are as good as the widest in its place
        merged = precisions(shape) * slack(model.centre, memory.squares.square[0, 1]) < SAME
        exact[0] += exact[1:][merged[1:]].sum()
        exact[1:][merged[1:]] = 0.0
        assert memory.space.shares[1] == pytest.approx(exact, abs=0.01)


def test_a_prior_of_far_too_small_a_scale_is_given_up():
    model = linear_model(np.eye(3), 1.0)
    memory, tally = model.start(), empty_tally(3, 3)
    for arm, value in enumerate((0.0, 1e9, -1e9)):
        observe(tally, arm, value)
    assert model.weigh(tally, memory) == 1
    assert memory.space.shares[1] == pytest.approx(np.eye(len(WIDE))[0])
    assert memory.rewards == pytest.approx([0.0, 1e9, -1e9], rel=1e-6, abs=1e-3)


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
    assert memory.space.shares[1] == pytest.approx(afresh.space.shares[1], rel=1e-6)
    assert memory.gain == pytest.approx(afresh.gain, rel=1e-6)


def test_arms_that_are_alike_are_found_so_and_others_not():
    arms = np.column_stack([np.ones(30), np.random.default_rng(4).normal(size=(30, 2))])
    shares = {}
    for spread in (0.0, 3.0):
        model = linear_model(arms, 1.0)
        memory, tally, rng = model.start(), empty_tally(30, 30), np.random.default_rng(5)
        for x in range(30):
            observe(tally, x, float(spread * arms[x, 1] + rng.normal()))
        model.weigh(tally, memory)
        shares[spread] = memory.space.shares[1, -1]
    assert shares[0.0] > 0.2
    assert shares[3.0] == 0.0


def test_the_cost_of_a_parameter_does_not_drown_in_a_level():
    shape = geometry(np.column_stack([np.ones(6), np.random.default_rng(6).normal(size=(6, 2))]))
    theta = np.linalg.lstsq(shape.rows, 1e6 + np.arange(6.0), rcond=None)[0]
    apart = shape.rows @ theta - (shape.rows @ theta).mean()
    assert stray(100.0, shape.centre, theta) == pytest.approx(100 * (apart @ apart) / 6 + 1.0)
