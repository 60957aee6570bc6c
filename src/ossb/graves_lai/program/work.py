"""Work arrays of the barrier, by name."""

from typing import NamedTuple

import numpy as np

COLUMNS = 160  # most columns of a working set, and
ROWS = 64  # most rows: a few more than are ever tight


class Columns(NamedTuple):
    """Vectors with an entry for each column of the working set."""

    members: np.ndarray  # int64: which columns of the problem
    inverse: np.ndarray  # 1/κ
    plays: np.ndarray  # η of the point looked at
    spent: np.ndarray  # v = κ η
    slack: np.ndarray  # s, what a column costs beyond what it tells
    price: np.ndarray  # c = Σ_j q_j ∂ ln F_j/∂v: 1 where it pays
    right: np.ndarray
    step: np.ndarray
    slack_step: np.ndarray
    trial: np.ndarray
    best: np.ndarray  # v of the best feasible point so far, feasible
    below: np.ndarray  # v at which the best weights so far have their minimisers
    gradient: np.ndarray  # of one F


class Rows(NamedTuple):
    """Vectors with an entry for each row of the working set."""

    members: np.ndarray  # int64: which alternatives of the problem
    told: np.ndarray  # F
    slack: np.ndarray  # t = ln F
    multiplier: np.ndarray  # q
    step: np.ndarray
    trial: np.ndarray
    weight: np.ndarray  # y of the best lower bound so far


class Work(NamedTuple):
    """Scratch of one solve, and the matrices."""

    columns: Columns
    rows: Rows
    slopes: np.ndarray  # (rows, columns): ∂ ln F/∂v
    factors: np.ndarray  # (rows, rank, columns): of −∇² F, in v
    normal: np.ndarray  # (columns, columns)
    everything: np.ndarray  # int64 (K,): 0, 1, …
    all_rates: np.ndarray  # (K,)
    all_prices: np.ndarray  # (K,)
    all_gradient: np.ndarray  # (K,)
    all_told: np.ndarray  # (J,)
    no_factors: np.ndarray  # (1, 1)
    is_column: np.ndarray  # int64 (K,)
    is_row: np.ndarray  # int64 (J,)


def work_arrays(n_columns: int, n_rows: int, rank: int) -> Work:
    """Arrays for a program of that many columns and rows, of curvature of that rank."""
    n, m = min(n_columns, COLUMNS), min(n_rows, ROWS)
    column = [np.zeros(n) for _ in Columns._fields[1:]]
    row = [np.zeros(m) for _ in Rows._fields[1:]]
    return Work(
        Columns(np.zeros(n, np.int64), *column),
        Rows(np.zeros(m, np.int64), *row),
        np.zeros((m, n)),
        np.zeros((m, rank, n)),
        np.zeros((n, n)),
        np.arange(n_columns),
        np.zeros(n_columns),
        np.zeros(n_columns),
        np.zeros(n_columns),
        np.zeros(n_rows),
        np.zeros((1, 1)),
        np.zeros(n_columns, np.int64),
        np.zeros(n_rows, np.int64),
    )
