"""D-optimal designs: shares of plays that make the largest xᵀV⁻¹x least, V = Σ π(x) x xᵀ.

Fedorov's steps towards the worst arm; Kiefer and Wolfowitz (1960): the largest xᵀV⁻¹x is at least
the dimension that the arms span, and equal to it for the best shares alone.
"""

import numpy as np

from ossb.kernels import kernel
from ossb.models.least_squares import quadratic_form
from ossb.numerics.dense import cholesky, inverse_of_factored

RIDGE = 1e-9  # relative to the mean eigenvalue: arms need not span the space
TOLERANCE = 0.01
STEPS = 5000


@kernel
def optimal_design(
    features: np.ndarray,
    active: np.ndarray,
    squares: np.ndarray,
    widths: np.ndarray,
    shares: np.ndarray,
) -> float:
    """Write the shares of the active arms; returns the largest xᵀV⁻¹x among them.

    Parameters
    ----------
    active
        1 for arms that may be played.
    squares, widths
        Scratch, (3, d, d) and (n_arms,).
    """
    d, n_arms = features.shape
    allowed = 0
    for x in range(n_arms):
        allowed += active[x]
    for x in range(n_arms):
        shares[x] = active[x] / allowed
    gram, inverse, worst = squares[0], squares[2], 0.0
    for _ in range(STEPS):
        trace = 0.0
        for i in range(d):
            for l in range(d):  # noqa: E741
                gram[i, l] = 0.0
        for x in range(n_arms):
            if shares[x] > 0.0:
                for i in range(d):
                    weight = shares[x] * features[i, x]
                    for l in range(d):  # noqa: E741
                        gram[i, l] += weight * features[l, x]
        for i in range(d):
            trace += gram[i, i]
        for i in range(d):
            gram[i, i] += RIDGE * trace / d
        if not trace > 0.0 or not cholesky(gram, d):
            return 1.0
        inverse_of_factored(gram, d, squares[1], inverse)
        quadratic_form(features, inverse, widths)
        span, arm, worst = 0.0, -1, 0.0
        for x in range(n_arms):
            span += shares[x] * widths[x]
            if active[x] == 1 and widths[x] > worst:
                arm, worst = x, widths[x]
        if arm < 0 or worst <= (1.0 + TOLERANCE) * span or worst <= 1.0:
            return worst
        step = (worst / span - 1.0) / (worst - 1.0)
        for x in range(n_arms):
            shares[x] *= 1.0 - step
        shares[arm] += step
    return worst
