"""The lower side of a bound: parameters brought exactly into their regions.

A confusing parameter and its witness are written as doubles, which rarely lie exactly on an
equality or behind a row that binds.  Both are first changed by as little as brings them inside,
in rationals; what is proved is what the changed ones prove.

- The witness is moved onto the equalities, and onto the rows that it breaks.
- The parameter is moved onto the equalities, and onto rows that it breaks and the witness hardly
  leaves; then towards the witness until every row holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, fmpq

from ossb.graves_lai.generic.exact import ExactProgram, Walls
from ossb.graves_lai.generic.rational import ZERO, Row, dot, pivots, rationals, solved
from ossb.graves_lai.proof import Alternative, ProofError

OUTSIDE = "outside the parameter set"
ROUNDS = 6
ROUNDED = fmpq(1, 10**9)  # of what a row sums: what is off by more was not rounded
SHORT = fmpq(1, 10**8)  # of the way to the witness: a row that asks for more is met as an equality
FAR = fmpq(1, 10**3)  # of the way to the witness: who asks for more was not rounded
GRID = 2**96  # shares of the way are rounded up to a multiple of 1 / GRID, to stay short


@dataclass(frozen=True, eq=False)
class RegionRows:
    """One region: equal δ = rests, rows δ ≤ slacks; the last row is the advantage."""

    theta: list[fmpq]
    equal: list[Row]  # first what the best arm shows
    rests: list[fmpq]
    walls: Walls
    gain: Row
    need: fmpq
    n_shown: int

    def row(self, i: int) -> Row:
        """Row i, from ``n_walls`` on the negative advantage."""
        if i < len(self.walls.rows):
            return self.walls.rows[i]
        return [(j, -entry) for j, entry in self.gain]

    def side(self, i: int) -> fmpq:
        return self.walls.slacks[i] if i < len(self.walls.rows) else -self.need

    def left(self, i: int, point: Sequence[fmpq]) -> fmpq:
        """Slack of a row."""
        return self.side(i) - dot(self.row(i), point)

    def lead(self, point: Sequence[fmpq]) -> fmpq:
        """The arm's advantage over x*."""
        return dot(self.gain, point) - self.need

    def broken(self, point: Sequence[fmpq]) -> dict[int, fmpq]:
        """The rows that a point breaks, with their slacks."""
        walls = self.walls
        near = np.array([float(entry) for entry in point])
        # every sum is off by less than this share of its terms: clear rows need no more
        share = (near.size + 8) * 2.0**-52
        size = np.abs(walls.sides) + walls.sizes @ np.abs(near) + 1e-300
        doubtful = ~(walls.sides - walls.matrix @ near > share * size)
        answer = {}
        for i in [*np.flatnonzero(doubtful).tolist(), len(walls.rows)]:
            left = self.left(i, point)
            if left < 0:
                answer[i] = left
        return answer


def rows_of(program: ExactProgram, number: int, arm: int) -> RegionRows:
    """The rows of a region: agreement, the piece, the mean space, an arm at least as good."""
    piece, agreement = program.piece(number), program.agreement
    return RegionRows(
        program.theta,
        [*agreement, *piece.equal],
        [ZERO] * len(agreement) + piece.rests,
        program.walls(number),
        program.gain(number, arm),
        program.need(number, arm),
        len(agreement),
    )


def brought_inside(program: ExactProgram, arm: int, alternative: Alternative) -> list[fmpq]:
    """δ of the parameter, exactly a limit of parameters of the piece that make ``arm`` best."""
    piece = alternative.piece
    if not 0 <= piece < program.n_pieces:
        raise ProofError(f".piece: {piece} is none of the {program.n_pieces}")
    region = rows_of(program, piece, arm)
    witness = _moved(program, alternative.witness, alternative.relative)
    _check_rounded(region, witness, "witness")
    witness = within_rows(region, witness)
    broken = region.broken(witness)
    if broken:
        raise ProofError(f".witness: outside the parameter set by {-_least(broken):.2e}")
    if not region.lead(witness) > 0:
        raise ProofError(".witness: its arm is not strictly better")
    point = _moved(program, alternative.parameter, alternative.relative)
    _check_rounded(region, point, "parameter")
    return _between(region, point, witness)


def moved_inside(program: ExactProgram, arm: int, alternative: Alternative) -> list[fmpq]:
    """δ of the parameter moved onto what it must meet, where no witness is asked for."""
    region = rows_of(program, 0, arm)
    point = _moved(program, alternative.parameter, alternative.relative)
    _check_rounded(region, point, "parameter")
    point = within_rows(region, point)
    broken = region.broken(point)
    if broken:
        raise ProofError(f".parameter: outside the parameter set by {-_least(broken):.2e}")
    return point


def _least(slacks: dict[int, fmpq]) -> float:
    return float(min(slacks.values()))


