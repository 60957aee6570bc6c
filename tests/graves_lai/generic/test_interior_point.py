from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

from ossb.families import Bernoulli, Gaussian, Poisson
from ossb.graves_lai.generic.divergence import divergence_of
from ossb.graves_lai.generic.interior_point import begin, refresh, solve_batch
from ossb.graves_lai.generic.iterate import batch_iterate, program_of
from ossb.graves_lai.generic.newton import factor_system

FAMILIES = [Gaussian(0.7), Bernoulli(), Poisson()]


def random_programs(rng, programs=3, components=4, columns=2, walls=5):
    """Programs around the middle of the mean space, with the origin inside every wall."""
    return batch_iterate(
        rng.uniform(0.3, 0.7, components),
        rng.uniform(0.1, 2.0, (programs, components)),
        rng.uniform(-0.1, 0.1, (programs, components)),
        rng.uniform(-0.05, 0.05, (programs, components, columns)),
        rng.normal(size=(programs, walls, columns)),
        rng.uniform(0.2, 1.5, (programs, walls)),
        np.zeros((programs, columns, columns)),
    )


def copied(batch):
    return type(batch)(*(part.copy() for part in batch))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_compiled_and_interpreted_solves_are_equal_bit_for_bit(family):
    divergence = divergence_of(family)
    for seed in range(5):
        plain = random_programs(np.random.default_rng(seed))
        fast = copied(plain)
        solve_batch(divergence.kind, divergence.precision, 1e-9, False, plain)
        solve_batch.compiled(divergence.kind, divergence.precision, 1e-9, False, fast)
        for one, two in zip(plain, fast, strict=True):
            assert one.tobytes() == two.tobytes()


def value_of(batch, divergence, a, y):
    means = batch.theta + batch.offset[a] + batch.mean_map[a] @ y
    return float(batch.loads[a] @ divergence.value(batch.theta, means))


def slacks_of(batch, a, y):
    return batch.limits[a] - batch.rows[a] @ y


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_the_end_is_the_minimum_that_a_general_solver_finds(family):
    divergence = divergence_of(family)
    for seed in range(5):
        batch = random_programs(np.random.default_rng(100 + seed))
        solve_batch.compiled(divergence.kind, divergence.precision, 1e-10, False, batch)
        for a in range(batch.loads.shape[0]):
            value, slacks = partial(value_of, batch, divergence, a), partial(slacks_of, batch, a)
            found = minimize(
                value,
                np.zeros(2),
                constraints={"type": "ineq", "fun": slacks},
                method="SLSQP",
                options={"ftol": 1e-14},
            )
            point = batch.point[a]
            assert value(point) <= found.fun * (1.0 + 1e-7)
            assert batch.slack[a] == pytest.approx(slacks(point), abs=1e-12)
            assert (batch.slack[a] > 0).all()
            assert (batch.dual[a] >= 0).all()


@pytest.mark.parametrize(
    ("family", "end"),
    [(Bernoulli(), 0.0), (Bernoulli(), 1.0), (Poisson(), 0.0)],
    ids=["bernoulli-0", "bernoulli-1", "poisson-0"],
)
def test_a_mean_held_at_the_end_of_its_space_tells_nothing(family, end):
    """Rounding may put it outside by a hair: it costs nothing there, not everything."""
    divergence = divergence_of(family)
    for rounding in (-1e-17, 0.0, 1e-17):
        batch = batch_iterate(
            np.array([end, 0.5]),
            np.ones((1, 2)),
            np.array([[rounding, 0.2]]),
            np.array([[[0.0], [0.1]]]),
            np.array([[[-1.0]]]),
            np.array([[1.0]]),
            np.zeros((1, 1, 1)),
        )
        solve_batch.compiled(divergence.kind, divergence.precision, 1e-9, False, batch)
        assert batch.point[0, 0] == pytest.approx(-1.0, rel=1e-4)


def test_padding_stays_where_it_is():
    batch = random_programs(np.random.default_rng(7), programs=1, columns=1)
    padded = batch_iterate(
        batch.theta,
        batch.loads,
        batch.offset,
        np.pad(batch.mean_map, ((0, 0), (0, 0), (0, 2))),
        np.pad(batch.rows, ((0, 0), (0, 3), (0, 2))),
        np.pad(batch.limits, ((0, 0), (0, 3)), constant_values=1.0),
        np.diag([0.0, 1.0, 1.0])[None],
    )
    for each in (batch, padded):
        solve_batch.compiled(0, 1.0, 1e-9, False, each)
    assert (padded.point[0, 1:] == 0.0).all()
    assert padded.point[0, 0] == pytest.approx(batch.point[0, 0], rel=1e-4)


def test_what_is_no_number_is_told():
    batch = random_programs(np.random.default_rng(7), programs=1)
    program = program_of(batch, 0)
    begin(0, 1.0, program)
    program.dual[0] = np.nan
    assert np.isnan(refresh(0, 1.0, program))
    assert not factor_system(program, program.dual)
