"""Multipliers that cancel, from the factors of Newton's step."""

import numpy as np
import pytest

from ossb.families import Bernoulli, Gaussian, Poisson
from ossb.graves_lai.generic import dual_proof
from ossb.graves_lai.generic.convex_programs import ConvexPrograms
from ossb.graves_lai.generic.divergence import divergence_of
from ossb.graves_lai.generic.dual_repair import BINDING, EVERY
from ossb.graves_lai.generic.interior_point import solve_batch
from ossb.graves_lai.generic.iterate import batch_iterate
from ossb.graves_lai.generic.minimise import minimise

FAMILIES = [Gaussian(0.7), Bernoulli(), Poisson()]


def random_batch(rng, family, programs=3, components=4, columns=2, walls=5):
    """Programs around the middle of the mean space, with the origin inside every wall."""
    return ConvexPrograms(
        divergence_of(family),
        rng.uniform(0.3, 0.7, components),
        rng.uniform(-0.1, 0.1, (programs, components)),
        rng.uniform(-0.05, 0.05, (programs, components, columns)),
        rng.normal(size=(programs, walls, columns)),
        rng.uniform(0.2, 1.5, (programs, walls)),
        np.zeros((programs, columns, columns)),
    )


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_slopes_and_multipliers_cancel(family):
    rng = np.random.default_rng(3)
    batch, divergence = random_batch(rng, family), divergence_of(family)
    iterate = batch_iterate(
        batch.theta,
        rng.uniform(0.1, 2.0, batch.start.shape),
        batch.start,
        batch.slopes,
        batch.rows,
        batch.room,
        batch.anchor,
    )
    solve_batch(divergence.kind, divergence.precision, 1e-6, False, iterate)
    for way in (EVERY, BINDING):
        slopes, duals = iterate.repaired_slopes[:, way], iterate.repaired_duals[:, way]
        left = (slopes[:, None] @ batch.slopes + duals[:, None] @ batch.rows)[:, 0]
        assert np.abs(left).max() < 1e-14
        assert (iterate.off[:, way] < 1e-13).all()
        assert (duals >= 0).all()
        spent = (duals * batch.room).sum(axis=1) - (slopes * batch.start).sum(axis=1)
        assert iterate.spent[:, way] == pytest.approx(spent, rel=1e-12)
    assert (iterate.repaired_duals[:, EVERY] > 0).all()
    assert (iterate.repaired_duals[:, BINDING] == 0).any()


def test_what_is_no_number_proves_nothing():
    rng = np.random.default_rng(3)
    batch = random_batch(rng, Gaussian(1.0), programs=1)
    start = np.full(batch.start.shape, np.nan)
    iterate = batch_iterate(
        batch.theta, np.ones((1, 4)), start, batch.slopes, batch.rows, batch.room, batch.anchor
    )
    solve_batch(0, 1.0, 1e-6, False, iterate)
    assert not (iterate.off <= 1.0).any()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_the_careful_proof_is_asked_only_where_the_one_at_hand_is_poor(family, monkeypatch):
    rng = np.random.default_rng(4)
    batch = random_batch(rng, family)
    weights = rng.uniform(0.1, 2.0, batch.start.shape)
    asked = []
    careful = dual_proof._careful
    monkeypatch.setattr(dual_proof, "_careful", lambda *args: asked.append(1) or careful(*args))
    quick = minimise(batch, weights, 1e-7)
    assert not asked
    assert (quick.proved <= quick.value * (1 + 1e-12)).all()
    assert (quick.proved >= quick.value * (1 - 4e-7)).all()
    monkeypatch.setattr(
        dual_proof,
        "_at_hand",
        lambda batch, weights, iterate: dual_proof.Proof(
            np.full(iterate.least.size, -np.inf),
            iterate.repaired_slopes[:, EVERY],
            iterate.repaired_duals[:, EVERY],
        ),
    )
    slow = minimise(batch, weights, 1e-7)
    assert asked
    assert slow.proved == pytest.approx(quick.proved, rel=4e-7)
    assert (slow.point == quick.point).all()
