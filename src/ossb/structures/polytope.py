"""A polytope of parameters: the general form of a convex structure.

Solved by cutting planes with one convex program for each alternative arm.  Graves and Lai
(1997); Combes, Magureanu and Proutiere (2017).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.generic.piece import Piece
from ossb.structures.offers import MODEL, OWN_COMPONENT
from ossb.structures.piecewise import CONVEX, MEMBER, Piecewise, read_piece, violation
from ossb.structures.priced_pieces import PricedPieces


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Polytope(Piecewise):
    """Parameters λ with A λ ≤ b and A_eq λ = b_eq, inside the family's mean space.

    Parameters
    ----------
    A, b
        The inequalities.
    A_eq, b_eq
        The equalities, if any.
    means
        Component means are means λ; by default λ itself.
    reveals
        For each arm, the components it shows; by default arm i shows component i.
    rewards
        Rewards are rewards λ; by default the mean of the one component shown.
    theta
        The true parameter, where known.

    Examples
    --------
    >>> import ossb
    >>> known_difference = ossb.Polytope(
    ...     observation="gaussian", A=[[0, 1, -1], [0, -1, 1]], b=[0.3, -0.3], theta=[1, 0.5, 0.2]
    ... )
    >>> round(ossb.bound(known_difference).value, 6)
    4.0
    """

    kind: ClassVar[str] = "polytope"
    offers: ClassVar[tuple[str, ...]] = (MODEL, OWN_COMPONENT)
    parameter: ClassVar[str] = "theta"
    observations: ClassVar[tuple[str, ...]] = CONVEX
    reference: ClassVar[str] = "Graves and Lai (1997); Combes, Magureanu and Proutiere (2017)"

    A: Any
    b: Any
    A_eq: Any = None
    b_eq: Any = None
    rewards: Any = None

    def __post_init__(self) -> None:
        arrays = read_piece(vars(self), "", known_size(self.theta, self.means))
        for key, value in zip(("A", "b", "A_eq", "b_eq"), arrays, strict=True):
            if getattr(self, key) is not None:
                self._set(key, value)
        size = arrays[0].shape[1]
        rows = None
        if self.rewards is not None:
            self._set("rewards", read.matrix(self.rewards, "rewards", size))
            rows = int(self.rewards.shape[0])
        self._read_shared(size, rows)
        rewards = self.default_rewards(size) if self.rewards is None else self.rewards
        self._set("polytopes", (Piece(*arrays, self.sign * rewards),))
        self._check_theta()
        if self.theta is not None and self._away(self.theta) > MEMBER:
            amount, rows_of, row = violation(self.polytopes[0], self.theta)
            relation = "≤ b" if rows_of == "A" else "= b_eq"
            must = f"satisfy {rows_of} λ {relation}: row {row} is off by {amount:.3g}"
            raise InputError("theta", must, self.theta.tolist())

    def priced(self, cost: Cost) -> PricedPieces:
        return PricedPieces(self, cost)

    @cached_property
    def polytopes(self) -> tuple[Piece, ...]:
        raise AssertionError("set at construction")


def known_size(theta: Any, means: Any) -> int | None:
    """Number of entries of a parameter, from whatever says it."""
    if theta is not None:
        size = int(read.vector(theta, "theta").size)
        if size == 0:
            raise InputError("theta", "hold at least one number", "none")
        return size
    if means is not None and np.size(means):
        return int(read.matrix(means, "means").shape[1])
    return None
