"""Combinatorial bandits: an arm is a set of items, and its reward the sum of their means.

Cesa-Bianchi and Lugosi (2012); Combes, Talebi, Proutiere and Lelarge (2015).  With
``semi_bandit`` feedback every item of the arm played is observed, with ``bandit`` feedback
their sum.  Arms are listed, or form a set that is reached through a linear-maximisation
oracle and never listed.

======================  =========================================================
what is given           which observations fit
======================  =========================================================
bandit                  gaussian; a described set of up to 20,000 arms
semi-bandit, listed     gaussian, bernoulli, bounded, poisson
m-sets, spanning trees  all (closed form)
paths, matchings        gaussian
======================  =========================================================
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.arm_sets import ARM_SETS
from ossb.errors import InputError
from ossb.families import FAMILIES, check_means
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.proof import Alternative, Arm, Ball, Support
from ossb.models.linear import LinearModel, linear_model
from ossb.models.semi_bandit import SemiBanditModel, semi_bandit_model
from ossb.structures.base import Bound, Instance
from ossb.structures.combinatorial_cases import Case, ListedBandit, ListedSemiBandit
from ossb.structures.combinatorial_enumerated import EnumeratedBandit
from ossb.structures.offers import FEATURES, ITEMS, LINKED_FEATURES, MODEL
from ossb.structures.roster import Keys, least_squares
from ossb.tally import Tally

SHAPE_KEYS = ("n_items", "size", "edges", "source", "target", "n_left", "n_right", "n_nodes")
CONVEX = ("gaussian", "bernoulli", "bounded", "poisson")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Combinatorial(Instance):
    """Arms that are sets of items.

    Parameters
    ----------
    feedback
        ``bandit`` (the sum is observed) or ``semi_bandit`` (every item is).
    arms
        Rows of 0 and 1, one for each arm.
    arm_set
        In place of ``arms``: ``m_sets`` (with ``n_items``, ``size``), ``paths`` (``edges``,
        ``source``, ``target`` of a directed acyclic graph), ``matchings`` (``n_left``,
        ``n_right``, ``edges``; an arm covers every left node) or ``spanning_trees``
        (``n_nodes``, ``edges``).  Items are the edges in their order.
    arm_names
        Names of the arms, or with ``arm_set`` of the items.
    phi
        Mean of each item, where known.

    Examples
    --------
    >>> import ossb
    >>> pairs = ossb.Combinatorial(
    ...     observation="bernoulli",
    ...     feedback="semi_bandit",
    ...     arm_set="m_sets",
    ...     n_items=4,
    ...     size=2,
    ...     phi=[0.9, 0.8, 0.5, 0.3],
    ... )
    >>> round(ossb.bound(pairs).value, 6)
    2.202522
    """

    kind: ClassVar[str] = "combinatorial"
    offers: ClassVar[tuple[str, ...]] = (MODEL, ITEMS, FEATURES, LINKED_FEATURES)
    parameter: ClassVar[str] = "phi"
    observations: ClassVar[tuple[str, ...]] = FAMILIES
    reference: ClassVar[str] = (
        "Cesa-Bianchi and Lugosi (2012); Combes, Talebi, Proutiere and Lelarge (2015)"
    )

    adds_up: ClassVar[bool] = True

    feedback: str = ""
    arms: Any = None
    arm_set: Any = None
    n_items: Any = None
    size: Any = None
    edges: Any = None
    source: Any = None
    target: Any = None
    n_left: Any = None
    n_right: Any = None
    n_nodes: Any = None
    phi: Any = None

    def __post_init__(self) -> None:
        if self.feedback == "":
            raise InputError("feedback", "be given: bandit or semi_bandit")
        read.choice(self.feedback, "feedback", ("bandit", "semi_bandit"))
        if (self.arms is None) == (self.arm_set is None):
            raise InputError("arms", "be given, or else arm_set: one of the two")
        if self.arm_set is None:
            self._read_arms()
        else:
            self._read_arm_set()
        self._read_common(self.item_count if self.arms is None else self.n_arms)
        self._check_observation()
        if self.phi is not None:
            self._set("phi", read.vector(self.phi, "phi", self.item_count))
            if self.feedback == "semi_bandit":
                check_means(self.plain_family, self.phi, "phi")

    def _read_arms(self) -> None:
        for key in SHAPE_KEYS:
            if getattr(self, key) is not None:
                raise InputError(key, "be left out: the arms are listed")
        table = read.matrix(self.arms, "arms")
        if table.size == 0:
            raise InputError("arms", "hold at least one arm and one item", list(table.shape))
        wrong = np.argwhere((table != 0) & (table != 1))
        if wrong.size:
            x, i = (int(k) for k in wrong[0])
            raise InputError(f"arms[{x}][{i}]", "be 0 or 1", float(table[x, i]))
        self._set("arms", table)

    def _read_arm_set(self) -> None:
        kind = read.choice(self.arm_set, "arm_set", ARM_SETS)
        _, keys = ARM_SETS[kind]
        for key in SHAPE_KEYS:
            if key in keys and getattr(self, key) is None:
                raise InputError(key, f"be given with {kind}")
            if key not in keys and getattr(self, key) is not None:
                raise InputError(key, f"be left out: {kind} takes {', '.join(keys)}")
        _ = self.implicit_set
        named = len(read.names(self.arm_names, "arm_names"))
        if named not in (0, self.item_count):
            raise InputError("arm_names", f"hold {self.item_count} names, one for each item", named)
        for key in keys:
            if key != "edges":
                self._set(key, read.integer(getattr(self, key), key))
        if self.edges is not None:
            self._set("edges", read.pairs(self.edges, "edges"))

    def _check_observation(self) -> None:
        fit: tuple[str, ...] = ("gaussian",)
        if self.feedback == "bandit":
            what = "bandit feedback"
        elif self.arm_set is not None:
            fit = FAMILIES if self.implicit_set.is_matroid else fit
            what = f"{self.arm_set} that are not listed"
        else:
            fit, what = CONVEX, "semi_bandit feedback on listed arms"
        if self.observation not in fit:
            must = f"be {'one of ' * (len(fit) > 1)}{', '.join(fit)} for {what}"
            raise InputError("observation", must, self.observation)

    @cached_property
    def implicit_set(self) -> Any:
        make, keys = ARM_SETS[self.arm_set]
        return make(*(getattr(self, key) for key in keys))

    @property
    def item_count(self) -> int:
        if self.arms is not None:
            return int(self.arms.shape[1])
        return int(self.implicit_set.n_items)

    @property
    def n_arms(self) -> int | None:
        return None if self.arms is None else len(self.arms)

    @cached_property
    def case(self) -> Case:
        """How this kind of instance is solved and proved, in the sign that maximises."""
        means = self.sign * np.asarray(self.phi)
        if self.arms is None and self.feedback == "bandit":
            return EnumeratedBandit(self, self.implicit_set, means)
        if self.arms is None:
            # loads sparse linear algebra, which most commands do without
            from ossb.structures.combinatorial_implicit import ImplicitSemiBandit

            return ImplicitSemiBandit(self, self.implicit_set, means)
        case = ListedBandit if self.feedback == "bandit" else ListedSemiBandit
        return case(self, self.arms, means)

    # as policies see it

    @cached_property
    def components(self) -> np.ndarray:
        """What is observed on average, signed: each item, or the sum over each arm."""
        return self.sign * np.asarray(self.phi) if self.feedback == "semi_bandit" else self.rewards

    def reveals(self) -> list[list[int]]:
        """The components that each listed arm shows."""
        if self.feedback == "bandit":
            return [[arm] for arm in range(len(self.arms))]
        return [np.flatnonzero(arm).tolist() for arm in self.arms]

    def component_count(self) -> int:
        """The items, or the sums over the listed arms."""
        return len(self.arms) if self.feedback == "bandit" else self.item_count

    @cached_property
    def rewards(self) -> np.ndarray:
        """Of the listed arms, signed so that more is better."""
        return np.asarray(self.sign * (self.arms @ self.phi))

    @cached_property
    def gaps(self) -> np.ndarray:
        return np.array([self.gap_of(arm) for arm in range(len(self.arms))])

    def arm_at(self, position: int) -> Arm:
        return int(position)

    def arm_name(self, arm: Arm) -> str:
        """An arm's name, or its number; of one that is not listed, those of its items."""
        if isinstance(arm, tuple) and len(self.arm_names):
            return ", ".join(self.arm_names[item] for item in arm)
        return super().arm_name(arm)

    # what a campaign asks; items of a described set can go, and none can come

    @property
    def shows_lists(self) -> bool:
        return self.feedback == "semi_bandit"

    @property
    def can_restrict(self) -> bool:  # type: ignore[override]
        return self.arms is None

    def unit_count(self) -> int:
        return self.item_count if self.arms is None else len(self.arms)

    def fewer(self, kept: Sequence[int], keys: Keys) -> None:
        if self.edges is None:
            keys["n_items"] = len(kept)
        else:
            keys["edges"] = self.edges[list(kept)].tolist()

    def leading(self, tally: Tally, told_first: np.ndarray) -> int:
        if self.shows_lists:
            return self.leading_by_means(tally, told_first)
        return super().leading(tally, told_first)

    def parameter_from(self, memory: Any, means: np.ndarray, counts: np.ndarray) -> np.ndarray:
        if self.shows_lists:
            self.refuse_untold(counts)
            return super().parameter_from(memory, means, counts)
        return np.asarray(memory.phi) if hasattr(memory, "phi") else least_squares(self.arms, means)

    def model(self) -> LinearModel | SemiBanditModel:
        """The structure as policies see it, where arms are listed."""
        if self.arms is None:
            raise InputError("arm_set", "be replaced by arms: this needs them listed", self.arm_set)
        if self.feedback == "bandit":
            return linear_model(self.arms, self.sigma)
        return semi_bandit_model(self.arms, self.family, self.sign)

    def best_arm(self) -> Arm:
        return self.case.best

    def position(self, arm: Arm) -> int:
        place = read.integer(arm, "arm")
        if self.n_arms is None or place >= self.n_arms:
            raise InputError("arm", f"be below {self.n_arms}", place)
        return place

    def gap_of(self, arm: Arm) -> float:
        return self.case.gap_of(arm)

    def total_gap(self) -> float:
        return float(sum(self.case.gap_of(arm) for arm in range(self.n_arms or 0)))

    def solve(self, gap: float) -> Bound:
        return self.case.solve(gap)

    def priced(self, cost: Cost) -> Any:
        return self.case.priced(cost)

    def exact_gap(self, arm: Arm) -> Ball:
        return self.case.exact_gap(arm)

    def exact_confusing(self, alternative: Alternative) -> Any:
        return self.case.exact_confusing(alternative)

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        return self.case.exact_heaviest(confusing, weights)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        return self.case.exact_information(support)
