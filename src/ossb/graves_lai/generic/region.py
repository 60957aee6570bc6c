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
from ossb.graves_lai.generic.duals import Dual, gathered, mean_rows, settled
from ossb.graves_lai.generic.frame import Frame
from ossb.graves_lai.generic.outline import Outline
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.shape import Shape, least_movement, shape_of
from ossb.graves_lai.linprog import solve_lp

ROOM = 1e-7  # less slack than this, at unit scale, is none
ENLARGED = (1e-6, 1e-10)  # neighbourhoods in which a narrow region is looked for
FAR = 1e2  # at unit scale: a start further out is looked for again, nearer
STRICT = 1e-9  # an advantage below this share of the gap is a tie
REFINEMENTS = 3  # each takes ten digits


@dataclass(frozen=True, eq=False)
class Region:
    """A region with an interior, in the coordinates z (λ = θ + scale · columns z)."""

    piece: int
    arm: int
    scale: float
    frame: Frame
    slacks: np.ndarray  # (m,)
    need: float
    tight_proof: np.ndarray  # (m + q,) multipliers of rows and equal that prove what is tight
    middle: np.ndarray  # (n,) a point with every other row slack

    @property
    def outline(self) -> Outline:
        return self.frame.outline

    @property
    def tight(self) -> np.ndarray:
        """Rows that are equalities in the whole region."""
        return self.frame.tight

    @property
    def n_bounds(self) -> int:
        return int(self.slacks.size)

    @property
    def clear(self) -> float:
        """The least slack, at the middle, of the rows that have any."""
        slacks = self.slacks - self.outline.rows @ self.middle
        least = float(np.min(slacks, initial=np.inf, where=~self.tight))
        return min(least, float(self.outline.gain @ self.middle - self.need))


def region_of(program: Program, piece: int, arm: int) -> Region | Dual:
    """The region of an alternative, or the proof that it is empty."""
    shape = shape_of(program, piece, arm)
    least = least_movement(shape)
    shape = shape.scaled(least)
    farthest = _movement(program, shape)
    if farthest is None:
        return _emptiness(program, piece, arm, shape)
    reach = max(farthest, STRICT)
    shape = shape.scaled(reach)
    scale = least * reach
    middle, tight, proof = _interior(shape)
    if middle is None:
        return _emptiness(program, piece, arm, shape)
    if _infinitely_far(program, piece, tight):
        return _dual(program, piece, arm, shape, 0.0, proof)
    if farthest <= STRICT:
        raise InputError(
            "theta",
            f"be learnable: with arm {arm} best, a parameter looks the same to every arm, so "
            "no exploration can tell it apart and C(θ) is infinite",
        )
    region = _region(program, piece, arm, scale, shape, tight, proof, middle)
    if not region.clear > 0:
        raise CertificationError(f"arm {arm} in piece {piece}: no interior that doubles can hold")
    return region


def narrow_region(program: Program, piece: int, arm: int) -> Region | None:
    """A region that is narrow beside its distance from θ; None if it holds no room in doubles.

    A linear program finds a point to about a ten-billionth of its scale, within which such a
    region has all its room: so the neighbourhood of that point is looked at again, enlarged.
    """
    shape = shape_of(program, piece, arm)
    least = least_movement(shape)
    shape = shape.scaled(least)
    farthest = _movement(program, shape)
    reach = max(farthest or 1.0, STRICT)
    shape = shape.scaled(reach)
    middle = _widest(shape, np.zeros(shape.gain.size), 1.0)
    for enlarged in ENLARGED:
        if middle is None:
            return None
        middle = _widest(shape, middle, enlarged)
    if middle is None:
        return None
    nothing = np.zeros(shape.rows.shape[0], dtype=bool)
    proof = np.zeros(nothing.size + shape.equal.shape[0])
    region = _region(program, piece, arm, least * reach, shape, nothing, proof, middle)
    return region if region.clear > 0 else None


