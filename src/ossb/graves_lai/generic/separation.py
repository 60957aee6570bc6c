"""The most confusing parameters for given rates: every region's convex program, at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ossb.graves_lai.generic.convex_programs import (
    ConvexPrograms,
    Solutions,
    needed,
    times,
    value_at_start,
)
from ossb.graves_lai.generic.duals import Dual, gathered, settled
from ossb.graves_lai.generic.minimise import minimise
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.region import Region

OFF = 1e-9  # of its arm's gap: how far outside its region a parameter may be
ROUNDING = 1e-13  # of the size of what is summed

Places = np.ndarray | slice  # the regions of some parameters


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
    solutions: Solutions


class Separation:
    """The regions of a program as one batch of convex programs.

    ``patient``: for a proof, which is worth more steps than what a policy plays by.
    """

    def __init__(self, program: Program, regions: Sequence[Region], patient: bool = False) -> None:
        self.program, self.regions, self.patient = program, regions, patient
        pairs = tuple((region.piece, region.arm, region.hull) for region in regions)
        self.batch = program.fixed_leader.batch(pairs)
        self.scale = np.array([region.scale for region in regions])
        self.middle = np.array([region.middle for region in regions])
        self.units = self.scale[:, None] * program.fixed_leader.columns
        self.slacks = self._slacks()
        self.room = self._left(self.middle, slice(None))
        self.programs = self._programs()
        self.pieces = np.array([region.piece for region in regions])
        self.off = OFF * program.gaps[[region.arm for region in regions]]

    def _slacks(self) -> np.ndarray:
        """Right sides of the rows side by side; 1 where these are 0."""
        slacks = np.ones(self.batch.rows.shape[:2])
        for a, region in enumerate(self.regions):
            slacks[a, : region.n_bounds] = np.where(region.tight, 1.0, region.slacks)
            slacks[a, -1] = -region.need
        return slacks

    def _programs(self) -> ConvexPrograms:
        program, batch = self.program, self.batch
        start = self.scale[:, None] * (self.middle @ program.fixed_leader.seen.T)
        slopes = self.scale[:, None, None] * batch.seen
        theta = program.truth[program.informative]
        return ConvexPrograms(
            program.divergence, theta, start, slopes, batch.walls, self.room, batch.anchor
        )

    def evaluate(self, rates: np.ndarray, tolerance: float) -> Evaluation:
        """Solve every region's program for rates of all arms."""
        programs, program = self.programs, self.program
        every = program.weights(rates)
        weights = every[program.informative]
        norms = value_at_start(programs, weights)
        norms = np.where(norms > 0, norms, max(float(weights.max(initial=0.0)), 1e-300))
        solutions = minimise(programs, weights / norms[:, None], tolerance, patient=self.patient)
        parameters = self._parameters(solutions)
        divergences = program.divergences(parameters)
        return Evaluation(
            solutions.proved * norms, parameters, divergences, norms, every, solutions
        )

    def _parameters(self, solutions: Solutions) -> np.ndarray:
        """λ of each region's point, with as much of its loose part as the rows need."""
        batch, loose = self.batch, solutions.loose
        z = self.middle + times(batch.basis, solutions.point)
        for a in np.flatnonzero(loose.any(axis=1)) if loose.any() else ():
            short = batch.rows[a] @ z[a] - self.slacks[a]
            z[a] += needed(batch.rows[a], short, batch.basis[a] @ loose[a])
        return self._inside(z, slice(None))

    def confuse(self, parameters: np.ndarray, places: Places) -> np.ndarray:
        """Which parameters lie in their regions, up to rounding, as the user's own rows say."""
        program, pieces = self.program, self.pieces[places]
        agreed = program.truth[program.shown]
        broken, sizes = self._lacks(parameters, places)
        for piece in set(pieces.tolist()):
            here, feasibility = pieces == piece, program.fixed_leader.feasibility[piece]
            over = parameters[here] @ feasibility.rows.T - feasibility.sides
            over[:, : 2 * agreed.size] -= np.concatenate([agreed, -agreed])
            broken[here] = np.maximum(broken[here], over.max(axis=1))
            size = np.abs(parameters[here]) @ feasibility.sizes.T
            sizes[here] = np.maximum(sizes[here], size.max(axis=1))
        scale = sizes + float(np.abs(program.theta).max())
        return np.asarray(broken <= self.off[places] + ROUNDING * scale)

    def _lacks(self, parameters: np.ndarray, places: Places) -> tuple[np.ndarray, np.ndarray]:
        """What parameters lack to the advantage that their regions need, and the terms' size."""
        norms = self.batch.norms[places, -1] * self.scale[places]
        rows = self.batch.rows[places, -1] / self.units[places]
        moved = self.slacks[places, -1] - (rows * (parameters - self.program.theta)).sum(axis=1)
        return -norms * moved, norms * np.abs(rows * parameters).sum(axis=1)

    def witness(self, a: int) -> np.ndarray:
        """A parameter of region a with a strict advantage."""
        return np.asarray(self.program.theta + self.units[a] * self.middle[a])

    def pulled(self, parameters: np.ndarray, places: Places) -> np.ndarray:
        """Parameters moved into regions: onto their equalities, then towards their middles."""
        middle, basis = self.middle[places], self.batch.basis[places]
        z = (parameters - self.program.theta) / self.units[places] - middle
        z = middle + times(basis, times(basis.transpose(0, 2, 1), z))
        return self._inside(z, places)

    def _left(self, z: np.ndarray, places: Places) -> np.ndarray:
        """Slack of the rows side by side at points of some regions."""
        return np.asarray(self.slacks[places] - times(self.batch.rows[places], z))

    def _inside(self, z: np.ndarray, places: Places) -> np.ndarray:
        """λ of each z, which is first moved towards the middle until every row holds."""
        left = self._left(z, places)
        if left.min() < 0:
            short = np.where(left < 0, left, 0.0)
            share = (short / (short - self.room[places])).max(axis=1, keepdims=True)
            z = z + np.minimum(1.0, share * (1.0 + 1e-12)) * (self.middle[places] - z)
        return np.asarray(self.program.theta + self.units[places] * z)

    def dual(self, a: int, evaluation: Evaluation) -> Dual:
        """The multipliers that prove the information of region a."""
        region, program, solutions = self.regions[a], self.program, evaluation.solutions
        unit_rows = region.unit_rows
        norm = float(evaluation.norms[a])
        m = region.n_bounds
        # in the coordinates of z, up to the factor norm
        rows = np.where(region.tight, 0.0, solutions.multipliers[a, :m]) / region.scale
        tau = float(solutions.multipliers[a, -1]) / region.scale
        slopes = solutions.slopes[a]
        left = slopes @ program.fixed_leader.seen + rows @ unit_rows.rows - tau * unit_rows.gain
        fixed = np.vstack([unit_rows.rows[region.tight], unit_rows.equal])
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
            norm * tau / unit_rows.gain_norm,
            norm * rows / unit_rows.row_norms,
            norm * equal / unit_rows.equal_norms,
            norm * every,
        )
        # rounding must not carry a slope beyond what the divergence can have
        limit = np.full(dual.means.size, np.inf)
        if program.divergence.steepest < np.inf:
            limit = evaluation.weights * program.divergence.steepest
        limit = np.where(program.shown, np.inf, limit)
        return settled(program, replace(dual, means=np.minimum(dual.means, limit)), limit)
