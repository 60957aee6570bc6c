"""The check of an upper bound refuses what proves nothing."""

import numpy as np
import pytest

from ossb.graves_lai.glm.certificate import across, information
from ossb.graves_lai.glm.solution import solve
from ossb.graves_lai.information.links import IDENTITY, LOG, LOGISTIC

ARMS = np.array([[1.0, 0.2], [0.1, 1.0], [-0.6, 0.4], [0.5, 0.1]])
PHI = np.array([1.0, 0.2])
INDEX = ARMS @ PHI


def costs(link):
    mean = {LOGISTIC: lambda u: 1 / (1 + np.exp(-u)), LOG: np.exp, IDENTITY: np.array}[link]
    return mean(INDEX)[0] - mean(INDEX)


@pytest.fixture(params=[LOGISTIC, LOG], name="proof")
def solved(request):
    answer = solve(ARMS, INDEX, 0, costs(request.param), request.param)
    directions = dict(zip(answer.open_arms.tolist(), answer.most_confusing, strict=True))
    return request.param, answer.rates, directions


def test_a_proof_holds(proof):
    link, rates, directions = proof
    assert information(link, ARMS, INDEX, 0, rates, directions) == pytest.approx(1.0, abs=1e-9)


def test_rates_count_in_proportion(proof):
    link, rates, directions = proof
    assert information(link, ARMS, INDEX, 0, 2 * rates, directions) == pytest.approx(2.0, abs=1e-8)


def test_any_direction_gives_a_lower_bound(proof):
    link, rates, directions = proof
    for factor in (0.3, 0.9, 1.2):
        scaled = {arm: factor * direction for arm, direction in directions.items()}
        found = information(link, ARMS, INDEX, 0, rates, scaled)
        assert found < 1.0


def test_useless_directions(proof):
    link, rates, directions = proof
    backwards = {arm: -direction for arm, direction in directions.items()}
    assert information(link, ARMS, INDEX, 0, rates, backwards) == 0.0
    absurd = {arm: 1e6 * direction for arm, direction in directions.items()}
    assert information(link, ARMS, INDEX, 0, rates, absurd) == 0.0
    missing = {arm: directions[arm] for arm in list(directions)[1:]}
    assert information(link, ARMS, INDEX, 0, rates, missing) == 0.0


def test_rates_that_tell_nothing(proof):
    link, rates, directions = proof
    assert information(link, ARMS, INDEX, 0, 0 * rates, directions) == 0.0


def test_rates_that_do_not_span():
    arms = np.eye(3)
    index = np.array([1.0, 0.0, 0.0])
    directions = {1: np.array([0.0, 1.0, 0.0]), 2: np.array([0.0, 0.0, 1.0])}
    for link in (LOGISTIC, LOG, IDENTITY):
        assert information(link, arms, index, 0, np.array([0.0, 5.0, 0.0]), directions) == 0.0


def test_quadratic_closed_form():
    arms, index = np.eye(2), np.array([1.0, 0.5])
    found = information(IDENTITY, arms, index, 0, np.array([0.0, 8.0]), {})
    assert found == pytest.approx(8 * 0.5 * 0.25)


def test_nothing_is_left_of_the_best_arm():
    rest = across(np.array([[2.0, 0.0], [3.0, 0.0], [1.0, 1.0]]), 0)
    assert (rest == [[0, 0], [0, 0], [0, 1]]).all()
    assert (across(np.zeros((2, 2)) + [[0.0, 0.0], [1.0, 2.0]], 0)[1] == [1, 2]).all()
