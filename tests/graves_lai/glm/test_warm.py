"""Rates for policies: always feasible, never further from optimal than they say, never NaN."""

import numpy as np
import pytest

from glm_instances import unit_arms
from ossb.graves_lai.glm import certificate
from ossb.graves_lai.glm.solution import solve
from ossb.graves_lai.information.indices import indices
from ossb.graves_lai.information.links import IDENTITY, LOG, LOGISTIC
from ossb.graves_lai.program import held, symmetric, work_arrays
from ossb.graves_lai.program.warm import follow

READINGS = [(LOGISTIC, LOGISTIC), (LOG, LOG), (LOGISTIC, IDENTITY)]


class Followed:
    """Rates along estimates, as models ask for them."""

    def __init__(self, arms, observed_link, compiled=False):
        self.information = indices(observed_link, arms, proofs=True)
        self.held = held(work_arrays(len(arms), len(arms), symmetric(arms.shape[1])))
        self.follow = follow.compiled if compiled else follow

    def rates(self, index, sign, reward_link, kappa):
        leader, out = int(np.argmax(sign * index)), np.full(len(index), np.nan)
        self.information.pose(reward_link, index, sign, leader, self.held.work.plays)
        return self.follow(self.information, leader, kappa, self.held, out), out


def optimum(arms, index, sign, reward_link, observed_link):
    best = int(np.argmax(sign * index))
    top = np.full(len(arms), index[best])
    costs = np.abs(certificate.changes(reward_link, top, index - top))
    return costs, solve(arms, index, best, costs, observed_link)


def information(arms, index, sign, observed_link, rates):
    """F at some rates, by a fresh search for every alternative."""
    best = int(np.argmax(sign * index))
    costs = np.ones(len(arms))
    costs[best] = 0.0
    directions = {}
    for arm in range(len(arms)):
        answer = _most_confusing(arms, index, best, observed_link, rates, arm)
        if answer is not None:
            directions[arm] = answer
    return certificate.information(observed_link, arms, index, best, rates, directions)


def _most_confusing(arms, index, best, link, rates, arm):
    from scipy.optimize import minimize

    if arm == best:
        return None
    conditions = np.array([arms[best], arms[arm]])
    base = np.linalg.lstsq(conditions, np.array([0.0, index[best] - index[arm]]), rcond=None)[0]
    free = np.linalg.svd(conditions)[2][2:]

    def confusion(w):
        shift = arms @ (base + w @ free)
        pull = rates * certificate.changes(link, index, shift)
        return rates @ certificate.divergences(link, index, shift), free @ (arms.T @ pull)

    found = minimize(confusion, np.zeros(len(free)), jac=True, method="BFGS")
    return base + found.x @ free


@pytest.mark.parametrize(("reward_link", "observed_link"), READINGS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("kappa", [0.0, 0.02])
def test_along_a_trajectory(reward_link, observed_link, sign, kappa):
    rng = np.random.default_rng([reward_link, observed_link, 7])
    arms, phi = unit_arms(rng, 12, 3), rng.standard_normal(3)
    followed, kept = Followed(arms, observed_link), 0
    for t in range(8):
        index = arms @ (phi + 0.02 * rng.standard_normal(3) / 4.0**t)
        gap, out = followed.rates(index, sign, reward_link, kappa)
        costs, best = optimum(arms, index, sign, reward_link, observed_link)
        assert 0.0 <= gap <= max(kappa, 1e-6)
        kept += gap > 1e-6
        assert best.lower * (1 - 1e-9) <= out @ costs <= best.upper * (1 + gap + 1e-6)
        assert information(arms, index, sign, observed_link, out) >= 1 - 1e-5
    assert (kept > 0) == (kappa > 0)


@pytest.mark.parametrize(("reward_link", "observed_link"), READINGS)
def test_estimates_without_a_clear_best(reward_link, observed_link):
    rng = np.random.default_rng(3)
    arms, phi = unit_arms(rng, 10, 3), rng.standard_normal(3)
    arms[4] = arms[2]
    followed = Followed(arms, observed_link)
    for scale in (0.0, 1.0, 1e-9, -1.0, 1e6, -1e6, 0.0, 1e-12, 1.0):
        index = arms @ (scale * phi)
        gap, out = followed.rates(index, 1.0, reward_link, 1e-2)
        assert np.isfinite(out).all()
        assert (out >= 0).all()
        assert out[np.argmax(index)] == 0.0
        assert 0.0 <= gap <= 1.0


def test_arms_that_cannot_be_told_apart():
    arms = np.array([[1.0], [0.5]])
    followed = Followed(arms, LOG)
    for _ in range(2):
        gap, out = followed.rates(np.array([1.0, 0.5]), 1.0, LOG, 0.1)
        assert gap == 0.0
        assert (out == 0.0).all()


def test_falling_back_is_feasible():
    rng = np.random.default_rng(4)
    arms, phi = unit_arms(rng, 8, 3), rng.standard_normal(3)
    index = arms @ phi
    followed = Followed(arms, LOGISTIC)
    _, out = followed.rates(index, 1.0, LOGISTIC, 0.0)
    followed.information.fall_back(followed.held.work.plays.is_open, out)
    assert information(arms, index, 1.0, LOGISTIC, out) >= 1 - 1e-6


def test_compiled_is_the_same_to_the_bit():
    rng = np.random.default_rng(6)
    arms, phi = unit_arms(rng, 15, 3), rng.standard_normal(3)
    for reward_link, observed_link in READINGS:
        plain, compiled = (Followed(arms, observed_link, one) for one in (False, True))
        for t in range(4):
            index = arms @ (phi + 0.05 * rng.standard_normal(3) / (1 + t))
            one, two = (each.rates(index, 1.0, reward_link, 1e-2) for each in (plain, compiled))
            assert one[0] == two[0]
            assert (one[1] == two[1]).all()
