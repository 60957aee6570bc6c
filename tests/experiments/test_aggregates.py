"""Aggregates over instances against second implementations: scipy's, and every pair by hand."""

import itertools

import numpy as np
import pytest
from scipy import stats

from ossb.errors import InputError
from ossb.experiments.aggregates import (
    bootstrap,
    geometric_mean,
    improvement,
    interquartile_mean,
    profile,
    with_interval,
)

RNG = np.random.default_rng(7)
SCORES = RNG.gamma(2.0, size=(5, 12)) * np.array([[1.0], [3.0], [0.5], [10.0], [1.0]])


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (2, 2), (5, 12), (7, 9)])
def test_the_interquartile_mean_is_that_of_scipy(shape):
    scores = RNG.standard_exponential(shape)
    expected = stats.trim_mean(scores, 0.25, axis=None)
    assert float(interquartile_mean(scores)) == pytest.approx(expected, rel=1e-12)


def test_the_geometric_mean_is_that_of_scipy():
    expected = stats.gmean(SCORES.mean(axis=1))
    assert float(geometric_mean(SCORES)) == pytest.approx(expected, rel=1e-12)
    assert float(geometric_mean(np.array([[0.0, 0.0], [1.0, 2.0]]))) == 0.0


def test_a_profile_counts_all_scores_up_to_each_level():
    levels = np.array([0.0, 0.5, float(SCORES[0, 0]), 2.0, 1e9])
    expected = [np.mean(level >= SCORES) for level in levels]
    assert profile(SCORES, levels).tolist() == pytest.approx(expected)
    both = profile(np.stack([SCORES, 2.0 * SCORES]), levels)
    assert both[0].tolist() == pytest.approx(expected)
    assert both[1].tolist() == pytest.approx([np.mean(level >= 2.0 * SCORES) for level in levels])


def test_the_chance_of_improvement_is_that_of_mann_and_whitney():
    others = np.round(SCORES + RNG.normal(size=SCORES.shape), 1)
    ours = np.round(SCORES, 1)  # rounded: ties count half
    each = [
        stats.mannwhitneyu(theirs, mine).statistic / mine.size**2
        for mine, theirs in zip(ours, others, strict=True)
    ]
    found = improvement(ours, others)
    assert found.value == pytest.approx(np.mean(each))
    assert found.low <= found.value <= found.high
    assert found.value + improvement(others, ours).value == pytest.approx(1.0)
    assert improvement(ours, ours).value == pytest.approx(0.5)
    assert tuple(improvement(ours, ours + 100.0)) == (1.0, 1.0, 1.0)


def test_the_bootstrap_draws_trials_and_never_instances():
    """With two trials an instance there are few draws: their exact distribution is known."""
    scores = np.array([[0.0, 1.0], [10.0, 20.0]])
    drawn = bootstrap(lambda many: many.mean(axis=(-1, -2)), scores, draws=40_000)
    expected: dict[float, float] = {}
    for first in itertools.product(scores[0], repeat=2):
        for second in itertools.product(scores[1], repeat=2):
            value = (sum(first) + sum(second)) / 4
            expected[value] = expected.get(value, 0.0) + 1 / 16
    assert set(drawn.tolist()) == set(expected)
    for value, chance in expected.items():
        error = np.sqrt(chance * (1 - chance) / drawn.size)
        assert abs(np.mean(drawn == value) - chance) < 4.5 * error


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """Means of exponential scores of two instances, 200 times."""
    rng, covered, times = np.random.default_rng(3), 0, 200
    for _ in range(times):
        scores = rng.standard_exponential((2, 40)) * np.array([[1.0], [2.0]])
        found = with_interval(lambda many: many.mean(axis=(-1, -2)), scores, draws=300)
        covered += found.low <= 1.5 <= found.high
    assert 0.87 * times < covered <= times


def test_the_same_scores_have_the_same_intervals():
    assert with_interval(interquartile_mean, SCORES) == with_interval(interquartile_mean, SCORES)


def test_scores_that_are_no_table_are_refused():
    with pytest.raises(InputError, match="`scores` must be a table of instances by trials"):
        interquartile_mean(np.ones(3))
    with pytest.raises(InputError, match="`others` must be as many scores as ours"):
        improvement(SCORES, SCORES[:, 1:])
