"""Which variable enters and which leaves, for the dual and the primal simplex.

Every quantity is compared in the unit of its variable.  Near ties of a ratio test go to the
largest pivot (Harris, 1973).
"""

import math

import numpy as np

from ossb.kernels import kernel

FEASIBLE = 1e-11  # violations, in units, that are left alone
PIVOT = 1e-9  # least entry of the tableau, in units, that may be a pivot


@kernel
def most_negative_value(values: np.ndarray, basic: np.ndarray, unit: np.ndarray) -> int:
    """Slot of the basic variable that violates its sign most; −1 if none does."""
    n = values.shape[0]
    chosen = -1
    worst = 0.0
    for slot in range(n):
        if values[slot] < 0.0:
            variable = basic[slot]
            value = values[slot] * unit[variable]
            row = variable if variable >= n else n + variable
            if value < worst and value < -FEASIBLE * unit[row]:
                worst = value
                chosen = slot
    return chosen


@kernel
def most_negative_slack(slack: np.ndarray, free: np.ndarray, unit: np.ndarray) -> int:
    """Variable of the most negative reduced cost; −1 if there is none."""
    chosen = -1
    worst = -FEASIBLE
    for i in range(slack.shape[0]):
        if free[i] and slack[i] < worst * unit[i]:
            worst = slack[i] / unit[i]
            chosen = i
    return chosen


@kernel
def blocking_slack(
    slack: np.ndarray, alpha: np.ndarray, free: np.ndarray, unit: np.ndarray, scale: float
) -> int:
    """Variable to enter in the dual simplex, for a leaving one of unit ``scale``; −1 if none."""
    bound = math.inf
    for i in range(slack.shape[0]):
        if free[i]:
            entry = -alpha[i] * scale
            if entry > PIVOT * unit[i]:
                bound = min(bound, (slack[i] + FEASIBLE * unit[i]) / entry)
    chosen = -1
    largest = PIVOT
    for i in range(slack.shape[0]):
        if free[i]:
            entry = -alpha[i] * scale
            if entry > largest * unit[i] and slack[i] <= bound * entry:
                largest = entry / unit[i]
                chosen = i
    return chosen


@kernel
def blocking_value(
    values: np.ndarray, entering: np.ndarray, basic: np.ndarray, unit: np.ndarray
) -> int:
    """Slot to leave in the primal simplex; −1 if none can."""
    n = values.shape[0]
    bound = math.inf
    for slot in range(n):
        if entering[slot] > 0.0:
            variable = basic[slot]
            entry = entering[slot] * unit[variable]
            if entry > PIVOT:
                row = variable if variable >= n else n + variable
                room = max(values[slot], 0.0) * unit[variable] + FEASIBLE * unit[row]
                bound = min(bound, room / entry)
    chosen = -1
    largest = PIVOT
    for slot in range(n):
        if entering[slot] > 0.0:
            variable = basic[slot]
            entry = entering[slot] * unit[variable]
            if entry > largest and max(values[slot], 0.0) * unit[variable] <= bound * entry:
                largest = entry
                chosen = slot
    return chosen
