"""x − ln(1 + x), the building block of every divergence here, without cancellation."""

import math

from ossb.kernels import kernel

_SMALL = 0.1  # beyond, the difference loses no more than two bits
_TERMS = 7
_TINY = 1e-300


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
    if a * _TINY > b or b * _TINY > a:
        return math.log(a) - math.log(b)
    return math.log(a / b)


@kernel
def quotient(a: float, b: float) -> float:
    """a/b for b > 0, infinite where it would overflow."""
    if abs(a) * _TINY > b:
        return math.copysign(math.inf, a)
    return a / b


@kernel
def divergence_term(p: float, q: float, difference: float) -> float:
    """q − p − p ln(q/p) = p · e((q − p)/p) ≥ 0 of positive numbers, with e the excess.

    ``difference`` is q − p, passed by callers that know it to more digits than p and q hold.
    Far from p the logarithm is taken of the quotient: 1 + (q − p)/p would have lost q.
    """
    if abs(difference) > _SMALL * p:
        return difference - p * log_ratio(q, p)
    return p * excess(difference / p)
