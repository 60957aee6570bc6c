"""Rates that follow an estimate: kept while they are good enough, else solved again, warm.

At a new estimate the held rates are evaluated (one convex program for each region, all at
once) and the held confusing parameters are moved to agree with it.  Rates rescaled to be
feasible are kept while the two sides they give are within κ; Theorem 2 then holds with
C(θ)(1 + κ).  Otherwise the cutting planes start from what is held.

An estimate may be anything finite.  Ties count as gaps of a small margin.  Outside the
parameter set the program is taken as it stands, which may leave nothing to confuse: project
estimates first.  Pairs that no arm can tell apart are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ossb.errors import CertificationError, InputError
from ossb.graves_lai.generic.certificate import is_empty
from ossb.graves_lai.generic.cutting import Answer, Cut, Search
from ossb.graves_lai.generic.divergence import Divergence
from ossb.graves_lai.generic.duals import Dual
from ossb.graves_lai.generic.ground import Ground
from ossb.graves_lai.generic.near import regions_near
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.region import Region, region_of
from ossb.graves_lai.generic.separation import Separation

MARGIN = 1e-6


@dataclass(eq=False)
class GenericMemory:
    """What was solved last, and where."""

    best: int = -1
    rates: np.ndarray = field(default_factory=lambda: np.zeros(0))
    cuts: list[Cut] = field(default_factory=list)
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    regions: list[Region] = field(default_factory=list)
    insides: list[np.ndarray] = field(default_factory=list)
    empty: list[Dual] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Held:
    """Feasible rates at an estimate, with certified bounds of C there.

    Parameters
    ----------
    best
        The best arm under the estimate; the lowest of those that tie.
    rates
        Of all arms; 0 for the best one.
    lower, upper
        Of C at the estimate.
    kept
        Whether the rates are the ones held before, rescaled.
    """

    best: int
    rates: np.ndarray
    lower: float
    upper: float
    kept: bool


class Follower:
    """Rates of a union of polytopes at a moving estimate.

    Parameters
    ----------
    divergence, means, reveals, pieces
        The program, as in ``Program``.
    kappa
        Relative gap under which held rates are kept.
    gap
        Relative gap of a new solution.
    """

    def __init__(
        self,
        divergence: Divergence,
        means: np.ndarray,
        reveals: np.ndarray,
        pieces: Sequence[Piece],
        kappa: float = 1e-2,
        gap: float = 1e-3,
    ) -> None:
        self.divergence, self.means, self.reveals = divergence, means, reveals
        self.pieces, self.kappa, self.gap = tuple(pieces), kappa, gap
        self.memory = GenericMemory()
        self.ground = Ground(divergence, means, reveals, self.pieces, -1)

    def rates(self, theta: np.ndarray) -> Held:
        """Feasible rates at an estimate."""
        program = self._program(np.asarray(theta, dtype=np.float64))
        memory = self.memory if self.memory.best == program.best else GenericMemory()
        return self._solved(program, memory)

    def _solved(self, program: Program, memory: GenericMemory) -> Held:
        """Rates from what is held; from nothing, where that leads nowhere.

        At an estimate with a gap of nearly 0 an arm is free, and its rate nearly all there is: at
        the next one those rates are feasible at a price from which the search may not come down.
        """
        regions, empty = self._regions(program, memory)
        if not regions:
            rates = np.zeros(program.gaps.size)
            self.memory = GenericMemory(program.best, rates, empty=empty)
            return Held(program.best, rates, 0.0, 0.0, bool(memory.best >= 0))
        separation = Separation(program, regions)
        cuts, weights = self._moved(program, separation, memory)
        known = memory.rates if memory.rates.any() else None
        search = Search(program, separation, self.gap, cuts, known, small=known is not None)
        if known is not None:
            search.weigh(weights)
            if search.relative <= self.kappa:
                held = search.best
                self._hold(program, separation, held, memory.cuts, memory.weights, empty)
                return Held(program.best, held, search.lower, search.upper, True)
        answer = search.run(empty, proofs=False)
        if known is not None and not search.relative <= self.gap:
            return self._solved(program, GenericMemory())
        if not np.isfinite(answer.upper):
            raise CertificationError("no feasible rates were found at this estimate")
        self._remember(program, separation, answer, empty)
        return Held(program.best, answer.rates, answer.lower, answer.upper, False)

    def _program(self, theta: np.ndarray) -> Program:
        broken = [
            max(
                float((piece.matrix @ theta - piece.bounds).max(initial=0.0)),
                float(np.abs(piece.equal_matrix @ theta - piece.equal_bounds).max(initial=0.0)),
            )
            for piece in self.pieces
        ]
        rewards = self.pieces[int(np.argmin(broken))].rewards @ theta
        best = int(np.argmax(rewards))
        unit = self.divergence.precision**-0.5  # of rewards, whatever they are counted in
        margin = MARGIN * max(unit, float(rewards[best] - rewards.min()))
        gaps = np.maximum(rewards[best] - rewards, margin)
        gaps[best] = 0.0
        if self.ground.best != best:
            self.ground = Ground(self.divergence, self.means, self.reveals, self.pieces, best)
        return Program(
            self.divergence,
            self.means,
            self.reveals,
            self.pieces,
            theta,
            best,
            gaps,
            margin,
            self.ground,
        )

    def _regions(self, program: Program, memory: GenericMemory) -> tuple[list[Region], list[Dual]]:
        near = regions_near(program, memory.regions, memory.insides)
        known = {(region.piece, region.arm): region for region in near if region is not None}
        still = {(dual.piece, dual.arm): dual for dual in memory.empty if is_empty(program, dual)}
        regions: list[Region] = []
        empty: list[Dual] = []
        for piece, arm in program.pairs():
            if (piece, arm) in still:
                empty.append(still[piece, arm])
                continue
            found: Region | Dual | None = known.get((piece, arm))
            if found is None:
                try:
                    found = region_of(program, piece, arm)
                except InputError:
                    continue
            if isinstance(found, Region):
                regions.append(found)
            else:
                empty.append(found)
        return regions, empty

    def _moved(
        self, program: Program, separation: Separation, memory: GenericMemory
    ) -> tuple[list[Cut], np.ndarray]:
        """Held confusing parameters in the regions of the new estimate, and their weights."""
        place = {(region.piece, region.arm): a for a, region in enumerate(separation.regions)}
        held = [memory.regions[cut.region] for cut in memory.cuts]
        places = np.array([place.get((region.piece, region.arm), -1) for region in held])
        still = np.flatnonzero(places >= 0)
        if not still.size:
            return [], np.zeros(0)
        places = places[still]
        parameters = np.array([memory.cuts[k].parameter for k in still])
        parameters = separation.pulled(parameters, places)
        divergences = program.divergences(parameters)
        told = divergences[:, program.others].max(axis=1) > 0
        told &= np.isfinite(divergences).all(axis=1)
        good = np.flatnonzero(told & separation.confuse(parameters, places))
        cuts = [Cut(int(places[k]), parameters[k], divergences[k]) for k in good]
        return cuts, memory.weights[still][good]

    def _remember(
        self, program: Program, separation: Separation, answer: Answer, empty: list[Dual]
    ) -> None:
        self._hold(program, separation, answer.rates, answer.cuts, answer.weights, empty)

    def _hold(
        self,
        program: Program,
        separation: Separation,
        rates: np.ndarray,
        cuts: list[Cut],
        weights: np.ndarray,
        empty: list[Dual],
    ) -> None:
        if self.memory.best == program.best and cuts is self.memory.cuts:
            self.memory.rates = rates  # parameters and regions stay those of the last solution
            return
        insides = [separation.witness(a) for a in range(len(separation.regions))]
        self.memory = GenericMemory(
            program.best, rates, cuts, weights, list(separation.regions), insides, empty
        )