def _check_rounded(region: RegionRows, point: Sequence[fmpq], name: str) -> None:
    """Refuse what is off by more than rounding: it was not meant for this region."""
    size = [abs(at) + abs(at + by) for at, by in zip(region.theta, point, strict=True)]
    for i, (row, rest) in enumerate(zip(region.equal, region.rests, strict=True)):
        off = abs(rest - dot(row, point))
        if off > ROUNDED * _size(row, size, rest):
            what = "differs in what the best arm reveals" if i < region.n_shown else OUTSIDE
            raise ProofError(f".{name}: {what} by {float(off):.2e}")
    for i, left in region.broken(point).items():
        is_gain = i == len(region.walls.rows)
        if -left > ROUNDED * _size(region.row(i), size, region.side(i)):
            if is_gain and name == "witness":
                raise ProofError(".witness: its arm is not strictly better")
            what = "its arm is worse" if is_gain else OUTSIDE
            raise ProofError(f".{name}: {what} by {-float(left):.2e}")


def _size(row: Row, size: Sequence[fmpq], side: fmpq) -> fmpq:
    """The size of what a row sums."""
    return dot([(j, abs(entry)) for j, entry in row], size) + abs(side)


def within_rows(region: RegionRows, point: list[fmpq]) -> list[fmpq]:
    """A point moved onto the equalities, and onto the rows that it breaks, if that can be."""
    point = _met(region, point, [])
    held: list[int] = []
    for _ in range(ROUNDS):
        more = [i for i in region.broken(point) if i not in held]
        if not more:
            break
        held += more
        point = _met(region, point, held)
    return point


def _moved(program: ExactProgram, parameter: np.ndarray, relative: bool) -> list[fmpq]:
    """δ = λ − θ."""
    entries = rationals(parameter)
    if len(entries) != program.size:
        raise ProofError(f": its parameters must have {program.size} entries")
    if relative:
        return entries
    return [a - b for a, b in zip(entries, program.theta, strict=True)]


def _between(region: RegionRows, point: list[fmpq], within: list[fmpq]) -> list[fmpq]:
    """The parameter, moved as far towards the witness as the rows that it breaks ask for."""
    held: list[int] = []
    point = _met(region, point, held)
    shares: dict[int, fmpq] = {}
    for _ in range(ROUNDS):
        shares = {
            i: left / (left - region.left(i, within)) for i, left in region.broken(point).items()
        }
        far = [i for i, share in shares.items() if share > SHORT and i not in held]
        if not far:
            break
        held += far
        point = _met(region, point, held)
    share = max(shares.values(), default=ZERO)
    if share > FAR:
        raise ProofError(f".parameter: {OUTSIDE} by {-_least(region.broken(point)):.2e}")
    if share > 0:
        share = min(fmpq(1), fmpq(int((share * GRID).floor()) + 1, GRID))
        point = [a + share * (b - a) for a, b in zip(point, within, strict=True)]
    if region.broken(point) or not _is_level(region, point):
        raise ProofError(f".parameter: {OUTSIDE}, and not brought inside by a little")
    return point


def _met(region: RegionRows, point: list[fmpq], held: Sequence[int]) -> list[fmpq]:
    """The point moved onto the equalities, and onto some rows as far as these leave it free."""
    point = _onto(region.equal, region.rests, point)
    if not _is_level(region, point):
        raise ProofError(".piece: no parameter of it agrees with what the best arm shows")
    rows = [*region.equal, *(region.row(i) for i in held)]
    sides = [*region.rests, *(region.side(i) for i in held)]
    moved = _onto(rows, sides, point) if held else point
    return moved if _is_level(region, moved) else point


def _is_level(region: RegionRows, point: Sequence[fmpq]) -> bool:
    """Whether every equality holds."""
    pairs = zip(region.equal, region.rests, strict=True)
    return all(dot(row, point) == side for row, side in pairs)


def _onto(rows: Sequence[Row], sides: Sequence[fmpq], point: list[fmpq]) -> list[fmpq]:
    """The point changed in a few entries so that the independent ones of some equations hold."""
    short = [side - dot(row, point) for row, side in zip(rows, sides, strict=True)]
    if all(one == 0 for one in short):
        return point
    table = np.zeros((len(rows), len(point)))
    for i, row in enumerate(rows):
        for j, entry in row:
            table[i, j] = float(entry)
    size = np.abs(table).max(axis=0, initial=0.0)
    equations, chosen = pivots(table, 1.0 / np.where(size > 0, size, 1.0))
    answer = solved([rows[i] for i in equations], chosen, [short[i] for i in equations])
    if answer is None:
        raise ProofError(": its equalities cannot be met exactly")
    moved = list(point)
    for j, by in zip(chosen, answer, strict=True):
        moved[j] += by
    return moved


def divergences(program: ExactProgram, point: Sequence[fmpq]) -> list[arb]:
    """D(θ, λ, x) of every arm, for the λ at δ."""
    each = [arb(0)] * len(program.means)
    for k in program.hidden:
        mean = program.inside(program.shift[k] + dot(program.means[k], point))
        each[k] = program.conjugate.value(program.truth[k], mean)
    return [sum((each[k] for k in shown), arb(0)) for shown in program.reveals]
