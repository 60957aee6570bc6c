"""Unimodal arms: what stays true of a regression while only its leader is played.

Let the leader stand alone, above all others.  While no other arm is told of and its mean stays
above some ``LOW`` that is still above them, the regression with its mode at the leader stays as it
is.  With the mode at z instead, let y be the neighbour of the leader on the way to z.  The deviance
D_z grows with the mean m and the count n of the leader, at the rates n (η(m) − η(f)) and d(m, f),
η being the natural parameter and f ≤ m the leader's mean in that regression.

If y stands alone too, and no other neighbour is above the common mean of the two, then D_y is in
closed form (``ratio_as_equals``): it moves no third arm.  For z behind y the mean of y has an upper
bound more, so that f is no higher and D_z − D_y grows as well.  So one regression,
with the lowest mean and the fewest observations, gives for each such y the ``SLACK`` min(0, min_z
D_z − D_y), for all others min_z D_z, ``FAR``; and the ratio for every later mean and count lies
between the closed form with slack, or ``FAR``, and that without.
"""

import math
from typing import Any

import numpy as np

from ossb.kernels import kernel
from ossb.models.base import SETTLED, WEAKEST
from ossb.models.classical import pooled_ratio
from ossb.models.isotonic import BRANCH, DEVIANCES, fit_mode
from ossb.models.isotonic_line import line_deviances, place_of
from ossb.models.modes import bar_branches
from ossb.models.unimodal_bounds import is_free, ratio_as_equals, ratio_beside
from ossb.tally import Tally

FALL = 0.5  # LOW is below the leader's mean by so many of its standard errors
BESIDE = 0.05  # a result is held while its mean moves by so many,
RISE = 0.01  # the level rises by so much,
MORE = 1.02  # and its observations to so many times what they were
MARGIN = 1.0  # ratios above the level by more than this are taken for that
AHEAD = 1e-6  # a likelihood ratio by which a leader surely leads

# places in UnimodalMemory.held: 1 where the estimate is the regression on what was told; the
# leader, −1 for none, how low its mean may fall, and how few observations of it there may be; the
# least ratio in branches without a closed form; the level that is passed, and from which mean on; a
# ratio that is not exceeded, and up to which mean and count; the level that is passed with the
# leader's mean known, and from which mean on
REGRESSED, LEADER, LOW, SEEN, FAR = range(5)
PASSED, PASSED_LOW, FAILED, FAILED_HIGH, FAILED_COUNT, CERTAIN, CERTAIN_LOW = range(5, 12)
HELD = 12
# rows of UnimodalMemory.others: counts and means of all arms then; slacks of neighbours
COUNTS, MEANS, SLACK = range(3)


@kernel
def is_standing(tally: Tally, held: np.ndarray, others: np.ndarray) -> bool:
    """Whether the regression that was made is that of the tally, but for the leader's mean."""
    if held[LEADER] < 0.0:
        return False
    leader = int(held[LEADER])
    if tally.means[leader] < held[LOW] or tally.counts[leader] < held[SEEN]:
        return False
    for x in range(tally.counts.shape[0]):
        if x != leader and (
            tally.counts[x] != others[COUNTS, x] or tally.means[x] != others[MEANS, x]
        ):
            return False
    return True


@kernel
def lowest_mean(model: Any, leader: int, tally: Tally, estimate: np.ndarray) -> float:
    """How low the leader's mean may fall; infinite where it does not stand alone."""
    top, count, second = tally.means[leader], tally.counts[leader], -math.inf
    if count == 0 or estimate[leader] != top:
        return math.inf
    for x in range(model.n_arms):
        if x != leader:
            second = max(second, estimate[x])
    low = top - FALL * math.sqrt(model.family.variance(top) / count)
    low = max(low, 0.5 * (top + second))
    return low if second < low else math.inf


@kernel
def branch_ratios(model: Any, leader: int, level: float, memory: Any, out: np.ndarray) -> float:
    """The least ratio of the modes in each branch off the leader, at its neighbour; and of all.

    Those above the level by more than the margin are taken for that.  Negative where there are
    no ratios: where the regression with the mode at the leader is infinitely far off already.
    """
    family, means, weights, fit = model.family, memory.centres, memory.weights, memory.fit
    starts, neighbours, path = model.starts, model.neighbours, model.path
    most = level + MARGIN
    for x in range(model.n_arms):
        out[x] = most
    least = most
    if path.shape[0] > 0:
        centre = place_of(path, leader)
        own = line_deviances(family, path, centre, most, -math.inf, means, weights, fit)
        if own == math.inf:
            return -math.inf
        for place in range(path.shape[0]):
            if place != centre:
                y = path[centre - 1] if place < centre else path[centre + 1]
                out[y] = min(out[y], fit.values[DEVIANCES, path[place]] - own)
                least = min(least, out[y])
        return least
    own = fit_mode(family, starts, neighbours, leader, means, weights, math.inf, fit)
    if own == math.inf:
        return -math.inf
    bar_branches(family, leader, means, weights, fit)
    for z in range(model.n_arms):
        if z != leader:
            limit = own + most
            deviance = fit_mode(family, starts, neighbours, z, means, weights, limit, fit)
            if deviance <= limit:
                y = fit.links[BRANCH, z]
                out[y] = min(out[y], deviance - own)
                least = min(least, out[y])
    return least


