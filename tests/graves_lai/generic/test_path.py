from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

from ossb.families import Bernoulli, Gaussian, Poisson
from ossb.graves_lai.generic.course import DUAL, POINT, SLACK, course_of
from ossb.graves_lai.generic.curvature import factor_system
from ossb.graves_lai.generic.divergence import divergence_of
from ossb.graves_lai.generic.path import follow, refresh, set_out

FAMILIES = [Gaussian(0.7), Bernoulli(), Poisson()]


def random_course(rng, programs=3, components=4, columns=2, walls=5):
    """Programs around the middle of the mean space, with the origin inside every wall."""
    return course_of(
        rng.uniform(0.3, 0.7, components),
        rng.uniform(0.1, 2.0, (programs, components)),
        rng.uniform(-0.1, 0.1, (programs, components)),
        rng.uniform(-0.05, 0.05, (programs, components, columns)),
        rng.normal(size=(programs, walls, columns)),
        rng.uniform(0.2, 1.5, (programs, walls)),
        np.zeros((programs, columns, columns)),
    )


def copied(course):
    return type(course)(*(part.copy() for part in course))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_compiled_and_interpreted_ways_are_equal_bit_for_bit(family):
    divergence = divergence_of(family)
    for seed in range(5):
        plain = random_course(np.random.default_rng(seed))
        fast = copied(plain)
        follow(divergence.kind, divergence.precision, 1e-9, plain)
        follow.compiled(divergence.kind, divergence.precision, 1e-9, fast)
        for one, two in zip(plain, fast, strict=True):
            assert one.tobytes() == two.tobytes()


def value_of(course, divergence, a, y):
    means = course.truth + course.begin[a] + course.moves[a] @ y
    return float(course.loads[a] @ divergence.value(course.truth, means))


def slacks_of(course, a, y):
    return course.clearance[a] - course.walls[a] @ y


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_the_end_is_the_minimum_that_a_general_solver_finds(family):
    divergence = divergence_of(family)
    for seed in range(5):
        course = random_course(np.random.default_rng(100 + seed))
        follow.compiled(divergence.kind, divergence.precision, 1e-10, course)
        for a in range(course.loads.shape[0]):
            value, slacks = partial(value_of, course, divergence, a), partial(slacks_of, course, a)
            found = minimize(
                value,
                np.zeros(2),
                constraints={"type": "ineq", "fun": slacks},
                method="SLSQP",
                options={"ftol": 1e-14},
            )
            point = course.by_column[a, POINT]
            assert value(point) <= found.fun * (1.0 + 1e-7)
            assert course.by_row[a, SLACK] == pytest.approx(slacks(point), abs=1e-12)
            assert (course.by_row[a, SLACK] > 0).all()
            assert (course.by_row[a, DUAL] >= 0).all()


@pytest.mark.parametrize(
    ("family", "end"),
    [(Bernoulli(), 0.0), (Bernoulli(), 1.0), (Poisson(), 0.0)],
    ids=["bernoulli-0", "bernoulli-1", "poisson-0"],
)
def test_a_mean_held_at_the_end_of_its_space_tells_nothing(family, end):
    """Rounding may put it outside by a hair: it costs nothing there, not everything."""
    divergence = divergence_of(family)
    for rounding in (-1e-17, 0.0, 1e-17):
        course = course_of(
            np.array([end, 0.5]),
            np.ones((1, 2)),
            np.array([[rounding, 0.2]]),
            np.array([[[0.0], [0.1]]]),
            np.array([[[-1.0]]]),
            np.array([[1.0]]),
            np.zeros((1, 1, 1)),
        )
        follow.compiled(divergence.kind, divergence.precision, 1e-9, course)
        assert course.by_column[0, POINT, 0] == pytest.approx(-1.0, rel=1e-4)


def test_padding_stays_where_it_is():
    course = random_course(np.random.default_rng(7), programs=1, columns=1)
    padded = course_of(
        course.truth,
        course.loads,
        course.begin,
        np.pad(course.moves, ((0, 0), (0, 0), (0, 2))),
        np.pad(course.walls, ((0, 0), (0, 3), (0, 2))),
        np.pad(course.clearance, ((0, 0), (0, 3)), constant_values=1.0),
        np.diag([0.0, 1.0, 1.0])[None],
    )
    for each in (course, padded):
        follow.compiled(0, 1.0, 1e-9, each)
    assert (padded.by_column[0, POINT, 1:] == 0.0).all()
    assert padded.by_column[0, POINT, 0] == pytest.approx(course.by_column[0, POINT, 0], rel=1e-4)


def test_what_is_no_number_is_told():
    course = random_course(np.random.default_rng(7), programs=1)
    set_out(0, 1.0, 0, course)
    course.by_row[0, DUAL, 0] = np.nan
    assert np.isnan(refresh(0, 1.0, 0, course))
    assert not factor_system(0, DUAL, course)
