"""Statistics against hand counts, scipy and simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from ossb.errors import InputError
from ossb.experiments.statistics import band, compare, slope, summary


def test_a_summary_by_hand():
    found = summary(np.array([1.0, 2.0, 3.0, 6.0]))
    assert (found.trials, found.mean, found.median, found.worst) == (4, 3.0, 2.5, 6.0)
    assert found.sem == pytest.approx(stats.sem([1, 2, 3, 6]))
    assert summary(np.array([2.0])).sem == 0.0


def test_confidence_of_the_mean_is_students():
    curves = np.random.default_rng(0).normal(3.0, 2.0, (8, 5))
    low, high = band(curves, "confidence")
    wanted = stats.t.interval(0.95, 7, curves.mean(axis=0), stats.sem(curves))
    np.testing.assert_allclose([low, high], wanted)


def test_percentiles():
    low, high = band(np.arange(101.0)[:, None] * np.ones(2), "percentile")
    assert (low.tolist(), high.tolist()) == ([5.0, 5.0], [95.0, 95.0])


def test_one_trial_has_no_width():
    curves = np.arange(4.0)[None]
    for kind in ("confidence", "simultaneous"):
        low, high = band(curves, kind)
        assert low.tolist() == high.tolist() == curves[0].tolist()
    with pytest.raises(InputError, match="`band` must be one of"):
        band(curves, "wide")


def test_simultaneous_bands_cover_whole_curves():
    rng = np.random.default_rng(1)
    held = {"confidence": 0, "simultaneous": 0}
    for _ in range(60):
        curves = np.cumsum(rng.exponential(1.0, (60, 20)), axis=1)
        for kind in held:
            low, high = band(curves, kind)
            truth = np.arange(1, 21)
            held[kind] += bool(((low <= truth) & (truth <= high)).all())
    assert held["simultaneous"] >= 50  # 57 expected
    assert held["confidence"] < held["simultaneous"]


def test_pairs_are_told_apart_as_students_test_does():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=12)
    regrets = {"b": noise + rng.normal(0.5, 0.3, 12), "a": noise, "c": noise + 3.0}
    found = compare(regrets)
    assert [(c.better, c.worse) for c in found] == [("a", "c"), ("b", "c"), ("a", "b")]
    assert found[0].p_value < 1e-100  # the very same noise
    raw = stats.ttest_rel(regrets["b"], regrets["a"]).pvalue
    assert found[2].p_value == pytest.approx(max(raw, found[1].p_value))
    assert found[1].p_value == pytest.approx(2 * stats.ttest_rel(regrets["b"], regrets["c"]).pvalue)
    assert found[2].difference == pytest.approx(regrets["b"].mean() - regrets["a"].mean())


def test_corrected_comparisons_seldom_find_what_is_not_there():
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(200):
        found += any(c.clear for c in compare({k: rng.normal(size=10) for k in "abcd"}))
    assert found <= 20  # at most 10 expected


def test_what_tells_nothing():
    assert compare({"a": np.array([1.0]), "b": np.array([2.0])})[0].p_value == 1.0
    same = np.arange(3.0)
    assert compare({"a": same, "b": same})[0].p_value == 1.0
    with pytest.raises(InputError, match="as many trials for every policy"):
        compare({"a": np.ones(2), "b": np.ones(3)})


def test_slopes_are_those_of_the_last_decade():
    times = np.unique(np.round(np.geomspace(1, 10_000, 60))).astype(int)
    bent = np.where(times < 1000, 100.0, 7.0 * np.log(times))
    angle, error = slope(times, np.array([bent, bent + 5.0]))
    assert angle == pytest.approx(7.0)
    assert error == pytest.approx(0.0, abs=1e-12)
    assert math.isnan(slope(np.array([1]), np.ones((2, 1)))[0])
