"""Linear arms in contexts, as ``hgl`` sees them.

The prior is the likeliest of those of ``scales.py``, looked at again whenever a twentieth more was
told.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.models.glm_ratio import solve_factored
from ossb.models.least_squares import (
    GRAM,
    INVERSE,
    TARGET,
    THETA,
    TOLD,
    LeastSquares,
    new_least_squares,
)
from ossb.models.linear import LinearModel
from ossb.models.scales import SAME, add_prior, slack
from ossb.models.within import (
    first_within,
    follow_within,
    lift_within,
    predict_within,
    widths_within,
)
from ossb.numerics.dense import cholesky
from ossb.records import Floats, record
from ossb.tally import Tally

MORE = 1.05  # times what was told, after which scales are looked at again
TOLD_THEN, SCALE, NOW = 0, 1, 2  # entries of ``marks``


class LinearWithinLook(NamedTuple):
    """The regression, what follows from it, and work."""

    squares: LeastSquares
    rewards: np.ndarray  # float64 (n_rows,)
    widths: np.ndarray  # float64 (n_rows,): xᵀWx
    marks: np.ndarray  # int64 (3,): rounds told when scales were looked at, which one was
    # likeliest, and which regression knows of what is on its way
    factor: np.ndarray  # float64 (d, d)
    line: np.ndarray  # float64 (d,)


@record
class LinearWithin(NamedTuple):
    """Rows whose mean is ⟨φ, x⟩.

    Parameters
    ----------
    features, sigma
        Of the model.
    model
        All rows as one structure.
    """

    features: Floats
    sigma: float
    model: LinearModel

    def start(self) -> LinearWithinLook:
        d, n = self.features.shape
        return LinearWithinLook(
            new_least_squares(d, n, self.model.flat),
            np.zeros(n),
            np.zeros(n),
            np.zeros(3, np.int64),
            np.zeros((d, d)),
            np.zeros(d),
        )

    def first(self, low: int, high: int, tally: Tally) -> int:
        return first_within(self.model.spanning, low, high, tally)

    def look(self, low: int, high: int, tally: Tally, memory: LinearWithinLook) -> int:
        features, squares = self.features, memory.squares
        self.take_scale(tally, memory)
        now = follow_within(features, tally, squares)
        memory.marks[NOW] = now
        leader = predict_within(features, squares.line[TOLD, THETA], low, high, memory.rewards)
        widths_within(features, squares.square[now, INVERSE], low, high, memory.widths)
        return leader

    def lift(
        self, low: int, high: int, leader: int, memory: LinearWithinLook, out: np.ndarray
    ) -> None:
        inverse = memory.squares.square[memory.marks[NOW], INVERSE]
        lift_within(self.features, inverse, low, high, leader, out)

    def ahead(self, leader: int, x: int, memory: LinearWithinLook) -> float:
        return float(memory.rewards[leader] - memory.rewards[x])

    def worth(self, leader: int, x: int, memory: LinearWithinLook) -> float:
        return 1.0

    def told(self, x: int, memory: LinearWithinLook) -> float:
        return 1.0

    def take_scale(self, tally: Tally, memory: LinearWithinLook) -> None:
        """Take the likeliest prior, where enough more was told to look again."""
        told, marks = tally.clock[0], memory.marks
        if told < MORE * marks[TOLD_THEN] + 1.0 or told <= marks[TOLD_THEN]:
            return
        marks[TOLD_THEN] = told
        squares, factor, d = memory.squares, memory.factor, memory.factor.shape[0]
        follow_within(self.features, tally, squares)
        last = self.model.precisions.shape[0] - 1
        freedom = slack(self.model.centre, squares.square[TOLD, INVERSE])
        likeliest, top = 0, -math.inf
        for c in range(last + 1):
            if c > 0 and marks[SCALE] == 0 and self.model.precisions[last] * freedom < SAME:
                break
            for i in range(d):
                memory.line[i] = squares.line[TOLD, TARGET, i]
                for l in range(d):  # noqa: E741
                    factor[i, l] = squares.square[TOLD, GRAM, i, l]
            add_prior(self.model.precisions[c], self.model.centre, factor)
            if not cholesky(factor, d):
                continue
            volume, fit = 0.0, 0.0
            for i in range(d):
                volume += 2.0 * math.log(max(factor[i, i], 1e-300))
            solve_factored(factor, memory.line)
            for i in range(d):
                fit += memory.line[i] * squares.line[TOLD, TARGET, i]
            variance = self.sigma * self.sigma
            score = self.model.scores[c] - 0.5 * volume + 0.5 * fit / variance
            if score > top:
                likeliest, top = c, score
        if likeliest == marks[SCALE]:
            return
        marks[SCALE] = likeliest
        for i in range(d):
            for l in range(d):  # noqa: E741
                squares.prior[i, l] = 0.0
        add_prior(self.model.precisions[likeliest], self.model.centre, squares.prior)
        squares.age[0, 0] = -1
        squares.age[1, 0] = -1


def linear_within(model: LinearModel) -> LinearWithin:
    return LinearWithin(model.features, model.sigma, model)
