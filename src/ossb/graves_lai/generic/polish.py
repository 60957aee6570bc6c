"""Multipliers prepared for the exact check, and what it will find them to prove.

A solver leaves multipliers of rows that do not bind at the size of rounding, where no exact
change within their signs may make everything cancel, and slopes at the very limit of what a
divergence can have.  So multipliers are also tried without the small ones, and a little scaled
down; the first that prove what they should are kept.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from flint import fmpq

from ossb.graves_lai.generic.duals import Dual
from ossb.graves_lai.generic.exact import ExactProgram
from ossb.graves_lai.generic.rational import rational, rationals
from ossb.graves_lai.generic.upper import Multipliers, information

DROPPED = (0.0, 1e-12, 1e-9, 1e-6)  # of the largest: smaller multipliers go
SHRUNK = (1.0, 1.0 - 1e-12, 1.0 - 1e-9)
CLOSE = 1e-9  # what is proved may be less than expected by this share


def multipliers_of(dual: Dual) -> Multipliers:
    """Multipliers as the rationals that they are."""
    return Multipliers(
        dual.piece,
        dual.arm,
        rational(dual.tau),
        rationals(dual.bounds),
        rationals(dual.equal),
        rationals(dual.means),
    )


def polished(
    program: ExactProgram, dual: Dual, weights: Sequence[fmpq], expected: float
) -> tuple[Dual, float]:
    """Multipliers near the given ones, and what they prove exactly: ``expected``, if any do."""
    best, most = dual, -math.inf
    for variant in _variants(dual):
        ball = information(program, multipliers_of(variant), weights)
        proved = -math.inf if ball.is_nan() else float(ball.lower())
        if proved > most:
            best, most = variant, proved
        if most >= expected - CLOSE * abs(expected):
            break
    return best, most


def _variants(dual: Dual) -> Iterator[Dual]:
    steepest = float(np.abs(dual.means).max(initial=0.0))
    largest = max(dual.tau, float(np.abs(dual.bounds).max(initial=0.0)))
    before = -1
    for share in DROPPED:
        bounds, means = dual.bounds > share * largest, np.abs(dual.means) > share * steepest
        kept = int(bounds.sum() + means.sum())
        if kept == before:
            continue
        before = kept
        fewer = replace(
            dual,
            bounds=np.where(bounds, dual.bounds, 0.0),
            means=np.where(means, dual.means, 0.0),
        )
        for factor in SHRUNK:
            yield fewer.scaled(factor)
