"""Doubles as the rationals they are, sparse rows of them, and small systems solved exactly."""

from collections.abc import Sequence

import numpy as np
from flint import fmpq, fmpq_mat

Row = list[tuple[int, fmpq]]  # the entries of a row that are not 0, with their columns

ZERO = fmpq(0)
RANK = 1e-11  # of the largest pivot: what is smaller is left to the check of the other equations


def rational(value: float) -> fmpq:
    """A double as the rational that it is."""
    return fmpq(*float(value).as_integer_ratio())


def rationals(values: np.ndarray) -> list[fmpq]:
    """Doubles as the rationals that they are."""
    return [rational(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def sparse(row: np.ndarray) -> Row:
    """The entries of a row that are not 0."""
    return [(int(j), rational(row[j])) for j in np.flatnonzero(row)]


def dot(row: Row, values: Sequence[fmpq]) -> fmpq:
    """row · values."""
    total = ZERO
    for j, entry in row:
        total += entry * values[j]
    return total


def difference(first: Row, second: Row) -> Row:
    """first − second."""
    entries = dict(first)
    for j, entry in second:
        entries[j] = entries.get(j, ZERO) - entry
    return [(j, entry) for j, entry in sorted(entries.items()) if entry != 0]


def pivots(table: np.ndarray, scale: np.ndarray) -> tuple[list[int], list[int]]:
    """Equations and unknowns of a well-conditioned system of full rank within a table.

    Elimination with complete pivoting, in doubles: ``scale`` says how far each unknown may well
    go, and equations count in proportion to their largest entry.
    """
    left = table * scale
    size = np.abs(left).max(axis=1, initial=0.0, keepdims=True)
    left = left / np.where(size > 0, size, 1.0)
    equations: list[int] = []
    unknowns: list[int] = []
    first = 0.0
    for _ in range(min(left.shape)):
        place = int(np.abs(left).argmax())
        i, j = divmod(place, left.shape[1])
        pivot = float(left[i, j])
        first = first or abs(pivot)
        if not abs(pivot) > RANK * first:
            break
        equations.append(i)
        unknowns.append(j)
        left = left - np.outer(left[:, j] / pivot, left[i])
        left[i], left[:, j] = 0.0, 0.0
    return equations, unknowns


def solved(rows: Sequence[Row], chosen: Sequence[int], sides: Sequence[fmpq]) -> list[fmpq] | None:
    """The x with rows · x = sides, for as many rows as there are ``chosen`` columns."""
    size = len(rows)
    if not size:
        return []
    place = {column: k for k, column in enumerate(chosen)}
    matrix = fmpq_mat(size, size)
    for i, row in enumerate(rows):
        for j, entry in row:
            if j in place:
                matrix[i, place[j]] = entry
    try:
        answer = matrix.solve(fmpq_mat(size, 1, list(sides)))
    except ZeroDivisionError:
        return None
    return [answer[k, 0] for k in range(size)]
