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


@kernel
def log_ratio(a: float, b: float) -> float:
    """ln(a/b) of positive numbers, also where the quotient would leave the range of doubles."""
    ratio = a / b
    if 1e-300 < ratio < 1e300:
        return math.log(ratio)
    return math.log(a) - math.log(b)


@kernel
def divergence_term(p: float, q: float) -> float:
    """q − p − p ln(q/p) = p · e((q − p)/p) ≥ 0 of positive numbers, with e the excess.

    Far from p the logarithm is taken of the quotient: 1 + (q − p)/p would have lost q.
    """
    if abs(q - p) > _SMALL * p:
        return (q - p) - p * log_ratio(q, p)
    return p * excess((q - p) / p)
