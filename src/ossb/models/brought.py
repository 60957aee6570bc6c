"""What is known of the parameter where every ask brings rows of its own.

Observations have the mean g(⟨θ, x⟩), g a canonical link, in units where one of Gaussian noise has
variance 1.  With H = V₀ + Σ g′(⟨θ̂, x⟩) x xᵀ the estimate θ̂ maximises the likelihood under a normal
prior around 0 with the precision

    V₀(τ) = (d / τ²) Cov(x) + LEVEL · (mean square of x) I,

Cov over all rows that asks have brought, so that nothing depends on the coordinates of features,
nor, where these hold a constant, on the level of rewards.  τ is the likeliest of ``SCALES``, by
Laplace's approximation, which is exact for the identity.

Many rows whose link is not the identity are taken in as the quadratic that their likelihood is
around its maximum, made anew whenever a tenth more was told: what an ask costs does not grow.
"""

from typing import NamedTuple

import numpy as np

from ossb import deadlines
from ossb.graves_lai.information.links import IDENTITY, LOG, LOGISTIC

SCALES = (1024.0, 64.0, 16.0, 4.0, 1.0)
LEVEL = 1e-9
EXACT = 500  # rows up to which none are taken in as a quadratic
MORE = 1.1
STEPS = 50
ENOUGH = 1e-10  # of a Newton step, in standard deviations
FARTHEST = 30.0  # a logarithm that a link is not followed beyond


class Quadratic(NamedTuple):
    """½ θᵀHθ − bᵀθ, the part of a negative logarithm of the likelihood that is known so."""

    matrix: np.ndarray  # float64 (d, d)
    vector: np.ndarray  # float64 (d,)


class Spread(NamedTuple):
    """Of all rows that asks brought: how many, their sum, and Σ x xᵀ."""

    n_rows: int
    total: np.ndarray
    square: np.ndarray

    def prior(self) -> np.ndarray:
        """V₀ of τ = 1, but for the level."""
        d = self.total.size
        if not self.n_rows:
            return np.eye(d)
        mean = self.total / self.n_rows
        return np.asarray(d * (self.square / self.n_rows - np.outer(mean, mean)))

    def floor(self) -> np.ndarray:
        """The rest of V₀."""
        d = self.total.size
        size = float(np.trace(self.square)) / max(self.n_rows, 1) / d
        return LEVEL * (size or 1.0) * np.eye(d)


class Evidence(NamedTuple):
    """What was told, summed up.

    Parameters
    ----------
    link
        Of the observations.
    quadratic
        Of all that is known so.
    rows, weights, values
        Of the others: features, how often each was seen, and the mean of what it showed.
    """

    link: int
    quadratic: Quadratic
    rows: np.ndarray
    weights: np.ndarray
    values: np.ndarray


class Posterior(NamedTuple):
    """The estimate, and the precision around it."""

    theta: np.ndarray
    precision: np.ndarray  # H


def mean_of(link: int, index: np.ndarray) -> np.ndarray:
    """g(u)."""
    if link == LOGISTIC:
        return np.asarray(0.5 + 0.5 * np.tanh(0.5 * index))
    return np.exp(np.minimum(index, FARTHEST)) if link == LOG else index


def slope_of(link: int, index: np.ndarray) -> np.ndarray:
    """g′(u)."""
    if link == LOGISTIC:
        return np.asarray(0.25 / np.square(np.cosh(0.5 * np.clip(index, -600.0, 600.0))))
    return np.exp(np.minimum(index, FARTHEST)) if link == LOG else np.ones_like(index)


def potential(link: int, index: np.ndarray) -> np.ndarray:
    """b(u), of which g is the slope."""
    if link == LOGISTIC:
        return np.logaddexp(0.0, index)
    return np.exp(np.minimum(index, FARTHEST)) if link == LOG else 0.5 * np.square(index)


def gram(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ w x xᵀ."""
    return np.asarray((rows * weights[:, None]).T @ rows)


def solved(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """M⁻¹b; the shortest solution where M is singular to doubles."""
    try:
        return np.asarray(np.linalg.solve(matrix, target))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, target, rcond=None)[0])


def inverted(matrix: np.ndarray) -> np.ndarray:
    """M⁻¹, or what comes nearest where M is singular to doubles."""
    try:
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix))


def known(evidence: Evidence, theta: np.ndarray | None = None) -> Quadratic:
    """All of the evidence as a quadratic: exact for the identity, else around a parameter."""
    rows, weights, values = evidence.rows, evidence.weights, evidence.values
    index = np.zeros(len(rows)) if theta is None else rows @ theta
    slopes = weights * slope_of(evidence.link, index)
    worked = slopes * index + weights * (values - mean_of(evidence.link, index))
    matrix, vector = evidence.quadratic
    return Quadratic(matrix + gram(rows, slopes), vector + rows.T @ worked)


def fitted(evidence: Evidence, prior: np.ndarray) -> Posterior:
    """The maximum of the likelihood under a normal prior of some precision, by Newton's method."""
    if evidence.link == IDENTITY or not len(evidence.rows):
        found = known(evidence)
        precision = found.matrix + prior
        return Posterior(solved(precision, found.vector), precision)
    theta, here = np.zeros(prior.shape[0]), _loss(evidence, prior, np.zeros(prior.shape[0]))
    for _ in range(STEPS):
        deadlines.check()
        found = known(evidence, theta)
        precision = found.matrix + prior
        slope = precision @ theta - found.vector
        step = -solved(precision, slope)
        share = 1.0
        while True:  # halved until it goes down: the loss is convex
            there = _loss(evidence, prior, theta + share * step)
            if there <= here + 0.25 * share * float(slope @ step) or share < 1e-6:
                break
            share *= 0.5
        theta, here = theta + share * step, there
        if float(step @ precision @ step) < ENOUGH * ENOUGH:
            break
    return Posterior(theta, known(evidence, theta).matrix + prior)


def _loss(evidence: Evidence, prior: np.ndarray, theta: np.ndarray) -> float:
    """Minus the logarithm of the likelihood, with the prior, but for what is constant."""
    index = evidence.rows @ theta
    told = evidence.weights @ (potential(evidence.link, index) - evidence.values * index)
    matrix, vector = evidence.quadratic
    return float(0.5 * theta @ ((matrix + prior) @ theta) - vector @ theta + told)


def posterior(evidence: Evidence, spread: Spread) -> Posterior:
    """The posterior under the likeliest of the priors."""
    shape, floor = spread.prior(), spread.floor()
    best, top = None, -np.inf
    for scale in SCALES:
        prior = shape / (scale * scale) + floor
        found = fitted(evidence, prior)
        volume = np.linalg.slogdet(prior)[1] - np.linalg.slogdet(found.precision)[1]
        score = 0.5 * volume - _loss(evidence, prior, found.theta)
        if best is None or score > top:
            best, top = found, score
    assert best is not None
    return best
