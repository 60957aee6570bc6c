"""Programs over pieces, and what the default policy makes of them, against other solvers."""

import math

import numpy as np
import pytest

from ossb.instances import from_dict
from ossb.models.base import NU
from ossb.models.piece_program import nearest, new_program
from ossb.numerics.nearest_point import bring_inside, new_rows
from ossb.structures.polytope import Polytope
from ossb.structures.union import Union
from ossb.tally import empty_tally

RISING = {"A": [[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]], "b": [0.0, 0.0]}
FALLING = {"A": [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]], "b": [0.0, 0.0]}


def told(means, counts):
    tally = empty_tally(len(means), len(means))
    tally.means[:], tally.counts[:], tally.plays[:] = means, counts, counts
    tally.clock[0] = sum(counts)
    return tally


@pytest.mark.parametrize("seed", range(30))
def test_the_nearest_point_breaks_no_row_and_is_held_by_those_it_leans_on(seed):
    rng = np.random.default_rng(seed)
    size, count = int(rng.integers(1, 7)), int(rng.integers(1, 15))
    rows = rng.standard_normal((count, size))
    sides = rows @ rng.standard_normal(size) + rng.random(count) * rng.integers(0, 2, count)
    square = rng.standard_normal((size, size))
    metric = square @ square.T * 10.0 ** rng.uniform(-3, 3) + 1e-3 * np.eye(size)
    start = 5.0 * rng.standard_normal(size)
    space, point = new_rows(count, size), start.copy()
    space.rows[:], space.sides[:] = rows, sides
    assert bring_inside(space, count, size, np.linalg.cholesky(metric).T.copy(), point)
    slack = sides - rows @ point
    assert slack.min() > -1e-8 * (1.0 + np.abs(point).max())
    held = space.held[: int(space.is_held.sum())]
    multipliers = space.multipliers[: held.size]
    assert (multipliers >= 0.0).all()
    assert np.abs(slack[held]).max(initial=0.0) < 1e-8 * (1.0 + np.abs(point).max())
    force = metric @ (start - point)
    np.testing.assert_allclose(force, rows[held].T @ multipliers, atol=1e-6 * np.abs(force).max())


def test_rows_that_leave_nothing_are_noticed():
    space, point = new_rows(2, 1), np.zeros(1)
    space.rows[:, 0], space.sides[:] = [1.0, -1.0], [-1.0, -1.0]
    assert not bring_inside(space, 2, 1, np.eye(1), point)


BOX = {
    "A": [[1, -1, 0, 0], [0, 1, -1, 0.3], [-1, 0.2, 0, 1]],
    "b": [0.15, 0.2, 0.4],
    "theta": [0.5, 0.4, 0.45, 0.3],
}


@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "poisson"])
@pytest.mark.parametrize("seed", range(6))
def test_losses_are_those_of_the_general_solver(observation, seed):
    rng = np.random.default_rng(seed)
    instance = from_dict({"structure": "polytope", "observation": observation, **BOX})
    model, general = instance.weighing(), instance.model()
    counts = rng.integers(1, 300, 4)
    means = rng.choice([0.0, 1.0, *rng.random(4)], 4)
    memory = model.start()
    leader = model.project(told(means, counts), memory)
    reference = general.start()
    assert general.project(told(means, counts), reference) in (leader, int(general.n_arms) - 1, 0)
    np.testing.assert_allclose(memory.estimate, reference.estimate, atol=2e-4)
    found = {
        arm: value
        for arm, value, _ in general.programs.alternatives(leader, means, counts.astype(float))
    }
    for rival in set(range(4)) - {leader}:
        loss = model.loss_against(leader, rival, memory)
        assert loss == pytest.approx(found.get(rival, math.inf), rel=1e-5, abs=1e-6)


def test_an_arm_that_cannot_be_better_is_no_rival():
    model = Polytope(**RISING, theta=[0.1, 0.5, 0.9]).weighing()
    memory = model.start()
    assert model.weigh(told([0.1, 0.5, 0.4], [5, 9, 7]), memory) == 2
    assert memory.numbers[NU] == 1.0
    assert not memory.gain.any()


def test_of_level_arms_the_one_that_cannot_be_beaten_leads():
    model = Union(pieces=[RISING, FALLING], theta=[0.9, 0.5, 0.1]).weighing()
    memory = model.start()
    assert model.weigh(told([0.5, 0.7, 0.1], [10, 10, 10]), memory) == 0
    assert model.weigh(told([0.1, 0.7, 0.5], [10, 10, 10]), memory) == 2


def test_an_end_of_the_means_that_was_seen_is_reached():
    instance = from_dict({"structure": "polytope", "observation": "bernoulli", **BOX})
    model = instance.weighing()
    memory = model.start()
    model.project(told([0.0, 0.0, 0.0, 0.0], [50, 2, 9, 1]), memory)
    assert np.abs(memory.estimate).max() < 1e-9


def test_a_program_without_rows_has_the_means_themselves():
    free = Polytope(A=np.eye(2), b=[50.0, 50.0], theta=[0.3, 0.1], sigma=0.5).weighing()
    space = new_program(free.pieces.rows.shape[1], 2, 2)
    means, weights = np.array([0.7, -0.2]), np.array([4.0, 9.0])
    precision = free.precision
    args = free.pieces, 0, free.family, free.kind, precision
    assert nearest(*args, 0, -1, means, weights, space) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(space.shown, means, atol=1e-12)
    tied = nearest(*args, 0, 1, means, weights, space)
    common = (4 * 0.7 - 9 * 0.2) / 13
    expected = 0.5 * precision * (4 * (0.7 - common) ** 2 + 9 * (-0.2 - common) ** 2)
    assert tied == pytest.approx(expected)


def test_a_component_that_one_observation_may_settle_has_all_shares():
    """Where an alternative puts a mean at an end of its space, off the estimate."""
    near = [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 1.0, -1.0], [0.0, -1.0, 1.0]]
    model = Polytope(
        observation="bernoulli", A=near, b=[0.25] * 4, theta=[0.2, 0.4, 0.5]
    ).weighing()
    memory = model.start()
    tally = told([0.0, 0.5, 0.6], [5, 30, 70])
    leader = model.weigh(tally, memory)
    assert leader == 2
    assert memory.estimate[0] > 0.01
    assert model.loss_against(2, 1, memory) < math.inf
    memory.moved[0] = 0.0
    assert model.tell_apart(False, 1.0, tally, memory) == 5.0
    assert memory.each.tolist() == [1.0, 0.0, 0.0]