def _widest(shape: Shape, around: np.ndarray, unit: float) -> np.ndarray | None:
    """The point with the most room in every row, of those within about a unit of another one."""
    n = shape.gain.size
    left = np.append(shape.slacks - shape.rows @ around, shape.gain @ around - shape.need) / unit
    off = (shape.equal_to - shape.equal @ around) / unit
    near = left < 1e6
    rows = np.vstack([shape.rows, -shape.gain])[near]
    matrix = np.vstack(
        [
            np.hstack([rows, np.ones((rows.shape[0], 1))]),
            np.hstack([shape.equal, np.zeros((shape.equal.shape[0], 1))]),
        ]
    )
    lower = np.concatenate([np.full(rows.shape[0], -np.inf), off])
    upper = np.concatenate([left[near], off])
    costs = np.append(np.zeros(n), -1.0)
    box = 1e4
    solution = solve_lp(
        costs,
        matrix,
        lower,
        upper,
        np.append(np.full(n, -box), -box),
        np.append(np.full(n, box), 1.0),
    )
    return around + unit * solution.point[:n] if solution.status == "optimal" else None


def greatest_advantage(program: Program, piece: int, arm: int, box: float) -> np.ndarray | None:
    """The parameter with the greatest advantage, of those with entries of δ up to ``box``.

    In a piece and the mean space, and where what the best arm shows stays; None if none is found.
    """
    shape = shape_of(program, piece, arm)
    least = least_movement(shape)
    shape = shape.scaled(least)
    m = shape.rows.shape[0]
    lower = np.concatenate([np.full(m, -np.inf), shape.equal_to])
    upper = np.concatenate([shape.slacks, shape.equal_to])
    rows = np.vstack([shape.rows, shape.equal])
    within = np.full(shape.gain.size, box / least) / program.ground.columns
    solution = solve_lp(-shape.gain, rows, lower, upper, -within, within)
    if solution.status != "optimal":
        return None
    return np.asarray(program.theta + least * program.ground.columns * solution.point)


def _region(
    program: Program,
    piece: int,
    arm: int,
    scale: float,
    shape: Shape,
    tight: np.ndarray,
    proof: np.ndarray,
    middle: np.ndarray,
) -> Region:
    frame = program.ground.frame(piece, arm, tight)
    middle = frame.settled(middle, np.concatenate([shape.equal_to, shape.slacks[tight]]))
    return Region(piece, arm, scale, frame, shape.slacks, shape.need, proof, middle)


def holds_a_point(piece: Piece, means: np.ndarray, space: tuple[float, float]) -> bool:
    """Whether a piece holds any parameter with means inside the mean space."""
    matrix = np.vstack([piece.matrix, piece.equal_matrix, means])
    lower = np.concatenate(
        [np.full(piece.bounds.size, -np.inf), piece.equal_bounds, np.full(len(means), space[0])]
    )
    upper = np.concatenate([piece.bounds, piece.equal_bounds, np.full(len(means), space[1])])
    return solve_lp(np.zeros(means.shape[1]), matrix, lower, upper, -np.inf).status == "optimal"


def _movement(program: Program, shape: Shape) -> float | None:
    """Least change, over the region, of the largest mean that any arm reveals; None if empty."""
    n = shape.gain.size
    seen = program.ground.seen
    zero, one = np.zeros((shape.rows.shape[0], 1)), np.ones((seen.shape[0], 1))
    matrix = np.vstack(
        [
            np.hstack([shape.rows, zero]),
            np.hstack([shape.equal, np.zeros((shape.equal.shape[0], 1))]),
            np.append(shape.gain, 0.0)[None],
            np.hstack([seen, -one]),
            np.hstack([-seen, -one]),
        ]
    )
    free = np.full(shape.rows.shape[0], -np.inf)
    below = np.full(2 * seen.shape[0], -np.inf)
    lower = np.concatenate([free, shape.equal_to, [shape.need], below])
    upper = np.concatenate([shape.slacks, shape.equal_to, [np.inf], np.zeros(2 * seen.shape[0])])
    costs = np.append(np.zeros(n), 1.0)
    bounds = np.append(np.full(n, -np.inf), 0.0)
    solution = solve_lp(costs, matrix, lower, upper, bounds)
    return None if solution.status != "optimal" else max(solution.value, 0.0)


