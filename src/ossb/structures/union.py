"""A union of polytopes of parameters: the general form of every structure here.

One convex program for each piece and alternative arm.  Each piece may have rewards of its own
(in dueling bandits, the regret depends on who the winner is).  Graves and Lai (1997).
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
from ossb.structures.polytope import known_size
from ossb.structures.priced_pieces import PricedPieces

KEYS = ("A", "b", "A_eq", "b_eq", "rewards")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Union(Piecewise):
    """Parameters that lie in one of several polytopes, inside the family's mean space.

    Parameters
    ----------
    pieces
        Dictionaries with A, b and, if wanted, A_eq, b_eq and rewards.
    means
        Component means are means λ; by default λ itself.
    reveals
        For each arm, the components it shows; by default arm i shows component i.
    theta
        The true parameter, where known.

    Examples
    --------
    >>> import ossb
    >>> either = ossb.Union(
    ...     observation="gaussian",
    ...     pieces=[{"A": [[1, -1]], "b": [0]}, {"A": [[-1, 1]], "b": [-0.2]}],
    ...     theta=[0.2, 0.5],
    ... )
    >>> round(ossb.bound(either).value, 6)
    2.4
    """

    kind: ClassVar[str] = "union"
    offers: ClassVar[tuple[str, ...]] = (MODEL, OWN_COMPONENT)
    parameter: ClassVar[str] = "theta"
    observations: ClassVar[tuple[str, ...]] = CONVEX
    reference: ClassVar[str] = "Graves and Lai (1997)"

    pieces: Any

    def __post_init__(self) -> None:
        if isinstance(self.pieces, str | dict) or not hasattr(self.pieces, "__len__"):
            raise InputError("pieces", "be a list of polytopes", self.pieces)
        if not len(self.pieces):
            raise InputError("pieces", "hold at least one polytope", "none")
        size = known_size(self.theta, self.means)
        read_pieces = []
        for k, piece in enumerate(self.pieces):
            _check_keys(piece, k)
            arrays = read_piece(piece, f"pieces[{k}].", size)
            size = int(arrays[0].shape[1])
            read_pieces.append((arrays, piece.get("rewards")))
        assert size is not None
        self._read_shared(size, None)
        polytopes = []
        for k, (arrays, rewards) in enumerate(read_pieces):
            polytopes.append(Piece(*arrays, self.sign * self._rewards(rewards, k, size)))
        self._set("polytopes", tuple(polytopes))
        self._set("pieces", [_plain(piece) for piece in self.pieces])
        self._check_theta()
        if self.theta is not None:
            self._check_home()

    def _rewards(self, given: Any, k: int, size: int) -> np.ndarray:
        if given is None:
            return self.default_rewards(size)
        rewards = read.matrix(given, f"pieces[{k}].rewards", size)
        n_arms = self.mean_matrix(size).shape[0] if self.reveals is None else len(self.reveals)
        if rewards.shape[0] != n_arms:
            must = f"have one row for each of the {n_arms} arms"
            raise InputError(f"pieces[{k}].rewards", must, int(rewards.shape[0]))
        return rewards

    def _check_home(self) -> None:
        scale = 1.0 + float(np.abs(self.theta).max(initial=0.0))
        amounts = [violation(piece, self.theta) for piece in self.polytopes]
        near = int(np.argmin([amount for amount, _, _ in amounts]))
        amount, rows_of, row = amounts[near]
        if amount > MEMBER * scale:
            must = (
                f"lie in a piece: the nearest, pieces[{near}], is broken in row {row} of "
                f"{rows_of} by {amount:.3g}"
            )
            raise InputError("theta", must, self.theta.tolist())
        for k, piece in enumerate(self.polytopes):
            moved = np.abs((piece.rewards - self.polytopes[near].rewards) @ self.theta).max()
            if amounts[k][0] <= 0 and moved > MEMBER * scale:
                must = f"have one reward: pieces[{near}] and pieces[{k}] hold it and differ"
                raise InputError("theta", must, self.theta.tolist())

    def priced(self, cost: Cost) -> PricedPieces:
        return PricedPieces(self, cost)

    @cached_property
    def polytopes(self) -> tuple[Piece, ...]:
        raise AssertionError("set at construction")


def _check_keys(piece: Any, k: int) -> None:
    if not isinstance(piece, dict):
        raise InputError(f"pieces[{k}]", "be a table with the keys A and b", piece)
    for key in piece:
        read.choice(key, f"pieces[{k}]", KEYS)
    if "A" not in piece and "A_eq" not in piece:
        raise InputError(f"pieces[{k}]", "have the keys A and b", sorted(piece))


def _plain(piece: dict[str, Any]) -> dict[str, Any]:
    """Rows and sides as lists of plain numbers, whatever they were given as."""
    return {key: np.asarray(value).tolist() for key, value in piece.items() if value is not None}
