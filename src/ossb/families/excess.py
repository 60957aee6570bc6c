"""x − ln(1 + x), the building block of every divergence here, without cancellation."""

import math

from ossb.kernels import kernel

_SMALL = 0.5
_TERMS = 24


@kernel
def excess(x: float) -> float:
    """x − ln(1 + x) ≥ 0, to full relative accuracy; +∞ at x = −1.

    With r = x / (2 + x), ln(1 + x) = 2 artanh r, so the difference is r x − 2 Σ r^(2k+1)/(2k+1)
    from k = 1 on: no two nearly equal numbers are subtracted.
    """
    if x <= -1.0:
        return math.inf
    if abs(x) > _SMALL:
        return x - math.log1p(x)
    r = x / (2.0 + x)
    square = r * r
    series = 0.0
    for k in range(_TERMS, 0, -1):
        series = series * square + 1.0 / (2.0 * k + 1.0)
    return r * x - 2.0 * r * square * series
