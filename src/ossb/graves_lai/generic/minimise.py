"""Minimises a batch of convex programs by one call of a kernel; proves lower bounds of them."""

import math

import numpy as np

from ossb import deadlines
from ossb.deadlines import Stop
from ossb.graves_lai.generic import dual_proof
from ossb.graves_lai.generic.convex_programs import ConvexPrograms, Solutions, times, whitening
from ossb.graves_lai.generic.divergence import Divergence
from ossb.graves_lai.generic.interior_point import solve_batch
from ossb.graves_lai.generic.iterate import BatchIterate, batch_iterate

_STEPS_AHEAD = 10  # steps of this size that are to come, for all that is known
_SECOND = 1e-5  # what an operation of a step takes interpreted


def minimise(
    batch: ConvexPrograms,
    weights: np.ndarray,
    tolerance: float,
    proving: bool = True,
    patient: bool = False,
) -> Solutions:
    """Solve every program of the batch to a relative gap.

    ``weights`` are w ≥ 0, one row for each program, best scaled so that the values are of
    order one.  Without ``proving``, nothing is proved.  ``patient``: as in the kernel.
    """
    transform, null = whitening(batch, weights)
    recast = batch.recast(transform, null)
    iterate = batch_iterate(
        recast.theta, weights, recast.start, recast.slopes, recast.rows, recast.room, recast.anchor
    )
    _solve(batch.divergence, tolerance, patient, iterate)
    if proving:
        proof = dual_proof.proof_of(recast, weights, iterate, tolerance)
    else:
        proof = dual_proof.nothing(iterate)
    point, value = iterate.point, iterate.least
    if null is None:
        return Solutions(times(transform, point), np.zeros_like(point), value, *proof)
    # at the end of its space a mean may count without any curvature
    counts = ((recast.slopes != 0) & (weights > 0)[..., None]).any(axis=1)
    loose = np.where(null & ~counts, point, 0.0)
    return Solutions(times(transform, point - loose), times(transform, loose), value, *proof)


def _solve(divergence: Divergence, tolerance: float, patient: bool, iterate: BatchIterate) -> None:
    """Run the kernel: a few small programs interpreted, others compiled where code is at hand."""
    count, components, columns = iterate.mean_map.shape
    operations = count * (components + iterate.rows.shape[1]) * columns * columns
    arguments = divergence.kind, divergence.precision, float(tolerance), patient, iterate
    ready = solve_batch.quick.expect(_STEPS_AHEAD * _SECOND * operations, *arguments)
    run = solve_batch.compiled if ready else solve_batch.run_as(None)
    with deadlines.stopping([Stop(iterate.halt, 0, 1)]):
        run(*arguments)


def _example() -> tuple[int, float, float, bool, BatchIterate]:
    """Arguments of the kernel, to compile it for: minimise y² / 2 subject to y ≤ 1."""
    one = np.ones((1, 1))
    iterate = batch_iterate(np.zeros(1), one, 0 * one, one[None], one[None], one, 0 * one[None])
    return 0, 1.0, 1e-6, False, iterate


def compile_kernel() -> None:
    """Compile the kernel in this process, or take what is in the cache."""
    arguments = _example()
    solve_batch.compiled(*arguments)
    solve_batch.quick.expect(math.inf, *arguments)


def is_cached() -> bool:
    """Whether compiled code of the kernel would start at once."""
    return solve_batch.is_compiled(*_example())


def is_ready() -> bool:
    """Whether programs are solved by compiled code from now on."""
    return solve_batch.quick.is_ready(*_example())
