"""Student's t distribution, by the continued fraction of the incomplete beta function."""

import functools
import math

_TINY = 1e-300  # where a fraction of the expansion would be 0
_STEPS = 10_000


def two_sided(t: float, freedom: int) -> float:
    """The probability that |T| is at least t ≥ 0, to about ten digits, however small."""
    if t <= 0.0:
        return 1.0
    share = freedom / (freedom + t * t)
    half = 0.5 * freedom
    scale = math.lgamma(half + 0.5) - math.lgamma(half) - math.lgamma(0.5)
    if share <= (half + 1.0) / (half + 2.5):
        return _incomplete_beta(half, 0.5, share, 1.0 - share, scale)
    return 1.0 - _incomplete_beta(0.5, half, t * t / (freedom + t * t), share, scale)


@functools.cache
def quantile(level: float, freedom: int) -> float:
    """The number that T exceeds with probability 1 − level, for a level of at least ½."""
    wanted = 2.0 * (1.0 - level)
    low, high = 0.0, 1.0
    while two_sided(high, freedom) > wanted:
        low, high = high, 2.0 * high
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return middle
        if two_sided(middle, freedom) > wanted:
            low = middle
        else:
            high = middle


def _incomplete_beta(a: float, b: float, x: float, rest: float, scale: float) -> float:
    """I_x(a, b), with rest = 1 − x and scale = −ln B(a, b), where the fraction converges fast."""
    if x <= 0.0:
        return 0.0
    factor = math.exp(a * math.log(x) + b * math.log(max(rest, _TINY)) + scale) / a
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        before = value
        for term in (even, odd):
            d = 1.0 / _away(1.0 + term * d)
            c = _away(1.0 + term / c)
            value *= c * d
        if abs(value - before) <= 1e-16 * abs(value):
            break
    return factor * value


def _away(value: float) -> float:
    """A value that can be divided by."""
    return value if abs(value) > _TINY else _TINY
