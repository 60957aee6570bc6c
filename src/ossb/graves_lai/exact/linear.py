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
from ossb.graves_lai.linear.leaders import across_all, independent
from ossb.graves_lai.proof import Alternative, ProofError

Vector = list[arb]


class Confusing(NamedTuple):
    """An exact direction δ′ in which the parameter moves."""

    direction: Vector


class Frame:
    """Arms, the parameter and the best arms, of which all proofs speak.

    Parameters
    ----------
    arms, phi
        Features, one row an arm, and the parameter.
    leaders
        The best arm that each arm is held against: of the largest ``sign`` ⟨φ, x⟩.  One for all,
        or one for each context.
    free
        Leaders whose plays are free: directions are orthogonal to them.  An arm x whose leader x*
        is none of these is told by what δ says of x − x*, and plays of x* count as all others.

    Where the arms' parts across the leaders have rank r, and with these themselves span less than
    all of the space, Θ is φ plus the span of independent leaders and of r arms, those that pivoting
    picks.  Rounding alone would let parameters move outside of what the arms are meant to show.
    """

    def __init__(
        self,
        arms: np.ndarray,
        phi: np.ndarray,
        leaders: Sequence[int],
        sign: float,
        free: Sequence[int],
    ) -> None:
        self.arms, self.phi, self.leaders, self.sign = arms, phi, leaders, sign
        self.free, self.tops = frozenset(free), sorted(set(leaders))
        n_arms, self.dimension = arms.shape
        self.balls = arb_mat(n_arms, self.dimension, arms.ravel().tolist())
        self.values = (self.balls * column([arb(entry) for entry in phi])).entries()
        best = [self.values[leader] for leader in leaders]
        pairs = zip(best, self.values, strict=True)
        self.margins = [arb(sign) * (top - value) for top, value in pairs]
        for arm, margin in enumerate(self.margins):
            if arm != leaders[arm] and not margin > 0:
                raise ProofError(f"instance: arm {arm} is as good as the best arm, {leaders[arm]}")

    @cached_property
    def across(self) -> np.ndarray:
        """The arms across the leaders, in doubles: of as many columns as their rank."""
        if len(self.tops) == 1:
            return complement(self.arms, self.tops[0])
        return across_all(self.arms, self.tops)[0]

    def independent(self, leaders: Sequence[int]) -> list[int]:
        """Leaders that show all that some of them show."""
        return [leaders[k] for k in independent(self.arms[list(leaders)])] if leaders else []

    @cached_property
    def shown(self) -> list[int]:
        """Free leaders that show all that free plays show."""
        return self.independent(sorted(self.free))

    @cached_property
    def orthogonal(self) -> list[tuple[Vector, arb]]:
        """Orthogonal vectors that span what free plays show, with their squared lengths."""
        found: list[tuple[Vector, arb]] = []
        for leader in self.shown:
            vector = without([arb(entry) for entry in self.arms[leader]], found)
            length = dot(vector, vector)
            if not length > 0:
                raise ProofError("instance: its best arms are too nearly dependent")
            found.append((vector, length))
        return found

    @cached_property
    def basis(self) -> arb_mat | None:
        """Vectors, one a row, that span where the parameter moves; None where it is all space."""
        seen = self.independent(self.tops)
        if self.across.shape[1] + len(seen) == self.dimension:
            return None
        rows = [*pivots(self.across), *seen]
        return arb_mat(len(rows), self.dimension, self.arms[rows].ravel().tolist())

    def moves(self) -> bool:
        """Whether any parameter is confusing: free best arms do not show all that arms show."""
        if len(self.free) < len(self.tops) or self.across.shape[1] > 0:
            return True
        _ = self.orthogonal  # refused unless they are independent
        return False

    @property
    def is_settled(self) -> bool:
        """Whether every arm is the only one of its leader."""
        return all(arm == leader for arm, leader in enumerate(self.leaders))

    def counts(self, arm: int) -> bool:
        """Whether plays of an arm count: those of free best arms tell nothing new."""
        return arm not in self.free

    @cached_property
    def apart(self) -> arb_mat:
        """What tells each arm from its leader, in coordinates: x, or x − x*."""
        if len(self.free) == len(self.tops):
            return self.coordinates
        rows, apart = self.coordinates.tolist(), []
        for row, leader in zip(rows, self.leaders, strict=True):
            top = rows[leader]
            differs = leader not in self.free
            apart.append([a - b for a, b in zip(row, top, strict=True)] if differs else row)
        return arb_mat(apart)

    def direction(self, numbers: np.ndarray, relative: bool) -> Vector:
        """δ of what a certificate holds, in the span of the arms, across the free leaders."""
        if numbers.shape != self.phi.shape:
            raise ProofError(f": parameters must have the shape {list(self.phi.shape)}")
        delta = [arb(entry) for entry in numbers]
        if not relative:
            delta = [a - arb(b) for a, b in zip(delta, self.phi, strict=True)]
        if self.basis is not None:
            gram = self.basis * self.basis.transpose()
            along = gram.solve(self.basis * column(delta))
            delta = (self.basis.transpose() * along).entries()
        return without(delta, self.orthogonal)

    def confusing(self, alternative: Alternative, arm: int) -> Confusing:
        """The exact direction of an alternative, of the length at which its arm ties."""
        if not self.moves():
            raise ProofError(".parameter: all arms are parallel, and nothing is confusing")
        mine, leader = [arb(entry) for entry in self.arms[arm]], self.leaders[arm]
        if leader not in self.free:
            mine = [a - arb(b) for a, b in zip(mine, self.arms[leader], strict=True)]
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
        """M with xᵀ M x = max ⟨δ, x⟩² over Σ_y weights_y ⟨δ, y⟩² ≤ 1, ⟨δ, x*⟩ = 0 for free x*.

        In coordinates; None where some direction has no weight.
        """
        arms, size, played = self.coordinates, self.coordinates.ncols(), sorted(weights)
        if not played:
            return None
        rows = [[arms[arm, i] for i in range(size)] for arm in played]
        pairs = zip(played, rows, strict=True)
        weighed = [[weights[arm] * entry for entry in row] for arm, row in pairs]
        gram = arb_mat(rows).transpose() * arb_mat(weighed)
        bordered = [[gram[i, j] for j in range(size)] for i in range(size)]
        tops = [[arms[leader, i] for i in range(size)] for leader in self.shown]
        bordered = [[*row, *(top[i] for top in tops)] for i, row in enumerate(bordered)]
        bordered += [[*top, *(arb(0) for _ in tops)] for top in tops]
        try:
            inverse = arb_mat(bordered).inv()
        except ZeroDivisionError:
            return None
        return arb_mat([[inverse[i, j] for j in range(size)] for i in range(size)])

    def forms(self, arms: arb_mat, form: arb_mat) -> Vector:
        """xᵀ M x of every arm."""
        images = zip(arms.tolist(), (arms * form).tolist(), strict=True)
        return [dot(row, image) for row, image in images]