def _interior(shape: Shape) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    """A point with room in every row, the rows that never have any, and the proof of these."""
    m, q, n = shape.rows.shape[0], shape.equal.shape[0], shape.gain.size
    nothing = np.zeros(m, dtype=bool), np.zeros(m + q)
    ones = np.ones((m, 1))
    matrix = np.vstack(
        [
            np.hstack([shape.rows, ones]),
            np.hstack([shape.equal, np.zeros((q, 1))]),
            np.append(-shape.gain, 1.0)[None],
        ]
    )
    lower = np.concatenate([np.full(m, -np.inf), shape.equal_to, [-np.inf]])
    upper = np.concatenate([shape.slacks, shape.equal_to, [-shape.need]])
    free = np.append(np.full(n, -np.inf), 0.0)
    costs = np.append(np.zeros(n), -1.0)
    solution = solve_lp(costs, matrix, lower, upper, free, np.append(np.full(n, np.inf), 1.0))
    if solution.status == "optimal" and -solution.value > ROOM:
        middle = solution.point[:n]
        if np.abs(middle).max() > FAR:
            middle = _nearest(shape, -0.5 * solution.value, middle)
        return middle, *nothing
    return _relative_interior(shape)


def _nearest(shape: Shape, room: float, known: np.ndarray) -> np.ndarray:
    """The nearest point with some room in every row: programs start from it."""
    m, n = shape.rows.shape[0], shape.gain.size
    unit, one = np.eye(n), np.ones((n, 1))
    narrow = np.vstack([shape.rows, shape.equal, shape.gain[None]])
    matrix = np.vstack(
        [
            np.hstack([narrow, np.zeros((narrow.shape[0], 1))]),
            np.hstack([unit, -one]),
            np.hstack([-unit, -one]),
        ]
    )
    within = np.full(2 * n, -np.inf)
    free = np.full(m, -np.inf)
    lower = np.concatenate([free, shape.equal_to, [shape.need + room], within])
    upper = np.concatenate([shape.slacks - room, shape.equal_to, [np.inf], np.zeros(2 * n)])
    costs, bounds = np.append(np.zeros(n), 1.0), np.append(np.full(n, -np.inf), 0.0)
    solution = solve_lp(costs, matrix, lower, upper, bounds)
    return solution.point[:n] if solution.status == "optimal" else known


def _relative_interior(shape: Shape) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    """The same where some rows are tight everywhere: as many slack rows as there can be.

    maximise Σ t_i with 0 ≤ t_i ≤ 1, over the cone of the region (z = point / share, share ≥ 1):
    rows with t_i = 0 are tight everywhere, and their multipliers say why.
    """
    m, q, n = shape.rows.shape[0], shape.equal.shape[0], shape.gain.size
    matrix = np.zeros((m + q + 1, n + 1 + m + 1))
    matrix[:m, :n], matrix[:m, n] = shape.rows, -shape.slacks
    matrix[m : m + q, :n], matrix[m : m + q, n] = shape.equal, -shape.equal_to
    matrix[-1, :n], matrix[-1, n] = -shape.gain, shape.need
    matrix[np.arange(m), n + 1 + np.arange(m)] = 1.0
    matrix[-1, -1] = 1.0
    lower = np.concatenate([np.full(m, -np.inf), np.zeros(q), [-np.inf]])
    costs = np.concatenate([np.zeros(n + 1), -np.ones(m + 1)])
    columns = np.concatenate([np.full(n, -np.inf), [1.0], np.zeros(m + 1)])
    most = np.concatenate([np.full(n + 1, np.inf), np.ones(m + 1)])
    solution = solve_lp(costs, matrix, lower, np.zeros(m + q + 1), columns, most)
    if solution.status != "optimal":
        return None, np.zeros(m, dtype=bool), np.zeros(m + q)
    room = solution.point[n + 1 :]
    if room[-1] <= 0.5:
        return None, np.zeros(m, dtype=bool), np.zeros(m + q)
    tight = room[:m] <= 0.5
    proof = -solution.duals[: m + q]
    proof[:m] = np.where(tight, np.maximum(proof[:m], 0.0), 0.0)
    return solution.point[:n] / solution.point[n], tight, proof


