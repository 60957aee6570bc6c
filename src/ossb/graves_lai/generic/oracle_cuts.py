"""Cutting planes with one confusing parameter at a time, from a function that finds them.

The master over the parameters met bounds C from below; rates over the information the function
reports at them bound C from above, as far as that report is true.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ossb.errors import CertificationError, InputError
from ossb.graves_lai.generic.listed_cuts import solve_listed

ROUNDS = 500
MIXED = 0.1


@dataclass(frozen=True, eq=False)
class Found:
    """A confusing parameter, D(θ, λ, x) of every arm but the best, and the information."""

    parameter: np.ndarray
    divergences: np.ndarray
    information: float


@dataclass(frozen=True, eq=False)
class OracleAnswer:
    """Rates of every arm but the best, both sides, and the parameters with their weights."""

    rates: np.ndarray
    lower: float
    upper: float
    found: list[Found]
    weights: np.ndarray


Ask = Callable[[np.ndarray], Found | None]


def search(gaps: np.ndarray, ask: Ask, gap: float, start: np.ndarray | None = None) -> OracleAnswer:
    """Solve to a relative gap, as reported; ``ask`` answers None where nothing is confusing."""
    best = 1.0 / gaps if start is None or not (start > 0).all() else start
    first = ask(best)
    if first is None:
        return OracleAnswer(np.zeros(gaps.size), 0.0, 0.0, [], np.zeros(0))
    found = [first]
    upper = math.inf
    if first.information > 0:
        best, upper = best / first.information, float(best @ gaps) / first.information
    for _ in range(ROUNDS):
        rows = np.array([entry.divergences for entry in found])
        finite = np.isfinite(rows).all(axis=1)
        if not finite.any():
            raise InputError("oracle", "return parameters at a finite divergence from theta")
        weights = np.zeros(len(found))
        outside, weights[finite], lower, _ = solve_listed(gaps, rows[finite])
        if upper - lower <= gap * upper:
            return OracleAnswer(best, min(lower, upper), upper, found, weights)
        mixed = MIXED * best + (1.0 - MIXED) * outside
        tried = ask(mixed)
        if tried is None:
            raise InputError("oracle", "find a parameter at all rates or at none")
        found.append(tried)
        cost = float(mixed @ gaps)
        if tried.information > 0 and cost / tried.information < upper:
            best, upper = mixed / tried.information, cost / tried.information
    raise CertificationError(
        f"the oracle's answers leave [{lower!r}, {upper!r}] after {ROUNDS} rounds"
    )