_frames: "WeakKeyDictionary[Any, dict[tuple[int, ...], Frame]]" = WeakKeyDictionary()


def frame_of(
    instance: Any,
    arms: np.ndarray,
    phi: np.ndarray,
    best: int,
    sign: float,
    free: bool = True,
) -> Frame:
    """The frame of an instance with one best arm."""
    return frame_of_leaders(instance, arms, phi, [best] * len(arms), sign, [best] if free else [])


def frame_of_leaders(
    instance: Any,
    arms: np.ndarray,
    phi: np.ndarray,
    leaders: Sequence[int],
    sign: float,
    free: Sequence[int],
) -> Frame:
    """The frame of an instance, kept as long as that is: balls are not part of it."""
    kept, key = _frames.setdefault(instance, {}), tuple(free)
    if key not in kept:
        kept[key] = Frame(arms, phi, leaders, sign, free)
    return kept[key]


def variance(sigma: float) -> arb:
    """σ²."""
    return arb(sigma) ** 2


def information(frame: Frame, rates: dict[int, arb], variance: arb) -> arb:
    """1 / max over x of 2σ² q_x / m_x²."""
    if frame.is_settled or not frame.moves():
        return INFINITE
    form = frame.inverse({arm: r for arm, r in rates.items() if frame.counts(arm) and r > 0})
    if form is None:
        return arb(0)
    spread = frame.forms(frame.apart, form)
    others = [x for x in range(len(spread)) if x != frame.leaders[x]]
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


def without(vector: Vector, orthogonal: Sequence[tuple[Vector, arb]]) -> Vector:
    """A vector less its parts along others, orthogonal to one another, of given squared length."""
    for other, length in orthogonal:
        share = dot(vector, other) / length
        vector = [a - share * b for a, b in zip(vector, other, strict=True)]
    return vector


def column(entries: Vector) -> arb_mat:
    """A vector as a matrix of one column."""
    return arb_mat(len(entries), 1, entries)


def dot(a: Vector, b: Vector) -> arb:
    """⟨a, b⟩."""
    return total(p * q for p, q in zip(a, b, strict=True))
