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
    """The regions of a program as one batch of convex programs."""

    def __init__(self, program: Program, regions: Sequence[Region]) -> None:
        self.program, self.regions = program, regions
        pairs = tuple((region.piece, region.arm, region.frame) for region in regions)
        self.stack = program.ground.stack(pairs)
        self.scale = np.array([region.scale for region in regions])
        self.middle = np.array([region.middle for region in regions])
        self.units = self.scale[:, None] * program.ground.columns
        self.slacks = self._slacks()
        self.room = self._left(self.middle, slice(None))
        self.programs = self._programs()
        self.pieces = np.array([region.piece for region in regions])
        self.off = OFF * program.gaps[[region.arm for region in regions]]

    def _slacks(self) -> np.ndarray:
        """Right sides of the stacked rows; 1 where these are 0."""
        slacks = np.ones(self.stack.rows.shape[:2])
        for a, region in enumerate(self.regions):
            slacks[a, : region.n_bounds] = np.where(region.tight, 1.0, region.slacks)
            slacks[a, -1] = -region.need
        return slacks

    def _programs(self) -> ConvexPrograms:
        program, stack = self.program, self.stack
        start = self.scale[:, None] * (self.middle @ program.ground.seen.T)
        slopes = self.scale[:, None, None] * stack.seen
        theta = program.truth[program.informative]
        return ConvexPrograms(
            program.divergence, theta, start, slopes, stack.walls, self.room, stack.anchor
        )

    def evaluate(self, rates: np.ndarray, tolerance: float) -> Evaluation:
        """Solve every region's program for rates of all arms."""
        programs, program = self.programs, self.program
        every = program.weights(rates)
        weights = every[program.informative]
        norms = value_at_start(programs, weights)
        norms = np.where(norms > 0, norms, max(float(weights.max(initial=0.0)), 1e-300))
        solutions = minimise(programs, weights / norms[:, None], tolerance)
        parameters = self._parameters(solutions)
        divergences = program.divergences(parameters)
        return Evaluation(
            solutions.proved * norms, parameters, divergences, norms, every, solutions
        )

    def _parameters(self, solutions: Solutions) -> np.ndarray:
        """λ of each region's point, with as much of its loose part as the rows need."""
        stack, loose = self.stack, solutions.loose
        z = self.middle + times(stack.basis, solutions.point)
        for a in np.flatnonzero(loose.any(axis=1)) if loose.any() else ():
            short = stack.rows[a] @ z[a] - self.slacks[a]
            z[a] += needed(stack.rows[a], short, stack.basis[a] @ loose[a])
        return self._inside(z, slice(None))

    def confuse(self, parameters: np.ndarray, places: Places) -> np.ndarray:
        """Which parameters lie in their regions, up to rounding, as the user's own rows say."""
        program, pieces = self.program, self.pieces[places]
        agreed = program.truth[program.shown]
        broken, sizes = self._lacks(parameters, places)
        for piece in set(pieces.tolist()):
            here, checks = pieces == piece, program.ground.checks[piece]
            over = parameters[here] @ checks.rows.T - checks.sides
            over[:, : 2 * agreed.size] -= np.concatenate([agreed, -agreed])
            broken[here] = np.maximum(broken[here], over.max(axis=1))
            size = np.abs(parameters[here]) @ checks.sizes.T
            sizes[here] = np.maximum(sizes[here], size.max(axis=1))
        scale = sizes + float(np.abs(program.theta).max())
        return np.asarray(broken <= self.off[places] + ROUNDING * scale)

    def _lacks(self, parameters: np.ndarray, places: Places) -> tuple[np.ndarray, np.ndarray]:
        """What parameters lack to the advantage that their regions need, and the terms' size."""
        norms = self.stack.norms[places, -1] * self.scale[places]
        rows = self.stack.rows[places, -1] / self.units[places]
        moved = self.slacks[places, -1] - (rows * (parameters - self.program.theta)).sum(axis=1)
        return -norms * moved, norms * np.abs(rows * parameters).sum(axis=1)

    def witness(self, a: int) -> np.ndarray:
        """A parameter of region a with a strict advantage."""
        return np.asarray(self.program.theta + self.units[a] * self.middle[a])

    def pulled(self, parameters: np.ndarray, places: Places) -> np.ndarray:
        """Parameters moved into regions: onto their equalities, then towards their middles."""
        middle, basis = self.middle[places], self.stack.basis[places]
        z = (parameters - self.program.theta) / self.units[places] - middle
        z = middle + times(basis, times(basis.transpose(0, 2, 1), z))
        return self._inside(z, places)

    def _left(self, z: np.ndarray, places: Places) -> np.ndarray:
        """Slack of the stacked rows at points of some regions."""
        return np.asarray(self.slacks[places] - times(self.stack.rows[places], z))

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
        outline = region.outline
        norm = float(evaluation.norms[a])
        m = region.n_bounds
        # in the coordinates of z, up to the factor norm
        rows = np.where(region.tight, 0.0, solutions.multipliers[a, :m]) / region.scale
        tau = float(solutions.multipliers[a, -1]) / region.scale
        slopes = solutions.slopes[a]
        left = slopes @ program.ground.seen + rows @ outline.rows - tau * outline.gain
        fixed = np.vstack([outline.rows[region.tight], outline.equal])
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
            norm * tau / outline.gain_norm,
            norm * rows / outline.row_norms,
            norm * equal / outline.equal_norms,
            norm * every,
        )
        # rounding must not carry a slope beyond what the divergence can have
        limit = np.full(dual.means.size, np.inf)
        if program.divergence.steepest < np.inf:
            limit = evaluation.weights * program.divergence.steepest
        limit = np.where(program.shown, np.inf, limit)
        return settled(program, replace(dual, means=np.minimum(dual.means, limit)), limit)
