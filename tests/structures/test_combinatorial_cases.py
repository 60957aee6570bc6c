"""Listed arms at the ends of the mean space, and where rounding counts."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from ossb.errors import CertificationError, InputError
from ossb.families import family_named
from ossb.structures.base import bound
from ossb.structures.combinatorial import Combinatorial

QUARTERS = (0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0)  # sums of these are exact
GOALS = ("maximize", "minimize")
each_goal = pytest.mark.parametrize("goal", GOALS)


def listed(**keys):
    return Combinatorial(feedback="semi_bandit", **keys)


def checked(**keys):
    answer = bound(listed(**keys))
    report = answer.verify()
    assert report.valid, report.problems
    return answer


def least_information(family, means, weights, items, need):
    """max over τ of the dual function, with the family's own conjugates."""

    def dual(log):
        tau = math.exp(log)
        paid = (family.conjugate(means[i], weights[i], tau) - tau * means[i] for i in items)
        return min(sum(paid) - tau * need, 1e9)

    logs = np.linspace(-25.0, 25.0, 201)
    start = logs[np.argmin([dual(log) for log in logs])]
    around = (start - 0.5, start + 0.5)
    return -minimize_scalar(dual, bounds=around, method="bounded", options={"xatol": 1e-12}).fun


@pytest.mark.parametrize("observation", ["bernoulli", "bounded", "poisson"])
@each_goal
@pytest.mark.parametrize("seed", range(25))
def test_items_at_the_ends_of_the_mean_space(observation, goal, seed):
    """Against the dual of every alternative, written down anew and exact at the ends."""
    rng = np.random.default_rng(seed)
    sign = 1.0 if goal == "maximize" else -1.0
    while True:
        arms = np.unique(rng.integers(0, 2, (6, 4)).astype(float), axis=0)
        phi = rng.choice(QUARTERS, 4) * (1.0 if observation != "poisson" else 2.0)
        rewards = sign * (arms @ phi)
        best = int(np.argmax(rewards))
        if np.count_nonzero(rewards == rewards[best]) == 1:
            break
    answer = checked(observation=observation, goal=goal, arms=arms, phi=phi)
    family = family_named(observation, 1.0, sign)
    means, weights = sign * phi, answer.rates @ arms
    for x in range(len(arms)):
        moved = np.flatnonzero((arms[x] > 0) & (arms[best] == 0))
        need = rewards[best] - rewards[x]
        if x != best and np.sum(family.highest() - means[moved]) > need:
            assert least_information(family, means, weights, moved, need) >= 1 - 1e-6


@pytest.mark.parametrize(
    ("observation", "goal", "arms", "phi"),
    [
        ("bernoulli", "maximize", [[1, 1, 0, 0], [0, 0, 1, 1]], [1, 1, 0.75, 1]),
        ("bernoulli", "maximize", [[1, 1, 1, 0], [0, 0, 0, 1]], [0.2, 0.3, 0.5, 0.7]),
        ("bernoulli", "minimize", [[0, 0], [1, 1]], [0.25, 0]),
        ("poisson", "minimize", [[0, 0], [1, 1]], [0.3, 0]),
    ],
)
def test_what_can_only_tie_is_no_alternative(observation, goal, arms, phi):
    assert checked(observation=observation, goal=goal, arms=arms, phi=phi).value == 0.0


@pytest.mark.parametrize("observation", ["bernoulli", "poisson"])
def test_items_that_cannot_move_are_free(observation):
    """Minimised: arm {2, 3} has an item of mean 0, and is told from arm {0, 1} by the other."""
    keys = {"observation": observation, "goal": "minimize"}
    phi = np.array([0.1, 0.2, 0.0, 0.5])
    pair = checked(arms=[[1, 1, 0, 0], [0, 0, 1, 1]], phi=phi, **keys)
    kl = family_named(observation, 1.0).kl
    assert pair.value == pytest.approx(0.2 / kl(0.5, 0.3), rel=1e-6)


def test_an_arm_that_can_hardly_become_best_is_named():
    arms, phi = [[1, 1, 0, 0], [0, 0, 1, 1]], [1, 1 - 1e-13, 0.75, 1]
    with pytest.raises(CertificationError, match="arm 1 can become better"):
        bound(listed(observation="bernoulli", arms=arms, phi=phi))


@pytest.mark.parametrize("gap", [1e-7, 2.3e-7, 8e-7])
@pytest.mark.parametrize("seed", range(8))
def test_proofs_hold_where_gaps_are_small(gap, seed):
    rng = np.random.default_rng(seed)
    arms = np.unique(rng.integers(0, 2, (5, 4)), axis=0)
    arms = arms[arms.sum(axis=1) == 2]
    if len(arms) > 1:
        checked(arms=arms, phi=1.1 + gap * np.array([0.0, 1.7, 3.1, 4.3]) * rng.uniform(0.9, 1.1))


@pytest.mark.parametrize(
    ("arms", "phi"),
    [
        ([[1, 0, 0], [0, 1, 1]], [1e-9, 0.3, 0.2]),
        (
            [[0, 0, 1, 1], [0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 1, 1], [1, 1, 0, 0]],
            [0.00014086255144491112, 5.530954196537365, 1.8357583606156335e-05, 4.93921192118502],
        ),
    ],
)
def test_proofs_hold_where_a_mean_must_fall_nearly_to_zero(arms, phi):
    checked(observation="poisson", goal="minimize", arms=arms, phi=phi)


@pytest.mark.parametrize("scale", [1e-99, 1e-60, 1e-12, 1e60, 1e99])
def test_units_do_not_matter(scale):
    """Gaussian bounds go with 1 over the unit of means, Poisson ones do not depend on it."""
    arms, phi = [[1, 1, 0], [0, 1, 1], [1, 0, 1]], np.array([1.0, 2.0, 4.0])
    for goal in GOALS:
        one, other = (checked(arms=arms, phi=unit * phi, goal=goal) for unit in (1.0, scale))
        assert other.value * scale == pytest.approx(one.value, rel=1e-6)
        counts = {"observation": "poisson", "goal": goal, "arms": arms}
        one, other = (checked(phi=unit * phi, **counts) for unit in (1.0, scale))
        assert other.value == pytest.approx(one.value, rel=1e-6)
    assert checked(arms=[[1, 0], [0, 1]], phi=[scale, 2 * scale]).value == pytest.approx(2 / scale)


@pytest.mark.parametrize("scale", [1e-170, 1e250, 1e308])
def test_what_is_beyond_doubles_is_said(scale):
    with pytest.raises(InputError, match=r"finite mean|in size, to be checked"):
        bound(listed(arms=[[1, 1, 0], [0, 0, 1]], phi=[scale, scale, scale]))
