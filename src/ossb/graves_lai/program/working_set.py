"""Which columns and rows of a program are worked on."""

import math
from typing import Any

import numpy as np

from ossb.graves_lai.program.work import Work
from ossb.kernels import kernel

WHOLE = 24  # rows of a first working set that equal spending asks for, and columns
FEW = 3  # columns that then enter for a row
IDLE = 1e-9  # share of the total below which a column or row may leave
TELLS_LITTLE = 0.7  # price below which an idle column leaves
TOLD_ENOUGH = 2.0  # F above which an idle row leaves


@kernel
def clear(work: Work) -> None:
    """Empty the working sets."""
    plays, alternatives = work.plays, work.alternatives
    for x in range(plays.costs.shape[0]):
        plays.is_working[x] = 0
        plays.spent[x] = 0.0
        plays.score[x] = 0.0
    for row in range(alternatives.told.shape[0]):
        alternatives.is_working[row] = 0
        alternatives.weight[row] = 0.0
        alternatives.score[row] = 0.0


@kernel
def enter(chosen: int, members: np.ndarray, size: int, is_working: np.ndarray) -> int:
    """Put a column, or a row, into its working set, if there is room; the size of the set."""
    if is_working[chosen] == 1 or size == members.shape[0]:
        return size
    is_working[chosen] = 1
    members[size] = chosen
    return size + 1


@kernel
def best_missing(scores: np.ndarray, is_working: np.ndarray) -> int:
    """The largest positive score outside the working set; −1 where there is none."""
    chosen, largest = -1, 0.0
    for x in range(scores.shape[0]):
        if scores[x] > largest and is_working[x] == 0:
            chosen, largest = x, scores[x]
    return chosen


@kernel
def enter_scored(information: Any, n: int, m: int, most: int, work: Work) -> tuple[int, int]:
    """Enter up to so many columns, and rows, of positive score, best first, no two alike."""
    plays, alternatives = work.plays, work.alternatives
    for _ in range(most):
        x = best_missing(plays.score, plays.is_working)
        if x < 0:
            break
        n = enter(x, work.columns.members, n, plays.is_working)
        information.rule_out(x, False, plays.score)
    for _ in range(most):
        row = best_missing(alternatives.score, alternatives.is_working)
        if row < 0:
            break
        m = enter(row, work.rows.members, m, alternatives.is_working)
        information.rule_out(row, True, alternatives.score)
    return n, m


@kernel
def first_sets(information: Any, work: Work) -> tuple[int, int]:
    """The columns and rows that the information names."""
    clear(work)
    n, m = 0, 0
    plays, alternatives = work.plays, work.alternatives
    information.seed(work)
    for x in range(plays.costs.shape[0]):
        if plays.score[x] > 0.0:
            n = enter(x, work.columns.members, n, plays.is_working)
    for row in range(alternatives.told.shape[0]):
        if alternatives.score[row] > 0.0:
            m = enter(row, work.rows.members, m, alternatives.is_working)
    return n, m


@kernel
def score_equal_spending(information: Any, work: Work) -> None:
    """Score the rows that equal spending tells least of, and the columns that tell most of them."""
    plays, alternatives, rows = work.plays, work.alternatives, work.rows
    n_columns, n_rows = plays.costs.shape[0], alternatives.told.shape[0]
    few = n_columns <= WHOLE
    for x in range(n_columns):
        plays.spent[x] = plays.is_open[x] / plays.costs[x] if plays.is_open[x] == 1 else 0.0
        plays.score[x] = 1.0 if few and plays.is_open[x] == 1 else 0.0
    information.play(plays.everything, n_columns, plays.spent)
    for row in range(n_rows):
        alternatives.told[row] = math.inf
        if alternatives.is_open[row] == 1:
            alternatives.told[row] = information.inform(row, math.inf)
    for _ in range(min(WHOLE, rows.members.shape[0])):
        least = -1
        for row in range(n_rows):
            if alternatives.is_open[row] == 1 and alternatives.score[row] == 0.0:
                if least < 0 or alternatives.told[row] < alternatives.told[least]:
                    least = row
        if least < 0:
            break
        alternatives.score[least] = 1.0
        information.keep(least)
        rows.members[0], rows.weight[0] = least, 1.0
        if not few:
            information.price_held(rows.members, rows.weight, 1, plays.is_open, plays.price)
            for _few in range(FEW):
                dearest = -1
                for x in range(n_columns):
                    if plays.is_open[x] == 1 and plays.score[x] == 0.0 and plays.price[x] > 0.0:
                        rate = plays.price[x] / plays.costs[x]
                        if dearest < 0 or rate > plays.price[dearest] / plays.costs[dearest]:
                            dearest = x
                if dearest >= 0:
                    plays.score[dearest] = 1.0