def _infinitely_far(program: Program, piece: int, tight: np.ndarray) -> bool:
    """Whether a mean that some arm reveals is forced to where one observation excludes it."""
    component, sign, _ = mean_rows(program)
    forced = tight[program.pieces[piece].bounds.size :]
    component, sign = component[forced], sign[forced]
    ends = np.where(sign > 0, program.divergence.highest, program.divergence.lowest)
    far = np.isinf(program.divergence.value(program.truth[component], ends))
    return bool((far & np.isin(component, program.informative)).any())


def _emptiness(program: Program, piece: int, arm: int, shape: Shape) -> Dual:
    """Multipliers that prove that no parameter of the region gives a strict advantage."""
    m, n = shape.rows.shape[0], shape.gain.size
    matrix = np.vstack([shape.rows, shape.equal])
    lower = np.concatenate([np.full(m, -np.inf), shape.equal_to])
    upper = np.concatenate([shape.slacks, shape.equal_to])
    capped = np.vstack([matrix, shape.gain[None]])
    # at unit scale, an advantage of 1 beyond what is needed is as good as any
    cap = abs(shape.need) + 1.0
    solution = solve_lp(
        -shape.gain, capped, np.append(lower, -np.inf), np.append(upper, cap), -np.inf
    )
    if solution.status == "optimal":
        if -solution.value - shape.need > STRICT * max(abs(shape.need), 1.0):
            raise CertificationError(
                f"arm {arm} in piece {piece}: neither an interior nor a proof of emptiness found"
            )
        found = _dual(program, piece, arm, shape, 1.0, -solution.duals[:-1])
        if found.tau > 0.0:
            return found
        return _dual(program, piece, arm, shape, 1.0, _refined(shape, -solution.duals[:-1]))
    excess = np.hstack([matrix, np.vstack([-np.ones((m, 1)), np.zeros((matrix.shape[0] - m, 1))])])
    split = np.vstack([np.zeros((m, 2 * (matrix.shape[0] - m)))])
    unit = np.eye(matrix.shape[0] - m)
    elastic = np.hstack([excess, np.vstack([split, np.hstack([unit, -unit])])])
    costs = np.append(np.zeros(n), np.ones(elastic.shape[1] - n))
    columns = np.append(np.full(n, -np.inf), np.zeros(elastic.shape[1] - n))
    solution = solve_lp(costs, elastic, lower, upper, columns)
    if solution.status != "optimal" or not solution.value > 0:
        raise CertificationError(f"arm {arm} in piece {piece}: no proof of emptiness found")
    return _dual(program, piece, arm, shape, 0.0, -solution.duals)


def _refined(shape: Shape, multipliers: np.ndarray) -> np.ndarray:
    """Multipliers that cancel the advantage, where a linear program left a little of it.

    What is left is enlarged and cancelled in its turn, at the least cost.  Gleixner, Steffy and
    Wolter (2016), Iterative refinement for linear programming.
    """
    m = shape.rows.shape[0]
    rows = np.vstack([shape.rows, shape.equal])
    sides = np.concatenate([shape.slacks, shape.equal_to])
    free = np.full(sides.size - m, -np.inf)
    multipliers = np.concatenate([np.maximum(multipliers[:m], 0.0), multipliers[m:]])
    for _ in range(REFINEMENTS):
        left = shape.gain - rows.T @ multipliers
        size = float(np.abs(left).max(initial=0.0))
        if not size > 0.0:
            break
        lower = np.concatenate([-np.minimum(multipliers[:m] / size, FAR), free])
        solution = solve_lp(sides, rows.T, left / size, left / size, lower)
        if solution.status != "optimal":
            break
        multipliers = multipliers + size * solution.point
    return multipliers


def _dual(
    program: Program,
    piece: int,
    arm: int,
    shape: Shape,
    tau: float,
    multipliers: np.ndarray,
) -> Dual:
    m = shape.rows.shape[0]
    rows = np.maximum(multipliers[:m], 0.0) / shape.outline.row_norms
    equal = multipliers[m:] / shape.outline.equal_norms
    found = gathered(program, piece, arm, tau / shape.outline.gain_norm, rows, equal, np.zeros(0))
    return settled(program, found)
