"""Rates that follow an estimate: kept while they are good enough, else solved again, warm.

At a new estimate the held rates are evaluated (one convex program for each region, all at
once) and the held confusing parameters are moved to agree with it.  Rates rescaled to be
feasible are kept while the two sides they give are within κ; Theorem 2 then holds with
C(θ)(1 + κ).  Otherwise the cutting planes start from what is held.

All that is held is a function of the solves that led to it, each of them an estimate and the rates
it began with: who keeps these goes on after a restart as if there had been none.  There are at most
``LONGEST``: the next one starts from nothing.

An estimate may be anything finite.  Ties count as gaps of a small margin.  Outside the
parameter set the program is taken as it stands, which may leave nothing to confuse: project
estimates first.  Pairs that no arm can tell apart are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ossb.errors import CertificationError, InputError
from ossb.graves_lai.generic.certificate import is_empty
from ossb.graves_lai.generic.cutting import Cut, Search
from ossb.graves_lai.generic.divergence import Divergence
from ossb.graves_lai.generic.duals import Dual
from ossb.graves_lai.generic.fixed_leader import FixedLeader
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.region import Region, region_of
from ossb.graves_lai.generic.separation import Separation
from ossb.graves_lai.generic.warm_regions import warm_regions

MARGIN = 1e-6
LONGEST = 32  # solves, each warm from the one before it


@dataclass(frozen=True, eq=False)
class TrackedSolve:
    """What was solved last, and where; of the rates, what became of them since.

    ``solves`` has the estimate and the rates that each of the solves began with, the first one
    from nothing.
    """

    best: int = -1
    rates: np.ndarray = field(default_factory=lambda: np.zeros(0))
    solves: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
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


class RateTracker:
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
        self.memory = TrackedSolve()
        self.fixed_leader = FixedLeader(divergence, means, reveals, self.pieces, -1)

    def rates(self, theta: np.ndarray) -> Held:
        """Feasible rates at an estimate, after those of the last one."""
        held, self.memory = self.follow(theta, self.memory)
        return held

    def follow(self, theta: np.ndarray, memory: TrackedSolve) -> tuple[Held, TrackedSolve]:
        """Feasible rates at an estimate from what is held, and what is held then."""
        program = self._program(np.asarray(theta, dtype=np.float64))
        known = memory.best == program.best and bool(memory.rates.any())
        return self._solved(program, memory if known else TrackedSolve())

    def again(self, solves: Sequence[tuple[np.ndarray, np.ndarray]]) -> TrackedSolve:
        """What is held after some solves."""
        memory = TrackedSolve()
        for theta, rates in solves:
            _, memory = self.follow(theta, replace(memory, rates=rates))
        return memory

    def _solved(self, program: Program, memory: TrackedSolve) -> tuple[Held, TrackedSolve]:
        """Rates from what is held; from nothing, where that leads nowhere.

        At an estimate with a gap of nearly 0 an arm is free, and its rate nearly all there is: at
        the next one those rates are feasible at a price from which the search may not come down.
        """
        known = memory.rates if memory.best >= 0 else None
        best, before = program.best, np.zeros(program.gaps.size) if known is None else known
        solves = (*memory.solves, (program.theta, before))
        regions, empty = self._regions(program, memory)
        if not regions and known is not None:
            return self._solved(program, TrackedSolve())
        if not regions:
            return Held(best, before, 0.0, 0.0, False), TrackedSolve(best, before, solves)
        separation = Separation(program, regions)
        cuts, weights = self._moved(program, separation, memory)
        search = Search(program, separation, self.gap, cuts, known, small=known is not None)
        if known is not None:
            search.weigh(weights)
            if search.relative <= self.kappa:
                held = Held(best, search.best, search.lower, search.upper, True)
                return held, replace(memory, rates=search.best)
            if len(solves) > LONGEST:
                return self._solved(program, TrackedSolve())
        answer = search.run(empty, proofs=False)
        if known is not None and not search.relative <= self.gap:
            return self._solved(program, TrackedSolve())
        if not np.isfinite(answer.upper):
            raise CertificationError("no feasible rates were found at this estimate")
        insides = [separation.witness(a) for a in range(len(separation.regions))]
        found = TrackedSolve(
            best,
            answer.rates,
            solves,
            answer.cuts,
            answer.weights,
            list(separation.regions),
            insides,
            empty,
        )
        return Held(best, answer.rates, answer.lower, answer.upper, False), found

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
        fixed_leader = self.fixed_leader
        if fixed_leader.best != best:
            fixed_leader = FixedLeader(self.divergence, self.means, self.reveals, self.pieces, best)
            self.fixed_leader = fixed_leader
        return Program(
            self.divergence,
            self.means,
            self.reveals,
            self.pieces,
            theta,
            best,
            gaps,
            margin,
            fixed_leader,
        )

    def _regions(self, program: Program, memory: TrackedSolve) -> tuple[list[Region], list[Dual]]:
        near = warm_regions(program, memory.regions, memory.insides)
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
        self, program: Program, separation: Separation, memory: TrackedSolve
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
