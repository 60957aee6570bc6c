"""Multipliers that prove that a region holds no parameter with a strict advantage."""

import numpy as np

from ossb.errors import CertificationError
from ossb.graves_lai.generic.duals import Dual, gathered, settled
from ossb.graves_lai.generic.interior import FAR
from ossb.graves_lai.generic.polyhedron import Polyhedron
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.linprog import solve_lp

STRICT = 1e-9  # an advantage below this share of the gap is a tie
REFINEMENTS = 3  # each takes ten digits


def emptiness(program: Program, piece: int, arm: int, poly: Polyhedron) -> Dual:
    """Multipliers that prove that no parameter of the region gives a strict advantage."""
    m, n = poly.rows.shape[0], poly.gain.size
    matrix = np.vstack([poly.rows, poly.equal])
    lower = np.concatenate([np.full(m, -np.inf), poly.equal_to])
    upper = np.concatenate([poly.slacks, poly.equal_to])
    capped = np.vstack([matrix, poly.gain[None]])
    # at unit scale, an advantage of 1 beyond what is needed is as good as any
    cap = abs(poly.need) + 1.0
    solution = solve_lp(
        -poly.gain, capped, np.append(lower, -np.inf), np.append(upper, cap), -np.inf
    )
    if solution.status == "optimal":
        if -solution.value - poly.need > STRICT * max(abs(poly.need), 1.0):
            raise CertificationError(
                f"arm {arm} in piece {piece}: neither an interior nor a proof of emptiness found"
            )
        found = dual_of(program, piece, arm, poly, 1.0, -solution.duals[:-1])
        if found.tau > 0.0:
            return found
        return dual_of(program, piece, arm, poly, 1.0, _refined(poly, -solution.duals[:-1]))
    excess = np.hstack([matrix, np.vstack([-np.ones((m, 1)), np.zeros((matrix.shape[0] - m, 1))])])
    split = np.vstack([np.zeros((m, 2 * (matrix.shape[0] - m)))])
    unit = np.eye(matrix.shape[0] - m)
    elastic = np.hstack([excess, np.vstack([split, np.hstack([unit, -unit])])])
    costs = np.append(np.zeros(n), np.ones(elastic.shape[1] - n))
    columns = np.append(np.full(n, -np.inf), np.zeros(elastic.shape[1] - n))
    solution = solve_lp(costs, elastic, lower, upper, columns)
    if solution.status != "optimal" or not solution.value > 0:
        raise CertificationError(f"arm {arm} in piece {piece}: no proof of emptiness found")
    return dual_of(program, piece, arm, poly, 0.0, -solution.duals)


def _refined(poly: Polyhedron, multipliers: np.ndarray) -> np.ndarray:
    """Multipliers that cancel the advantage, where a linear program left a little of it.

    What is left is enlarged and cancelled in its turn, at the least cost.  Gleixner, Steffy and
    Wolter (2016), Iterative refinement for linear programming.
    """
    m = poly.rows.shape[0]
    rows = np.vstack([poly.rows, poly.equal])
    sides = np.concatenate([poly.slacks, poly.equal_to])
    free = np.full(sides.size - m, -np.inf)
    multipliers = np.concatenate([np.maximum(multipliers[:m], 0.0), multipliers[m:]])
    for _ in range(REFINEMENTS):
        left = poly.gain - rows.T @ multipliers
        size = float(np.abs(left).max(initial=0.0))
        if not size > 0.0:
            break
        lower = np.concatenate([-np.minimum(multipliers[:m] / size, FAR), free])
        solution = solve_lp(sides, rows.T, left / size, left / size, lower)
        if solution.status != "optimal":
            break
        multipliers = multipliers + size * solution.point
    return multipliers


def dual_of(
    program: Program,
    piece: int,
    arm: int,
    poly: Polyhedron,
    tau: float,
    multipliers: np.ndarray,
) -> Dual:
    m = poly.rows.shape[0]
    rows = np.maximum(multipliers[:m], 0.0) / poly.unit_rows.row_norms
    equal = multipliers[m:] / poly.unit_rows.equal_norms
    found = gathered(program, piece, arm, tau / poly.unit_rows.gain_norm, rows, equal, np.zeros(0))
    return settled(program, found)
