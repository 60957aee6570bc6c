"""Cutting planes for the Graves–Lai program of a union of polytopes.

The master is the linear program over the confusing parameters met so far; its value bounds
C from below.  Each round solves every region's program at rates between the best feasible
ones and the master's ("in–out": Ben-Ameur and Neto, 2007), which bounds C from above, and
adds one row for each region.  What is returned is proved by multipliers and by the
master's weights, never by a status word.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ossb import deadlines
from ossb.graves_lai.generic.certificate import told_by
from ossb.graves_lai.generic.duals import Dual
from ossb.graves_lai.generic.listed_cuts import scaled_rows
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.region import Region, region_of
from ossb.graves_lai.generic.separation import Evaluation, Separation
from ossb.graves_lai.generic.small_master import SmallMaster
from ossb.graves_lai.linprog import Master

ROUNDS = 60
MIXED = 0.1  # share of the best feasible rates in the ones tried next
NEAR = 0.02  # the same once the gap is small
TIDIED = 4  # how often to try for rates with no negligible entries
DEAREST = 10.0  # times the master's cost: what feasible rates count as, at most, when mixed
NEGLIGIBLE = 1e-15  # shares of the cost below this are rounding
UNSEEN = 1e-9  # shares of the cost below this are dropped if the gap allows it


@dataclass(frozen=True, eq=False)
class Cut:
    """A confusing parameter met: its region, itself, and D(θ, λ, x) of every arm."""

    region: int
    parameter: np.ndarray
    divergences: np.ndarray


@dataclass(eq=False)
class Answer:
    """Rates with their two bounds and what proves these."""

    rates: np.ndarray
    lower: float
    upper: float
    duals: list[Dual]
    cuts: list[Cut] = field(default_factory=list)
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    rounds: int = 0
    n_regions: int = 0  # of which the last multipliers are

    @property
    def gap(self) -> float:
        return 0.0 if self.upper == self.lower else (self.upper - self.lower) / self.upper


def regions_of(program: Program) -> tuple[list[Region], list[Dual]]:
    """Regions that hold confusing parameters, and proofs that the others do not."""
    regions: list[Region] = []
    empty: list[Dual] = []
    for piece, arm in program.pairs():
        deadlines.check()
        found = region_of(program, piece, arm)
        if isinstance(found, Region):
            regions.append(found)
        else:
            empty.append(found)
    return regions, empty


def solve(
    program: Program,
    separation: Separation | None,
    empty: Sequence[Dual],
    gap: float,
    cuts: Sequence[Cut] = (),
    rates: np.ndarray | None = None,
) -> Answer:
    """Solve the program to a relative gap.

    ``separation`` holds its regions, None if all are empty; ``empty`` the proofs for the empty
    ones, which go with the answer; ``cuts`` and ``rates`` are what to start from.
    """
    if separation is None:
        return Answer(np.zeros(program.gaps.size), 0.0, 0.0, list(empty))
    return Search(program, separation, gap, cuts, rates).run(empty)


class Search:
    """The state of the cutting planes, begun at given rates and confusing parameters.

    ``small``: the master is quick for few arms, and not meant for the hardest programs.
    """

    def __init__(
        self,
        program: Program,
        separation: Separation,
        gap: float,
        cuts: Sequence[Cut],
        rates: np.ndarray | None,
        small: bool = False,
    ) -> None:
        self.program, self.separation, self.gap = program, separation, gap
        self.others = program.others
        self.gaps = program.gaps[self.others]
        self.cuts: list[Cut] = []
        self.upper, self.lower = math.inf, 0.0
        self.best: np.ndarray = np.zeros(program.gaps.size)
        self.sources: list[tuple[Evaluation, float]] = []
        self.proofs: dict[int, Evaluation] = {}
        self.scale = 1.0
        self.weights = np.zeros(0)
        if rates is None or not (rates[self.others] > 0).any():
            rates = np.zeros(program.gaps.size)
            rates[self.others] = 1.0 / self.gaps
        first = self._try(rates)
        self.unit = self.upper if 0.0 < self.upper < math.inf else 1.0
        size = int(self.gaps.size)
        self.master = SmallMaster(size) if small else Master(np.ones(size))
        self.rows, self.largest = np.zeros((0, size)), np.zeros(0)
        self._add([*cuts, *self._cuts(first)])

    def weigh(self, weights: np.ndarray) -> None:
        """Bound C from below by weights on the parameters the search began with."""
        rows = self.rows[: weights.size]
        if weights.sum() > 0:
            heaviest = float(((weights @ rows) / self.gaps).max())
            self.lower = max(self.lower, float(weights.sum()) / heaviest)

    @property
    def relative(self) -> float:
        """The relative gap so far."""
        if self.upper == 0.0:
            return 0.0  # every alternative is infinitely far off, however little is explored
        return (self.upper - self.lower) / self.upper if math.isfinite(self.upper) else 1.0

    def run(self, empty: Sequence[Dual], proofs: bool = True) -> Answer:
        """Go on until the gap is met; without ``proofs``, as soon as it is."""
        rounds = tidied = 0
        while rounds < ROUNDS and self.upper > 0.0 and self.cuts:
            rounds += 1
            outside = self._solve_master()
            if not proofs and self.relative <= self.gap:
                break  # rates to play by need not leave out every arm that could be
            if self.relative <= 0.5 * self.gap:
                tidied += 1
                if self._tidy(outside) or tidied == TIDIED:
                    break
            mixed = MIXED if self.relative > 1e-2 else NEAR
            if not math.isfinite(self.upper):
                rates = outside + np.where(self.program.gaps > 0, 1e-3 * self.unit, 0.0)
            else:
                rates = self._between(mixed, outside)
            self._add(self._cuts(self._try(rates)))
        return self._answer(empty, rounds, proofs)

    def _between(self, mixed: float, outside: np.ndarray) -> np.ndarray:
        """Rates between the best feasible ones and the master's, which tells what they cost.

        Feasible rates that cost a lot more are first brought down: only proportions count.
        """
        cost = float(outside @ self.program.gaps)
        best = self.best * min(1.0, DEAREST * cost / self.upper)
        rates = mixed * best + (1.0 - mixed) * outside
        costs = rates * self.program.gaps
        return np.where(costs > NEGLIGIBLE * costs.sum(), rates, 0.0)

    def _tolerance(self) -> float:
        return max(1e-11, min(1e-5, 0.01 * self.relative, 0.02 * self.gap))

    def _try(self, rates: np.ndarray) -> Evaluation:
        """Evaluate rates; keep them if they are the best feasible ones so far."""
        deadlines.check()
        evaluation = self.separation.evaluate(rates, self._tolerance())
        proved, sources = self._proofs(evaluation)
        least = float(proved.min())
        cost = float(rates[self.others] @ self.gaps)
        if least > 0 and cost / least < self.upper:
            self.upper, self.best = cost / least, rates / least
            self.scale, self.sources = least, sources
        return evaluation

    def _proofs(self, evaluation: Evaluation) -> tuple[np.ndarray, list[tuple[Evaluation, float]]]:
        """What is proved in each region, by which evaluation's multipliers, times which factor.

        Where an evaluation proves nothing, its multipliers may once they are settled; if not,
        those of an older one may: information grows with the weights, and in proportion to them.
        """
        proved = evaluation.proved.copy()
        sources = [(evaluation, 1.0)] * proved.size
        informative = self.program.informative
        for a in range(proved.size):
            if not proved[a] > 0:
                settled = self.separation.dual(a, evaluation)
                proved[a] = told_by(self.program, settled, evaluation.weights)
                evaluation.proved[a] = proved[a]
            if math.isfinite(proved[a]):
                self.proofs[a] = evaluation
            elif a in self.proofs:
                older = self.proofs[a]
                before = older.weights[informative]
                ratios = evaluation.weights[informative][before > 0] / before[before > 0]
                factor = float(ratios.min())
                proved[a] = factor * older.proved[a]
                sources[a] = (older, factor)
        return proved, sources

    def _cuts(self, evaluation: Evaluation) -> list[Cut]:
        finite = np.isfinite(evaluation.divergences).all(axis=1)
        good = finite & self.separation.confuse(evaluation.parameters, slice(None))
        return [
            Cut(int(a), evaluation.parameters[a], evaluation.divergences[a])
            for a in np.flatnonzero(good)
        ]

    def _add(self, cuts: Sequence[Cut]) -> None:
        if not cuts:
            return
        rows = np.array([cut.divergences[self.others] for cut in cuts])
        scaled, largest = scaled_rows(self.gaps, rows)
        self.master.add_rows(scaled, 1.0 / (largest * self.unit))
        self.rows = np.concatenate([self.rows, rows])
        self.largest = np.concatenate([self.largest, largest])
        self.cuts += cuts

    def _solve_master(self) -> np.ndarray:
        """The master's rates; its weights, rescaled, give the lower bound."""
        solution = self.master.solve()
        rates = np.zeros(self.program.gaps.size)
        costs = np.maximum(solution.point, 0.0)
        rates[self.others] = np.where(costs > UNSEEN * costs.sum(), costs, 0.0) / self.gaps
        rates *= self.unit
        weights = np.maximum(solution.duals, 0.0) / self.largest
        total = float(weights.sum())
        if total > 0:
            lower = total / float(((weights @ self.rows) / self.gaps).max())
            if lower > self.lower:
                self.lower, self.weights = lower, weights * (lower / total)
        return rates

    def _tidy(self, outside: np.ndarray) -> bool:
        """Take the master's own rates, which leave arms out, if they are good enough."""
        kept = self.upper, self.best, self.sources, self.scale
        self.upper = math.inf
        evaluation = self._try(outside)
        if self.relative <= self.gap:
            return True
        self._add(self._cuts(evaluation))
        if kept[0] < self.upper:
            self.upper, self.best, self.sources, self.scale = kept
        return False

    def _answer(self, empty: Sequence[Dual], rounds: int, proofs: bool) -> Answer:
        duals: list[Dual] = []
        rates, upper = self.best, self.upper
        if self.sources and proofs:
            duals = [
                self.separation.dual(a, evaluation).scaled(factor)
                for a, (evaluation, factor) in enumerate(self.sources)
            ]
            rates, upper, duals = self._certified(duals)
        used = np.flatnonzero(self.weights > 0)
        return Answer(
            rates,
            min(self.lower, upper),
            upper,
            [*empty, *duals],
            [self.cuts[k] for k in used],
            self.weights[used],
            rounds,
            len(duals),
        )

    def _certified(self, duals: Sequence[Dual]) -> tuple[np.ndarray, float, list[Dual]]:
        """Rates rescaled by what the multipliers prove, as the checker will see them."""
        raw = self.best * self.scale
        weights = self.program.weights(raw)
        least = min(told_by(self.program, dual, weights) for dual in duals)
        if not least > 0:
            return self.best, math.inf, list(duals)
        rates = raw / least
        upper = float(rates[self.others] @ self.gaps)
        return rates, upper, [dual.scaled(1.0 / least) for dual in duals]
