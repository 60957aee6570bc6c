"""What is sure of a contrast ⟨φ, c⟩, of all of them together and at all times.

For rows and values in the order in which rows were chosen, let Q be the product of the
likelihoods of blocks, each at the estimate from all before it, and L(θ) that of the same values at
θ.  At the true θ, Q / L(θ) is a martingale of mean 1 (where values are bounded, at most one), so
that with probability 1 − δ, at all times,

    ln Q − ln L(θ) < ln(1/δ)

(Ville; Wasserman, Ramdas and Balakrishnan, 2020, with the estimate before in the place of a
mixture).  What is not ruled out of ⟨φ, c⟩ are the values v at which the least of the left side over
θ with ⟨θ, c⟩ = v keeps to that: an interval, since ln L is concave.  One event holds for every c,
so that contrasts may be named afterwards.

The first rows, twice as many as features, give the first estimate and tell nothing more.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb import deadlines
from ossb.models.brought import (
    Evidence,
    Quadratic,
    Spread,
    fitted,
    gram,
    mean_of,
    potential,
    slope_of,
    solved,
)

BLOCK = 1.1  # rows before a block and with it
FIRST = 2  # times the number of features
SCALE = 16.0  # of the prior of the estimates
STEPS = 60
DOUBLINGS = 60
FINE = 1e-6  # of an end, relative to its distance


class Trial(NamedTuple):
    """Rows after the first, in order, and what the plug-in says of their values."""

    link: int
    rows: np.ndarray
    values: np.ndarray
    played: float  # −ln Q
    floor: np.ndarray  # next to nothing, that makes all directions ones

    def loss(self, theta: np.ndarray) -> float:
        """−ln L(θ), but for what it shares with −ln Q."""
        index = self.rows @ theta
        return float(np.sum(potential(self.link, index) - self.values * index))


class Sure(NamedTuple):
    """What is known of a contrast, in units of the noise where it has one."""

    estimate: float
    low: float
    high: float
    statistic: float  # ln Q − ln L against its having the other sign


def trial(link: int, rows: np.ndarray, values: np.ndarray) -> Trial | None:
    """The trial of rows in the order in which they were chosen; None where they are too few."""
    count, width = rows.shape
    reached = FIRST * width
    start, played = reached, 0.0
    if count <= reached:
        return None
    nothing = Quadratic(np.zeros((width, width)), np.zeros(width))
    while reached < count:
        deadlines.check()
        end = min(max(reached + 1, int(BLOCK * reached)), count)
        before = rows[:reached]
        spread = Spread(reached, before.sum(axis=0), before.T @ before)
        prior = spread.prior() / SCALE**2 + spread.floor()
        seen = Evidence(link, nothing, before, np.ones(reached), values[:reached])
        index = rows[reached:end] @ fitted(seen, prior).theta
        played += float(np.sum(potential(link, index) - values[reached:end] * index))
        reached = end
    spread = Spread(count, rows.sum(axis=0), rows.T @ rows)
    return Trial(link, rows[start:], values[start:], played, spread.floor())


def contrast(given: Trial, row: np.ndarray, level: float) -> Sure:
    """What is sure of a contrast at ln(1/δ) = ``level``."""
    nothing = Quadratic(np.zeros_like(given.floor), np.zeros(row.size))
    weights = np.ones(len(given.rows))
    seen = Evidence(given.link, nothing, given.rows, weights, given.values)
    found = fitted(seen, given.floor)
    estimate = float(row @ found.theta)
    variance = float(row @ solved(found.precision, row))
    if not variance > 0.0:
        return Sure(estimate, -math.inf, math.inf, 0.0)
    room = level + given.played - given.loss(found.theta)
    spread = math.sqrt(2.0 * max(room, 1e-3) * variance)

    def beyond(value: float) -> float:
        return given.played - given.loss(_held(given, found.theta, row, value))

    ends = []
    for side in (-1.0, 1.0):
        inner, outer = 0.0, spread
        for _ in range(DOUBLINGS):
            if -beyond(estimate + side * outer) >= level:
                break
            inner, outer = outer, 2.0 * outer
        else:
            ends.append(side * math.inf)
            continue
        while outer - inner > FINE * outer:
            middle = 0.5 * (inner + outer)
            inner, outer = (
                (inner, middle) if -beyond(estimate + side * middle) >= level else (middle, outer)
            )
        ends.append(estimate + side * outer)
    return Sure(estimate, ends[0], ends[1], max(-beyond(0.0), 0.0))


def _held(given: Trial, theta: np.ndarray, row: np.ndarray, value: float) -> np.ndarray:
    """The likeliest parameter that gives a contrast this value, by Newton's method within it."""
    here = theta
    weights = slope_of(given.link, given.rows @ here)
    image = solved(gram(given.rows, weights) + given.floor, row)
    here = here + image * ((value - float(row @ here)) / float(row @ image))
    for _ in range(STEPS):
        deadlines.check()
        index = given.rows @ here
        matrix = gram(given.rows, slope_of(given.link, index)) + given.floor
        slope = given.rows.T @ (mean_of(given.link, index) - given.values)
        step, image = solved(matrix, np.stack([slope, row], axis=1)).T
        step = image * (float(row @ step) / float(row @ image)) - step
        before, share = given.loss(here), 1.0
        fall = float(slope @ step)
        while given.loss(here + share * step) > before + 0.25 * share * fall and share > 1e-9:
            share *= 0.5
        here = here + share * step
        if -fall < 1e-12:
            break
    return here
