"""Closed forms of independent arms, at the truth and at estimates."""

import math

import numpy as np
import pytest

from ossb.errors import CertificationError
from ossb.families import Bernoulli, Exponential, Gaussian, Poisson
from ossb.graves_lai.independent import (
    TIED,
    classical_rates,
    divergences,
    independent_rate,
    proved,
    unimodal_rates,
)

FAMILIES = [Gaussian(), Bernoulli(), Poisson(), Exponential()]


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_rates_make_every_constraint_tight(family):
    means = np.array([0.3, 0.8, 0.5])
    support, alternatives, value = proved(family, means, 1, [0, 2], 1.0)
    assert dict(support) == {x: 1.0 / family.kl(means[x], 0.8) for x in (0, 2)}
    assert value == pytest.approx(sum(rate * (0.8 - means[x]) for x, rate in support))
    assert [a.parameter[a.arm] for a in alternatives] == [0.8, 0.8]
    assert all(a.witness[a.arm] > 0.8 for a in alternatives)


def test_a_best_mean_that_cannot_be_exceeded():
    assert proved(Bernoulli(), np.array([1.0, 0.5]), 0, [1], 1.0) == ([], [], 0.0)


def test_divergences_too_small_for_a_rate_are_an_error_not_infinity():
    with pytest.raises(CertificationError, match="arms 0 and 1 differ too little"):
        proved(Gaussian(1e200), np.array([1.0, 0.0]), 0, [1], 1.0)


def test_alternatives_are_written_out_one_at_a_time():
    means = np.array([0.3, 0.8, 0.5])
    _, alternatives, _ = proved(Bernoulli(), means, 1, [0, 2], 1.0)
    assert len(alternatives) == 2
    assert [a.arm for a in alternatives] == [0, 2]
    assert [a.arm for a in alternatives[1:]] == [2]
    assert alternatives[-1].parameter.tolist() == [0.3, 0.8, 0.8]
    assert alternatives[0].witness[0] == 1.0  # as far as means go
    with pytest.raises(IndexError):
        alternatives[2]


def test_many_arms_take_little_room():
    means = np.linspace(0.0, 1.0, 20_000)
    support, alternatives, value = proved(Gaussian(), means, 19_999, range(19_999), 1.0)
    assert len(support) == len(alternatives) == 19_999
    assert value == pytest.approx(math.fsum(2.0 / (1.0 - means[:-1])))


def test_divergences_entry_by_entry():
    p, q = np.array([0.1, 0.5]), np.array([0.2, 0.5])
    assert divergences(Bernoulli(), p, q).tolist() == [Bernoulli().kl(0.1, 0.2), 0.0]


ESTIMATES = {
    "apart": [0.2, 0.7, 0.4],
    "all equal": [0.5, 0.5, 0.5],
    "all zero": [0.0, 0.0, 0.0],
    "all one": [1.0, 1.0, 1.0],
    "tied leaders": [0.7, 0.1, 0.7],
    "nearly tied": [0.7, 0.7 - 1e-16, 0.1],
    "at the ends": [0.0, 1.0, 0.5],
    "one arm": [0.4],
}
LINE = (np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]))


@pytest.mark.parametrize("means", ESTIMATES.values(), ids=list(ESTIMATES))
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_rates_at_estimates_are_finite_and_agree_compiled(family, means):
    estimate = np.array(means)
    found = []
    for run in (classical_rates, classical_rates.compiled):
        out = np.full(estimate.size, -1.0)
        found.append((run(family, estimate, out), out.tolist()))
    assert found[0] == found[1]
    leader, rates = found[0]
    assert leader == int(np.argmax(estimate))
    assert rates[leader] == 0.0
    assert all(math.isfinite(rate) and rate >= 0.0 for rate in rates)
    for x, rate in enumerate(rates):
        if x != leader and estimate[leader] < family.highest():
            assert rate == 1.0 / max(family.kl(estimate[x], estimate[leader]), TIED)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_on_a_graph_only_neighbours_of_the_leader_count(family):
    starts, neighbours = LINE
    for means in ([0.7, 0.5, 0.1], [0.1, 0.7, 0.5], [0.5, 0.5, 0.5]):
        estimate = np.array(means)
        found = []
        for run in (unimodal_rates, unimodal_rates.compiled):
            out = np.full(3, -1.0)
            found.append((run(family, starts, neighbours, estimate, out), out.tolist()))
        assert found[0] == found[1]
        leader, rates = found[0]
        near = set(neighbours[starts[leader] : starts[leader + 1]].tolist())
        for x in range(3):
            expected = independent_rate(family, estimate[x], estimate[leader])
            assert rates[x] == (expected if x in near else 0.0)


def test_divergences_too_large_for_a_rate_are_an_error_not_zero():
    with pytest.raises(CertificationError, match="differ too much"):
        proved(Gaussian(), np.array([1e200, -1e200]), 0, [1], 1.0)
