"""Work arrays of a batched interior-point solve, and one program of them by named vectors.

Vectors of one length are kept in one array, so that a call from Python hands over a dozen arrays
instead of forty: to take an array apart costs the caller about a microsecond.  Only this module
knows which row is which: kernels see one program at a time, as an ``Iterate`` of views.
"""

from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel

REPAIRS = 2  # ways of repairing multipliers, see ``dual_repair``
_COMPONENT_ROWS = 3 + REPAIRS
_ROW_ROWS = 7 + REPAIRS
_COLUMN_ROWS = 6
_END_ENTRIES = 1 + 2 * REPAIRS


class Iterate(NamedTuple):
    """One program of a batch and where its iteration is: views, to be written through.

    Minimise f(y) = Σ_k weights_k d(theta_k, theta_k + offset_k + (mean_map y)_k) subject to
    rows y ≤ limits, with C components, m rows and r columns.
    """

    theta: np.ndarray  # (C,)
    loads: np.ndarray  # (C,) w
    offset: np.ndarray  # (C,)
    mean_map: np.ndarray  # (C, r)
    rows: np.ndarray  # (m, r)
    limits: np.ndarray  # (m,)
    anchor: np.ndarray  # (r, r)
    change: np.ndarray  # (C,) of the mean from theta
    slopes: np.ndarray  # (C,) w d′
    curvatures: np.ndarray  # (C,) w d″
    repaired_slopes: np.ndarray  # (REPAIRS, C)
    slack: np.ndarray  # (m,)
    dual: np.ndarray  # (m,)
    slack_step: np.ndarray  # (m,)
    dual_step: np.ndarray  # (m,)
    old_slack: np.ndarray  # (m,)
    old_dual: np.ndarray  # (m,)
    targets: np.ndarray  # (m,) what slack times dual is to be
    repaired_duals: np.ndarray  # (REPAIRS, m)
    point: np.ndarray  # (r,)
    step: np.ndarray  # (r,)
    old_point: np.ndarray  # (r,)
    gradient: np.ndarray  # (r,) of f
    residual: np.ndarray  # (r,) of the Lagrangian
    scale: np.ndarray  # (r,) units in which the diagonal of Newton's matrix is one
    least: np.ndarray  # (1,) f at the end
    spent: np.ndarray  # (REPAIRS,) what repaired multipliers subtract from the proved value
    off: np.ndarray  # (REPAIRS,) how far they are from cancelling
    system: np.ndarray  # (r, r) Newton's matrix, shared by the batch
    swaps: np.ndarray  # (r,) its row exchanges


class BatchIterate(NamedTuple):
    """All programs of a batch, as first axis, and where each of them is."""

    theta: np.ndarray  # (C,)
    loads: np.ndarray  # (a, C)
    offset: np.ndarray  # (a, C)
    mean_map: np.ndarray  # (a, C, r)
    rows: np.ndarray  # (a, m, r)
    limits: np.ndarray  # (a, m)
    anchor: np.ndarray  # (a, r, r)
    by_component: np.ndarray
    by_row: np.ndarray
    by_column: np.ndarray
    ends: np.ndarray
    system: np.ndarray
    swaps: np.ndarray
    halt: np.ndarray  # int64 (1,) 1 where the kernel shall end

    @property
    def slopes(self) -> np.ndarray:
        return np.asarray(self.by_component[:, 1])

    @property
    def curvatures(self) -> np.ndarray:
        return np.asarray(self.by_component[:, 2])

    @property
    def repaired_slopes(self) -> np.ndarray:
        return np.asarray(self.by_component[:, 3:])

    @property
    def slack(self) -> np.ndarray:
        return np.asarray(self.by_row[:, 0])

    @property
    def dual(self) -> np.ndarray:
        return np.asarray(self.by_row[:, 1])

    @property
    def repaired_duals(self) -> np.ndarray:
        return np.asarray(self.by_row[:, 7:])

    @property
    def point(self) -> np.ndarray:
        return np.asarray(self.by_column[:, 0])

    @property
    def least(self) -> np.ndarray:
        return np.asarray(self.ends[:, 0])

    @property
    def spent(self) -> np.ndarray:
        return np.asarray(self.ends[:, 1 : 1 + REPAIRS])

    @property
    def off(self) -> np.ndarray:
        return np.asarray(self.ends[:, 1 + REPAIRS :])


@kernel
def program_of(batch: BatchIterate, a: int) -> Iterate:
    """Views of one program's vectors."""
    component, row = batch.by_component[a], batch.by_row[a]
    column, ends = batch.by_column[a], batch.ends[a]
    return Iterate(
        batch.theta,
        batch.loads[a],
        batch.offset[a],
        batch.mean_map[a],
        batch.rows[a],
        batch.limits[a],
        batch.anchor[a],
        component[0],
        component[1],
        component[2],
        component[3:],
        row[0],
        row[1],
        row[2],
        row[3],
        row[4],
        row[5],
        row[6],
        row[7:],
        column[0],
        column[1],
        column[2],
        column[3],
        column[4],
        column[5],
        ends[:1],
        ends[1:3],
        ends[3:],
        batch.system,
        batch.swaps,
    )


def batch_iterate(
    theta: np.ndarray,
    weights: np.ndarray,
    offset: np.ndarray,
    mean_map: np.ndarray,
    rows: np.ndarray,
    limits: np.ndarray,
    anchor: np.ndarray,
) -> BatchIterate:
    """Work arrays for some programs, before the first step."""
    count, components, columns = mean_map.shape
    # compiled code is specialised to arrays that can be written to and have no gaps
    return BatchIterate(
        np.ascontiguousarray(theta, np.float64),
        np.array(weights, np.float64, order="C"),
        np.ascontiguousarray(offset, np.float64),
        np.ascontiguousarray(mean_map, np.float64),
        np.ascontiguousarray(rows, np.float64),
        np.ascontiguousarray(limits, np.float64),
        np.ascontiguousarray(anchor, np.float64),
        np.zeros((count, _COMPONENT_ROWS, components)),
        np.zeros((count, _ROW_ROWS, rows.shape[1])),
        np.zeros((count, _COLUMN_ROWS, columns)),
        np.zeros((count, _END_ENTRIES)),
        np.zeros((columns, columns)),
        np.zeros(columns, np.int64),
        np.zeros(1, np.int64),
    )
