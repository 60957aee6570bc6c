"""Least squares over non-negative numbers."""

import numpy as np

ROUNDING = 1e-13  # of the target: a column that would bring it no nearer than this stays out


def nonnegative(table: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The x ≥ 0 for which table · x is nearest to a target (Lawson and Hanson, 1974).

    Columns are let in one by one, those that turn negative on the way go out again.
    """
    lengths = np.linalg.norm(table, axis=0)
    units = np.where(lengths > 0.0, lengths, np.inf)
    columns = table / units
    enough = ROUNDING * float(np.linalg.norm(target))
    found = np.zeros(units.size)
    inside = np.zeros(units.size, dtype=np.bool_)
    for _ in range(3 * units.size):
        pull = np.where(inside, 0.0, columns.T @ (target - columns @ found))
        while True:
            entering = int(pull.argmax())
            if pull[entering] <= enough:
                return np.asarray(found / units)
            inside[entering] = True
            free = _best(columns, inside, target)
            if free[entering] > 0.0:
                break
            inside[entering], pull[entering] = False, 0.0  # its pull was rounding
        while (free[inside] <= 0.0).any():
            below = np.flatnonzero(inside & (free <= 0.0))
            shares = found[below] / (found[below] - free[below])
            found += float(shares.min()) * (free - found)
            inside[below[shares <= shares.min()]] = False
            found[~inside] = 0.0
            free = _best(columns, inside, target)
        found = free
    return np.asarray(found / units)


def _best(columns: np.ndarray, inside: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The nearest point of some columns' span."""
    found = np.zeros(inside.size)
    found[inside] = np.linalg.lstsq(columns[:, inside], target, rcond=None)[0]
    return found
