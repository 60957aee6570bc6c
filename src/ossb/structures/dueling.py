"""Dueling bandits with a Condorcet winner: arms are pairs of items, feedback is who won.

Komiyama et al. (2015).  The regret of the pair (i, j) is ½(θ(i*, i) + θ(i*, j) − 1); pairs
(i, j) and (j, i) are one experiment, and a pair (i, i) shows nothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.families.bernoulli import bernoulli_kl
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.duels import cheapest_opponent, pair_position
from ossb.graves_lai.proof import Alternative, Arm, Ball, ProofError, Support
from ossb.models.dueling import DuelingModel
from ossb.numerics.ties import TIE
from ossb.structures.base import Bound, Instance
from ossb.structures.offers import DUELS, MODEL
from ossb.structures.priced_lists import PricedDuels
from ossb.structures.roster import Keys
from ossb.tally import Tally

SUM_TOLERANCE = 1e-9  # preferences are often printed with a few digits: p_ij + p_ji = 1 to this


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Dueling(Instance):
    """Items compared in pairs.

    Parameters
    ----------
    preferences
        Matrix of the probabilities that item i beats item j, where known.
    n_items
        Number of items; taken from ``preferences`` where that is given.
    arm_names
        Names of the items.

    Examples
    --------
    >>> import ossb
    >>> beers = ossb.Dueling(
    ...     preferences=[[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]],
    ...     arm_names=["ale", "bock", "cider"],
    ... )
    >>> round(ossb.bound(beers).value, 6)
    3.261406
    """

    kind: ClassVar[str] = "dueling"
    offers: ClassVar[tuple[str, ...]] = (MODEL, DUELS)
    parameter: ClassVar[str] = "preferences"
    observations: ClassVar[tuple[str, ...]] = ("bernoulli",)
    reference: ClassVar[str] = "Komiyama, Honda, Kashima and Nakagawa (2015)"

    can_restrict: ClassVar[bool] = True
    can_grow: ClassVar[bool] = True
    has_pairs: ClassVar[bool] = True
    largest: ClassVar[Mapping[str, int]] = {"n_items": 150, "preferences": 150}

    observation: str = "bernoulli"
    n_items: Any = None
    preferences: Any = None

    def __post_init__(self) -> None:
        given = None if self.n_items is None else read.integer(self.n_items, "n_items", least=1)
        if self.preferences is not None:
            matrix = read.matrix(self.preferences, "preferences", given)
            if matrix.shape[0] != matrix.shape[1] or not matrix.size:
                raise InputError("preferences", "be square, with a row for each item", matrix.shape)
            self._set("preferences", matrix)
            given = int(matrix.shape[0])
        if given is None:
            raise InputError("n_items", "be given, or preferences")
        self._set("n_items", given)
        self._read_common(given)
        if self.preferences is not None:
            self._check_preferences()

    def _check_preferences(self) -> None:
        p = self.preferences
        for i in range(self.n_items):
            for j in range(i, self.n_items):
                if not 0 <= p[i, j] <= 1:
                    raise InputError(f"preferences[{i}][{j}]", "lie in [0, 1]", float(p[i, j]))
                if abs(p[i, j] + p[j, i] - 1) > SUM_TOLERANCE:
                    raise InputError(
                        f"preferences[{i}][{j}]",
                        f"sum to 1 with preferences[{j}][{i}]" if i != j else "be 1/2",
                        [float(p[i, j]), float(p[j, i])] if i != j else float(p[i, j]),
                    )
        _ = self.best_item

    @cached_property
    def signed(self) -> np.ndarray:
        """Preferences in which the item sought wins: the others' chances where we minimise.

        Printed tables sum to 1 up to their last digit; the rest is shared by both sides.
        """
        p = np.asarray(self.preferences)
        return np.asarray(0.5 + 0.5 * self.sign * (p - p.T))

    @cached_property
    def leads(self) -> np.ndarray:
        """Twice the chance that an item wins, less 1: of items nearly even it keeps all digits."""
        return np.asarray(self.sign * (self.preferences - self.preferences.T))

    @cached_property
    def best_item(self) -> int:
        """The Condorcet winner (or loser, where the goal is to minimise)."""
        beats = (self.signed > 0.5).sum(axis=1)
        best = int(np.argmax(beats))
        others = [j for j in range(self.n_items) if j != best]
        role, does = ("winner", "wins") if self.sign > 0 else ("loser", "loses")
        for j in others:
            if abs(self.signed[best, j] - 0.5) <= TIE:
                raise InputError(
                    "preferences",
                    f"have one best item: items {self.arm_name(best)} and {self.arm_name(j)} "
                    f"are tied, and C(θ) is undefined",
                    float(self.preferences[best, j]),
                )
            if self.signed[best, j] < 0.5:
                raise InputError(
                    "preferences",
                    f"have a Condorcet {role}: item {self.arm_name(best)} {does} most often but "
                    f"not against item {self.arm_name(j)}",
                    float(self.preferences[best, j]),
                )
        return best

    @property
    def n_arms(self) -> int:
        return int(self.n_items * (self.n_items + 1) // 2)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The arms, in their order."""
        return [(i, j) for i in range(self.n_items) for j in range(i, self.n_items)]

    def arm_at(self, position: int) -> Arm:
        return self.pairs[position]

    def reveals(self) -> list[list[int]]:
        """The component of each pair: pairs i < j are numbered in order, (i, i) shows nothing."""
        return [[] if c < 0 else [int(c)] for c in self._component_of]

    @cached_property
    def _component_of(self) -> np.ndarray:
        shows = np.array([i != j for i, j in self.pairs])
        return np.where(shows, np.cumsum(shows) - 1, -1)

    @cached_property
    def components(self) -> np.ndarray:
        """The chance that the first item of each pair i < j wins, with the goal's sign."""
        chances = np.array([self.signed[i, j] for i, j in self.pairs if i != j])
        return chances if self.sign > 0 else chances - 1.0

    @cached_property
    def gaps(self) -> np.ndarray:
        return np.array([self.gap_of(pair) for pair in self.pairs])

    @cached_property
    def rewards(self) -> np.ndarray:
        """Minus the regret of each pair: all that the duels determine."""
        return -self.gaps

    def priced(self, cost: Cost) -> PricedDuels:
        return PricedDuels(self, cost)

    def model(self) -> DuelingModel:
        """The structure as policies see it."""
        return DuelingModel(
            0.0 if self.sign > 0 else 1.0,
            self.n_items,
            self.n_arms,
            self.n_arms - self.n_items,
            np.array([i for i, _ in self.pairs]),
            np.array([j for _, j in self.pairs]),
            self._component_of,
            np.flatnonzero(self._component_of >= 0),
        )

    def arm_name(self, arm: Arm) -> str:
        if isinstance(arm, tuple):
            return " – ".join(self.arm_name(item) for item in arm)
        return self.arm_names[arm] if len(self.arm_names) else str(arm)

    def solve(self, gap: float) -> Bound:
        best, p = self.best_item, self.signed
        support: list[tuple[Arm, float]] = []
        alternatives = []
        for i in range(self.n_items):
            if i == best:
                continue
            j = cheapest_opponent(p, best, i)
            rate = 1.0 / even_divergence(float(self.leads[i, j]))
            weight = rate * self.gap_of((i, j))
            support.append(((min(i, j), max(i, j)), rate))
            even, strict = self.raised(i, 0.5), self.raised(i, 0.5 + 0.25 * (0.5 - p[i, best]))
            alternatives.append(Alternative((i, i), even, strict, weight))
        value = float(sum(alternative.weight for alternative in alternatives))
        return Bound(self, value, value, sorted(support), alternatives)

    def raised(self, item: int, level: float) -> np.ndarray:
        """Preferences under which ``item`` beats everybody with at least ``level``."""
        table = np.array(self.preferences)
        share = level if self.sign > 0 else 1.0 - level
        for j in range(self.n_items):
            if j != item and self.signed[item, j] < level:
                table[item, j], table[j, item] = share, 1.0 - share
        return table

    # items that come and go; the rest must still have a best one, which nobody can check before

    def unit_count(self) -> int:
        return int(self.n_items)

    def fewer(self, kept: Sequence[int], keys: Keys) -> None:
        keys["n_items"] = len(kept)

    def one_more(self, given: Keys, keys: Keys) -> None:
        keys["n_items"] = self.n_items + 1

    def places(self, kept: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        wanted, reveals = set(kept), self.reveals()
        arms = [x for x, pair in enumerate(self.pairs) if wanted.issuperset(pair)]
        components = [shown for x in arms for shown in reveals[x]]
        return np.array(arms, dtype=np.int64), np.array(components, dtype=np.int64)

    def moves(self, larger: "Dueling") -> dict[str, list[int]]:
        place = {pair: x for x, pair in enumerate(larger.pairs)}
        reveals = larger.reveals()
        arms = [place[pair] for pair in self.pairs]
        components = [reveals[place[pair]][0] for pair in self.pairs if pair[0] != pair[1]]
        return {"arms": arms, "components": components}

    def leading(self, tally: Tally, told_first: np.ndarray) -> int:
        """Of items that met another, the one of least evidence against it, then of most wins."""
        size = self.n_items
        against, wins, met = np.zeros(size), np.zeros(size), np.zeros(size, dtype=bool)
        for (i, j), shown in zip(self.pairs, self.reveals(), strict=True):
            if shown and tally.counts[shown[0]] > 0:
                count, mean = int(tally.counts[shown[0]]), float(tally.means[shown[0]])
                won = mean if self.sign > 0 else 1.0 + mean
                against[j if won > 0.5 else i] += count * bernoulli_kl(won, 0.5)
                wins[[i, j]] += count * won, count * (1.0 - won)
                met[[i, j]] = True
        order = np.lexsort((-wins, np.where(met, against, math.inf)))
        return int(self.pairs.index((int(order[0]), int(order[0]))))

    def parameter_from(self, memory: Any, means: np.ndarray, counts: np.ndarray) -> np.ndarray:
        self.refuse_untold(counts)
        preferences = np.full((self.n_items, self.n_items), 0.5)
        for (i, j), shown in zip(self.pairs, self.reveals(), strict=True):
            if shown:
                preferences[i, j] = means[shown[0]]
                preferences[j, i] = 1.0 - means[shown[0]]
        return preferences

    # what proves it

    def best_arm(self) -> Arm:
        return (self.best_item, self.best_item)

    def position(self, arm: Arm) -> int:
        i, j = self._pair(arm)
        return pair_position(i, j, self.n_items)

    def _pair(self, arm: Arm) -> tuple[int, int]:
        pair = tuple(arm) if isinstance(arm, list | tuple) else ()
        if len(pair) != 2 or not all(0 <= item < self.n_items for item in pair):
            raise InputError("arm", f"be a pair of items below {self.n_items}", arm)
        return int(pair[0]), int(pair[1])

    def gap_of(self, arm: Arm) -> float:
        i, j = self._pair(arm)
        if i == j == self.best_item:
            return 0.0
        return float(0.25 * (self.leads[self.best_item, i] + self.leads[self.best_item, j]))

    def total_gap(self) -> float:
        return float(self.gaps.sum())

    @cached_property
    def duels(self) -> Any:
        """The table as proofs see it."""
        from ossb.graves_lai.exact.duels import Duels  # loads flint

        return Duels(np.asarray(self.preferences), self.best_item, self.sign)

    def exact_gap(self, arm: Arm) -> Ball:
        return self.duels.gap(self._pair(arm))

    def exact_confusing(self, alternative: Alternative) -> np.ndarray:
        from ossb.graves_lai.exact.duels import confusing  # loads flint

        item, same = self._pair(alternative.arm)
        if item != same:
            raise ProofError(".arm: must be a pair (i, i), of the item that becomes the best")
        return confusing(self.duels, alternative, item, SUM_TOLERANCE)

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.duels import heaviest  # loads flint

        return heaviest(self.duels, confusing, weights, self.duels.gap)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.duels import information  # loads flint

        return information(self.duels, [(self._pair(arm), rate) for arm, rate in support])


def even_divergence(lead: float) -> float:
    """d((1 + lead)/2, ½) of Bernoulli laws."""
    if abs(lead) >= 1.0:
        return math.log(2.0)
    return lead * math.atanh(lead) + 0.5 * math.log1p(-lead * lead)
