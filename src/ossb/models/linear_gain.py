"""What a play of linear arms buys, under one prior.

Against arm j, u = x_j − x_b: s² = uᵀWu and z = (r_b − r_j) / (σ s), and one play of x lowers the
expected improvement of j over the leader by σ φ(z) (xᵀWu)² / (2 s (1 + xᵀWx)).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.models.base import NU, TOP_SHARE
from ossb.models.least_squares import quadratic_form
from ossb.models.normal import FAR, density, tail


class LinearScratch(NamedTuple):
    """Work arrays; nothing in them outlives a call."""

    images: np.ndarray  # float64 (d, n_arms)
    ratios: np.ndarray  # float64 (3, n_arms)
    rewards: np.ndarray  # float64 (n_priors, n_arms): under each prior
    leverage: np.ndarray  # float64 (n_arms,): xᵀWx
    matrix: np.ndarray  # float64 (d, d)
    squares: np.ndarray  # float64 (4, d, d)
    thetas: np.ndarray  # float64 (n_priors, d)
    shares: np.ndarray  # float64 (2, n_priors): ln of what speaks for each prior, its probability

    @property
    def scratch(self) -> bool:
        """A memory that is saved leaves these out."""
        return True


def new_scratch(dimension: int, n_arms: int, n_priors: int) -> LinearScratch:
    return LinearScratch(
        np.zeros((dimension, n_arms)),
        np.zeros((3, n_arms)),
        np.zeros((n_priors, n_arms)),
        np.zeros(n_arms),
        np.zeros((dimension, dimension)),
        np.zeros((4, dimension, dimension)),
        np.zeros((n_priors, dimension)),
        np.zeros((2, n_priors)),
    )


@kernel
def add_gain(
    arms: np.ndarray,
    sigma: float,
    share: float,
    leader: int,
    rewards: np.ndarray,
    inverse: np.ndarray,
    leverage: np.ndarray,
    look: Any,
) -> None:
    """Add ν times the gains, ν and m under one prior, each times its share, to a look.

    W and xᵀWx are given.
    """
    d, n_arms = arms.shape
    space = look.space
    images, matrix = space.images, space.matrix
    spreads, scores, gains = space.ratios[0], space.ratios[1], space.ratios[2]
    for x in range(n_arms):
        spreads[x] = 0.0
    for i in range(d):  # W(x_j − x_b), and its product with x_j − x_b
        for x in range(n_arms):
            images[i, x] = 0.0
        for l in range(d):  # noqa: E741
            matrix[i, l] = 0.0
            weight, top = inverse[i, l], arms[l, leader]
            for x in range(n_arms):
                images[i, x] += weight * (arms[l, x] - top)
        top = arms[i, leader]
        for x in range(n_arms):
            spreads[x] += images[i, x] * (arms[i, x] - top)
    best = rewards[leader]
    for x in range(n_arms):
        spread = math.sqrt(spreads[x]) if spreads[x] > 0.0 else 0.0
        spreads[x] = spread
        scores[x] = (best - rewards[x]) / (sigma * spread) if spread > 0.0 else math.inf
    chances, improvements, largest = 0.0, 0.0, 0.0
    for x in range(n_arms):
        z, spread = scores[x], spreads[x]
        if x == leader or z > FAR:
            continue
        chance, height = tail(z), density(z)
        expected = sigma * spread * max(height - z * chance, 0.0)
        chances += chance
        improvements += expected
        largest = max(largest, expected)
        weight = 0.5 * sigma * height / spread
        for i in range(d):
            for l in range(i, d):  # noqa: E741
                matrix[i, l] += weight * images[i, x] * images[l, x]
    quadratic_form(arms, matrix, gains)
    nu = 1.0 / (1.0 + chances)
    for x in range(n_arms):
        look.gain[x] += share * nu * gains[x] / (1.0 + leverage[x])
    look.numbers[NU] += share * nu
    look.numbers[TOP_SHARE] += share * (largest / improvements if improvements > 0.0 else 1.0)