@kernel
def enter_all(n: int, work: Work) -> int:
    """Enter every open column there is room for; the size of the set."""
    for x in range(work.plays.costs.shape[0]):
        if work.plays.is_open[x] == 1:
            n = enter(x, work.columns.members, n, work.plays.is_working)
    return n


@kernel
def drop_idle(n: int, m: int, work: Work) -> tuple[int, int]:
    """Drop what carries nothing and is far from wanted; the sizes that are left."""
    plays, alternatives = work.plays, work.alternatives
    spent = total_over(plays.spent, work.columns.members, n)
    weight = total_over(alternatives.weight, work.rows.members, m)
    columns, rows = 0, 0
    for e in range(n):
        x = work.columns.members[e]
        if plays.spent[x] < IDLE * spent and plays.price[x] < TELLS_LITTLE:
            plays.is_working[x] = 0
        else:
            work.columns.members[columns] = x
            columns += 1
    for j in range(m):
        row = work.rows.members[j]
        if alternatives.weight[row] < IDLE * weight and alternatives.told[row] > TOLD_ENOUGH:
            alternatives.is_working[row] = 0
        else:
            work.rows.members[rows] = row
            rows += 1
    return columns, rows


@kernel
def total_over(values: np.ndarray, members: np.ndarray, count: int) -> float:
    """Σ of the values of some members."""
    total = 0.0
    for e in range(count):
        total += values[members[e]]
    return total


@kernel
def score_missing(tolerance: float, work: Work) -> None:
    """Score columns that tell more than they cost, and rows of which less than 1 is told."""
    plays, alternatives = work.plays, work.alternatives
    for x in range(plays.costs.shape[0]):
        wanted = plays.is_open[x] == 1 and plays.price[x] > 1.0 + tolerance
        plays.score[x] = plays.price[x] if wanted else 0.0
    for row in range(alternatives.told.shape[0]):
        told = alternatives.told[row]
        lacking = alternatives.is_open[row] == 1 and told < 1.0 - tolerance
        alternatives.score[row] = 1.0 / max(told, 1e-200) if lacking else 0.0


@kernel
def load(n: int, m: int, gap: float, mu: float, work: Work) -> None:
    """Copy the best rates and weights to the working sets, newcomers at what the gap asks.

    μ = 0 asks for a start from nothing.
    """
    columns, plays = work.columns, work.plays
    for e in range(n):
        x = columns.members[e]
        columns.inverse[e] = 1.0 / plays.costs[x]
        slack = max(1.0 - plays.price[x], gap)
        columns.spent[e] = 1.0 if mu == 0.0 else max(plays.spent[x], mu / slack)
    for j in range(m):
        work.rows.multiplier[j] = work.alternatives.weight[work.rows.members[j]]


@kernel
def store(n: int, m: int, work: Work) -> None:
    """Copy the best rates and weights of the working sets to the whole program."""
    plays, alternatives = work.plays, work.alternatives
    for x in range(plays.costs.shape[0]):
        plays.spent[x] = 0.0
    for row in range(alternatives.told.shape[0]):
        alternatives.weight[row] = 0.0
    for e in range(n):
        plays.spent[work.columns.members[e]] = work.columns.best[e]
    for j in range(m):
        alternatives.weight[work.rows.members[j]] = work.rows.weight[j]
