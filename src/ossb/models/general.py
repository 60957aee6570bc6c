"""Polytopes and unions of polytopes, as policies see them; on numpy, their programs apart.

With m the empirical means and N the counts, the estimate minimises Σ_k N_k d(m_k, (M λ)_k) over
the pieces, and the likelihood ratio against arm j is what that minimum rises by where j is to be
at least as good as the leader: one convex program for each (piece, arm), all solved at once.
The regions do not depend on the data, so their interiors are found once.  Neither do the points
and multipliers of a solution, only what they prove: in most rounds those of an earlier one show
that the likelihood ratios are still large enough, or still too small.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ossb.errors import CertificationError
from ossb.graves_lai.generic.divergence import Divergence
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.tracked_rates import LONGEST, RateTracker, TrackedSolve
from ossb.models.base import SETTLED, WEAKEST
from ossb.models.pieces import showing_all
from ossb.models.region_programs import Proofs, RegionPrograms
from ossb.tally import Tally

KNOWN = 1e9  # weight of what the leader shows where it counts as known
EXACT = 1e-12  # rounding of a parameter's means
DUST = 1e-100  # a rate this small is a solver's zero


class GeneralMemory(NamedTuple):
    """The common look, the estimated parameter, and what solutions that go on to serve began with.

    The solutions themselves are a function of that: they are found again where they are missing.
    """

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    parameter: np.ndarray  # float64 (n,): λ̂
    home: np.ndarray  # int64 (1,): the piece that holds it
    followed: np.ndarray  # float64 (n_arms,): the rates followed
    solves: np.ndarray  # int64 (1,): how many solves led to them, the first one from nothing
    solved_at: np.ndarray  # float64 (LONGEST, n): the estimates of these solves
    solved_from: np.ndarray  # float64 (LONGEST, n_arms): the rates that they began with
    tested: np.ndarray  # int64 (2,): 1 + the leader of the last tests solved; row 1 is settled
    tested_means: np.ndarray  # float64 (2, n_components): their means
    tested_counts: np.ndarray  # float64 (2, n_components): their weights


class SolutionCache:
    """Solutions by all that they are a function of; those used last are kept."""

    def __init__(self, most: int = 64) -> None:
        self._most, self._found = most, dict[Hashable, Any]()

    def of(self, key: Hashable) -> Any | None:
        solution = self._found.pop(key, None)
        if solution is not None:
            self._found[key] = solution  # the newest last
        return solution

    def keep(self, key: Hashable, solution: Any) -> None:
        found = self._found
        found[key] = solution
        for old in list(found)[: len(found) - self._most]:
            found.pop(old, None)  # another thread may have been here


class GeneralModel:
    """Arms that show components of a parameter known to lie in one of several polytopes.

    Parameters
    ----------
    means
        Component means are means λ.
    incidence
        1 where an arm (row) shows a component (column).
    """

    def __init__(
        self,
        divergence: Divergence,
        means: np.ndarray,
        incidence: np.ndarray,
        pieces: Sequence[Piece],
        follower: Any,
    ) -> None:
        self.n_arms, self.n_components = (int(n) for n in incidence.shape)
        self._divergence, self._means, self._incidence = divergence, means, incidence
        self._pieces = tuple(pieces)
        self._follow = follower
        self._followers: dict[float, RateTracker] = {}
        self._solutions = SolutionCache()
        whole = np.linalg.matrix_rank(means) == means.shape[1]
        self._inverse = np.linalg.pinv(means) if whole else None
        self.programs = RegionPrograms(divergence, means, pieces)
        self._set = showing_all(incidence)

    def start(self) -> GeneralMemory:
        return GeneralMemory(
            np.zeros(self.n_components),
            np.zeros(self.n_arms),
            np.zeros(self.n_arms),
            np.zeros(4),
            np.zeros(self._means.shape[1]),
            np.zeros(1, np.int64),
            np.zeros(self.n_arms),
            np.zeros(1, np.int64),
            np.zeros((LONGEST, self._means.shape[1])),
            np.zeros((LONGEST, self.n_arms)),
            np.zeros(2, np.int64),
            np.zeros((2, self.n_components)),
            np.zeros((2, self.n_components)),
        )

    def unseen(self, tally: Tally) -> int:
        for arm in self._set:
            if tally.plays[arm] == 0:
                return int(arm)
        return -1

    def informative(self, place: int) -> int:
        return int(self._set[place]) if place < len(self._set) else -1

    def is_informative(self, arm: int) -> bool:
        return bool(self._incidence[arm].any())

    def plug_in(self, tally: Tally, memory: GeneralMemory) -> int:
        """The means as they stand, as the parameter nearest to showing them."""
        memory.parameter[:] = np.linalg.lstsq(self._means, tally.means, rcond=None)[0]
        memory.estimate[:] = tally.means
        memory.home[0] = 0
        memory.rewards[:] = self._pieces[0].rewards @ memory.parameter
        return int(np.argmax(memory.rewards))

    def project(self, tally: Tally, memory: GeneralMemory) -> int:
        self._project(tally.means, tally.counts.astype(np.float64), memory)
        return int(np.argmax(memory.rewards))

    def rates(self, leader: int, kappa: float, memory: GeneralMemory, out: np.ndarray) -> float:
        """Equal rates where none are found.

        With a mean at the end of its family, an alternative may be infinitely far off however
        little it is explored.
        """
        if kappa not in self._followers:
            self._followers[kappa] = self._follow(kappa)
        follower = self._followers[kappa]
        before = self._followed(follower, memory)
        try:
            held, after = follower.follow(memory.parameter.copy(), before)
        except CertificationError:
            out[:] = self._incidence.any(axis=1)
            out[leader] = 0.0
            return math.inf
        if after.solves is not before.solves:
            last = memory.solves[0] = len(after.solves)
            memory.solved_at[last - 1], memory.solved_from[last - 1] = after.solves[-1]
            self._solutions.keep(_solves_of(follower, memory), after)
        memory.followed[:] = after.rates
        out[:] = held.rates if held.best == leader else 0.0
        out[out < DUST] = 0.0
        out[leader] = 0.0
        return float((held.upper - held.lower) / held.upper) if held.upper > 0 else 0.0

    def test(self, leader: int, level: float, tally: Tally, memory: GeneralMemory) -> None:
        counts = tally.counts.astype(np.float64)
        least = self._project(tally.means, counts, memory)
        weakest = self._ratio(leader, level, tally.means, counts, least, memory, 0)
        memory.numbers[WEAKEST] = weakest
        if weakest >= level:
            return
        shown = self._incidence[leader] > 0
        means = np.where(shown, memory.estimate, tally.means)
        weights = np.where(shown, KNOWN * max(1.0, counts.max(initial=1.0)), counts)
        inside = float(self.programs.losses(means, weights, memory.estimate[None])[0])
        settled = self._ratio(leader, level, means, weights, inside, memory, 1)
        memory.numbers[SETTLED] = settled

    # inside

    def _project(self, means: np.ndarray, counts: np.ndarray, memory: GeneralMemory) -> float:
        """Fill in the maximum-likelihood parameter, from memory if known; returns what it loses."""
        loss: float | None = self._solutions.of(_bytes_of(means, counts, memory))
        if loss is None:
            loss = self._nearest(means, counts, memory)
            self._solutions.keep(_bytes_of(means, counts, memory), loss)
        return loss

    def _nearest(self, means: np.ndarray, counts: np.ndarray, memory: GeneralMemory) -> float:
        """Solve for the maximum-likelihood parameter and fill it in; returns what it loses."""
        if self._is_member(means, counts, memory):
            return 0.0
        keys = [(piece, -1, -1) for piece in range(len(self._pieces))]
        found, _ = self.programs.solve(keys, means, counts, False)
        piece, value, point = min(found, key=lambda item: item[1])
        memory.home[0] = keys[piece][0]
        memory.parameter[:] = point
        memory.estimate[:] = self.programs.inside(self._means @ point)
        memory.rewards[:] = self._pieces[keys[piece][0]].rewards @ point
        return value

    def _is_member(self, means: np.ndarray, counts: np.ndarray, memory: GeneralMemory) -> bool:
        """Take the means for the estimate if a piece holds the one parameter that has them."""
        if self._inverse is None or not counts.all():
            return False
        point = self._inverse @ means
        if np.abs(self._means @ point - means).max(initial=0.0) > EXACT:
            return False
        for home, piece in enumerate(self._pieces):
            if piece.equal_bounds.size:
                off = np.abs(piece.equal_matrix @ point - piece.equal_bounds).max()
                if off > EXACT:
                    continue
            if (piece.matrix @ point <= piece.bounds).all():
                memory.home[0] = home
                memory.parameter[:] = point
                memory.estimate[:] = means
                memory.rewards[:] = piece.rewards @ point
                return True
        return False

    def _followed(self, follower: RateTracker, memory: GeneralMemory) -> TrackedSolve:
        """What is held of the rates followed: at hand, or solved for as it was."""
        last = int(memory.solves[0])
        if last == 0:
            return TrackedSolve()
        key = _solves_of(follower, memory)
        held: TrackedSolve | None = self._solutions.of(key)
        if held is None:
            rows = zip(memory.solved_at[:last], memory.solved_from[:last], strict=True)
            held = follower.again([(theta.copy(), rates.copy()) for theta, rates in rows])
            self._solutions.keep(key, held)
        return replace(held, rates=memory.followed.copy())

    def _ratio(
        self,
        leader: int,
        level: float,
        means: np.ndarray,
        counts: np.ndarray,
        least: float,
        memory: GeneralMemory,
        row: int,
    ) -> float:
        """The least likelihood ratio, or some number on the same side of a finite level.

        What an earlier solution for the leader proves is looked at first; the inputs of the last
        one stand in a row of the memory.
        """
        if memory.tested[row] == leader + 1 and level < math.inf:
            proofs = self._tested(leader, memory.tested_means[row], memory.tested_counts[row])[1]
            if proofs is not None:
                lower = self.programs.proved(proofs, means, counts) - least
                if lower >= level:
                    return lower
                upper = self.programs.reached(proofs, means, counts) - least
                if upper < level:
                    return upper
        memory.tested[row] = leader + 1
        memory.tested_means[row], memory.tested_counts[row] = means, counts
        return self._tested(leader, means, counts)[0] - least

    def _tested(
        self, leader: int, means: np.ndarray, counts: np.ndarray
    ) -> tuple[float, Proofs | None]:
        """The least loss of any alternative, and what its solution proves elsewhere."""
        key = ("tested", leader, means.tobytes(), counts.tobytes())
        known: tuple[float, Proofs | None] | None = self._solutions.of(key)
        if known is None:
            found, proofs = self.programs.solve(self.programs.rivals(leader), means, counts, True)
            known = min((value for _, value, _ in found), default=math.inf), proofs
            self._solutions.keep(key, known)
        return known


def _solves_of(follower: RateTracker, memory: GeneralMemory) -> Hashable:
    """The solves that led to the rates followed."""
    last = int(memory.solves[0])
    at, begun = memory.solved_at[:last], memory.solved_from[:last]
    return ("followed", follower.kappa, at.tobytes(), begun.tobytes())


def _bytes_of(means: np.ndarray, counts: np.ndarray, memory: GeneralMemory) -> tuple[bytes, ...]:
    """The data, and all of a memory that is an estimate from them."""
    parts = (means, counts, memory.estimate, memory.rewards, memory.parameter, memory.home)
    return tuple(part.tobytes() for part in parts)
