import numpy as np
import pytest

from ossb.graves_lai.generic.convex_programs import ConvexPrograms
from ossb.graves_lai.generic.divergence import GaussianDivergence
from ossb.graves_lai.generic.minimise import minimise


def turned(angle):
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, -sine], [sine, cosine]])


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.0, 2.0])
def test_a_direction_that_nothing_depends_on_stays_where_it_is(angle):
    # minimise (2 + y · e)² / 2 subject to y · e ≥ −1, in coordinates where e is no axis
    along = turned(angle)[:1]
    batch = ConvexPrograms(
        GaussianDivergence(1.0),
        np.zeros(1),
        np.array([[2.0]]),
        along[None],
        -along[None],
        np.array([[1.0]]),
        np.zeros((1, 2, 2)),
    )
    outcome = minimise(batch, np.ones((1, 1)), 1e-9)
    assert outcome.value == pytest.approx(0.5, rel=1e-8)
    assert outcome.proved == pytest.approx(0.5, rel=1e-8)
    assert along[0] @ outcome.point[0] == pytest.approx(-1.0, rel=1e-8)
    assert np.abs(turned(angle)[1] @ (outcome.point + outcome.loose)[0]) < 1e-6


def test_weight_on_one_component_leaves_the_other_to_the_rows():
    # the second component has no weight: only the row y_1 + y_2 ≤ 1 holds it
    batch = ConvexPrograms(
        GaussianDivergence(1.0),
        np.zeros(2),
        np.zeros((1, 2)),
        np.eye(2)[None],
        np.array([[[1.0, 1.0], [-1.0, 0.0]]]),
        np.array([[1.0, 1.0]]),
        np.zeros((1, 2, 2)),
    )
    outcome = minimise(batch, np.array([[1.0, 0.0]]), 1e-9)
    assert outcome.point[0] == pytest.approx([0.0, 0.0], abs=1e-4)
    assert outcome.loose[0, 0] == pytest.approx(0.0, abs=1e-12)


def test_a_corrector_that_goes_round_in_circles_is_left_out():
    # weights that the corrector alone never gets done with
    batch = ConvexPrograms(
        GaussianDivergence(1.0),
        np.zeros(3),
        np.array([[0.0048284271247, 0.5407157287525, -1.0318872915026]]),
        np.array([[[0.0, -0.002, 0.0], [0.002, 0.0, 0.0], [0.0, 0.0, 0.002]]]),
        np.array([[[-0.5, -0.5, -0.5], [0.7559, 0.378, 0.378], [0.0, 0.7071, 0.0]]]),
        np.ones((1, 3)),
        np.zeros((1, 3, 3)),
    )
    weights = np.array([[499999.999, 956.198194, 158.730159]])
    outcome = minimise(batch, weights / 230.0, 1e-8)
    assert outcome.proved == pytest.approx(outcome.value, rel=1e-6)


def test_without_proofs_the_solution_is_the_same():
    batch = ConvexPrograms(
        GaussianDivergence(1.0),
        np.zeros(1),
        np.array([[2.0]]),
        np.ones((1, 1, 1)),
        -np.ones((1, 1, 1)),
        np.array([[1.0]]),
        np.zeros((1, 1, 1)),
    )
    proved = minimise(batch, np.ones((1, 1)), 1e-9)
    plain = minimise(batch, np.ones((1, 1)), 1e-9, proving=False)
    assert plain.point == proved.point
    assert plain.value == proved.value
    assert plain.proved == -np.inf
