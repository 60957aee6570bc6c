"""Arms that are alike: a second prior for linear arms.

Under a ridge alone, a parameter of unknown direction, the best of few observations lies at the rim
of the arms, and there it costs the most where all arms are nearly as good.  So a second prior
stands beside it: as if arms had been compared with their average, ``COMPARISONS`` times in all,
and found alike,

    V₁ = V₀ + COMPARISONS · Cov(x),   Cov(x) = mean of (x − x̄)(x − x̄)ᵀ over the arms.

What was told decides between the two by Bayes' rule: with V = V₀ + Σ n x xᵀ and g = Σ n m x the
likelihood of a prior is |V₀|^½ |V|^−½ exp(gᵀV⁻¹g / 2σ²), up to what is common to both.  The second
is granted odds of ``ODDS``; fewer where K arms are less than twice their dimensions d, down to none
where they are no more, and nothing told of one tells of another.  Since V₁ ≥ V₀, what is told never
raises the odds beyond √(|V₁| / |V₀|) times those granted; these are cut so that this is at most
``CERTAINTY``: where arms have not been compared, that they do not differ is no evidence.
"""

import math

import numpy as np

from ossb.kernels import kernel
from ossb.models.least_squares import RIDGE, TARGET, THETA, TOLD, LeastSquares

COMPARISONS = 1000.0
ODDS = 0.1
CERTAINTY = 32.0
NEGLIGIBLE = 1e-6


def likeness(rows: np.ndarray) -> np.ndarray:
    """V₁ of arms given as K rows."""
    apart = rows - rows.mean(axis=0)
    return RIDGE * np.eye(rows.shape[1]) + COMPARISONS * (apart.T @ apart) / rows.shape[0]


def favour(rows: np.ndarray, rank: int, prior: np.ndarray) -> float:
    """ln of the most that the odds of a prior can come to.

    Parameters
    ----------
    rows, rank
        The arms, and their number of dimensions.
    prior
        V₁.
    """
    granted = ODDS * min(len(np.unique(rows, axis=0)) / rank - 1.0, 1.0)
    if granted <= 0.0:
        return -math.inf
    ridge = prior.shape[0] * math.log(RIDGE)
    thinner = 0.5 * (float(np.linalg.slogdet(prior)[1]) - ridge)
    return min(math.log(granted) + thinner, math.log(CERTAINTY))


@kernel
def belief(most: float, sigma: float, plain: LeastSquares, likewise: LeastSquares) -> float:
    """The probability that arms are alike, of what was told; 0 where it is next to nothing."""
    explained = 0.0
    for i in range(plain.line.shape[2]):
        difference = likewise.line[TOLD, THETA, i] - plain.line[TOLD, THETA, i]
        explained += plain.line[TOLD, TARGET, i] * difference
    # neither is ever above 0, but for rounding
    thinner = min(0.5 * (plain.log_det[TOLD] - likewise.log_det[TOLD]), 0.0)
    odds = most + thinner + min(0.5 * explained / sigma / sigma, 0.0)
    share = 1.0 / (1.0 + math.exp(-odds)) if odds > -50.0 else 0.0
    return share if share > NEGLIGIBLE else 0.0
