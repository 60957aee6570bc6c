"""Semi-bandit feedback on listed arms, as policies see them.

Every item of the arm played is observed.  Alternatives are item-wise: for each item, the best
arm with that item's membership changed (swaps of two items alone can lock, on paths for one).
With r the estimated rewards and b the leader, z = (r_b − r_j) / s, s² = Σ v_i/N_i over the items
that tell j from b (``item_gain.py``), and a play lowers the expected improvement of j by
½ φ(z) v_i / (N_i² s) for each of these items it shows: what plays buy is additive over items.  Of
counts, which have no prior, v_i has half a count more (Jeffreys): an item that has shown none is
not one that never will.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.errors import InputError
from ossb.families import Bernoulli, Bounded, Family, Gaussian, Poisson
from ossb.graves_lai.semi_bandit.bernoulli_items import BernoulliItems
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.graves_lai.semi_bandit.poisson_items import PoissonItems
from ossb.graves_lai.semi_bandit.rates import SemiBanditMemory
from ossb.graves_lai.semi_bandit.rates import rates as program_rates
from ossb.graves_lai.semi_bandit.rates import start as start_program
from ossb.kernels import kernel
from ossb.models.base import SETTLED, WEAKEST
from ossb.models.improvement import conclude
from ossb.models.item_gain import CHANCES, IMPROVEMENTS, LARGEST, add_rival, look_at_items
from ossb.models.item_ratio import item_ratio
from ossb.records import Flags, Floats, Ints, record
from ossb.tally import Tally

EDGE = 1e-6  # rates are asked for at item means at least this far from the ends of their space


class SemiBanditLook(NamedTuple):
    """The common look, and the items behind it."""

    estimate: np.ndarray
    rewards: np.ndarray
    gain: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray  # float64 (n_items,): observations, prior and pending included
    doubts: np.ndarray  # float64 (n_items,): v_i / N_i
    worth: np.ndarray  # float64 (n_items,): what one observation of each item buys
    rivals: np.ndarray  # bool (n_arms,): arms that are best with some item changed
    kept: np.ndarray  # float64 (n_items,): the estimate, kept from the ends of the mean space
    program: SemiBanditMemory
    slopes: np.ndarray  # float64 (2, n_arms): of the last likelihood ratios, see ``item_ratio``
    spread: np.ndarray  # float64 (n_items,): doubts half way to where a rival meets the leader
    inside: np.ndarray  # bool (n_items,): those of the leader
    apart: np.ndarray  # int64 (n_items,): the items that tell a rival from the leader, first
    sums: np.ndarray  # float64 (3,): over all rivals


@kernel
def find_rivals(
    arms: np.ndarray, rewards: np.ndarray, leader: int, used: np.ndarray, out: np.ndarray
) -> None:
    """For each item, the best arm with that item's membership changed, lowest on ties."""
    for x in range(arms.shape[0]):
        out[x] = False
    for i in range(arms.shape[1]):
        if not used[i]:
            continue
        rival = -1
        for x in range(arms.shape[0]):
            if arms[x, i] != arms[leader, i] and (rival < 0 or rewards[x] > rewards[rival]):
                rival = x
        if rival >= 0:
            out[rival] = True


