"""Duels in closed form, against the linear program and at estimates."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from ossb.families.bernoulli import bernoulli_kl
from ossb.graves_lai.duels import (
    cheapest_opponent,
    duel_regret,
    dueling_rates,
    pair_position,
)
from ossb.structures import bound
from ossb.structures.dueling import Dueling


def random_preferences(rng, n_items):
    upper = np.triu(rng.uniform(0.05, 0.95, (n_items, n_items)), 1)
    p = upper + np.tril(1.0 - upper.T, -1) + 0.5 * np.eye(n_items)
    winner = int(rng.integers(n_items))
    p[winner] = rng.uniform(0.51, 0.95, n_items)
    p[:, winner] = 1.0 - p[winner]
    np.fill_diagonal(p, 0.5)
    return p, winner


def test_pairs_are_numbered_in_order():
    pairs = [(i, j) for i in range(5) for j in range(i, 5)]
    assert [pair_position(i, j, 5) for i, j in pairs] == list(range(15))
    assert pair_position(3, 1, 5) == pair_position(1, 3, 5)
    assert pair_position.compiled(3, 1, 5) == pair_position(3, 1, 5)


@pytest.mark.parametrize("seed", range(20))
def test_equals_the_linear_program_written_out(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    p, winner = random_preferences(rng, n)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    costs = [duel_regret(p, winner, i, j) for i, j in pairs]
    rows = []
    for item in set(range(n)) - {winner}:
        row = []
        for i, j in pairs:
            other = j if i == item else i
            shows = item in (i, j) and p[item, other] < 0.5
            row.append(bernoulli_kl(p[item, other], 0.5) if shows else 0.0)
        rows.append(row)
    reference = linprog(costs, -np.array(rows), -np.ones(n - 1))
    answer = bound(Dueling(preferences=p))
    assert answer.value == pytest.approx(reference.fun, rel=1e-7)
    assert answer.best_arm == (winner, winner)
    assert answer.verify().valid


def test_rates_at_the_truth_are_the_bounds_own():
    p, winner = random_preferences(np.random.default_rng(4), 6)
    out = np.full(21, -1.0)
    dueling_rates(p, winner, out)
    assert out == pytest.approx(bound(Dueling(preferences=p)).rates, rel=1e-12)


ESTIMATES = {
    "even": np.full((3, 3), 0.5),
    "certain": np.array([[0.5, 1.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5]]),
    "nearly even": np.array([[0.5, 0.5 + 1e-16, 0.6], [0.5 - 1e-16, 0.5, 0.6], [0.4, 0.4, 0.5]]),
    "no winner": np.array([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]),
    "alone": np.array([[0.5]]),
}


@pytest.mark.parametrize("p", ESTIMATES.values(), ids=list(ESTIMATES))
def test_estimates_give_finite_rates_and_agree_compiled(p):
    size = p.shape[0] * (p.shape[0] + 1) // 2
    for winner in range(p.shape[0]):
        found = []
        for run in (dueling_rates, dueling_rates.compiled):
            out = np.full(size, -1.0)
            run(p, winner, out)
            found.append(out.tolist())
        assert found[0] == found[1]
        assert all(math.isfinite(rate) and rate >= 0.0 for rate in found[0])


def test_nobody_beats_an_item():
    assert cheapest_opponent(np.full((2, 2), 0.5), 0, 1) == -1
