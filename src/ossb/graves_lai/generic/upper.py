"""The upper side of a bound, proved exactly from multipliers that were written as doubles.

For a region (piece, arm) and multipliers p of the means, u ≥ 0 of the rows, v of the equalities
and tau ≥ 0 of the advantage with

    meansᵀ p + matrixᵀ u + equal_matrixᵀ v = tau · gain,                                     (1)

every λ of the region has, with w_k the weight of component k,

    Σ w_k d(θ_k, m_k) ≥ tau · Δ − u · (b − A θ) − v · (e − E θ)
                        + Σ inf over m of [w_k d(θ_k, m) − p_k (m − θ_k)]                    (2)

where the sum goes over the components that the best arm does not show; the others do not move.
(1) has to hold exactly, since nothing need bound an entry of λ, and doubles rarely do: they are
first changed by as little as makes them (``_settled``), and by no more than rounding may have.
Whatever that change is, what is proved is what the changed multipliers prove.

With all weights 0 the infima are rational, and so is the right side of (2), exactly:

- positive, or 0 with tau > 0: no parameter of the region makes its arm strictly better;
- 0 with a slope p_k ≠ 0: every parameter of the region has m_k at an end of the mean space.  If
  that end is infinitely far from θ_k and some arm shows k, any rate tells the region apart.

Either way the region adds nothing to C(θ), of which rates however small are the infimum.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, fmpq

from ossb.graves_lai.exact.balls import INFINITE as ENDLESS
from ossb.graves_lai.generic.exact import ExactPiece, ExactProgram
from ossb.graves_lai.generic.rational import ZERO, Row, pivots, solved

NOISE = 1e-6  # of the largest slope: more where there may be none shows that nothing is empty
AMPLE = 1e-3  # of what a multiplier may well change: by so much it may alone
ROUNDED = fmpq(1, 10**6)  # of a column: what is off by more was not rounded
TIED = 1e-6  # of the size of its terms: a right side further below 0 will not be 0


@dataclass(frozen=True, eq=False)
class Multipliers:
    """The multipliers of one region, as rationals."""

    piece: int
    arm: int
    tau: fmpq
    bounds: list[fmpq]  # u
    equal: list[fmpq]  # v
    means: list[fmpq]  # p


def information(program: ExactProgram, multipliers: Multipliers, weights: Sequence[fmpq]) -> arb:
    """A ball whose lower end is proved to bound the information in a region from below.

    +∞ if the region adds nothing to C(θ), −∞ if the multipliers prove nothing.
    """
    if multipliers.tau < 0 or any(u < 0 for u in multipliers.bounds):
        return -ENDLESS
    if adds_nothing(program, multipliers):
        return ENDLESS
    settled = _settled(program, multipliers, weights, tied=False)
    if settled is None:
        return -ENDLESS
    total = arb(_linear(program, settled))
    for k in program.hidden:
        if settled.means[k] == 0:
            continue
        total += program.conjugate.least(program.truth[k], weights[k], settled.means[k])
        # a mean of θ outside its space is not the one that the divergence starts from
        total -= arb(abs(settled.means[k] * (program.shift[k] - program.truth[k])))
    return total if total.is_finite() else -ENDLESS


def adds_nothing(program: ExactProgram, multipliers: Multipliers) -> bool:
    """Whether multipliers prove that a region adds nothing to C(θ)."""
    none = [ZERO] * len(program.means)
    if not _may_prove_emptiness(program, multipliers):
        return False
    settled = _settled(program, multipliers, none, tied=False)
    right = None if settled is None else _unweighted(program, settled)
    if settled is not None and right is not None and _excludes(program, settled, right):
        return True
    settled = _settled(program, multipliers, none, tied=True)
    right = None if settled is None else _unweighted(program, settled)
    return settled is not None and right is not None and _excludes(program, settled, right)


def _excludes(program: ExactProgram, multipliers: Multipliers, right: fmpq) -> bool:
    if right > 0 or (right == 0 and multipliers.tau > 0):
        return True
    return bool(right == 0 and _infinitely_far(program, multipliers))


def _infinitely_far(program: ExactProgram, multipliers: Multipliers) -> bool:
    """Whether a mean that some arm shows is forced to where one observation excludes it."""
    shown = {k for arm in program.reveals for k in arm}
    conjugate = program.conjugate
    for k in program.hidden:
        slope = multipliers.means[k]
        if slope == 0 or k not in shown:
            continue
        end = conjugate.highest if slope > 0 else conjugate.lowest
        if end is not None and not conjugate.value(program.truth[k], end).is_finite():
            return True
    return False


def _linear(program: ExactProgram, multipliers: Multipliers) -> fmpq:
    """The right side of (2) without the infima."""
    piece = program.piece(multipliers.piece)
    total = multipliers.tau * program.need(multipliers.piece, multipliers.arm)
    for u, slack in zip(multipliers.bounds, piece.slacks, strict=True):
        if u != 0:
            total -= u * slack
    for v, rest in zip(multipliers.equal, piece.rests, strict=True):
        total -= v * rest
    return total


def _reach(program: ExactProgram, k: int, slope: fmpq) -> fmpq | None:
    """How far component k may go in the direction of a slope; None if endlessly."""
    down, up = program.ends(k)
    return up if slope > 0 else down


def _unweighted(program: ExactProgram, multipliers: Multipliers) -> fmpq | None:
    """The right side of (2) with all weights 0; None if it is −∞."""
    total = _linear(program, multipliers)
    for k in program.hidden:
        slope = multipliers.means[k]
        if slope != 0:
            reach = _reach(program, k, slope)
            if reach is None:
                return None
            total -= abs(slope) * reach
    return total


def _may_prove_emptiness(program: ExactProgram, multipliers: Multipliers) -> bool:
    """Whether it is worth trying: about right in doubles, and no mean pulled endlessly."""
    means = multipliers.means
    largest = max((abs(p) for p in means), default=ZERO)
    limit = NOISE * float(largest)
    kept = list(means)
    for k in program.hidden:
        if means[k] != 0 and _reach(program, k, means[k]) is None:
            if float(abs(means[k])) > limit:
                return False
            kept[k] = ZERO
    right = _unweighted(program, replace(multipliers, means=kept))
    piece = program.piece(multipliers.piece)
    size = float(abs(multipliers.tau * program.need(multipliers.piece, multipliers.arm)))
    for factors, sides in ((multipliers.bounds, piece.slacks), (multipliers.equal, piece.rests)):
        for factor, side in zip(factors, sides, strict=True):
            if factor != 0:
                size += float(abs(factor * side))
    for k in program.hidden:
        if kept[k] != 0:
            size += float(abs(kept[k]) * (_reach(program, k, kept[k]) or ZERO))
    return right is not None and float(right) >= -TIED * size


@dataclass(eq=False)
class _Unknown:
    """A multiplier that may change: its column in (1), and how far it may well go."""

    of: str
    place: int
    column: Row
    scale: float


def _settled(
    program: ExactProgram, given: Multipliers, weights: Sequence[fmpq], tied: bool
) -> Multipliers | None:
    """Multipliers changed as little as makes (1) hold exactly, None if that cannot be done.

    Slopes with an infimum of −∞ are first brought to the nearest one without.  A column that a
    multiplier of its own can settle is left to that one; the others are a system for the
    multipliers that may change: slopes, those of equalities, and those of rows, within
    their signs.  ``tied``: with all weights 0, the right side of (2) shall be 0, too.
    """
    piece = program.piece(given.piece)
    hidden = program.hidden
    means = list(given.means)
    for k in hidden:
        means[k] = program.conjugate.nearest(program.truth[k], weights[k], means[k])
    settled = replace(given, means=means, bounds=list(given.bounds), equal=list(given.equal))
    unknowns = _unknowns(program, piece, settled, weights, tied)
    left = _left(program, piece, settled)
    own: dict[int, _Unknown] = {}
    if not tied:
        for unknown in unknowns:
            j = _only(unknown)
            if j >= 0 and (j not in own or unknown.scale > own[j].scale):
                change = float(abs(left[j] / unknown.column[0][1]))
                if change <= AMPLE * unknown.scale:
                    own[j] = unknown
        unknowns = [one for one in unknowns if own.get(_only(one)) is not one]
    rest = [j for j in range(program.size) if j not in own]
    if tied or any(left[j] != 0 for j in rest):
        extra = program.size
        if tied:
            right = _unweighted(program, settled)
            if right is None:
                return None
            left.append(right)
            rest.append(extra)
        if not _solve(settled, unknowns, left, rest):
            return None
        left = _left(program, piece, settled)
    for j, unknown in own.items():
        if left[j] != 0:
            _change(settled, unknown, -left[j] / unknown.column[0][1])
    fine = all(one == 0 for one in _left(program, piece, settled))
    if not fine or any(u < 0 for u in settled.bounds):
        return None
    return settled if _is_near(program, piece, given, settled) else None


def _is_near(
    program: ExactProgram, piece: ExactPiece, given: Multipliers, settled: Multipliers
) -> bool:
    """Whether multipliers were rounded, not wrong: no column changes by much of itself."""
    size, change = [ZERO] * program.size, [ZERO] * program.size
    for rows, before, after in (
        (program.means, given.means, settled.means),
        (piece.rows, given.bounds, settled.bounds),
        (piece.equal, given.equal, settled.equal),
    ):
        for row, old, new in zip(rows, before, after, strict=True):
            if old != 0 or new != 0:
                for j, entry in row:
                    size[j] += abs(old * entry)
                    change[j] += abs((new - old) * entry)
    return all(one <= ROUNDED * of for one, of in zip(change, size, strict=True))


def _only(unknown: _Unknown) -> int:
    return unknown.column[0][0] if len(unknown.column) == 1 else -1


def _left(program: ExactProgram, piece: ExactPiece, multipliers: Multipliers) -> list[fmpq]:
    """What is left of (1), column by column."""
    left = [ZERO] * program.size
    for rows, factors in (
        (program.means, multipliers.means),
        (piece.rows, multipliers.bounds),
        (piece.equal, multipliers.equal),
        ([program.gain(multipliers.piece, multipliers.arm)], [-multipliers.tau]),
    ):
        for row, factor in zip(rows, factors, strict=True):
            if factor != 0:
                for j, entry in row:
                    left[j] += factor * entry
    return left


def _unknowns(
    program: ExactProgram,
    piece: ExactPiece,
    multipliers: Multipliers,
    weights: Sequence[fmpq],
    tied: bool,
) -> list[_Unknown]:
    """The multipliers that may change, with the right side of (2) as a last column if ``tied``."""
    answer = []
    slopes = [abs(float(p)) for p in multipliers.means]
    most = max([*slopes, float(multipliers.tau)], default=0.0) or 1.0
    for k, row in enumerate(program.means):
        slope = multipliers.means[k]
        if program.shown[k]:
            answer.append(_Unknown("means", k, list(row), most))
        elif tied:
            reach = _reach(program, k, slope)
            if slope != 0 and reach is not None:
                sign = 1 if slope > 0 else -1
                cost = [(program.size, -sign * reach)] if reach != 0 else []
                answer.append(_Unknown("means", k, [*row, *cost], slopes[k]))
        elif program.conjugate.may(program.truth[k], weights[k], slope):
            answer.append(_Unknown("means", k, list(row), max(slopes[k], 1e-6 * most)))
    for of, rows, factors, sides in (
        ("equal", piece.equal, multipliers.equal, piece.rests),
        ("bounds", piece.rows, multipliers.bounds, piece.slacks),
    ):
        for i, (row, factor, side) in enumerate(zip(rows, factors, sides, strict=True)):
            if of == "equal" or factor > 0:
                cost = [(program.size, -side)] if tied and side != 0 else []
                scale = most if of == "equal" else float(factor)
                answer.append(_Unknown(of, i, [*row, *cost], scale))
    return answer


def _change(multipliers: Multipliers, unknown: _Unknown, by: fmpq) -> None:
    values: list[fmpq] = getattr(multipliers, unknown.of)
    values[unknown.place] += by


def _solve(
    multipliers: Multipliers, unknowns: list[_Unknown], left: list[fmpq], rest: list[int]
) -> bool:
    """Change unknowns so that nothing is left of independent ones of the columns ``rest``."""
    if not unknowns:
        return False
    place = {j: i for i, j in enumerate(rest)}
    table = np.zeros((len(rest), len(unknowns)))
    for number, unknown in enumerate(unknowns):
        for j, entry in unknown.column:
            if j in place:
                table[place[j], number] = float(entry)
    equations, chosen = pivots(table, np.array([one.scale for one in unknowns]))
    rows: list[Row] = [[] for _ in equations]
    at = {rest[i]: number for number, i in enumerate(equations)}
    for number in chosen:
        for j, entry in unknowns[number].column:
            if j in at:
                rows[at[j]].append((number, entry))
    answer = solved(rows, chosen, [-left[rest[i]] for i in equations])
    if answer is None:
        return False
    for number, by in zip(chosen, answer, strict=True):
        _change(multipliers, unknowns[number], by)
    return True
