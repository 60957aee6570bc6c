"""The most confusing parameters for given rates: every region's convex program, at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ossb.graves_lai.generic.barrier import Batch, Outcome, minimise, needed, value_at_start
from ossb.graves_lai.generic.duals import Dual, gathered, settled
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.region import Region

NOISE = 1e-14  # what rounding leaves, of a row's length, along a direction it does not have
OFF = 1e-9  # of its arm's gap: how far outside its region a parameter may be
ROUNDING = 1e-13  # of the size of what is summed


@dataclass(frozen=True, eq=False)
class Evaluation:
    """F at some rates, region by region.

    Parameters
    ----------
    proved
        Lower bounds of the information, from multipliers.
    parameters
        Parameters that come near it.
    divergences
        D(θ, λ, x) of these, for every arm.
    """

    proved: np.ndarray  # (a,)
    parameters: np.ndarray  # (a, n)
    divergences: np.ndarray  # (a, K)
    norms: np.ndarray  # (a,)
    weights: np.ndarray  # (C,)
    outcome: Outcome


def _along(rows: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Rows along each direction of an orthonormal basis; 0 where that is rounding."""
    along = rows @ basis
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(np.where(np.abs(along) <= NOISE * lengths, 0.0, along))


class Separation:
    """The regions of a program as one batch of convex programs."""

    def __init__(self, program: Program, regions: Sequence[Region]) -> None:
        self.program = program
        self.regions = regions
        self.seen = program.means[program.informative] * program.columns
        self.batch = self._batch()

    def _batch(self) -> Batch:
        program, regions = self.program, self.regions
        count = len(regions)
        columns = max(max(region.basis.shape[1] for region in regions), 1)
        rows = max(region.n_bounds for region in regions) + 1
        components = program.informative.size
        start = np.zeros((count, components))
        slopes = np.zeros((count, components, columns))
        matrix = np.zeros((count, rows, columns))
        room = np.ones((count, rows))
        anchor = np.zeros((count, columns, columns))
        for a, region in enumerate(regions):
            free, m = region.basis.shape[1], region.n_bounds
            loose = ~region.tight
            start[a] = region.scale * (self.seen @ region.middle)
            slopes[a, :, :free] = region.scale * _along(self.seen, region.basis)
            matrix[a, :m, :free] = np.where(loose[:, None], _along(region.rows, region.basis), 0.0)
            room[a, :m] = np.where(loose, region.slacks - region.rows @ region.middle, 1.0)
            matrix[a, -1, :free] = -_along(region.gain[None], region.basis)[0]
            room[a, -1] = region.gain @ region.middle - region.need
            padding = np.arange(free, columns)
            anchor[a, padding, padding] = 1.0
        theta = program.truth[program.informative]
        return Batch(program.divergence, theta, start, slopes, matrix, room, anchor)

    def evaluate(self, rates: np.ndarray, tolerance: float) -> Evaluation:
        """Solve every region's program for rates of all arms."""
        batch, program = self.batch, self.program
        every = program.weights(rates)
        weights = every[program.informative]
        spread = np.broadcast_to(weights, batch.start.shape)
        norms = value_at_start(batch, spread)
        norms = np.where(norms > 0, norms, max(float(weights.max(initial=0.0)), 1e-300))
        outcome = minimise(batch, spread / norms[:, None], tolerance)
        parameters = np.array(
            [
                self.parameter(a, outcome.point[a], outcome.loose[a])
                for a in range(len(self.regions))
            ]
        )
        divergences = program.divergences(parameters)
        return Evaluation(outcome.proved * norms, parameters, divergences, norms, every, outcome)

    def parameter(self, a: int, point: np.ndarray, loose: np.ndarray) -> np.ndarray:
        """λ of a point of region a, with as much of its loose part as the rows need."""
        region = self.regions[a]
        size = region.basis.shape[1]
        z = region.middle + region.basis @ point[:size]
        if loose.any():
            rows = np.vstack([region.rows[~region.tight], -region.gain])
            short = rows @ z - np.append(region.slacks[~region.tight], -region.need)
            z = z + needed(rows, short, region.basis @ loose[:size])
        return self._inside(region, z)

    def confuses(self, a: int, parameter: np.ndarray) -> bool:
        """Whether a parameter lies in region a, up to rounding, as the user's own rows say."""
        program, region = self.program, self.regions[a]
        piece, means = program.pieces[region.piece], program.means @ parameter
        gain = program.advantage_row(region.piece, region.arm)
        apart = (means - program.truth)[program.shown]
        broken = [
            piece.matrix @ parameter - piece.bounds,
            np.abs(piece.equal_matrix @ parameter - piece.equal_bounds),
            program.divergence.lowest - means,
            means - program.divergence.highest,
            np.abs(apart),
            [region.need * region.gain_norm * region.scale - gain @ (parameter - program.theta)],
        ]
        sizes = np.abs(program.rows_of(region.piece, region.arm)) @ np.abs(parameter)
        scale = float(sizes.max(initial=0.0)) + float(np.abs(program.theta).max())
        worst = max(float(np.max(part, initial=0.0)) for part in broken)
        return worst <= OFF * float(program.gaps[region.arm]) + ROUNDING * scale

    def witness(self, a: int) -> np.ndarray:
        """A parameter of region a with a strict advantage."""
        region = self.regions[a]
        return self._at(region, region.middle)

    def pulled(self, a: int, parameter: np.ndarray) -> np.ndarray:
        """The parameter moved into region a: onto its equalities, then towards its middle."""
        region = self.regions[a]
        z = (parameter - self.program.theta) / (region.scale * self.program.columns)
        z = region.middle + region.basis @ (region.basis.T @ (z - region.middle))
        return self._inside(region, z)

    def _inside(self, region: Region, z: np.ndarray) -> np.ndarray:
        """λ of z, which is first moved towards the middle until every row holds."""
        loose = ~region.tight
        inside = np.append(
            (region.slacks - region.rows @ region.middle)[loose],
            region.gain @ region.middle - region.need,
        )
        here = np.append((region.slacks - region.rows @ z)[loose], region.gain @ z - region.need)
        short = here < 0
        share = float((here[short] / (here[short] - inside[short])).max(initial=0.0))
        z = z + min(1.0, share * (1.0 + 1e-12)) * (region.middle - z)
        return self._at(region, z)

    def _at(self, region: Region, z: np.ndarray) -> np.ndarray:
        """λ of z."""
        return np.asarray(self.program.theta + region.scale * self.program.columns * z)

    def dual(self, a: int, evaluation: Evaluation) -> Dual:
        """The multipliers that prove the information of region a."""
        region, program, outcome = self.regions[a], self.program, evaluation.outcome
        norm = float(evaluation.norms[a])
        m = region.n_bounds
        # in the coordinates of z, up to the factor norm
        rows = np.where(region.tight, 0.0, outcome.multipliers[a, :m]) / region.scale
        tau = float(outcome.multipliers[a, -1]) / region.scale
        slopes = outcome.slopes[a]
        left = slopes @ self.seen + rows @ region.rows - tau * region.gain
        fixed = np.vstack([region.rows[region.tight], region.equal])
        answer = np.linalg.lstsq(fixed.T, -left, rcond=1e-12)[0]
        n_tight = int(region.tight.sum())
        equal = answer[n_tight:]
        rows[region.tight] = answer[:n_tight]
        if n_tight:
            proof = region.tight_proof
            needed = -rows[region.tight] / np.maximum(proof[:m][region.tight], 1e-300)
            more = max(0.0, float(needed.max()))
            rows = np.maximum(rows + more * proof[:m], 0.0)
            equal = equal + more * proof[m:]
        every = np.zeros(program.means.shape[0])
        every[program.informative] = slopes
        dual = gathered(
            program,
            region.piece,
            region.arm,
            norm * tau / region.gain_norm,
            norm * rows / region.row_norms,
            norm * equal / region.equal_norms,
            norm * every,
        )
        # rounding must not carry a slope beyond what the divergence can have
        limit = np.full(dual.means.size, np.inf)
        if program.divergence.steepest < np.inf:
            limit = evaluation.weights * program.divergence.steepest
        limit = np.where(program.shown, np.inf, limit)
        return settled(program, replace(dual, means=np.minimum(dual.means, limit)), limit)
