"""ConfidenceBall (Dani, Hayes and Kakade, 2008).

In coordinates in which a barycentric spanner of the arms is the standard basis, with
A = I + Σ n x xᵀ and μ̂ = A⁻¹ Σ n m x, play the arm of the largest ⟨ν, x⟩ over ν in

- ``ball="l2"``, ConfidenceBall₂: ‖A^½ (ν − μ̂)‖₂ ≤ √β_t with
  β_t = max(128 d ln t ln(t²/δ), ((8/3) ln(t²/δ))²), so that the index is ⟨μ̂, x⟩ + √β_t ‖A^−½ x‖₂;
- ``ball="l1"``, ConfidenceBall₁: ‖A^½ (ν − μ̂)‖₁ ≤ √(d β_t), with 2d vertices to try in place of an
  ellipsoid: ⟨μ̂, x⟩ + √(d β_t) ‖A^−½ x‖_∞.

The paper minimises losses in [−1, 1], proves its constants for them, and leaves δ to the user.
Departures: √β_t is multiplied by ``scale``, in the place of the 1 that bounds losses there; σ
unless given, since Gaussian noise has no bound.

The I is the paper's: in the coordinates of a spanner it knows nothing of the units of features, but
of the level of rewards, which the paper bounds.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.fields import choice
from ossb.kernels import kernel
from ossb.models.least_squares import INVERSE, THETA, TOLD, follow_tally, predict
from ossb.models.spanning import barycentric_spanner
from ossb.policies.base import Kind
from ossb.policies.linear_arms import (
    Regression,
    features_of,
    new_regression,
    shows_one_value,
)
from ossb.records import Floats, record
from ossb.structures.offers import FEATURES
from ossb.tally import EXPLOIT, EXPLORE, Decision, Tally

SWEEPS = 60
DIAGONAL = 1e-30  # squared size, relative to the trace, below which an entry is no rotation worth


class ConfidenceBallMemory(NamedTuple):
    regression: Regression
    roots: np.ndarray  # float64 (3, d, d): scratch, eigenvectors, A^−½


@kernel
def rotate_away(matrix: np.ndarray, vectors: np.ndarray, i: int, k: int) -> None:
    """One rotation of Jacobi (1846): makes entry (i, k) of a symmetric matrix 0."""
    slope = 0.5 * (matrix[k, k] - matrix[i, i]) / matrix[i, k]
    tangent = 1.0 / (abs(slope) + math.sqrt(slope * slope + 1.0))
    if slope < 0.0:
        tangent = -tangent
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    sine = tangent * cosine
    for j in range(matrix.shape[0]):
        left, right = matrix[j, i], matrix[j, k]
        matrix[j, i] = cosine * left - sine * right
        matrix[j, k] = sine * left + cosine * right
    for j in range(matrix.shape[0]):
        left, right = matrix[i, j], matrix[k, j]
        matrix[i, j] = cosine * left - sine * right
        matrix[k, j] = sine * left + cosine * right
    for j in range(matrix.shape[0]):
        left, right = vectors[j, i], vectors[j, k]
        vectors[j, i] = cosine * left - sine * right
        vectors[j, k] = sine * left + cosine * right


@kernel
def square_root(
    positive: np.ndarray, matrix: np.ndarray, vectors: np.ndarray, out: np.ndarray
) -> None:
    """Write the symmetric square root of a positive definite matrix."""
    d = positive.shape[0]
    trace = 0.0
    for i in range(d):
        trace += positive[i, i]
        for k in range(d):
            matrix[i, k] = positive[i, k]
            vectors[i, k] = 1.0 if i == k else 0.0
    for _ in range(SWEEPS):
        turned = False
        for i in range(d):
            for k in range(i + 1, d):
                if matrix[i, k] * matrix[i, k] > DIAGONAL * trace * trace:
                    rotate_away(matrix, vectors, i, k)
                    turned = True
        if not turned:
            break
    for i in range(d):
        for k in range(d):
            out[i, k] = 0.0
            for j in range(d):
                root = math.sqrt(max(matrix[j, j], 0.0))
                out[i, k] += vectors[i, j] * root * vectors[k, j]


@record
class ConfidenceBall(NamedTuple):
    """Play the arm that could be best for a parameter in the confidence ball.

    Parameters
    ----------
    features
        The arms, as columns, in coordinates of the spanner.
    scale
        Rewards and noise are taken to lie within ± this.
    delta
        Probability with which the ball may ever miss the truth.
    flat
        The ball of the 1-norm.
    """

    features: Floats
    scale: float
    delta: float
    flat: bool

    def _check(self) -> None:
        if not 0 < self.delta < 1:
            raise InputError("delta", "lie in (0, 1)", self.delta)
        if not 0 < self.scale < math.inf:
            raise InputError("scale", "be positive", self.scale)

    def start(self) -> ConfidenceBallMemory:
        d = self.features.shape[0]
        return ConfidenceBallMemory(new_regression(self.features), np.zeros((3, d, d)))

    def select(self, tally: Tally, memory: ConfidenceBallMemory, rng: Generator) -> Decision:
        regression, d = memory.regression, self.features.shape[0]
        now = follow_tally(self.features, tally, regression.squares)
        leader = predict(self.features, regression.squares.line[TOLD, THETA], regression.rewards)
        logarithm = math.log(tally.clock[0] + 1.0)
        doubt = 2.0 * logarithm - math.log(self.delta)
        beta = max(128.0 * d * logarithm * doubt, (8.0 / 3.0 * doubt) * (8.0 / 3.0 * doubt))
        radius = self.scale * math.sqrt(d * beta if self.flat else beta)
        inverse, root = regression.squares.square[now, INVERSE], memory.roots[2]
        if self.flat:
            square_root(inverse, memory.roots[0], memory.roots[1], root)
        best, index = leader, -math.inf
        for x in range(regression.rewards.shape[0]):
            reach = 0.0
            for i in range(d):
                total = 0.0
                for k in range(d):
                    weight = root[i, k] if self.flat else inverse[i, k]
                    total += weight * self.features[k, x]
                if self.flat:
                    reach = max(reach, abs(total))
                else:
                    reach += total * self.features[i, x]
            regression.widths[x] = reach if self.flat else math.sqrt(max(reach, 0.0))
            value = regression.rewards[x] + radius * regression.widths[x]
            if value > index:
                best, index = x, value
        return Decision(best, EXPLOIT if best == leader else EXPLORE)


def build(instance: Any, delta: float, ball: str, scale: float | None) -> ConfidenceBall:
    flat = choice(ball, "ball", ("l2", "l1")) == "l1"
    features = features_of(instance)
    spanner = features[:, barycentric_spanner(features.T)]
    coordinates = np.linalg.lstsq(spanner, features, rcond=None)[0]
    return ConfidenceBall(coordinates, instance.sigma if scale is None else scale, delta, flat)


CONFIDENCE_BALL = Kind(
    name="confidence-ball",
    build=build,
    parameters={"delta": 0.01, "ball": "l2", "scale": None},
    needs=(FEATURES,),
    reference="Dani, Hayes and Kakade (2008)",
    fits=shows_one_value,
    breaks={"level": "the ridge draws rewards to 0"},
)
