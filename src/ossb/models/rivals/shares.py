"""The best shares of plays at an estimate, through the rivals alone.

V(κ) = min Σ κ(x) η(x) with Z_j(η) ≥ 1 for every rival, Z_j the likelihood ratio that rates η would
bring at the estimate; κ = 1 is the characteristic time T*, and η / Σ η its shares w* (Garivier and
Kaufmann, 2016).  In shares y of what is spent, y ∝ κ η, that is the largest min_j Z_j(y / κ), a
concave function of degree 1: what each rival's alternative tells, priced, is a plane above it.

Cutting planes: rates of the planes' own maximum, moved half way back to the best shares so far
(Ben-Ameur and Neto, 2007), bring the planes of the rivals least ruled out there.  The planes'
value is above the best one, so that the shares are known to be within ``CLOSE`` of the best.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ossb.models.rivals.base import Contest
from ossb.models.rivals.cover import Cover, begin_cover, cheapest_cover, forget_rows, new_cover
from ossb.records import Ints, record
from ossb.tally import Tally

SCALE = 1e9  # plays of which shares are imagined
CLOSE = 1e-3
ROUNDS = 100
AT_ONCE = 8  # planes in a round
BACK = 0.5
STEEPEST = 1e6  # of a plane, in units of the value: an arm of which one play decides
SPREAD = 0.1  # of a first guess, that is spread over all arms
SHARES, BEST, QUERY, TOLD = 0, 1, 2, 3  # rows of Imagined.line


class Imagined(NamedTuple):
    """Plays that were not made, and what the rivals make of them."""

    tally: Tally
    contest: Contest
    cover: Cover
    line: np.ndarray  # float64 (4, n_arms): shares of what is spent, and work


@record
class Showing(NamedTuple):
    """Arm x shows the components ``shown[starts[x]:starts[x + 1]]``."""

    starts: Ints
    shown: Ints

    def start_imagined(self, rivals: Any, solves: bool) -> Imagined:
        """Room for shares, and for solving for them (Python only)."""
        contest: Contest = rivals.start()
        n, c = self.starts.shape[0] - 1, contest.news.shape[0]
        tally = Tally(
            np.zeros(c, np.int64),
            np.zeros(c),
            np.zeros(c, np.int64),
            np.ones(n, np.int64),
            np.zeros(3, np.int64),
            np.ones(1, np.int64),
        )
        cover = new_cover(n, 2 * n + 4 * AT_ONCE) if solves else new_cover(1, 1)
        return Imagined(tally, contest, cover, np.zeros((4, n)))

    def tell_arms(self, news: np.ndarray, low: int, high: int, out: np.ndarray) -> None:
        """What one play of each of the arms low, …, high − 1 tells."""
        for x in range(low, high):
            out[x] = 0.0
            for place in range(self.starts[x], self.starts[x + 1]):
                out[x] += news[self.shown[place]]

    def imagine_plays(self, spent: np.ndarray, prices: np.ndarray, tally: Tally) -> float:
        """Plays of which y is spent; returns the spending of one of them, on average."""
        total = 0.0
        for x in range(spent.shape[0]):
            total += spent[x] / prices[x]
        for k in range(tally.counts.shape[0]):
            tally.counts[k] = 0
        for x in range(spent.shape[0]):
            played = int(SCALE * (spent[x] / prices[x] / total))
            tally.plays[x] = played
            for place in range(self.starts[x], self.starts[x + 1]):
                tally.counts[self.shown[place]] += played
        return 1.0 / total

    def oppose_fully(
        self,
        rivals: Any,
        rival: int,
        leader: int,
        epsilon: float,
        tally: Tally,
        contest: Contest,
        prices: np.ndarray,
        out: np.ndarray,
    ) -> float:
        """What a play of each arm tells against a rival, in units in which all plays tell Z_j.

        Divided by its price; returns Z_j, and where that is 0 all plays tell 1.
        """
        rivals.oppose(rival, leader, epsilon, tally, contest)
        self.tell_arms(contest.news, 0, out.shape[0], out)
        total = 0.0
        for k in range(contest.news.shape[0]):
            if tally.counts[k] > 0:
                total += tally.counts[k] * contest.news[k]
        ratio = contest.ratios[rival]
        scale = 0.0
        if 0.0 < total < math.inf:
            scale = (ratio if ratio > 0.0 else 1.0) / total
        for x in range(out.shape[0]):
            out[x] = out[x] * scale / prices[x] if scale > 0.0 else 0.0
        return float(ratio)

    def best_shares(
        self, rivals: Any, epsilon: float, prices: np.ndarray, imagined: Imagined
    ) -> float:
        """Fill the shares y, given those to begin with and the means of the estimate.

        Returns min_j Z_j for a spending of 1; 0 where a rival ties, of which y are then shares.
        """
        line, cover, n = imagined.line, imagined.cover, prices.shape[0]
        best, query = line[BEST], line[QUERY]
        self.spread_guess(prices, imagined)
        for x in range(n):
            query[x] = line[SHARES, x]
        begin_cover(cover)
        highest, above, unit = 0.0, math.inf, 0.0
        for turn in range(ROUNDS):
            each = self.imagine_plays(query, prices, imagined.tally)
            leader = rivals.rank(epsilon, imagined.tally, imagined.contest)
            least = math.inf
            for j in range(imagined.contest.ratios.shape[0]):
                least = min(least, imagined.contest.ratios[j])
            if least == math.inf:
                return math.inf
            found = least / (SCALE * each)
            if turn == 0 or found > highest:
                highest = found
                for x in range(n):
                    best[x] = query[x]
            if turn == 0:
                unit = found
                if not unit > 0.0:
                    return self.share_tie(rivals, leader, epsilon, prices, imagined)
            self.add_planes(rivals, leader, epsilon, prices, unit, above, each, imagined)
            cost = cheapest_cover(cover)
            if not cost > 0.0:
                break
            above = unit / cost
            if highest >= (1.0 - CLOSE) * above:
                break
            total = 0.0
            for x in range(n):
                total += max(cover.point[x], 0.0)
            for x in range(n):
                own = max(cover.point[x], 0.0) / total
                query[x] = BACK * best[x] + (1.0 - BACK) * own
        for x in range(n):
            line[SHARES, x] = best[x]
        return highest

    def spread_guess(self, prices: np.ndarray, imagined: Imagined) -> None:
        """Begin with the shares there are, and some of all arms."""
        guess, total, paid, n = imagined.line[SHARES], 0.0, 0.0, prices.shape[0]
        for x in range(n):
            total += guess[x]
            paid += prices[x]
        for x in range(n):
            own = guess[x] / total if total > 0.0 else prices[x] / paid
            guess[x] = (1.0 - SPREAD) * own + SPREAD * prices[x] / paid

    def add_planes(
        self,
        rivals: Any,
        leader: int,
        epsilon: float,
        prices: np.ndarray,
        unit: float,
        above: float,
        each: float,
        imagined: Imagined,
    ) -> None:
        """Add the planes of the rivals least ruled out, of those that can bind."""
        cover, contest, told = imagined.cover, imagined.contest, imagined.line[TOLD]
        ratios = contest.ratios
        if cover.sizes[0] + AT_ONCE > cover.rows.shape[0]:
            forget_rows(cover)
        last, rival = -1.0, -1
        for _ in range(AT_ONCE):
            before, rival = rival, -1
            for j in range(ratios.shape[0]):
                later = ratios[j] > last or (ratios[j] == last and j > before)
                if later and (rival < 0 or ratios[j] < ratios[rival]):
                    rival = j
            if rival < 0 or not ratios[rival] < above * SCALE * each:
                return
            last = ratios[rival]
            if cover.sizes[0] == cover.rows.shape[0]:
                return
            tally = imagined.tally
            ratio = self.oppose_fully(rivals, rival, leader, epsilon, tally, contest, prices, told)
            if ratio > 0.0:
                row = cover.rows[cover.sizes[0]]
                for x in range(told.shape[0]):
                    row[x] = min(told[x] / unit, STEEPEST)
                cover.sizes[0] += 1

    def share_tie(
        self,
        rivals: Any,
        leader: int,
        epsilon: float,
        prices: np.ndarray,
        imagined: Imagined,
    ) -> float:
        """A rival that is as good as the leader: shares by what tells the two apart."""
        rival, contest, told = 0, imagined.contest, imagined.line[TOLD]
        for j in range(contest.ratios.shape[0]):
            if contest.ratios[j] < contest.ratios[rival]:
                rival = j
        rivals.oppose(rival, leader, epsilon, imagined.tally, contest)
        self.tell_arms(contest.news, 0, told.shape[0], told)
        total = 0.0
        for x in range(told.shape[0]):
            total += told[x]
        for x in range(told.shape[0]):
            imagined.line[SHARES, x] = told[x] / total if 0.0 < total < math.inf else prices[x]
        return 0.0


def showing_of(reveals: Any) -> Showing:
    """What the arms show, from a list of components for each."""
    starts = np.cumsum([0, *(len(components) for components in reveals)])
    shown = np.array([c for components in reveals for c in components], dtype=np.int64)
    return Showing(starts, shown)
