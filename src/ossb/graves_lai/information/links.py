"""One-parameter laws seen from their natural parameter, the index u = ⟨φ, x⟩.

With log-partition b and mean g = b′, the divergence from index u to index u + h is
d(u, h) = b(u + h) − b(u) − g(u) h ≥ 0: convex in h, of slope ``change`` g(u + h) − g(u) and
second derivative ``curvature`` g′(u + h).  Its conjugate, sup over h of r h − d(u, h), is the
divergence of the laws in the other order, of mean g(u) + r against mean g(u)
(Nielsen and Garcia, 2009).

Every function is accurate relative to its own size for any index up to ``LARGEST``, where the
means themselves round to 0 or 1.
"""

import math

from ossb.families.excess import excess
from ossb.kernels import kernel

LINKS = ("logistic", "log", "identity")
LOGISTIC, LOG, IDENTITY = range(3)  # Bernoulli, Poisson, Gaussian of variance 1

LARGEST = 300.0  # |index| above which means and their gaps leave the range of doubles
_OVERFLOW = 690.0  # exponents beyond which e^x counts as infinite
_MODERATE = -0.5
_INSIDE = 1.0 - 1e-13


@kernel
def mean(link: int, index: float) -> float:
    """g(u)."""
    if link == LOGISTIC:
        if index >= 0.0:
            return 1.0 / (1.0 + math.exp(-index))
        grown = math.exp(index)
        return grown / (1.0 + grown)
    if link == LOG:
        return math.exp(index)
    return index


@kernel
def rest(link: int, index: float) -> float:
    """1 − g(u) for the logistic link, without cancellation."""
    return mean(LOGISTIC, -index) if link == LOGISTIC else 0.0


@kernel
def change(link: int, index: float, shift: float) -> float:
    """g(u + h) − g(u), without cancellation."""
    return change_from(link, index, mean(link, index), rest(link, index), shift)


@kernel
def change_from(link: int, index: float, here: float, off: float, shift: float) -> float:
    """Like ``change``, where the mean at u, and the rest, are known.

    For the logistic link and h ≤ 0, p (1 − p) (e^h − 1) / (1 − p + p e^h); the other side is
    its mirror image.
    """
    if link == LOGISTIC:
        side = 1.0 if shift > 0.0 else -1.0
        high = off if shift > 0.0 else here
        low = here if shift > 0.0 else off
        down = -abs(shift)
        return -side * high * low * math.expm1(down) / (low + high * math.exp(down))
    if link == LOG:
        return here * math.expm1(min(shift, _OVERFLOW - abs(index)))
    return shift


@kernel
def curvature(link: int, index: float, shift: float) -> float:
    """g′(u + h), the variance at index u + h."""
    if link == LOGISTIC:
        small = math.exp(-abs(index + shift))
        return 1.0 / (1.0 + small) * (small / (1.0 + small))
    if link == LOG:
        return math.exp(min(index + shift, _OVERFLOW))
    return 1.0


@kernel
def divergence(link: int, index: float, shift: float) -> float:
    """d(u, h); +∞ where it leaves the range of doubles."""
    return divergence_from(link, index, mean(link, index), rest(link, index), shift)


@kernel
def divergence_from(link: int, index: float, here: float, off: float, shift: float) -> float:
    """Like ``divergence``, where the mean at u, and the rest, are known.

    For the logistic link and h ≤ 0, with p the mean, n = 1 − p and D = n + p e^h, the ratios of
    the two laws' probabilities are e^h / D and 1 / D, so that
    d = p e(n (e^h − 1)/D) + n e(p (1 − e^h)/D) with e(x) = x − ln(1 + x).
    """
    if shift == 0.0:
        return 0.0
    if link == LOGISTIC:
        high = off if shift > 0.0 else here
        low = here if shift > 0.0 else off
        down = -abs(shift)
        fall = math.expm1(down)
        total = low + high * math.exp(down)
        loss = low * fall / total
        gain = low * excess(-high * fall / total)
        if loss > _MODERATE:
            return high * excess(loss) + gain
        # 1 + loss has lost its digits, but its logarithm is h − ln D
        return high * (loss - down + math.log(total)) + gain
    if link == LOG:
        if shift > _OVERFLOW - abs(index):
            return math.inf
        grown = math.expm1(shift)
        if grown > _MODERATE:
            return here * excess(grown)
        return here * (grown - shift)
    return 0.5 * shift * shift


@kernel
def entropy(x: float) -> float:
    """(1 + x) ln(1 + x) − x = (1 + x) e(−x / (1 + x)), with e(x) = x − ln(1 + x)."""
    if x <= -1.0:
        return 1.0 if x == -1.0 else math.inf
    if x > 1.0:
        return (1.0 + x) * math.log1p(x) - x
    return (1.0 + x) * excess(-x / (1.0 + x))


@kernel
def conjugate(link: int, here: float, off: float, slope: float) -> float:
    """sup over h of slope · h − d(u, h); +∞ where no law has the mean g(u) + slope.

    ``here`` is the mean at u, ``off`` the rest.
    """
    if slope == 0.0:
        return 0.0
    if link == LOGISTIC:
        if slope < -here or slope > off:
            return math.inf
        return here * entropy(slope / here) + off * entropy(-slope / off)
    if link == LOG:
        if slope < -here:
            return math.inf
        return here * entropy(slope / here)
    return 0.5 * slope * slope


@kernel
def admissible(link: int, here: float, off: float, slope: float) -> float:
    """Largest share of a slope, up to 1, whose conjugate is finite."""
    if link == IDENTITY:
        return 1.0
    room = here
    if slope > 0.0:
        if link == LOG:
            return 1.0
        room = off
    size = abs(slope)
    return _INSIDE * room / size if size > _INSIDE * room else 1.0
