"""Evidence that two means, or a mean and a level, are the other way round: mixtures of tilts.

Under a law of mean v, E_h = exp(N (m h − κ_v(h))), with κ_v the cumulants' generating function, N
observations and their mean m, is a martingale of mean 1 for every tilt h.  κ_v grows with v where h
> 0 and falls where h < 0: for h > 0 it is a supermartingale under every mean below v, and for h < 0
under every mean above.  Of values in [0, 1], whose e^(hY) is at most its chord, it is one too.

That the leader's mean is v − ε at most and its rival's v at least is held against their mixture,

    M(v) = Σ_c w_c · G_c(leader, v − ε, up) · G_c(rival, v, down),
    G_c = α + (1 − α) Σ_l u_l E_h(c, l),

h(c, l) = ±h₀ 2^(−c − l/2): one scale for both arms, of any size, in the shape of half a Gaussian
each, and a share α of saying nothing, for arms that were seen so often that the other alone is in
doubt.  If the leader is not ε-good, M is at most the supermartingale of the truth at v, the rival's
mean, whatever that is; so the least M over v is what counts.  Scales and directions are of the
tilts, and do not depend on v; of waiting times h is ln of a ratio of means.  ln M is then convex in
v (of waiting times in one over the leader's mean): all ln E are, and products and sums of
exponentials of convex functions have convex logarithms.

What is paid is about 3 at δ = .05 and 4 at 10⁻⁶.  Of closer arms it is hardly more, 2 ln ln of how
close they are, where a prior of each mean that is fixed beforehand pays ½ ln N: 7 to 12 for two.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.models.rivals.mixture import BERNOULLI, EXPONENTIAL, GAUSSIAN, Mixture

LARGEST = math.sqrt(8.0)  # h₀, in standard deviations of a Gaussian
WIDEST = math.sqrt(2.0)  # the largest scale
SHAPE = 7  # tilts of a scale
ALONE = 0.06  # α
HEAVY = 3.0  # w_c = HEAVY / ((c + HEAVY) (c + HEAVY + 1)), which sum to 1
SCALES = 48  # down to h₀ 2^−51
ABOVE, AT_ONCE = 2, 6  # scales that are summed: so many above the one that fits best, and all
WINDOW = 2 * (AT_ONCE - 1) + SHAPE
LARGE = 300.0  # evidence from which the largest term alone is taken, so that none underflows
STEPS = 60
CLOSE = 1e-4  # of evidence, from which what is left of a bracket is taken off
TILT, GROWN, SHRUNK = 0, 1, 2  # rows of Tilts.table: h, e^h − 1 and e^−h − 1
FIRST, SECOND = 0, 2  # rows of Tilts.lines: of either arm, E and then its derivative


class Tilts(NamedTuple):
    """The tilts, and work."""

    table: np.ndarray  # float64 (3, n)
    shape: np.ndarray  # float64 (SHAPE,): (1 − α) u_l
    lines: np.ndarray  # float64 (4, WINDOW)
    tops: np.ndarray  # float64 (2,): what the evidence of either arm is in units of, as its ln
    found: np.ndarray  # float64 (2,): ln M and its derivative

    @property
    def scratch(self) -> bool:
        """Nothing of it outlives a decision: journals leave it out."""
        return True


def new_tilts() -> Tilts:
    """All of them (Python only)."""
    h = LARGEST * 2.0 ** (-0.5 * np.arange(2 * (SCALES - 1) + SHAPE))
    z = h[:SHAPE] / WIDEST
    shape = z * np.exp(-0.5 * z * z)  # densities of ln |h|, for h Gaussian
    shape *= (1.0 - ALONE) / shape.sum()
    table = np.vstack([h, np.expm1(h), np.expm1(-h)])
    return Tilts(table, shape, np.zeros((4, WINDOW)), np.zeros(2), np.zeros(2))


@kernel
def natural_gap(mixture: Mixture, mean: float, level: float) -> float:
    """The tilt that takes one mean to the other, without its sign."""
    m, v = mixture.sign * mean, mixture.sign * level
    if m == v:
        return 0.0
    if mixture.law == GAUSSIAN:
        return math.sqrt(2.0 * mixture.family.kl(mean, level))
    if m <= 0.0 or v <= 0.0:
        return math.inf
    if mixture.law == BERNOULLI:
        if m >= 1.0 or v >= 1.0:
            return math.inf
        return abs(math.log(m / v) - math.log((1.0 - m) / (1.0 - v)))
    return abs(math.log(m / v))


@kernel
def first_scale(gap: float) -> int:
    """The first scale of those that are summed, where the larger of two tilts is this."""
    if not gap < WIDEST:
        return 0
    if not gap > 0.0:
        return SCALES - AT_ONCE
    nearest = math.floor(math.log2(WIDEST / gap) + 0.5)
    return min(max(nearest - ABOVE, 0), SCALES - AT_ONCE)


@kernel
def tilt_arm(
    mixture: Mixture,
    count: float,
    mean: float,
    level: float,
    direction: float,
    scale: int,
    row: int,
    tilts: Tilts,
) -> None:
    """Fill the lines of an arm that is held against a level, up (1) or down (−1) from it.

    With ln E, in units of the largest, or as it stands where that is ``LARGE``.
    """
    m, v, way = mixture.sign * mean, mixture.sign * level, mixture.sign * direction
    values, slopes, table = tilts.lines[row], tilts.lines[row + 1], tilts.table
    exponents, top = GROWN if way > 0.0 else SHRUNK, 0.0
    sigma = mixture.family.yardstick(mean)
    for i in range(WINDOW):
        h, g = way * table[TILT, 2 * scale + i], table[exponents, 2 * scale + i]
        if mixture.law == GAUSSIAN:
            value, slope = h * ((m - v) / sigma) - 0.5 * h * h, -h / sigma
        elif mixture.law == BERNOULLI:
            value, slope = m * h - math.log1p(v * g), -g / (1.0 + v * g)
        elif mixture.law == EXPONENTIAL:  # e^h is the ratio of the means
            shrink = -table[SHRUNK if way > 0.0 else GROWN, 2 * scale + i]
            value = shrink * (m / v) - h if v > 0.0 else -math.inf
            slope = -shrink * (m / v) / v if v > 0.0 else 0.0
        else:
            value, slope = m * h - v * g, -g
        values[i] = count * value
        slopes[i] = mixture.sign * (count * slope)
        top = max(top, values[i])
    tilts.tops[row // 2] = top
    if top < LARGE:
        for i in range(WINDOW):
            values[i] = math.exp(values[i] - top)
            slopes[i] *= values[i]


@kernel
def mix_scales(pair: bool, scale: int, tilts: Tilts) -> None:
    """Fill ``found`` from the lines of one arm, or of a pair."""
    found, tops = tilts.found, tilts.tops
    if tops[0] >= LARGE or (pair and tops[1] >= LARGE):
        take_largest(pair, scale, tilts)
        return
    total, slope = 0.0, 0.0
    for c in range(AT_ONCE):
        one, rises, other, falls = ALONE * math.exp(-tops[0]), 0.0, 1.0, 0.0
        for k in range(SHAPE):
            one += tilts.shape[k] * tilts.lines[FIRST, 2 * c + k]
            rises += tilts.shape[k] * tilts.lines[FIRST + 1, 2 * c + k]
        if pair:
            other = ALONE * math.exp(-tops[1])
            for k in range(SHAPE):
                other += tilts.shape[k] * tilts.lines[SECOND, 2 * c + k]
                falls += tilts.shape[k] * tilts.lines[SECOND + 1, 2 * c + k]
        weight = HEAVY / ((scale + c + HEAVY) * (scale + c + HEAVY + 1.0))
        total += weight * (one * other)
        slope += weight * (rises * other + one * falls)
    found[0] = tops[0] + (tops[1] if pair else 0.0) + math.log(total)
    found[1] = slope / total


@kernel
def take_largest(pair: bool, scale: int, tilts: Tilts) -> None:
    """The largest term of all: less than their sum, which does not matter where it is so large."""
    found, tops = tilts.found, tilts.tops
    found[0], found[1] = -math.inf, 0.0
    for c in range(AT_ONCE):
        value = math.log(HEAVY / ((scale + c + HEAVY) * (scale + c + HEAVY + 1.0)))
        slope = 0.0
        for row in range(FIRST, (SECOND if pair else FIRST) + 1, 2):
            most, its_slope = math.log(ALONE), 0.0
            for k in range(SHAPE):
                own, its_own = tilts.lines[row, 2 * c + k], tilts.lines[row + 1, 2 * c + k]
                if tops[row // 2] < LARGE:
                    its_own = its_own / own if own > 0.0 else 0.0
                    own = tops[row // 2] + math.log(own) if own > 0.0 else -math.inf
                own += math.log(tilts.shape[k])
                if own > most:
                    most, its_slope = own, its_own
            value, slope = value + most, slope + its_slope
        if value > found[0]:
            found[0], found[1] = value, slope


@kernel
def lone(
    mixture: Mixture,
    count: float,
    mean: float,
    level: float,
    direction: float,
    scale: int,
    tilts: Tilts,
) -> float:
    """ln M of one arm, from this scale on."""
    tilt_arm(mixture, count, mean, level, direction, scale, FIRST, tilts)
    mix_scales(False, scale, tilts)
    return tilts.found[0]


@kernel
def tilt_beyond(
    mixture: Mixture, count: float, mean: float, level: float, direction: float, tilts: Tilts
) -> float:
    """ln M of one arm against all means on the other side of a level.

    Parameters
    ----------
    direction
        1 where the mean is thought to be above the level, −1 where below.
    """
    if count <= 0.0:
        return 0.0
    scale = first_scale(natural_gap(mixture, mean, level))
    return lone(mixture, count, mean, level, direction, scale, tilts)


@kernel
def tilt_pair(
    mixture: Mixture,
    p: float,
    n: float,
    q: float,
    m: float,
    below: float,
    above: float,
    scale: int,
    tilts: Tilts,
) -> float:
    """ln M of a leader of mean p against ``below`` or less, a rival against ``above`` or more.

    Its derivative in both at once stands in ``found``.
    """
    tilt_arm(mixture, n, p, below, 1.0, scale, FIRST, tilts)
    tilt_arm(mixture, m, q, above, -1.0, scale, SECOND, tilts)
    mix_scales(True, scale, tilts)
    return tilts.found[0]


@kernel
def scale_of_pair(mixture: Mixture, p: float, q: float, below: float, above: float) -> int:
    """From where on scales are summed, of a pair that meets there, about."""
    return first_scale(max(natural_gap(mixture, p, below), natural_gap(mixture, q, above)))


@kernel
def slack_of(mixture: Mixture, v: float, slope: float, low: float, high: float) -> float:
    """By how much a convex function that has this slope at v may be lower between low and high."""
    if mixture.law == EXPONENTIAL:  # convex in 1/v
        return abs(slope) * v * v * abs(1.0 / low - 1.0 / high)  # of the leader's v
    return abs(slope) * (high - low)


@kernel
def step_out(mixture: Mixture, v: float, width: float, epsilon: float) -> float:
    """A mean further out, of those that the leader may have; of waiting times never the end."""
    lowest, highest = mixture.family.lowest(), mixture.family.highest() - epsilon
    out = v + width
    if mixture.law == EXPONENTIAL and not lowest < out < highest:
        return 0.5 * (v + lowest) if width < 0.0 else 0.5 * (v + highest)
    return min(max(out, lowest), highest)


@kernel
def least_tilted(
    mixture: Mixture,
    p: float,
    n: float,
    q: float,
    m: float,
    epsilon: float,
    enough: float,
    tilts: Tilts,
) -> float:
    """No more than the least ln M over the leader's v, by next to nothing.

    n observations of the leader have the mean p, and m of its rival q.  Where it is below
    ``enough`` it may be ln M at any v at which it is.
    """
    lowest, highest = mixture.family.lowest(), mixture.family.highest() - epsilon
    if not max(lowest, q - epsilon) <= min(highest, p):
        if not lowest <= highest or p > q - epsilon:
            return math.inf
        lowest, highest = min(lowest, p), max(highest, p)
    share = n / (n + m)
    v = share * min(p, highest) + (1.0 - share) * max(q - epsilon, lowest)
    scale = scale_of_pair(mixture, p, q, v, v + epsilon)
    value = tilt_pair(mixture, p, n, q, m, v, v + epsilon, scale, tilts)
    slope, width = tilts.found[1], p - (q - epsilon)
    if value < enough or not width > 0.0:
        return value
    # out to where ln M rises again
    low, high, fall, rise, ends = v, v, slope, slope, value
    for _ in range(STEPS):
        if slope == 0.0 or fall < 0.0 < rise:
            break
        inner = v
        v = step_out(mixture, v, -width if slope > 0.0 else width, epsilon)
        if v == inner:  # the least is at an end of all means
            return ends
        value, width = tilt_pair(mixture, p, n, q, m, v, v + epsilon, scale, tilts), 2.0 * width
        if value < enough:
            return value
        ends = min(ends, value)
        if slope > 0.0:
            low, high, fall, rise = v, inner, tilts.found[1], slope
        else:
            low, high, fall, rise = inner, v, slope, tilts.found[1]
        slope = tilts.found[1]
    for step in range(STEPS):
        slack = slack_of(mixture, v, slope, low, high)
        if slack <= CLOSE:
            break
        middle = 0.5 * (low + high)
        if step % 3 < 2:  # where a chord of the slope is 0, and now and then by halves
            middle = (low * rise - high * fall) / (rise - fall)
        if not low < middle < high:
            middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        v = middle
        value = tilt_pair(mixture, p, n, q, m, v, v + epsilon, scale, tilts)
        slope = tilts.found[1]
        if value < enough:
            return value
        ends = min(ends, value)
        if slope > 0.0:
            high, rise = v, slope
        else:
            low, fall = v, slope
    return min(ends, value - slack_of(mixture, v, slope, low, high))
