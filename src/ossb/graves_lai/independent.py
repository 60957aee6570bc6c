"""Closed forms where each alternative moves one arm: classical and unimodal bandits.

If arm x can become best by moving its own mean alone, up to θ*, its constraint reads
η(x) d(θ_x, θ*) ≥ 1 and no other rate occurs in it: c(x) = 1 / d(θ_x, θ*).  Where θ* is the
greatest mean there is, nothing can exceed it and no parameter is confusing.
"""

import math
from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np

from ossb.errors import CertificationError
from ossb.families import Family
from ossb.graves_lai.proof import Alternative, Support
from ossb.kernels import kernel

LEAST = 1e-300  # a smaller divergence asks for a rate that overflows
TIED = 1e-24  # a smaller divergence counts as this one, so that rates stay finite
MOST = 1e300  # a larger one for a rate that vanishes


def divergences(family: Family, means: np.ndarray, others: np.ndarray) -> np.ndarray:
    """d(means[x], others[x]) for every x."""
    return np.array([family.kl(float(p), float(q)) for p, q in zip(means, others, strict=True)])


class OneMoved(Sequence[Alternative]):
    """Parameters that differ from the truth in one arm each, written out one at a time.

    All of them together take the square of the number of arms.
    """

    def __init__(
        self, means: np.ndarray, top: float, highest: float, sign: float, moves: Support
    ) -> None:
        self.means, self.top, self.highest, self.sign = means, top, highest, sign
        self.moves = moves  # which arms move, and the weight of each

    def __len__(self) -> int:
        return len(self.moves)

    @overload
    def __getitem__(self, place: int) -> Alternative: ...

    @overload
    def __getitem__(self, place: slice) -> "OneMoved": ...

    def __getitem__(self, place: int | slice) -> "Alternative | OneMoved":
        if isinstance(place, slice):
            return OneMoved(self.means, self.top, self.highest, self.sign, self.moves[place])
        arm, weight = self.moves[place]
        parameter, witness = np.array(self.means), np.array(self.means)
        parameter[arm] = self.top
        witness[arm] = min(2.0 * self.top - self.means[arm], self.highest)
        return Alternative(arm, self.sign * parameter, self.sign * witness, weight)


def proved(
    family: Family, means: np.ndarray, best: int, candidates: Iterable[int], sign: float
) -> tuple[list[tuple[int, float]], Sequence[Alternative], float]:
    """Rates of the candidates, confusing parameters in the user's sign, and the value.

    The weight of an alternative is its arm's own cost c(x) Δ(x), which makes both sides equal.
    """
    support: list[tuple[int, float]] = []
    moves: list[tuple[int, float]] = []
    top = float(means[best])
    if not top < family.highest():
        return [], [], 0.0
    for arm in map(int, candidates):
        gap = top - float(means[arm])
        information = family.kl(float(means[arm]), top)
        if not information >= LEAST:
            raise CertificationError(
                f"arms {best} and {arm} differ too little for the observations: the divergence "
                f"of their means, {information:.3g}, has no rate within the range of doubles"
            )
        if not information <= MOST:
            raise CertificationError(
                f"arms {best} and {arm} differ too much for the observations: the divergence "
                f"of their means, {information:.3g}, has no rate within the range of doubles"
            )
        rate = 1.0 / information
        support.append((arm, rate))
        moves.append((arm, rate * gap))
    value = math.fsum(weight for _, weight in moves)
    return support, OneMoved(means, top, family.highest(), sign, moves), value


@kernel
def independent_rate(family: Family, mean: float, top: float) -> float:
    """1 / d(mean, top) at estimates: 0 where nothing can be confused, finite at a tie."""
    if top >= family.highest():
        return 0.0
    return 1.0 / max(family.kl(mean, top), TIED)
