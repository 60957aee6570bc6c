"""Means ⟨φ, x⟩: directions are made exact, and what rates tell is a bordered inverse in balls.

Θ is every φ + δ, or those with δ in the span of the arms where these span less than the whole
space, up to rounding (``Frame``).  A certificate gives the doubles of a direction δ; it stands for
δ′ = s (δ − x* ⟨δ, x*⟩/⟨x*, x*⟩), with the s > 0 that makes its arm tie.  The best arm does not
show δ′, and any larger multiple makes the arm strictly better: φ + δ′ is a limit of confusing ones.

Upper: F_x(η) = m_x² / (2σ² q_x) with q_x = max ⟨δ, x⟩² over ⟨δ, x*⟩ = 0, Σ η_y ⟨δ, y⟩² ≤ 1, which
is x's quadratic form in the inverse of [[G, x*], [x*ᵀ, 0]], G = Σ η_y y yᵀ.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from flint import arb, arb_mat

from ossb.graves_lai.exact.balls import INFINITE, greatest, total
from ossb.graves_lai.linear.certificate import complement
from ossb.graves_lai.proof import Alternative, ProofError

Vector = list[arb]


class Confusing(NamedTuple):
    """An exact direction δ′ in which the parameter moves."""

    direction: Vector


class Frame:
    """Arms, the parameter and the best arm, of which all proofs speak.

    Parameters
    ----------
    arms, phi
        Features, one row an arm, and the parameter.
    best
        The best arm: the one of largest ``sign`` ⟨φ, x⟩.
    free
        Whether its plays are free, and directions orthogonal to it; else an arm x is told by what
        δ says of x − x*, and plays of x* count as all others.

    Where the arms' parts across x* have rank r, and with x* itself span less than all of the
    space, Θ is φ plus the span of x* and of r arms, those that pivoting picks.  Rounding alone
    would let parameters move outside of what the arms are meant to show.
    """

    def __init__(
        self, arms: np.ndarray, phi: np.ndarray, best: int, sign: float, free: bool = True
    ) -> None:
        self.arms, self.phi, self.best, self.sign, self.free = arms, phi, best, sign, free
        n_arms, self.dimension = arms.shape
        self.balls = arb_mat(n_arms, self.dimension, arms.ravel().tolist())
        self.values = (self.balls * column([arb(entry) for entry in phi])).entries()
        self.margins = [arb(sign) * (self.values[best] - value) for value in self.values]
        for arm, margin in enumerate(self.margins):
            if arm != best and not margin > 0:
                raise ProofError(f"instance: arm {arm} is as good as the best arm, {best}")
        self.top = [arb(entry) for entry in arms[best]]
        self.length = dot(self.top, self.top)

    @cached_property
    def across(self) -> np.ndarray:
        """The arms across the best one, in doubles: of as many columns as their rank."""
        return complement(self.arms, self.best)

    @cached_property
    def basis(self) -> arb_mat | None:
        """Vectors, one a row, that span where the parameter moves; None where it is all space."""
        seen = bool(self.arms[self.best].any())
        if self.across.shape[1] + seen == self.dimension:
            return None
        rows = [*pivots(self.across), *([self.best] if seen else [])]
        return arb_mat(len(rows), self.dimension, self.arms[rows].ravel().tolist())

    def moves(self) -> bool:
        """Whether any parameter is confusing: not all arms are parallel to a free best one."""
        return not self.free or self.across.shape[1] > 0

    def counts(self, arm: int) -> bool:
        """Whether plays of an arm count: those of a free best arm tell nothing new."""
        return not self.free or arm != self.best

    @cached_property
    def apart(self) -> arb_mat:
        """What tells each arm from the best one, in coordinates: x, or x − x*."""
        if self.free:
            return self.coordinates
        rows = self.coordinates.tolist()
        return arb_mat([[a - b for a, b in zip(row, rows[self.best], strict=True)] for row in rows])

    def direction(self, numbers: np.ndarray, relative: bool) -> Vector:
        """δ − x* ⟨δ, x*⟩/⟨x*, x*⟩, or δ, of what a certificate holds, in the span of the arms."""
        if numbers.shape != self.phi.shape:
            raise ProofError(f": parameters must have the shape {list(self.phi.shape)}")
        delta = [arb(entry) for entry in numbers]
        if not relative:
            delta = [a - arb(b) for a, b in zip(delta, self.phi, strict=True)]
        if self.basis is not None:
            gram = self.basis * self.basis.transpose()
            along = gram.solve(self.basis * column(delta))
            delta = (self.basis.transpose() * along).entries()
        if not self.free or not self.arms[self.best].any():
            return delta
        share = dot(delta, self.top) / self.length
        return [a - share * b for a, b in zip(delta, self.top, strict=True)]

    def confusing(self, alternative: Alternative, arm: int) -> Confusing:
        """The exact direction of an alternative, of the length at which its arm ties."""
        if not self.moves():
            raise ProofError(".parameter: all arms are parallel, and nothing is confusing")
        mine = [arb(entry) for entry in self.arms[arm]]
        if not self.free:
            mine = [a - b for a, b in zip(mine, self.top, strict=True)]
        delta = self.direction(alternative.parameter, alternative.relative)
        gain = arb(self.sign) * dot(delta, mine)
        if not gain > 0:
            raise ProofError(".parameter: its arm is worse than the best one")
        witness = self.direction(alternative.witness, alternative.relative)
        if not arb(self.sign) * dot(witness, mine) > self.margins[arm]:
            raise ProofError(".witness: its arm is not strictly better")
        scale = self.margins[arm] / gain
        return Confusing([scale * entry for entry in delta])

    def shifts(self, confusing: Sequence[Confusing]) -> list[Vector]:
        """⟨δ′, x⟩ of every arm, a row each."""
        entries = [[one.direction[i] for one in confusing] for i in range(self.dimension)]
        seen: list[Vector] = (self.balls * arb_mat(entries)).tolist()
        return seen

    @cached_property
    def coordinates(self) -> arb_mat:
        """The arms as what is seen along the basis: as they are where that is all space."""
        return self.balls if self.basis is None else self.balls * self.basis.transpose()

    def inverse(self, weights: dict[int, arb]) -> arb_mat | None:
        """M with xᵀ M x = max ⟨δ, x⟩² over ⟨δ, x*⟩ = 0, Σ_y weights_y ⟨δ, y⟩² ≤ 1.

        In coordinates; None where some direction has no weight.  Where x* is not free, δ is any.
        """
        arms, size, played = self.coordinates, self.coordinates.ncols(), sorted(weights)
        if not played:
            return None
        rows = [[arms[arm, i] for i in range(size)] for arm in played]
        pairs = zip(played, rows, strict=True)
        weighed = [[weights[arm] * entry for entry in row] for arm, row in pairs]
        gram = arb_mat(rows).transpose() * arb_mat(weighed)
        bordered = [[gram[i, j] for j in range(size)] for i in range(size)]
        if self.free and self.arms[self.best].any():
            top = [arms[self.best, i] for i in range(size)]
            bordered = [[*row, edge] for row, edge in zip(bordered, top, strict=True)]
            bordered.append([*top, arb(0)])
        try:
            inverse = arb_mat(bordered).inv()
        except ZeroDivisionError:
            return None
        return arb_mat([[inverse[i, j] for j in range(size)] for i in range(size)])

    def forms(self, arms: arb_mat, form: arb_mat) -> Vector:
        """xᵀ M x of every arm."""
        images = zip(arms.tolist(), (arms * form).tolist(), strict=True)
        return [dot(row, image) for row, image in images]


_frames: "WeakKeyDictionary[Any, dict[bool, Frame]]" = WeakKeyDictionary()


def frame_of(
    instance: Any,
    arms: np.ndarray,
    phi: np.ndarray,
    best: int,
    sign: float,
    free: bool = True,
) -> Frame:
    """The frame of an instance, kept as long as that is: balls are not part of it."""
    kept = _frames.setdefault(instance, {})
    if free not in kept:
        kept[free] = Frame(arms, phi, best, sign, free)
    return kept[free]


def variance(sigma: float) -> arb:
    """σ²."""
    return arb(sigma) ** 2


def information(frame: Frame, rates: dict[int, arb], variance: arb) -> arb:
    """1 / max over x of 2σ² q_x / m_x²."""
    if len(frame.margins) == 1 or not frame.moves():
        return INFINITE
    form = frame.inverse({arm: r for arm, r in rates.items() if frame.counts(arm) and r > 0})
    if form is None:
        return arb(0)
    spread = frame.forms(frame.apart, form)
    others = [x for x in range(len(spread)) if x != frame.best]
    asked = greatest(spread[x] / frame.margins[x] ** 2 for x in others)
    return 1 / (2 * variance * asked)


def heaviest(
    frame: Frame,
    confusing: Sequence[Confusing],
    weights: Sequence[float],
    costs: Sequence[arb],
    variance: arb,
) -> arb:
    """Maximum over x of Σ_k weights[k] ⟨δ′_k, x⟩²/2σ² / κ_x, over x ≠ x* if that is free."""
    rows = [one.direction for one in confusing]
    pairs = zip(rows, map(arb, weights), strict=True)
    weighed = [[weight * entry for entry in row] for row, weight in pairs]
    form = arb_mat(rows).transpose() * arb_mat(weighed)
    loads = frame.forms(frame.balls, form)
    return greatest(load / costs[x] for x, load in enumerate(loads) if frame.counts(x)) / (
        2 * variance
    )


def pivots(across: np.ndarray) -> list[int]:
    """As many rows as there are columns, each the furthest from the span of those before it."""
    length = np.linalg.norm(across, axis=1)
    rest = across / np.where(length > 0.0, length, 1.0)[:, None]
    chosen = []
    for _ in range(across.shape[1]):
        far = int(np.argmax(np.linalg.norm(rest, axis=1)))
        unit = rest[far] / np.linalg.norm(rest[far])
        rest = rest - np.outer(rest @ unit, unit)
        chosen.append(far)
    return chosen


def column(entries: Vector) -> arb_mat:
    """A vector as a matrix of one column."""
    return arb_mat(len(entries), 1, entries)


def dot(a: Vector, b: Vector) -> arb:
    """⟨a, b⟩."""
    return total(p * q for p, q in zip(a, b, strict=True))
