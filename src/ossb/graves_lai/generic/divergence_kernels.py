"""The divergence d(theta, m) of one component and its derivatives in m, as kernels."""

from ossb.families.bernoulli import bernoulli_kl
from ossb.families.poisson import poisson_kl
from ossb.kernels import kernel

GAUSSIAN, BERNOULLI, POISSON = range(3)


@kernel
def divergence_at(kind: int, precision: float, theta: float, mean: float) -> float:
    """d(theta, mean)."""
    if kind == GAUSSIAN:
        return 0.5 * precision * (mean - theta) * (mean - theta)
    if kind == BERNOULLI:
        return bernoulli_kl(theta, mean)
    return poisson_kl(theta, mean)


@kernel
def slope_at(kind: int, precision: float, theta: float, mean: float) -> float:
    """The divergence's derivative in the mean, inside its space; at the ends a factor cancels."""
    if kind == GAUSSIAN:
        return precision * (mean - theta)
    if theta <= 0.0:
        return 1.0 if kind == POISSON else 1.0 / max(1.0 - mean, 1e-300)
    if kind == POISSON:
        return (mean - theta) / mean
    if theta >= 1.0:
        return -1.0 / max(mean, 1e-300)
    return (mean - theta) / (mean * (1.0 - mean))


@kernel
def bend_at(kind: int, precision: float, theta: float, mean: float) -> float:
    """The divergence's second derivative in the mean."""
    if kind == GAUSSIAN:
        return precision
    low = max(mean, 1e-150)
    bend = theta / (low * low) if theta > 0.0 else 0.0
    if kind == BERNOULLI and theta < 1.0:
        high = max(1.0 - mean, 1e-150)
        bend += (1.0 - theta) / (high * high)
    return bend
