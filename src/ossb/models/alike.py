"""Arms that are alike: a second prior for linear arms.

Under a ridge alone, a parameter of unknown direction, the best of few observations lies at the rim
of the arms, and there it costs the most where all arms are nearly as good.  So a second prior
stands beside it: as if arms had been compared with their average, ``COMPARISONS`` times in all,
and found alike,

    V₁ = V₀ + COMPARISONS · Cov(x),   Cov(x) = mean of (x − x̄)(x − x̄)ᵀ over the arms.

What was told decides between the two by Bayes' rule: with V = V₀ + Σ n x xᵀ and g = Σ n m x the
likelihood of a prior is |V₀|^½ |V|^−½ exp(gᵀV⁻¹g / 2σ²), up to what is common to both.  The second
is granted odds of ``ODDS``; fewer where K arms are less than twice their dimensions d, down to none
where they are no more, and nothing told of one tells of another; and where many directions could
be alike so few that nothing told can bring it beyond ``CERTAINTY`` to 1, since what has not been
looked at is no evidence.
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


def favour(n_arms: int, prior: np.ndarray) -> float:
    """ln of the odds of a prior before anything is told, times |V₁|^½ |V₀|^−½."""
    d = prior.shape[0]
    odds = ODDS * min(n_arms / d - 1.0, 1.0)
    if odds <= 0.0:
        return -math.inf
    thinner = 0.5 * (float(np.linalg.slogdet(prior)[1]) - d * math.log(RIDGE))
    return min(math.log(odds) + thinner, math.log(CERTAINTY))


@kernel
def belief(favour: float, sigma: float, plain: LeastSquares, likewise: LeastSquares) -> float:
    """The probability that arms are alike, of what was told; 0 where it is next to nothing."""
    explained = 0.0
    for i in range(plain.line.shape[2]):
        difference = likewise.line[TOLD, THETA, i] - plain.line[TOLD, THETA, i]
        explained += plain.line[TOLD, TARGET, i] * difference
    odds = favour - 0.5 * (likewise.log_det[TOLD] - plain.log_det[TOLD])
    odds += 0.5 * explained / (sigma * sigma)
    share = 1.0 / (1.0 + math.exp(-min(odds, 50.0))) if odds > -50.0 else 0.0
    return share if share > NEGLIGIBLE else 0.0
