"""Work arrays of a program of rates, by name."""

from typing import NamedTuple

import numpy as np

from ossb.deadlines import Stop
from ossb.records import Floats, Ints, record

COLUMNS, ROWS = 160, 64  # room of working sets that suffices where curvatures are of low rank

SPARE = 8  # unknowns of an active set beyond those of an optimum that is unique


@record
class Columns(NamedTuple):
    """Vectors with an entry for each column of the working set."""

    members: Ints  # which columns of the program
    inverse: Floats  # 1/κ
    plays: Floats  # η of the point looked at
    spent: Floats  # v = κ η
    slack: Floats  # s, what a column costs beyond what it tells
    price: Floats  # c = Σ_j q_j ∂ ln F_j/∂v: 1 where a column pays
    right: Floats  # right-hand side of Newton's equations
    step: Floats  # of v
    slack_step: Floats  # of s
    trial: Floats  # v ahead
    best: Floats  # v of the best feasible point so far


@record
class Rows(NamedTuple):
    """Vectors with an entry for each row of the working set."""

    members: Ints  # which alternatives of the program
    slack: Floats  # t = ln F
    multiplier: Floats  # q
    step: Floats  # of q
    trial: Floats  # t ahead
    weight: Floats  # y of the best lower bound so far
    curving: Floats  # q/F: how much ∇²F counts


@record
class Plays(NamedTuple):
    """Vectors with an entry for each column of the whole program."""

    everything: Ints  # 0, 1, …
    costs: Floats  # κ
    is_open: Ints  # 0 where it has no part in the program: it is free, or tells nothing
    is_working: Ints
    spent: Floats  # κ η of the best rates so far
    price: Floats  # what it tells for its cost at the weights: 1 where it pays
    score: Floats  # how much it is missed in the working set


@record
class Alternatives(NamedTuple):
    """Vectors with an entry for each row of the whole program."""

    is_open: Ints  # 0 where it is none
    is_working: Ints
    weight: Floats  # y of the best lower bound so far
    told: Floats  # F at the best rates so far
    score: Floats  # how much it is missed in the working set


@record
class Work(NamedTuple):
    """All vectors, and the matrices of the working set."""

    columns: Columns
    rows: Rows
    plays: Plays
    alternatives: Alternatives
    slopes: Floats  # (rows, columns): ∂ ln F/∂v
    normal: Floats  # (columns, columns): upper triangle of Newton's matrix
    system: Floats  # (n + m, n + m): Newton's equations on an active set
    solution: Floats  # (n + m,)
    halt: Ints  # (1,) 1 where loops shall end

    @property
    def stop(self) -> Stop:
        """Where loops look whether they shall end."""
        return Stop(self.halt, 0, 1)


def symmetric(rank: int) -> int:
    """How many numbers a symmetric matrix has."""
    return rank * (rank + 1) // 2


def most_columns(n_columns: int, degrees: int) -> int:
    """Room for working columns: an optimum plays no more than there are degrees of freedom."""
    return min(n_columns, max(COLUMNS, 40 + 6 * degrees))


def most_rows(n_rows: int, degrees: int) -> int:
    """Room for working rows: about as many are tight."""
    return min(n_rows, max(ROWS, 24 + 4 * degrees))


def work_arrays(n_columns: int, n_rows: int, degrees: int) -> Work:
    """Arrays for a program of that many columns and rows, which rates act on in so many ways."""
    n = most_columns(n_columns, degrees)
    m = most_rows(n_rows, degrees)
    most = min(n + m, 2 * degrees + SPARE)
    column = [np.zeros(n) for _ in Columns._fields[1:]]
    row = [np.zeros(m) for _ in Rows._fields[1:]]
    return Work(
        Columns(np.zeros(n, np.int64), *column),
        Rows(np.zeros(m, np.int64), *row),
        Plays(
            np.arange(n_columns),
            np.ones(n_columns),
            np.ones(n_columns, np.int64),
            np.zeros(n_columns, np.int64),
            *(np.zeros(n_columns) for _ in range(3)),
        ),
        Alternatives(
            np.ones(n_rows, np.int64),
            np.zeros(n_rows, np.int64),
            *(np.zeros(n_rows) for _ in range(3)),
        ),
        np.zeros((m, n)),
        np.zeros((n, n)),
        np.zeros((most, most)),
        np.zeros(most),
        np.zeros(1, np.int64),
    )
