"""Generation of rows and columns around the barrier.

Few alternatives are tight at the optimum and few columns are played.  Each round solves a working
set, then looks at the whole program with the solution: what all rates tell of every alternative,
and what every column tells for its price.  Both sides returned are of the whole program.
"""

from typing import Any

import numpy as np

from ossb.graves_lai.program.barrier import SOLVED, UNBOUNDED, interior_point
from ossb.graves_lai.program.work import Work
from ossb.kernels import kernel, separate_kernel

MOST_ROUNDS = 60
WHOLE = 24  # programs of up to so many rows, and columns, are solved whole
FEW = 3  # columns that enter for a row
MORE = 12  # rows, and columns, that enter in one round
SMALL = 8  # sets of up to so many are left as they are
CHEAP = 0.8  # columns that tell less for their price are left out, and
TOLD = 1.5  # alternatives of which so much more is told than must be
LATER = 1e-2  # unless they carry this share of the value
STALLED = 9


@kernel
def enter_column(x: int, n: int, inverse_costs: np.ndarray, start: float, work: Work) -> int:
    """Put column x into the working set, if there is room; the size of the set."""
    columns = work.columns
    if work.is_column[x] == 1 or n == columns.members.shape[0]:
        return n
    work.is_column[x] = 1
    columns.members[n] = x
    columns.inverse[n] = inverse_costs[x]
    columns.spent[n] = start
    return n + 1


@kernel
def enter_row(row: int, m: int, work: Work) -> int:
    """The same for an alternative."""
    rows = work.rows
    if work.is_row[row] == 1 or m == rows.members.shape[0]:
        return m
    work.is_row[row] = 1
    rows.members[m] = row
    rows.multiplier[m] = 0.0
    return m + 1


@kernel
def spread(n: int, v: np.ndarray, work: Work) -> None:
    """Write the rates of the working set, in cost v, as rates of all columns."""
    columns = work.columns
    for x in range(work.all_rates.shape[0]):
        work.all_rates[x] = 0.0
    for e in range(n):
        work.all_rates[columns.members[e]] = v[e] * columns.inverse[e]


@kernel
def look_at_all(
    information: Any, members: np.ndarray, count: int, rates: np.ndarray, work: Work
) -> float:
    """F of every alternative where some columns are played at rates; the least."""
    least = UNBOUNDED
    for row in range(work.all_told.shape[0]):
        told = information.inform(
            row, members, count, rates, False, work.all_gradient, work.no_factors
        )
        work.all_told[row] = told
        least = min(least, told)
    return least


@separate_kernel
def look_at_rows(
    information: Any,
    chosen: np.ndarray,
    columns: np.ndarray,
    rates: np.ndarray,
    gradient: np.ndarray,
    factors: np.ndarray,
) -> None:
    """Leave the information's minimisers of some alternatives at those for rates of columns."""
    for place in range(chosen.shape[0]):
        count = columns.shape[0]
        information.inform(chosen[place], columns, count, rates, False, gradient, factors)


@kernel
def price_all(information: Any, m: int, inverse_costs: np.ndarray, work: Work) -> float:
    """What every column tells for its price at the weights of the rows; the most."""
    rows, prices = work.rows, work.all_prices
    n_columns = prices.shape[0]
    for x in range(n_columns):
        prices[x] = 0.0
    for j in range(m):
        if rows.weight[j] > 0.0:
            information.inform(
                rows.members[j],
                work.everything,
                n_columns,
                work.all_rates,
                False,
                work.all_gradient,
                work.no_factors,
            )
            for x in range(n_columns):
                prices[x] += rows.weight[j] * work.all_gradient[x]
    dearest = 0.0
    for x in range(n_columns):
        prices[x] *= inverse_costs[x]
        dearest = max(dearest, prices[x])
    return dearest


@kernel
def largest_missing(values: np.ndarray, members: np.ndarray, least: float) -> int:
    """The largest entry above ``least`` that is no member yet; −1 if none is."""
    found = -1
    for x in range(values.shape[0]):
        if members[x] == 0 and values[x] > least and (found < 0 or values[x] > values[found]):
            found = x
    return found


@kernel
def enter_all(n: int, inverse_costs: np.ndarray, work: Work) -> int:
    """Put every column into the working set, as far as there is room."""
    for x in range(inverse_costs.shape[0]):
        n = enter_column(x, n, inverse_costs, 1.0 / inverse_costs.shape[0], work)
    return n


@kernel
def first_sets(information: Any, inverse_costs: np.ndarray, work: Work) -> tuple[int, int]:
    """The rows that equal spending tells least of, and the columns that tell most of those."""
    n_columns, n_rows = inverse_costs.shape[0], work.all_told.shape[0]
    n, m = 0, 0
    for x in range(n_columns):
        work.is_column[x] = 0
        work.all_rates[x] = inverse_costs[x] / n_columns
    for row in range(n_rows):
        work.is_row[row] = 0
    look_at_all(information, work.everything, n_columns, work.all_rates, work)
    while m < min(n_rows, WHOLE):
        least = -1
        for row in range(n_rows):
            if work.is_row[row] == 0 and (least < 0 or work.all_told[row] < work.all_told[least]):
                least = row
        m = enter_row(least, m, work)
    if n_columns <= WHOLE:
        return enter_all(n, inverse_costs, work), m
    for j in range(m):
        information.inform(
            work.rows.members[j],
            work.everything,
            n_columns,
            work.all_rates,
            False,
            work.all_gradient,
            work.no_factors,
        )
        for x in range(n_columns):
            work.all_prices[x] = work.all_gradient[x] * inverse_costs[x]
        for _ in range(FEW):
            x = largest_missing(work.all_prices, work.is_column, 0.0)
            if x >= 0:
                n = enter_column(x, n, inverse_costs, 1.0 / n_columns, work)
    return n, m


