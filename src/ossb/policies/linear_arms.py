"""What policies for linear arms share: the regression, and which instances it fits."""

from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.models.geometry import geometry
from ossb.models.least_squares import (
    LEVERAGE,
    THETA,
    TOLD,
    LeastSquares,
    follow_tally,
    new_least_squares,
    predict,
)
from ossb.models.scales import flat_prior
from ossb.policies.arms import lists_arms
from ossb.structures.base import Instance
from ossb.tally import Tally


class FlatArms(NamedTuple):
    """Arms for least squares without a ridge: the same whatever the units of their features."""

    features: np.ndarray  # float64 (d, n_arms): in coordinates of the arms
    spanning: np.ndarray  # int64 (d,): arms to play first
    prior: np.ndarray  # float64 (d, d): as good as none once these were played


def flat_arms(instance: Instance) -> FlatArms:
    shape = geometry(instance.arms)  # type: ignore[attr-defined]
    return FlatArms(np.ascontiguousarray(shape.rows.T), np.array(shape.spanning), flat_prior(shape))


class Regression(NamedTuple):
    """Least squares, and what follows from them for every arm."""

    squares: LeastSquares
    rewards: np.ndarray  # float64 (n_arms,): ⟨θ̂, x⟩
    widths: np.ndarray  # float64 (n_arms,): xᵀWx, what is on its way included


def new_regression(features: np.ndarray, prior: np.ndarray | None = None) -> Regression:
    """With a ridge of one observation of 0 in every direction, unless a prior is given."""
    d, n = features.shape
    return Regression(new_least_squares(d, n, prior), np.zeros(n), np.zeros(n))


@kernel
def regress_on(features: np.ndarray, tally: Tally, memory: Regression) -> int:
    """Bring the regression up to date; returns the leader."""
    now = follow_tally(features, tally, memory.squares)
    leverage = memory.squares.arm[now, LEVERAGE]
    for x in range(leverage.shape[0]):
        memory.widths[x] = max(leverage[x], 0.0)
    return predict(features, memory.squares.line[TOLD, THETA], memory.rewards)


def features_of(instance: Instance) -> np.ndarray:
    """The arms of an instance, as columns."""
    arms = np.asarray(instance.arms, dtype=np.float64)  # type: ignore[attr-defined]
    return np.ascontiguousarray(arms.T)


def shows_one_value(instance: Instance) -> str | None:
    """Arms made of items are linear ones where they show their sum alone, and are listed."""
    if instance.shows_lists:
        return "needs bandit feedback"
    return lists_arms(instance)