@record
class SemiBanditModel(NamedTuple):
    """Sets of items; a play shows each of its items.

    Parameters
    ----------
    family
        The observations of an item.
    items
        The same as the solver sees them: in units of σ where Gaussian.
    arms
        A 0/1 matrix, one row per arm.
    used
        Items that some arm has.
    covering
        Arms that together have every item used.
    prior, prior_mean
        Pseudo-observations of each item in ``weigh``, as for independent arms.
    scale
        What the rates of ``items`` are to be multiplied by: σ² for Gaussian items, solved for
        unit variance.
    is_gaussian
        Whether items are, and their divergence quadratic.
    half
        Half a count for Poisson items, else 0.
    """

    family: Family
    items: ItemFamily
    arms: Floats
    used: Flags
    covering: Ints
    n_arms: int
    n_components: int
    prior: float
    prior_mean: float
    scale: float
    is_gaussian: bool
    half: float

    def start(self) -> SemiBanditLook:
        n, d = self.n_arms, self.n_components
        return SemiBanditLook(
            np.zeros(d),
            np.zeros(n),
            np.zeros(n),
            np.zeros(4),
            np.zeros(d),
            np.zeros(d),
            np.zeros(d),
            np.zeros(n, np.bool_),
            np.zeros(d),
            start_program(self.arms, self.items),
            np.full((2, n), np.nan),
            np.zeros(d),
            np.zeros(d, np.bool_),
            np.zeros(d, np.int64),
            np.zeros(3),
        )

    def unseen(self, tally: Tally) -> int:
        """The arm with most items never seen, where there are any."""
        if self.prior > 0.0:
            return -1
        missing = False
        for i in range(self.n_components):
            if self.used[i] and tally.counts[i] + tally.pending[i] == 0:
                missing = True
        if not missing:
            return -1
        best, most = -1, 0
        for x in range(self.n_arms):
            fresh = 0
            for i in range(self.n_components):
                if self.arms[x, i] > 0.0 and tally.counts[i] + tally.pending[i] == 0:
                    fresh += 1
            if fresh > most:
                best, most = x, fresh
        return best

    def informative(self, place: int) -> int:
        return self.covering[place] if place < self.covering.shape[0] else -1

    def is_informative(self, arm: int) -> bool:
        size = 0.0
        for i in range(self.n_components):
            size += self.arms[arm, i]
        return size > 0.0

    def plug_in(self, tally: Tally, memory: SemiBanditLook) -> int:
        for i in range(self.n_components):
            memory.estimate[i] = tally.means[i]
        return self.lead(memory)

    def project(self, tally: Tally, memory: SemiBanditLook) -> int:
        return self.plug_in(tally, memory)

    def rates(self, leader: int, kappa: float, memory: SemiBanditLook, out: np.ndarray) -> float:
        low, high = self.family.lowest() + EDGE, self.family.highest() - EDGE
        for i in range(self.n_components):
            memory.kept[i] = min(max(memory.estimate[i], low), high)
        gap = program_rates(memory.kept, kappa, memory.program, out)
        for x in range(self.n_arms):
            out[x] *= self.scale
        return gap

    def test(self, leader: int, level: float, tally: Tally, memory: SemiBanditLook) -> None:
        if self.is_gaussian:
            self.test_quadratic(leader, tally, memory)
            return
        memory.numbers[WEAKEST] = self.least_item_ratio(leader, False, level, tally, memory)
        if memory.numbers[WEAKEST] < level or level == math.inf:
            memory.numbers[SETTLED] = self.least_item_ratio(leader, True, level, tally, memory)

    def least_item_ratio(
        self, leader: int, known: bool, level: float, tally: Tally, memory: SemiBanditLook
    ) -> float:
        """The least ratio, with the leader known or not, or a number on its side of a level."""
        slopes, least = memory.slopes[1 if known else 0], math.inf
        for x in range(self.n_arms):
            if x != leader:
                ratio = item_ratio(
                    self.family, self.arms, leader, x, known, min(level, least), tally, slopes
                )
                least = min(least, ratio)
                if least < level and level < math.inf:
                    break
        return least

    def test_quadratic(self, leader: int, tally: Tally, memory: SemiBanditLook) -> None:
        """Where the divergence is quadratic, gaps and variances say it."""
        weakest, settled = math.inf, math.inf
        for i in range(self.n_components):
            variance = self.family.positive_variance(memory.estimate[i])
            count = tally.counts[i]
            memory.doubts[i] = variance / count if count > 0 else math.inf
        for x in range(self.n_arms):
            apart, outside = 0.0, 0.0
            for i in range(self.n_components):
                if self.arms[x, i] != self.arms[leader, i]:
                    apart += memory.doubts[i]
                    if self.arms[x, i] > 0.0:
                        outside += memory.doubts[i]
            gap = max(memory.rewards[leader] - memory.rewards[x], 0.0)
            if apart > 0.0:
                weakest = min(weakest, 0.5 * gap * gap / apart)
            if outside > 0.0:
                settled = min(settled, 0.5 * gap * gap / outside)
        memory.numbers[WEAKEST] = weakest
        memory.numbers[SETTLED] = settled

    def weigh(self, tally: Tally, memory: SemiBanditLook) -> int:
        d = self.n_components
        look_at_items(self.family, self.prior, self.prior_mean, self.half, tally, memory)
        leader = self.lead(memory)
        find_rivals(self.arms, memory.rewards, leader, self.used, memory.rivals)
        for i in range(d):
            memory.inside[i] = self.arms[leader, i] > 0.0
        for x in range(self.n_arms):
            if memory.rivals[x]:
                self.add(x, memory)
        for x in range(self.n_arms):
            memory.gain[x] = 0.0
            for i in range(d):
                if self.arms[x, i] > 0.0:
                    memory.gain[x] += memory.worth[i]
        sums = memory.sums
        conclude(memory.numbers, sums[CHANCES], sums[IMPROVEMENTS], sums[LARGEST])
        return leader

    def add(self, x: int, memory: SemiBanditLook) -> None:
        """Add what a rival makes an observation of each item worth."""
        n_apart = 0
        for i in range(self.n_components):
            if (self.arms[x, i] > 0.0) != memory.inside[i]:
                memory.apart[n_apart] = i
                n_apart += 1
        add_rival(self.family, self.prior > 0.0, memory.apart[:n_apart], memory)

    def lead(self, memory: SemiBanditLook) -> int:
        """The arm of the largest estimated reward, lowest on ties; fills the rewards."""
        leader = 0
        for x in range(self.n_arms):
            memory.rewards[x] = 0.0
            for i in range(self.n_components):
                if self.arms[x, i] > 0.0:
                    memory.rewards[x] += memory.estimate[i]
            if memory.rewards[x] > memory.rewards[leader]:
                leader = x
        return leader


