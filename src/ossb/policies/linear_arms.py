"""What policies for linear arms share: the regression, and which instances it fits."""

from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.models.least_squares import LeastSquares, follow, new_least_squares, predict
from ossb.models.linear import expect
from ossb.structures.base import Instance
from ossb.tally import Tally

LINEAR = ("linear", "combinatorial")


class Regression(NamedTuple):
    """The regression on what was told; widths count what is on its way as well."""

    told: LeastSquares
    asked: LeastSquares
    expected: np.ndarray  # int64 (n_arms,): observations told and on their way
    rewards: np.ndarray  # float64 (n_arms,): ⟨θ̂, x⟩
    widths: np.ndarray  # float64 (n_arms,): xᵀWx


def new_regression(features: np.ndarray) -> Regression:
    d, n = features.shape
    return Regression(
        new_least_squares(d, n),
        new_least_squares(d, n),
        np.zeros(n, np.int64),
        np.zeros(n),
        np.zeros(n),
    )


@kernel
def estimate_rewards(features: np.ndarray, tally: Tally, memory: Regression) -> int:
    """Bring the regression up to date; returns the leader."""
    follow(features, tally.counts, tally.means, memory.told)
    return predict(features, memory.told.theta, memory.rewards)


@kernel
def measure_widths(features: np.ndarray, tally: Tally, memory: Regression) -> None:
    """xᵀWx of every arm; many decisions without an answer spread out."""
    source = memory.told.leverage
    if expect(tally, memory.expected):
        follow(features, memory.expected, tally.means, memory.asked)
        source = memory.asked.leverage
    for x in range(source.shape[0]):
        memory.widths[x] = max(source[x], 0.0)


def features_of(instance: Instance) -> np.ndarray:
    """The arms of an instance, as columns."""
    arms = np.asarray(instance.arms, dtype=np.float64)  # type: ignore[attr-defined]
    return np.ascontiguousarray(arms.T)


def shows_one_value(instance: Instance) -> str | None:
    """Combinatorial arms are linear ones where they are listed and show their sum alone."""
    if instance.kind != "combinatorial":
        return None
    if instance.feedback != "bandit":  # type: ignore[attr-defined]
        return "needs bandit feedback"
    if instance.arms is None:  # type: ignore[attr-defined]
        return "needs listed arms"
    return None