@kernel
def stand(model: Any, leader: int, level: float, tally: Tally, memory: Any) -> bool:
    """Make what stays true, for levels like this one; False where there is no such thing."""
    held, others, estimate = memory.held, memory.others, memory.estimate
    held[LEADER] = -1.0
    low = lowest_mean(model, leader, tally, estimate)
    if low == math.inf:
        return False
    count = float(tally.counts[leader])
    for x in range(model.n_arms):
        memory.weights[x] = tally.counts[x]
        memory.centres[x] = tally.means[x]
        others[COUNTS, x] = tally.counts[x]
        others[MEANS, x] = tally.means[x]
    memory.centres[leader] = low
    slack = others[SLACK]
    if branch_ratios(model, leader, level, memory, slack) < AHEAD:
        return False
    far = level + MARGIN
    for place in range(model.starts[leader], model.starts[leader + 1]):
        y = model.neighbours[place]
        if is_free(model, leader, place, low, count, tally, estimate):
            pair = pooled_ratio(model.family, low, count, tally.means[y], float(tally.counts[y]))
            if not AHEAD <= pair < math.inf:
                return False
            slack[y] = min(slack[y] - pair, 0.0)
        else:
            far = min(far, slack[y])
            slack[y] = 0.0
    if far < level:
        return False
    held[LEADER], held[LOW], held[SEEN], held[FAR] = float(leader), low, count, far
    held[PASSED], held[FAILED], held[CERTAIN] = -math.inf, math.inf, -math.inf
    return True


@kernel
def recall(level: float, top: float, count: float, held: np.ndarray, numbers: np.ndarray) -> bool:
    """Test against the level by what was found for a mean and count like these, if anything was."""
    if level <= held[PASSED] and top >= held[PASSED_LOW]:
        numbers[WEAKEST] = held[PASSED]
        return True
    if level > held[FAILED] and top <= held[FAILED_HIGH] and count <= held[FAILED_COUNT]:
        if level <= held[CERTAIN] and top >= held[CERTAIN_LOW]:
            numbers[WEAKEST], numbers[SETTLED] = held[FAILED], held[CERTAIN]
            return True
    return False


@kernel
def decide_standing(model: Any, leader: int, level: float, tally: Tally, memory: Any) -> bool:
    """Test against the level by what stays true; False where that leaves it open."""
    if not weakest_standing(model, leader, level, tally, memory):
        return False
    if memory.numbers[WEAKEST] >= level:
        return True
    return settled_standing(model, leader, level, tally, memory)


@kernel
def weakest_standing(model: Any, leader: int, level: float, tally: Tally, memory: Any) -> bool:
    """Whether it is known on which side of the level the least ratio is."""
    held, numbers, slack = memory.held, memory.numbers, memory.others[SLACK]
    top, count, estimate = tally.means[leader], float(tally.counts[leader]), memory.estimate
    step = BESIDE * math.sqrt(model.family.variance(top) / count)
    surely = ratio_as_equals(model, leader, top, count, tally, estimate, slack, 1.0)
    if min(surely, held[FAR]) >= level:
        numbers[WEAKEST] = min(surely, held[FAR])
        low = max(top - step, held[LOW])
        lower = ratio_as_equals(model, leader, low, count, tally, estimate, slack, 1.0)
        if min(lower, held[FAR]) >= level + RISE:
            held[PASSED], held[PASSED_LOW], held[SEEN] = level + RISE, low, count
        return True
    highest = ratio_as_equals(model, leader, top, count, tally, estimate, slack, 0.0)
    if highest >= level:
        return False
    numbers[WEAKEST] = highest
    high, more = top + step, MORE * count
    if high < model.family.highest():
        higher = ratio_as_equals(model, leader, high, more, tally, estimate, slack, 0.0)
        if higher < level:
            held[FAILED], held[FAILED_HIGH], held[FAILED_COUNT] = higher, high, more
    return True


@kernel
def settled_standing(model: Any, leader: int, level: float, tally: Tally, memory: Any) -> bool:
    """Like ``weakest_standing``, of the least ratio with the leader's mean known."""
    held, numbers, slack = memory.held, memory.numbers, memory.others[SLACK]
    top, count, estimate = tally.means[leader], float(tally.counts[leader]), memory.estimate
    surely = min(ratio_beside(model, leader, top, tally, estimate, slack, 1.0), held[FAR])
    if surely >= level:
        numbers[SETTLED] = surely
        low = max(top - BESIDE * math.sqrt(model.family.variance(top) / count), held[LOW])
        lower = min(ratio_beside(model, leader, low, tally, estimate, slack, 1.0), held[FAR])
        if lower >= level + RISE:
            held[CERTAIN], held[CERTAIN_LOW], held[SEEN] = level + RISE, low, count
        return True
    numbers[SETTLED] = ratio_beside(model, leader, top, tally, estimate, slack, 0.0)
    return numbers[SETTLED] < level
