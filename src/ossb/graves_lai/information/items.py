"""Arms that are sets of items, each of which is observed when its arm is played.

Set x overtakes the best one b by items that it has and b lacks, whose means rise, and, where plays
of b have a price, by items that b has and x lacks, whose means fall:
F_x(η) = min Σ_i w_i d(φ_i, λ_i) over Σ |λ_i − φ_i| ≥ gap_x, w_i the rate at which item i is seen.
All of them follow one multiplier, a number: w_i d′(φ_i, λ_i) = ± τ, with λ in closed form.  For
Gaussian items F_x = gap_x² / (2σ² Σ 1/w_i), the index of Combes, Talebi, Proutiere and Lelarge
(2015).

F depends on rates through w alone: with d′ = τ/w, a = d′²/(w d″), b = d′/(w d″) and S = Σ 1/(w d″),
its curvature is −∇²F = diag(a) − b bᵀ/S in the weights.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.program.generation import look_at_each, recheck
from ossb.graves_lai.program.work import Alternatives, Plays, Work
from ossb.graves_lai.semi_bandit.item_family import EDGE, ItemFamily
from ossb.kernels import kernel, separate_kernel
from ossb.records import Floats, Ints, record

STEPS = 200
CLOSE = 1e-6  # of a gap and a multiplier: a last step undoes what is left; its square remains
WIDE = 1e-6  # of a gap: within which steps that are lost in rounding may end the search
LOST = 1e-14  # of a multiplier: a step that is
ROUNDING = 1e-12
NO_ALTERNATIVE = 1e300  # F of a set that cannot become the best one; its logarithm is finite
COMPLETE = 12  # up to this many sets all are worked on to begin with
LOOK = 5e-6  # seconds of an interpreted look at one item of one rival
TIE_FLOOR = 1e-12  # gaps of estimates are at least this share of the largest item mean


# one item, on the side on which it moves: functions, since calls of a method copy its record


@kernel
def room_of(rising: ItemFamily, falling: ItemFamily, mean: float, side: float) -> float:
    """How far a mean can move."""
    return rising.room(mean) if side > 0.0 else falling.room(-mean)


@kernel
def load_of(
    rising: ItemFamily, falling: ItemFamily, mean: float, side: float, shift: float
) -> float:
    """What one look tells of a mean that has moved so far."""
    if side > 0.0:
        return float(rising.divergence(mean, shift))
    return float(falling.divergence(-mean, shift))


@kernel
def move_of(
    rising: ItemFamily, falling: ItemFamily, mean: float, side: float, weight: float, tau: float
) -> tuple[float, float]:
    """How far a multiplier moves a mean, and 1/(w d″) there."""
    if side > 0.0:
        return rising.move(mean, weight, tau)
    return falling.move(-mean, weight, tau)


@kernel
def find_multiplier(
    rising: ItemFamily,
    falling: ItemFamily,
    by_place: Floats,
    sides: Floats,
    shifts: Floats,
    count: int,
    need: float,
    guess: float,
    highest: float,
) -> float:
    """Find the multiplier at which items move as far as they need to; fills their shifts.

    Newton's method within a bracket.  One step more is taken in the means themselves: near
    their ends the last digits of the multiplier decide.
    """
    centres, weights, flats = by_place[0], by_place[1], by_place[2]
    low, high, tau, short, slope = 0.0, highest, guess, 0.0, 0.0
    for _ in range(STEPS):
        if not low < tau < high:
            tau = 0.5 * (low + high) if high < math.inf else 2.0 * (tau if tau > low else low)
        short, slope = need, 0.0
        for e in range(count):
            if weights[e] > 0.0:
                mean, side = centres[e], sides[e]
                shift, flat = move_of(rising, falling, mean, side, weights[e], tau)
                shifts[e], flats[e] = shift, flat
                short -= shift
                slope += flat
        if abs(short) <= CLOSE * need and abs(short) <= CLOSE * (slope * tau):
            break
        if short > 0.0:
            low = tau
        else:
            high = tau
        if not slope > 0.0:  # underflow: halve the bracket, or double what is too little
            tau = low
            continue
        if high < math.inf and high - low <= 1e-15 * high:
            break
        step = short / slope
        if abs(step) <= LOST * tau:
            if high == math.inf or abs(short) <= WIDE * need:
                break
            step = 0.5 * (low + high) - tau  # so near a pole that steps are lost in rounding
        tau += step
    if slope > 0.0:
        for e in range(count):
            if weights[e] > 0.0:
                shifts[e] += short * flats[e] / slope
    return tau


@record
class SetItems(NamedTuple):
    """Sets that can be played, sets that have to be told apart, and the last minimisers.

    Items that some alternative moves are numbered anew, from 0; the others have no part.
    """

    rising: ItemFamily
    falling: ItemFamily  # the mirror image, in which means are negative and fall as they rise
    columns: Floats  # (K, d) 1 where a set has an item
    rivals: Floats  # (J, d) likewise
    best: Floats  # (d,) likewise
    is_free: int  # 1 where plays of the best set cost nothing, and what they show is known
    is_quadratic: int  # 1 where divergences are, and F is in closed form
    phi: Floats  # (d,) signed so that more is better
    gaps: Floats  # (J,)
    numbers: Ints  # (1,) how many items are moved
    moved: Ints  # (d,) and which ones
    means: Floats  # (d,) φ of these
    member: Floats  # (d, K) 1 where a column shows such an item
    counts: Ints  # (J,) how many of them an alternative moves
    places: Ints  # (J, d) and which ones
    sides: Floats  # (J, d) 1 for items that rise, −1 for items that fall
    spreads: Floats  # (J,) σ² Σ 1/w, where F is in closed form
    multipliers: Floats  # (J,) τ of the last minimisers; 0 where there is none
    shifts: Floats  # (J, d) |λ − φ| of the last minimisers, by place
    loads: Floats  # (J, d) and what one look at each item tells of it
    kept: Floats  # (J, d) shifts of the minimisers behind the weights
    kept_loads: Floats  # (J, d)
    seen: Floats  # (d,) w
    kept_seen: Floats  # (d,) w behind the weights
    pull: Floats  # (d,) scratch
    by_place: Floats  # (3, d) scratch: φ, w (0 where an item cannot move, or is not seen), 1/(w d″)
    bends: Floats  # (d, d) scratch: curvature in the weights

    def n_alternatives(self) -> int:
        return self.gaps.shape[0]

    def degrees(self) -> int:
        return self.phi.shape[0]

    def follow(self, leader: int, plays: Plays, alternatives: Alternatives) -> None:
        """Open what shows items that are moved, and what moves some."""
        if leader >= 0:
            for i in range(self.phi.shape[0]):
                self.best[i] = self.columns[leader, i]
        self.number()
        for row in range(self.gaps.shape[0]):
            alternatives.is_open[row] = 1 if self.counts[row] > 0 else 0
        for x in range(plays.is_open.shape[0]):
            plays.is_open[x] = 0
            for k in range(self.numbers[0]):
                if self.member[k, x] > 0.0:
                    plays.is_open[x] = 1

    def number(self) -> None:
        """List the items that alternatives move, and for each alternative its own."""
        n_rows, size = self.gaps.shape[0], 0
        for row in range(n_rows):
            self.counts[row], self.multipliers[row] = 0, 0.0
        for i in range(self.phi.shape[0]):
            is_moved = False
            for row in range(n_rows):
                side = self.rivals[row, i] - self.best[i]
                if side > 0.0 or (side < 0.0 and self.is_free == 0):
                    if room_of(self.rising, self.falling, self.phi[i], side) > EDGE:
                        at, is_moved = self.counts[row], True
                        self.places[row, at], self.sides[row, at] = size, side
                        self.counts[row] = at + 1
            if is_moved:
                for x in range(self.columns.shape[0]):
                    self.member[size, x] = 1.0 if self.columns[x, i] > 0.0 else 0.0
                self.moved[size] = i
                size += 1
        self.numbers[0] = size
        self.read_means()

    def read_means(self) -> None:
        """Copy the means of the items that are moved."""
        for k in range(self.numbers[0]):
            self.means[k] = self.phi[self.moved[k]]

    def seed(self, work: Work) -> None:
        """Score all sets where they are few, else for each item the nearest rival and column.

        Sets that cannot become the best one, however large the means of their items, are no rows.
        """
        plays, alternatives, size = work.plays, work.alternatives, self.numbers[0]
        n_columns, n_rows = plays.costs.shape[0], self.gaps.shape[0]
        for k in range(size):
            self.seen[k] = 1.0
        for row in range(n_rows):
            alternatives.told[row] = NO_ALTERNATIVE
            if alternatives.is_open[row] == 1:
                alternatives.told[row] = self.inform(row, math.inf)
                if n_rows <= COMPLETE and alternatives.told[row] < NO_ALTERNATIVE:
                    alternatives.score[row] = 1.0
        for k in range(size):
            cheapest, nearest = -1, -1
            for x in range(n_columns):
                if self.member[k, x] > 0.0 and plays.is_open[x] == 1:
                    if n_columns <= COMPLETE:
                        plays.score[x] = 1.0
                    if cheapest < 0 or plays.costs[x] < plays.costs[cheapest]:
                        cheapest = x
            for row in range(n_rows):
                if self.rivals[row, self.moved[k]] != self.best[self.moved[k]]:
                    if alternatives.told[row] < NO_ALTERNATIVE:
                        if nearest < 0 or self.gaps[row] < self.gaps[nearest]:
                            nearest = row
            if cheapest >= 0:
                plays.score[cheapest] = 1.0
            if nearest >= 0:
                alternatives.score[nearest] = 1.0

    def rescale(self, stretched: float) -> None:
        """Items are coordinates enough."""

    def rule_out(self, chosen: int, is_row: bool, scores: Floats) -> None:
        """No two are alike."""

    def play(self, columns: Ints, count: int, rates: Floats) -> None:
        for k in range(self.numbers[0]):
            total = 0.0
            for e in range(count):
                total += rates[e] * self.member[k, columns[e]]
            self.seen[k] = total

    # one alternative

    def minimise(self, row: int, seen: Floats) -> float:
        """F at item weights, and its multiplier."""
        if self.is_quadratic == 1:
            return self.minimise_quadratic(row, seen)
        count, need, room, spread, highest = self.counts[row], self.gaps[row], 0.0, 0.0, math.inf
        for e in range(count):
            mean, side = self.means[self.places[row, e]], self.sides[row, e]
            weight, end = (
                seen[self.places[row, e]],
                room_of(self.rising, self.falling, mean, side) - EDGE,
            )
            self.shifts[row, e], self.loads[row, e], self.by_place[1, e] = 0.0, 0.0, 0.0
            self.by_place[0, e] = mean
            if not end > 0.0:
                continue
            room += end
            if not weight > 0.0:  # moves as far as it can, and nothing tells
                need -= end
                self.shifts[row, e] = end
                continue
            self.by_place[1, e] = weight
            if side > 0.0:
                spread += self.rising.spread(mean) / weight
                steepest = self.rising.steepest(weight)
            else:
                spread += self.falling.spread(-mean) / weight
                steepest = self.falling.steepest(weight)
            if steepest < highest:
                highest = steepest
        if not room > self.gaps[row] * (1.0 + ROUNDING):
            for e in range(count):
                self.shifts[row, e] = 0.0
            return NO_ALTERNATIVE
        if not need > 0.0 or not spread > 0.0:
            return 0.0
        guess = self.multipliers[row] if self.multipliers[row] > 0.0 else need / spread
        self.multipliers[row] = find_multiplier(
            self.rising, self.falling, self.by_place, self.sides[row], self.shifts[row],
            count, need, guess, highest,
        )  # fmt: skip
        told = 0.0
        for e in range(count):
            if self.by_place[1, e] > 0.0:
                mean, shift = self.means[self.places[row, e]], self.shifts[row, e]
                self.loads[row, e] = load_of(
                    self.rising, self.falling, mean, self.sides[row, e], shift
                )
                told += self.by_place[1, e] * self.loads[row, e]
        return told

    def minimise_quadratic(self, row: int, seen: Floats) -> float:
        """F in closed form; the minimiser is left to ``fill``."""
        spread = 0.0
        for e in range(self.counts[row]):
            if not seen[self.places[row, e]] > 0.0:
                return 0.0
            spread += 1.0 / seen[self.places[row, e]]
        if not spread > 0.0:
            return NO_ALTERNATIVE
        self.spreads[row] = self.rising.spread(0.0) * spread
        self.multipliers[row] = self.gaps[row] / self.spreads[row]
        return 0.5 * self.gaps[row] * self.multipliers[row]

    def fill(self, row: int, seen: Floats) -> None:
        """Fill the minimiser, where F was in closed form, and what it tells by item."""
        if self.is_quadratic == 1:
            for e in range(self.counts[row]):
                weight = seen[self.places[row, e]]
                shift, _ = self.rising.move(0.0, weight, self.multipliers[row])
                self.shifts[row, e] = shift
                self.loads[row, e] = self.rising.divergence(0.0, shift)

    def inform(self, row: int, enough: float) -> float:
        return self.minimise(row, self.seen)

    def inform_all(self, proving: bool, alternatives: Alternatives) -> float:
        return look_at_each(self, proving, alternatives)

    def gradient_at(self, row: int, columns: Ints, count: int, out: Floats) -> None:
        self.fill(row, self.seen)
        for e in range(count):
            out[e] = 0.0
        for k in range(self.counts[row]):
            load, place = self.loads[row, k], self.places[row, k]
            for e in range(count):
                out[e] += load * self.member[place, columns[e]]

    def add_bends(
        self,
        rows: Ints,
        weights: Floats,
        n_rows: int,
        columns: Ints,
        count: int,
        scale: Floats,
        out: Floats,
    ) -> None:
        size = self.numbers[0]
        for i in range(size):
            for k in range(size):
                self.bends[i, k] = 0.0
        for j in range(n_rows):
            self.add_bends_of(rows[j], weights[j])
        for e in range(count):
            for k in range(size):
                total = 0.0
                for i in range(size):
                    total += self.member[i, columns[e]] * self.bends[i, k]
                self.pull[k] = scale[e] * total
            for f in range(e, count):
                total = 0.0
                for k in range(size):
                    total += self.pull[k] * self.member[k, columns[f]]
                out[e, f] += scale[f] * total

    def add_bends_of(self, row: int, weight: float) -> None:
        """Add what an alternative bends in the weights of items."""
        tau, total = self.multipliers[row], 0.0
        for e in range(self.counts[row]):
            k, self.by_place[2, e] = self.places[row, e], 0.0
            if self.loads[row, e] > 0.0:
                _, flat = move_of(
                    self.rising, self.falling, self.means[k], self.sides[row, e], self.seen[k], tau
                )
                self.by_place[2, e] = flat
                total += flat
        for e in range(self.counts[row]):
            k = self.places[row, e]
            if self.by_place[2, e] > 0.0:
                along = tau / self.seen[k] * self.by_place[2, e]
                self.bends[k, k] += weight * (tau / self.seen[k]) * along
                for f in range(self.counts[row]):
                    i = self.places[row, f]
                    if self.by_place[2, f] > 0.0:
                        other = tau / self.seen[i] * self.by_place[2, f]
                        self.bends[k, i] -= weight * along * other / total

    def keep(self, row: int) -> None:
        for e in range(self.counts[row]):
            self.kept[row, e] = self.shifts[row, e]
            self.kept_loads[row, e] = self.loads[row, e]
        for k in range(self.numbers[0]):
            self.kept_seen[k] = self.seen[k]

    def price_held(
        self, rows: Ints, weights: Floats, count: int, is_open: Ints, out: Floats
    ) -> None:
        for k in range(self.numbers[0]):
            self.pull[k] = 0.0
        for j in range(count):
            if weights[j] > 0.0:
                for e in range(self.counts[rows[j]]):
                    place = self.places[rows[j], e]
                    self.pull[place] += weights[j] * self.kept_loads[rows[j], e]
        for x in range(out.shape[0]):
            out[x] = 0.0
        for k in range(self.numbers[0]):
            for x in range(out.shape[0]):
                out[x] += self.pull[k] * self.member[k, x]

    def prove(self, row: int, told: float) -> float:
        """F itself: multipliers are found to rounding, and the check finds its own."""
        return told

    def settle(self, least: float, n_rows: int, work: Work) -> None:
        for k in range(self.numbers[0]):
            self.seen[k] /= least
        for row in range(self.gaps.shape[0]):
            self.spreads[row] *= least

    def proved(self, row: int) -> float:
        if self.is_quadratic == 1:
            return 0.5 * self.gaps[row] * self.gaps[row] / self.spreads[row]
        return self.minimise(row, self.seen)

    def recheck(self, n_rows: int, work: Work) -> tuple[float, float]:
        return recheck(self, n_rows, work)

    def fit(self, row: int) -> bool:
        if self.is_quadratic == 1:  # the same, stretched
            return self.stretch(row)
        told = self.minimise(row, self.kept_seen)
        for e in range(self.counts[row]):
            self.kept[row, e] = self.shifts[row, e]
            self.kept_loads[row, e] = self.loads[row, e]
        return 0.0 < told < NO_ALTERNATIVE

    def stretch(self, row: int) -> bool:
        """Stretch the minimiser held, where F is in closed form, to the gap there is now."""
        reach = 0.0
        for e in range(self.counts[row]):
            reach += self.kept[row, e]
        ratio = self.gaps[row] / reach if reach > 0.0 else 0.0
        for e in range(self.counts[row]):
            self.kept[row, e] *= ratio
            self.kept_loads[row, e] *= ratio * ratio
        return ratio > 0.0

    def fall_back(self, is_open: Ints, out: Floats) -> None:
        """Every alternative watched by plays of its own set; for policies, which list both."""
        for k in range(self.numbers[0]):
            self.seen[k] = 1.0
        for x in range(out.shape[0]):
            out[x] = 0.0
            if is_open[x] == 1:
                told = self.minimise(x, self.seen)
                out[x] = 1.0 / told if told > 0.0 else 0.0

    def take_estimate(self, phi: Floats, plays: Plays) -> int:
        """Take an estimate: means, gaps and regret; the best set, the first of them on ties.

        Estimates tie all the time: gaps have a floor, so that rates stay finite.
        """
        leader, size = 0, 0.0
        for x in range(self.columns.shape[0]):
            reward = 0.0
            for i in range(phi.shape[0]):
                if self.columns[x, i] != 0.0:
                    reward += phi[i]
                    size = max(size, abs(phi[i]))
            self.gaps[x] = reward
            if reward > self.gaps[leader]:
                leader = x
        top, floor = self.gaps[leader], max(TIE_FLOOR * size, 1e-60)
        for x in range(self.columns.shape[0]):
            self.gaps[x] = max(top - self.gaps[x], floor)
            plays.costs[x] = self.gaps[x]
        for i in range(phi.shape[0]):
            self.phi[i] = phi[i]
        self.read_means()
        return leader


def set_items(
    rising: ItemFamily,
    columns: np.ndarray,
    phi: np.ndarray,
    gaps: np.ndarray,
    best: np.ndarray,
    rivals: np.ndarray | None = None,
    falling: ItemFamily | None = None,
) -> SetItems:
    """The record, with room to work in and no minimisers yet.

    Parameters
    ----------
    rising
        How items are observed, more being better.
    columns
        A row for each set that can be played, 1 where it has an item.
    phi
        Means of the items, signed so that more is better.
    gaps
        By how much each rival is worse than the best set.
    best
        The best set.
    rivals
        What has to be told apart from it; the columns if not given.
    falling
        The mirror image of ``rising``; where given, plays of the best set cost something.
    """
    rivals = columns if rivals is None else rivals
    n_items, n_rows = phi.size, len(rivals)
    table = np.zeros((5, n_rows, n_items))
    vectors = np.zeros((4, n_items))
    return SetItems(
        rising=rising,
        falling=rising if falling is None else falling,
        columns=columns,
        rivals=rivals,
        best=np.array(best, dtype=np.float64),
        is_free=1 if falling is None else 0,
        is_quadratic=1 if rising.quadratic() else 0,
        phi=np.array(phi, dtype=np.float64),
        gaps=np.array(gaps, dtype=np.float64),
        numbers=np.zeros(1, np.int64),
        moved=np.zeros(n_items, np.int64),
        means=vectors[0],
        member=np.zeros((n_items, len(columns))),
        counts=np.zeros(n_rows, np.int64),
        places=np.zeros((n_rows, n_items), np.int64),
        sides=table[0],
        spreads=np.ones(n_rows),
        multipliers=np.zeros(n_rows),
        shifts=table[1],
        loads=table[2],
        kept=table[3],
        kept_loads=table[4],
        seen=vectors[1],
        kept_seen=vectors[2],
        pull=vectors[3],
        by_place=np.zeros((3, n_items)),
        bends=np.zeros((n_items, n_items)),
    )


@separate_kernel
def tell(items: SetItems, weights: np.ndarray, out: np.ndarray) -> None:
    """F of every rival where items are seen at such rates; leaves the minimisers there."""
    items.number()
    for k in range(items.numbers[0]):
        items.seen[k] = weights[items.moved[k]]
    for row in range(out.shape[0]):
        out[row] = items.minimise(row, items.seen)


def told(items: SetItems, weights: np.ndarray) -> np.ndarray:
    """As ``tell`` writes it, compiled where that pays."""
    out = np.empty(items.gaps.size)
    tell.quick.expect(LOOK * items.rivals.size, items, weights, out)
    tell.run_as(None)(items, weights, out)
    return out


def step_of(items: SetItems, row: int) -> np.ndarray:
    """λ − φ of the minimiser behind the weight of a rival."""
    count, step = items.counts[row], np.zeros(items.phi.size)
    places = items.moved[items.places[row, :count]]
    step[places] = items.sides[row, :count] * items.kept[row, :count]
    return step
