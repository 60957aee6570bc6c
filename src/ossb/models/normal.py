"""The standard normal law, as the gain of a play needs it."""

import math

from ossb.kernels import kernel

DENSITY_AT_ZERO = 0.3989422804014327
FAR = 37.0  # beyond, the density underflows to nothing that could matter


@kernel
def tail(z: float) -> float:
    """Φ(−z)."""
    return 0.5 * math.erfc(z * 0.7071067811865476)


@kernel
def density(z: float) -> float:
    """φ(z)."""
    return DENSITY_AT_ZERO * math.exp(-0.5 * z * z)
