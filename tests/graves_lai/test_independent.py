"""Closed forms of independent arms, at the truth and at estimates."""

import math

import numpy as np
import pytest

from ossb.errors import CertificationError
from ossb.families import Bernoulli, Exponential, Gaussian, Poisson
from ossb.graves_lai.independent import TIED, divergences, independent_rate, proved

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


@pytest.mark.parametrize("means", [(0.2, 0.7), (0.5, 0.5), (0.7 - 1e-16, 0.7), (0.0, 1.0), (0, 0)])
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_a_rate_at_estimates_is_finite_and_agrees_compiled(family, means):
    mean, top = map(float, means)
    rate = independent_rate(family, mean, top)
    assert rate == independent_rate.compiled(family, mean, top)
    assert rate == (0.0 if top >= family.highest() else 1.0 / max(family.kl(mean, top), TIED))


def test_divergences_too_large_for_a_rate_are_an_error_not_zero():
    with pytest.raises(CertificationError, match="differ too much"):
        proved(Gaussian(), np.array([1e200, -1e200]), 0, [1], 1.0)
