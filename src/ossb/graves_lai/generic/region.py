"""One convex region of confusing parameters: (piece, arm), brought to unit scale.

In λ = θ + scale · columns z the region is
{rows z ≤ slacks, equal z = equal_to, gain · z ≥ need}: the piece, the mean space, agreement on
what the best arm reveals, and an arm at least as good.
Linear programs find how far the nearest confusing parameter is (which sets the scale) and a
point with every row slack; rows that are tight in the whole region are found and counted as
equalities, with the multipliers that prove it.  A region without a strict advantage anywhere
is empty, and multipliers prove that: a tie is not a confusing parameter.
"""

from dataclasses import dataclass

import numpy as np

from ossb.errors import CertificationError, InputError
from ossb.graves_lai.generic.affine_hull import AffineHull
from ossb.graves_lai.generic.duals import Dual, mean_rows
from ossb.graves_lai.generic.emptiness import STRICT, dual_of, emptiness
from ossb.graves_lai.generic.interior import interior, least_movement, widest
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.polyhedron import Polyhedron, UnitRows
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.linprog import solve_lp

ENLARGED = (1e-6, 1e-10)  # neighbourhoods in which a narrow region is looked for


@dataclass(frozen=True, eq=False)
class Region:
    """A region with an interior, in the coordinates z (λ = θ + scale · columns z)."""

    piece: int
    arm: int
    scale: float
    hull: AffineHull
    slacks: np.ndarray  # (m,)
    need: float
    tight_proof: np.ndarray  # (m + q,) multipliers of rows and equal that prove what is tight
    middle: np.ndarray  # (n,) a point with every other row slack

    @property
    def unit_rows(self) -> UnitRows:
        return self.hull.unit_rows

    @property
    def tight(self) -> np.ndarray:
        """Rows that are equalities in the whole region."""
        return self.hull.tight

    @property
    def n_bounds(self) -> int:
        return int(self.slacks.size)

    @property
    def clear(self) -> float:
        """The least slack, at the middle, of the rows that have any."""
        slacks = self.slacks - self.unit_rows.rows @ self.middle
        least = float(np.min(slacks, initial=np.inf, where=~self.tight))
        return min(least, float(self.unit_rows.gain @ self.middle - self.need))


def region_of(program: Program, piece: int, arm: int) -> Region | Dual:
    """The region of an alternative, or the proof that it is empty."""
    poly = program.polyhedron(piece, arm)
    least = poly.distance
    poly = poly.scaled(least)
    farthest = least_movement(poly, program.fixed_leader.seen)
    if farthest is None:
        return emptiness(program, piece, arm, poly)
    reach = max(farthest, STRICT)
    poly = poly.scaled(reach)
    scale = least * reach
    middle, tight, proof = interior(poly)
    if middle is None:
        return emptiness(program, piece, arm, poly)
    if _infinitely_far(program, piece, tight):
        return dual_of(program, piece, arm, poly, 0.0, proof)
    if farthest <= STRICT:
        raise InputError(
            "theta",
            f"be learnable: with arm {arm} best, a parameter looks the same to every arm, so "
            "no exploration can tell it apart and C(θ) is infinite",
        )
    region = _region(program, piece, arm, scale, poly, tight, proof, middle)
    if not region.clear > 0:
        raise CertificationError(f"arm {arm} in piece {piece}: no interior that doubles can hold")
    return region


def narrow_region(program: Program, piece: int, arm: int) -> Region | None:
    """A region that is narrow beside its distance from θ; None if it holds no room in doubles.

    A linear program finds a point to about a ten-billionth of its scale, within which such a
    region has all its room: so the neighbourhood of that point is looked at again, enlarged.
    """
    poly = program.polyhedron(piece, arm)
    least = poly.distance
    poly = poly.scaled(least)
    farthest = least_movement(poly, program.fixed_leader.seen)
    reach = max(farthest or 1.0, STRICT)
    poly = poly.scaled(reach)
    middle = widest(poly, np.zeros(poly.gain.size), 1.0)
    for enlarged in ENLARGED:
        if middle is None:
            return None
        middle = widest(poly, middle, enlarged)
    if middle is None:
        return None
    nothing = np.zeros(poly.rows.shape[0], dtype=bool)
    proof = np.zeros(nothing.size + poly.equal.shape[0])
    region = _region(program, piece, arm, least * reach, poly, nothing, proof, middle)
    return region if region.clear > 0 else None


def greatest_advantage(program: Program, piece: int, arm: int, box: float) -> np.ndarray | None:
    """The parameter with the greatest advantage, of those with entries of δ up to ``box``.

    In a piece and the mean space, and where what the best arm shows stays; None if none is found.
    """
    poly = program.polyhedron(piece, arm)
    least = poly.distance
    poly = poly.scaled(least)
    m = poly.rows.shape[0]
    lower = np.concatenate([np.full(m, -np.inf), poly.equal_to])
    upper = np.concatenate([poly.slacks, poly.equal_to])
    rows = np.vstack([poly.rows, poly.equal])
    within = np.full(poly.gain.size, box / least) / program.fixed_leader.columns
    solution = solve_lp(-poly.gain, rows, lower, upper, -within, within)
    if solution.status != "optimal":
        return None
    return np.asarray(program.theta + least * program.fixed_leader.columns * solution.point)


def _region(
    program: Program,
    piece: int,
    arm: int,
    scale: float,
    poly: Polyhedron,
    tight: np.ndarray,
    proof: np.ndarray,
    middle: np.ndarray,
) -> Region:
    hull = program.fixed_leader.hull(piece, arm, tight)
    middle = hull.settled(middle, np.concatenate([poly.equal_to, poly.slacks[tight]]))
    return Region(piece, arm, scale, hull, poly.slacks, poly.need, proof, middle)


def holds_a_point(piece: Piece, means: np.ndarray, space: tuple[float, float]) -> bool:
    """Whether a piece holds any parameter with means inside the mean space."""
    matrix = np.vstack([piece.matrix, piece.equal_matrix, means])
    lower = np.concatenate(
        [np.full(piece.bounds.size, -np.inf), piece.equal_bounds, np.full(len(means), space[0])]
    )
    upper = np.concatenate([piece.bounds, piece.equal_bounds, np.full(len(means), space[1])])
    return solve_lp(np.zeros(means.shape[1]), matrix, lower, upper, -np.inf).status == "optimal"


def _infinitely_far(program: Program, piece: int, tight: np.ndarray) -> bool:
    """Whether a mean that some arm reveals is forced to where one observation excludes it."""
    component, sign, _ = mean_rows(program)
    forced = tight[program.pieces[piece].bounds.size :]
    component, sign = component[forced], sign[forced]
    ends = np.where(sign > 0, program.divergence.highest, program.divergence.lowest)
    far = np.isinf(program.divergence.value(program.truth[component], ends))
    return bool((far & np.isin(component, program.informative)).any())