@kernel
def drop_columns(n: int, total: float, work: Work) -> int:
    """Leave out columns that are hardly played and tell little for their price."""
    columns = work.columns
    kept = 0
    for e in range(n):
        x = columns.members[e]
        if columns.spent[e] > LATER * total or work.all_prices[x] > CHEAP:
            columns.members[kept] = columns.members[e]
            columns.inverse[kept] = columns.inverse[e]
            columns.spent[kept] = columns.spent[e]
            kept += 1
        else:
            work.is_column[columns.members[e]] = 0
    return kept


@kernel
def drop_rows(m: int, least: float, work: Work) -> int:
    """Leave out alternatives without weight of which much more is told than must be."""
    rows = work.rows
    total = 0.0
    for j in range(m):
        total += rows.weight[j]
    kept = 0
    for j in range(m):
        if rows.weight[j] > LATER * total or work.all_told[rows.members[j]] < TOLD * least:
            rows.members[kept] = rows.members[j]
            rows.multiplier[kept] = rows.multiplier[j]
            rows.weight[kept] = rows.weight[j]
            kept += 1
        else:
            work.is_row[rows.members[j]] = 0
    return kept


@separate_kernel
def generate(
    information: Any,
    inverse_costs: np.ndarray,
    tolerance: float,
    work: Work,
    rates: np.ndarray,
    weights: np.ndarray,
    below: np.ndarray,
) -> tuple[float, float, int]:
    """Both sides of the value, with rates and weights that prove them, and a status.

    ``rates`` are of all columns, feasible; ``weights`` of all alternatives, at their minimisers
    for the rates ``below``.
    """
    columns, rows = work.columns, work.rows
    n_columns = inverse_costs.shape[0]
    n, m = first_sets(information, inverse_costs, work)
    upper, lower, gap = UNBOUNDED, 0.0, 1.0
    warm, fresh = False, True
    for _ in range(MOST_ROUNDS):
        inner = 0.5 * tolerance if not fresh else max(0.5 * tolerance, min(0.05, 0.1 * gap))
        if n == n_columns and m == work.all_told.shape[0]:
            inner = 0.5 * tolerance
        bound, _, status = interior_point(information, n, m, inner, 60, warm, max(gap, 1e-7), work)
        if bound >= UNBOUNDED and n < n_columns:  # the columns do not span what is to be told
            n = enter_all(n, inverse_costs, work)
        if status != SOLVED and (warm or bound >= UNBOUNDED):
            for e in range(n):
                columns.spent[e] = 1.0 / n
            bound, _, status = interior_point(information, n, m, inner, 100, False, 1.0, work)
        if bound >= UNBOUNDED:
            return upper, lower, 10 + status
        spread(n, columns.below, work)
        dearest = price_all(information, m, inverse_costs, work)
        proved = 0.0
        for j in range(m):
            proved += rows.weight[j]
        if dearest > 0.0 and proved > lower * dearest:
            lower = proved / dearest
            for row in range(weights.shape[0]):
                weights[row] = 0.0
            for j in range(m):
                weights[rows.members[j]] = rows.weight[j] / dearest
            for x in range(n_columns):
                below[x] = work.all_rates[x]
        spread(n, columns.best, work)
        total = 0.0
        for e in range(n):
            columns.spent[e] = columns.best[e]
            total += columns.best[e]
            columns.plays[e] = columns.best[e] * columns.inverse[e]
        least = look_at_all(information, columns.members, n, columns.plays, work)
        if least > 0.0 and total / least < upper:
            upper = total / least
            for x in range(n_columns):
                rates[x] = work.all_rates[x] / least
        before = gap
        gap = (upper - lower) / upper
        if gap <= tolerance:
            return upper, lower, SOLVED
        if n > SMALL:
            n = drop_columns(n, total, work)
        if m > SMALL:
            m = drop_rows(m, least, work)
        added = 0
        for _more in range(MORE):
            x = largest_missing(work.all_prices, work.is_column, 1.0 + 0.1 * gap)
            if x >= 0:
                n = enter_column(x, n, inverse_costs, 0.1 * total / (n + m), work)
                added += 1
            least_told = -1
            for row in range(work.all_told.shape[0]):
                if work.is_row[row] == 0 and work.all_told[row] < 1.0 - 0.1 * gap:
                    if least_told < 0 or work.all_told[row] < work.all_told[least_told]:
                        least_told = row
            if least_told >= 0:
                m = enter_row(least_told, m, work)
                added += 1
        if added == 0 and not fresh and gap > 0.999 * before:
            return upper, lower, STALLED
        fresh = added > 0
        warm = False
        for j in range(m):
            rows.multiplier[j] = rows.weight[j]
    return upper, lower, STALLED
