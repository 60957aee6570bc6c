"""Polytopes and unions of polytopes, as policies see them; interpreted, on numpy.

With m the empirical means and N the counts, the estimate minimises Σ_k N_k d(m_k, (M λ)_k) over
the pieces, and the likelihood ratio against arm j is what that minimum rises by where j is to be
at least as good as the leader: one convex program for each (piece, arm), all solved at once.
The regions do not depend on the data, so their interiors are found once.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ossb.graves_lai.generic.barrier import Batch, minimise
from ossb.graves_lai.generic.divergence import Divergence
from ossb.graves_lai.generic.following import Follower
from ossb.graves_lai.generic.program import Piece
from ossb.graves_lai.linprog import solve_lp
from ossb.models.base import NU, SETTLED, TOP_SHARE, WEAKEST
from ossb.models.improvement import DECIDED, improvement
from ossb.tally import Tally

TOLERANCE = 1e-7
ROOM = 1e-9  # a region without this much slack, at unit scale, holds no strict alternative
KNOWN = 1e9  # weight of what the leader shows where it counts as known
LARGE = 1e3  # unbounded regions are looked at this far out, in units of their data


class GeneralMemory(NamedTuple):
    """The common look, and the estimated parameter."""

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    parameter: np.ndarray  # float64 (n,): λ̂
    home: np.ndarray  # int64 (1,): the piece that holds it


class Region(NamedTuple):
    """{rows λ ≤ sides} within its own affine hull, from a point well inside."""

    middle: np.ndarray  # (n,)
    basis: np.ndarray  # (n, r)
    rows: np.ndarray  # (m, n), those that are not tight
    room: np.ndarray  # (m,), slack at the middle


class GeneralModel:
    """Arms that show components of a parameter known to lie in one of several polytopes.

    Parameters
    ----------
    means
        Component means are means λ.
    incidence
        1 where an arm (row) shows a component (column).
    variance
        Variance of a component at a mean.
    """

    def __init__(
        self,
        divergence: Divergence,
        means: np.ndarray,
        incidence: np.ndarray,
        pieces: Sequence[Piece],
        variance: Any,
        follower: Any,
    ) -> None:
        self.n_arms, self.n_components = (int(n) for n in incidence.shape)
        self._divergence, self._means, self._incidence = divergence, means, incidence
        self._pieces, self._variance = tuple(pieces), variance
        self._follow = follower
        self._followers: dict[float, Follower] = {}
        self._regions: dict[tuple[int, int, int], Region | None] = {}
        self._set = _showing_all(incidence)

    def start(self) -> GeneralMemory:
        return GeneralMemory(
            np.zeros(self.n_components),
            np.zeros(self.n_arms),
            np.zeros(self.n_arms),
            np.zeros(4),
            np.zeros(self._means.shape[1]),
            np.zeros(1, np.int64),
        )

    def unseen(self, tally: Tally) -> int:
        for arm in self._set:
            if tally.plays[arm] == 0:
                return int(arm)
        return -1

    def informative(self, place: int) -> int:
        return int(self._set[place]) if place < len(self._set) else -1

    def speaks(self, arm: int) -> bool:
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
        follower = self._followers.setdefault(kappa, self._follow(kappa))
        held = follower.rates(memory.parameter.copy())
        out[:] = held.rates if held.best == leader else 0.0
        out[leader] = 0.0
        return float((held.upper - held.lower) / held.upper) if held.upper > 0 else 0.0

    def test(self, leader: int, level: float, tally: Tally, memory: GeneralMemory) -> None:
        counts = tally.counts.astype(np.float64)
        least = self._project(tally.means, counts, memory)
        found = self._alternatives(leader, tally.means, counts)
        memory.numbers[WEAKEST] = min((value for _, value, _ in found), default=math.inf) - least
        if memory.numbers[WEAKEST] >= level:
            return
        shown = self._incidence[leader] > 0
        means = np.where(shown, memory.estimate, tally.means)
        weights = np.where(shown, KNOWN * max(1.0, counts.max(initial=1.0)), counts)
        inside = self._loss(means, weights, memory.estimate)
        known = self._alternatives(leader, means, weights)
        memory.numbers[SETTLED] = min((value for _, value, _ in known), default=math.inf) - inside

    def weigh(self, tally: Tally, memory: GeneralMemory) -> int:
        counts = (tally.counts + tally.pending).astype(np.float64)
        least = self._project(tally.means, tally.counts.astype(np.float64), memory)
        leader = int(np.argmax(memory.rewards))
        memory.gain[:] = 0.0
        spread = np.array([max(self._variance(float(m)), 1e-12) for m in memory.estimate])
        seen = self._means * np.sqrt(counts / spread)[:, None]
        inverse = np.linalg.pinv(seen.T @ seen, rcond=1e-12, hermitian=True)
        chances, improvements, largest = 0.0, 0.0, 0.0
        for arm, value, components in self._alternatives(
            leader, tally.means, tally.counts.astype(np.float64)
        ):
            glr = max(value - least, 0.0)
            if glr > DECIDED:
                continue
            rewards = self._pieces[int(memory.home[0])].rewards
            row = rewards[arm] - rewards[leader]
            pull = self._means @ (inverse @ row)
            deviation = math.sqrt(max(float(row @ inverse @ row), 1e-24))
            gap = float(memory.rewards[leader] - memory.rewards[arm])
            part = improvement(glr, gap, deviation, 1.0)
            each = self._divergence.value(memory.estimate, components)
            spent = float(counts @ np.where(counts > 0, each, 0.0))
            if part.tie or not 0.0 < spent < math.inf:
                each, spent = pull * pull / spread, deviation * deviation
            chances += part.chance
            improvements += part.expected
            largest = max(largest, part.expected)
            once = counts / (1.0 + counts)
            memory.gain[:] += part.factor * (self._incidence @ (each * once)) / spent
        memory.numbers[NU] = 1.0 / (1.0 + chances)
        memory.numbers[TOP_SHARE] = largest / improvements if improvements > 0.0 else 1.0
        return leader

    # inside

    def _project(self, means: np.ndarray, counts: np.ndarray, memory: GeneralMemory) -> float:
        """Fill in the maximum-likelihood parameter; returns what it loses."""
        keys = [(piece, -1, -1) for piece in range(len(self._pieces))]
        found = self._solve(keys, means, counts)
        piece, value, point = min(found, key=lambda item: item[1])
        memory.home[0] = keys[piece][0]
        memory.parameter[:] = point
        memory.estimate[:] = self._inside(self._means @ point)
        memory.rewards[:] = self._pieces[keys[piece][0]].rewards @ point
        return value

    def _alternatives(
        self, leader: int, means: np.ndarray, counts: np.ndarray
    ) -> list[tuple[int, float, np.ndarray]]:
        """For each arm that could be better: the least loss, and the component means there."""
        keys = [
            (piece, leader, arm)
            for piece in range(len(self._pieces))
            for arm in range(self.n_arms)
            if arm != leader
        ]
        best: dict[int, tuple[float, np.ndarray]] = {}
        for place, value, point in self._solve(keys, means, counts):
            arm = keys[place][2]
            if arm not in best or value < best[arm][0]:
                best[arm] = (value, self._inside(self._means @ point))
        return [(arm, value, components) for arm, (value, components) in best.items()]

    def _inside(self, means: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip(means, self._divergence.lowest, self._divergence.highest))

    def _loss(self, means: np.ndarray, counts: np.ndarray, components: np.ndarray) -> float:
        each = self._divergence.value(means, components)
        return float(np.where(counts > 0, counts * each, 0.0).sum())

    def _solve(
        self, keys: list[tuple[int, int, int]], means: np.ndarray, counts: np.ndarray
    ) -> list[tuple[int, float, np.ndarray]]:
        """(place of the key, least loss, λ) for every region that is not empty."""
        regions = [(place, self._region(key)) for place, key in enumerate(keys)]
        there = [(place, region) for place, region in regions if region is not None]
        if not there:
            return []
        n, columns = self._means.shape[1], max(r.basis.shape[1] for _, r in there)
        columns, rows = max(columns, 1), max(max(r.rows.shape[0] for _, r in there), 1)
        start = np.array([self._means @ r.middle - means for _, r in there])
        slopes = np.zeros((len(there), self.n_components, columns))
        matrix, room = np.zeros((len(there), rows, columns)), np.ones((len(there), rows))
        anchor = np.zeros((len(there), columns, columns))
        for a, (_, region) in enumerate(there):
            free, m = region.basis.shape[1], region.rows.shape[0]
            slopes[a, :, :free] = self._means @ region.basis
            matrix[a, :m, :free] = region.rows @ region.basis
            room[a, :m] = region.room
            padding = np.arange(free, columns)
            anchor[a, padding, padding] = 1.0
        batch = Batch(self._divergence, self._inside(means), start, slopes, matrix, room, anchor)
        weights = np.broadcast_to(counts / max(counts.max(initial=0.0), 1e-300), start.shape)
        outcome = minimise(batch, weights, TOLERANCE)
        answer = []
        for a, (place, region) in enumerate(there):
            point = region.middle + region.basis @ outcome.point[a, : region.basis.shape[1]]
            value = self._loss(means, counts, self._inside(self._means @ point))
            answer.append((place, value, point.reshape(n)))
        return answer

    def _region(self, key: tuple[int, int, int]) -> Region | None:
        if key not in self._regions:
            self._regions[key] = self._find(*key)
        return self._regions[key]

    def _find(self, piece: int, leader: int, arm: int) -> Region | None:
        """The region of a piece where ``arm`` may beat ``leader``; None where it cannot."""
        polytope = self._pieces[piece]
        rows, sides = [polytope.matrix], [polytope.bounds]
        low, high = self._divergence.lowest, self._divergence.highest
        for limit, sign in ((high, 1.0), (low, -1.0)):
            if math.isfinite(limit):
                rows.append(sign * self._means)
                sides.append(np.full(self.n_components, sign * limit))
        if arm >= 0:
            gain = polytope.rewards[arm] - polytope.rewards[leader]
            if not np.abs(gain).max(initial=0.0) > 0.0:
                return None
            rows.append(-gain[None, :] / np.linalg.norm(gain))
            sides.append(np.zeros(1))
        matrix, right = np.vstack(rows), np.concatenate(sides)
        return _interior(matrix, right, polytope.equal_matrix, polytope.equal_bounds, arm >= 0)


def _interior(
    matrix: np.ndarray,
    right: np.ndarray,
    equal: np.ndarray,
    equal_right: np.ndarray,
    strict: bool,
) -> Region | None:
    """A point that keeps the largest distance to every row; rows that allow none are equalities."""
    n = matrix.shape[1]
    norms = np.linalg.norm(matrix, axis=1)
    real = norms > 0
    matrix, right = matrix[real] / norms[real, None], right[real] / norms[real]
    tight = np.zeros(matrix.shape[0], dtype=bool)
    size = LARGE * (1.0 + float(np.abs(right).max(initial=0.0)))
    while True:
        loose = ~tight
        width = np.where(loose, 1.0, 0.0)
        table = np.vstack(
            [
                np.hstack([matrix, width[:, None]]),
                np.hstack([equal, np.zeros((equal.shape[0], 1))]),
            ]
        )
        lower = np.concatenate([np.where(tight, right, -np.inf), equal_right])
        upper = np.concatenate([right, equal_right])
        bounds = np.full(n, size)
        answer = solve_lp(
            np.append(np.zeros(n), -1.0),
            table,
            lower,
            upper,
            np.append(-bounds, 0.0),
            np.append(bounds, size / LARGE),
        )
        if answer.status != "optimal":
            return None
        point, room = answer.point[:n], float(answer.point[n])
        if room > ROOM:
            break
        slack = right - matrix @ point
        bound_rows = loose & (slack <= ROOM) & (np.abs(answer.duals[: matrix.shape[0]]) > 1e-9)
        if not bound_rows.any() or (strict and bound_rows[-1]):
            return None
        tight |= bound_rows
    fixed = np.vstack([matrix[tight], equal])
    basis = np.eye(n)
    if fixed.shape[0]:
        _, singular, directions = np.linalg.svd(fixed)
        rank = int((singular > 1e-10 * singular[0]).sum())
        basis = directions[rank:].T
    loose = ~tight
    return Region(point, basis, matrix[loose], right[loose] - matrix[loose] @ point)


def _showing_all(incidence: np.ndarray) -> list[int]:
    """A small set of arms that together show every component that any arm shows."""
    missing = incidence.any(axis=0)
    chosen: list[int] = []
    while missing.any():
        arm = int(np.argmax((incidence[:, missing] > 0).sum(axis=1)))
        chosen.append(arm)
        missing = missing & ~(incidence[arm] > 0)
    return sorted(chosen)