def covering_arms(arms: np.ndarray) -> list[int]:
    """Arms that together have every item, the one with most new items first."""
    missing = arms.max(axis=0) > 0
    chosen: list[int] = []
    while missing.any():
        fresh = (arms[:, missing] > 0).sum(axis=1)
        chosen.append(int(np.argmax(fresh)))
        missing &= ~(arms[chosen[-1]] > 0)
    return chosen or [0]


def solver_items(family: Family) -> ItemFamily:
    """A family as the semi-bandit solver sees it; Gaussian items in units of σ."""
    if isinstance(family, Gaussian):
        return GaussianItems(1.0)
    if isinstance(family, Bernoulli | Bounded):
        return BernoulliItems(family.sign)
    if isinstance(family, Poisson):
        return PoissonItems(family.sign)
    raise InputError("observation", "be gaussian, bernoulli, bounded or poisson", family)


def semi_bandit_model(arms: np.ndarray, family: Family, sign: float) -> SemiBanditModel:
    """The model of arms given as rows of a 0/1 matrix."""
    rows = np.ascontiguousarray(arms, dtype=np.float64)
    has_prior = isinstance(family, Bernoulli | Bounded)
    return SemiBanditModel(
        family,
        solver_items(family),
        rows,
        rows.max(axis=0) > 0,
        np.array(covering_arms(rows)),
        rows.shape[0],
        rows.shape[1],
        2.0 if has_prior else 0.0,
        0.5 * sign,
        family.sigma * family.sigma if isinstance(family, Gaussian) else 1.0,
        isinstance(family, Gaussian),
        0.5 if isinstance(family, Poisson) else 0.0,
    )
