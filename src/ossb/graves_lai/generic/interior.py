"""Linear programs about one polyhedron: how far it is, and a point in it with room in every row.

Rows that are tight in all of it are found too, with the multipliers that prove it.
"""

import numpy as np

from ossb.graves_lai.generic.polyhedron import Polyhedron
from ossb.graves_lai.linprog import solve_lp

ROOM = 1e-7  # less slack than this, at unit scale, is none
FAR = 1e2  # at unit scale: a start further out is looked for again, nearer


def least_movement(poly: Polyhedron, seen: np.ndarray) -> float | None:
    """Least change, over the polyhedron, of the largest mean ``seen`` z; None if it is empty."""
    n = poly.gain.size
    zero, one = np.zeros((poly.rows.shape[0], 1)), np.ones((seen.shape[0], 1))
    matrix = np.vstack(
        [
            np.hstack([poly.rows, zero]),
            np.hstack([poly.equal, np.zeros((poly.equal.shape[0], 1))]),
            np.append(poly.gain, 0.0)[None],
            np.hstack([seen, -one]),
            np.hstack([-seen, -one]),
        ]
    )
    free = np.full(poly.rows.shape[0], -np.inf)
    below = np.full(2 * seen.shape[0], -np.inf)
    lower = np.concatenate([free, poly.equal_to, [poly.need], below])
    upper = np.concatenate([poly.slacks, poly.equal_to, [np.inf], np.zeros(2 * seen.shape[0])])
    costs = np.append(np.zeros(n), 1.0)
    bounds = np.append(np.full(n, -np.inf), 0.0)
    solution = solve_lp(costs, matrix, lower, upper, bounds)
    return None if solution.status != "optimal" else max(solution.value, 0.0)


def interior(poly: Polyhedron) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    """A point with room in every row, the rows that never have any, and the proof of these."""
    m, q, n = poly.rows.shape[0], poly.equal.shape[0], poly.gain.size
    nothing = np.zeros(m, dtype=bool), np.zeros(m + q)
    ones = np.ones((m, 1))
    matrix = np.vstack(
        [
            np.hstack([poly.rows, ones]),
            np.hstack([poly.equal, np.zeros((q, 1))]),
            np.append(-poly.gain, 1.0)[None],
        ]
    )
    lower = np.concatenate([np.full(m, -np.inf), poly.equal_to, [-np.inf]])
    upper = np.concatenate([poly.slacks, poly.equal_to, [-poly.need]])
    free = np.append(np.full(n, -np.inf), 0.0)
    costs = np.append(np.zeros(n), -1.0)
    solution = solve_lp(costs, matrix, lower, upper, free, np.append(np.full(n, np.inf), 1.0))
    if solution.status == "optimal" and -solution.value > ROOM:
        middle = solution.point[:n]
        if np.abs(middle).max() > FAR:
            middle = _nearest(poly, -0.5 * solution.value, middle)
        return middle, *nothing
    return _relative_interior(poly)


def _nearest(poly: Polyhedron, room: float, known: np.ndarray) -> np.ndarray:
    """The nearest point with some room in every row: programs start from it."""
    m, n = poly.rows.shape[0], poly.gain.size
    unit, one = np.eye(n), np.ones((n, 1))
    narrow = np.vstack([poly.rows, poly.equal, poly.gain[None]])
    matrix = np.vstack(
        [
            np.hstack([narrow, np.zeros((narrow.shape[0], 1))]),
            np.hstack([unit, -one]),
            np.hstack([-unit, -one]),
        ]
    )
    within = np.full(2 * n, -np.inf)
    free = np.full(m, -np.inf)
    lower = np.concatenate([free, poly.equal_to, [poly.need + room], within])
    upper = np.concatenate([poly.slacks - room, poly.equal_to, [np.inf], np.zeros(2 * n)])
    costs, bounds = np.append(np.zeros(n), 1.0), np.append(np.full(n, -np.inf), 0.0)
    solution = solve_lp(costs, matrix, lower, upper, bounds)
    return solution.point[:n] if solution.status == "optimal" else known


def _relative_interior(poly: Polyhedron) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    """A point with as many slack rows as there can be, where some rows are tight everywhere.

    maximise Σ t_i with 0 ≤ t_i ≤ 1, over the cone of the region (z = point / share, share ≥ 1):
    rows with t_i = 0 are tight everywhere, and their multipliers say why.
    """
    m, q, n = poly.rows.shape[0], poly.equal.shape[0], poly.gain.size
    matrix = np.zeros((m + q + 1, n + 1 + m + 1))
    matrix[:m, :n], matrix[:m, n] = poly.rows, -poly.slacks
    matrix[m : m + q, :n], matrix[m : m + q, n] = poly.equal, -poly.equal_to
    matrix[-1, :n], matrix[-1, n] = -poly.gain, poly.need
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


def widest(poly: Polyhedron, around: np.ndarray, unit: float) -> np.ndarray | None:
    """The point with the most room in every row, of those within about a unit of another one."""
    n = poly.gain.size
    left = np.append(poly.slacks - poly.rows @ around, poly.gain @ around - poly.need) / unit
    off = (poly.equal_to - poly.equal @ around) / unit
    near = left < 1e6
    rows = np.vstack([poly.rows, -poly.gain])[near]
    matrix = np.vstack(
        [
            np.hstack([rows, np.ones((rows.shape[0], 1))]),
            np.hstack([poly.equal, np.zeros((poly.equal.shape[0], 1))]),
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
