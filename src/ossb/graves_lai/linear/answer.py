"""The bound of one linear instance after another: solved and proved by one kernel.

Only what is proved here, in doubles, is answered.  What needs a closer look is left to the
slower way, which has exact arithmetic and says what is wrong with an instance: two best arms,
arms that are nearly parallel or nearly dependent, features in extreme units, near ties.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.information.index_minimiser import RANK
from ossb.graves_lai.information.quadratic import Quadratic
from ossb.graves_lai.linear.enclosure import (
    DIRECTION,
    FEWER,
    GAP,
    GAP_HIGH,
    GAP_LOW,
    GUARD,
    HUGE,
    PLAYED_RATE,
    PRICE,
    ROOT,
    SEEN,
    TRUTH,
    UNIT,
    Enclosure,
    W,
    enclose_gaps,
    enclosure,
    proved_cost,
    proved_scale,
    reduce_arms,
    see,
    whitening,
)
from ossb.graves_lai.linear.rates import LinearMemory, start
from ossb.graves_lai.program import symmetric
from ossb.graves_lai.program.generation import generate
from ossb.kernels import kernel

LEFT, PROVED, NOTHING = 0, 1, 2  # left to another way; proved; nothing to tell apart
# Entries of Answers.size.
STATUS, BEST_ARM, N_RATES, N_ALTERNATIVES = range(4)
EXTREME = 100  # powers of 2 beyond which units are extreme
FAINT = 1e-100  # features, rates and bounds lie between this and its inverse
SHARES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-30)  # of the cost, below which a rate may be left out
INSIDE = 0.4  # share of the gap to which rates are solved for, before they are proved
PUSHES = 12  # times that an alternative is pushed before it is given up
FLAT = 1e12  # ratio of squared singular values from which on arms nearly depend on each other
NEARLY = 1e-10  # what is left of an arm without the best one where it counts as nearly parallel


class Answers(NamedTuple):
    """One row an instance; the first so many entries of a row count."""

    size: np.ndarray  # int64 (N, 4)
    bounds: np.ndarray  # (N, 2): lower, upper
    arms: np.ndarray  # int64 (N, 2, most): those with a rate, those of alternatives
    weights: np.ndarray  # (N, 2, most): rates, weights of alternatives
    directions: np.ndarray  # (N, most, d): from φ to a confusing parameter


def answers(count: int, n_arms: int, dimension: int) -> Answers:
    """Room for the answers to so many instances."""
    most = min(n_arms, 4 * symmetric(dimension) + 16)
    return Answers(
        np.zeros((count, 4), np.int64),
        np.zeros((count, 2)),
        np.zeros((count, 2, most), np.int64),
        np.zeros((count, 2, most)),
        np.zeros((count, most, dimension)),
    )


def desk(n_arms: int, dimension: int) -> tuple[LinearMemory, Enclosure]:
    """Work arrays for instances of one shape, one after another; K ≥ d."""
    return start(np.zeros((n_arms, dimension)), most=1), enclosure(n_arms, dimension)


@kernel
def exponent(values: np.ndarray) -> int:
    """The power of 2 that brings the largest of these numbers into [½, 1)."""
    largest = 0.0
    for value in values.flat:
        largest = max(largest, abs(value))
    _, power = math.frexp(largest)
    return power


@kernel
def is_faint(values: np.ndarray) -> bool:
    """Whether some number is so small that its products may not be held by doubles."""
    for value in values.flat:
        if 0.0 < abs(value) < FAINT:
            return True
    return False


@kernel
def pose(arms: np.ndarray, phi: np.ndarray, memory: LinearMemory, proof: Enclosure) -> int:
    """Scale arms and parameter, fill in the gaps; the best arm, -1 where it takes a closer look."""
    n_arms, dimension = arms.shape
    rows, scaled, own = memory.information.arms, proof.arms, proof.phi
    by_arms, by_phi = exponent(arms), exponent(phi)
    for i in range(dimension):
        own[TRUTH, i] = math.ldexp(phi[i], -by_phi)
        for x in range(n_arms):
            scaled[i, x] = math.ldexp(arms[x, i], -by_arms)
            rows[x, i] = scaled[i, x]
    best, top, size = 0, -math.inf, 0.0
    for x in range(n_arms):
        mean = 0.0
        for i in range(dimension):
            mean += own[TRUTH, i] * scaled[i, x]
        size = max(size, abs(mean))
        if mean > top:
            best, top = x, mean
    if not enclose_gaps(scaled, own[TRUTH], best, size, proof.arm):
        return -1
    largest = 0.0
    for x in range(n_arms):
        largest = max(largest, proof.arm[GAP, x])
    for x in range(n_arms):
        gap = proof.arm[GAP, x] / largest if x != best else 1.0
        memory.information.margins[x] = gap
        memory.held.work.plays.costs[x] = gap
    return best


@kernel
def nearly_parallel(best: int, rank: int, arms: np.ndarray, vector: np.ndarray) -> bool:
    """Whether some arm is parallel to the best one, or nearly."""
    for x in range(arms.shape[1]):
        rest, length = 0.0, 0.0
        for i in range(arms.shape[0]):
            length = max(length, abs(arms[i, x]))
            if i < rank:
                rest = max(rest, abs(vector[W, i, x]))
        if x != best and not rest > NEARLY * length:
            return True
    return False


@kernel
def nearly_flat(rank: int, proof: Enclosure) -> bool:
    """Whether the directions of the arms span less than all of the space, or nearly."""
    weights, vector, root = proof.arm[FEWER], proof.vector, proof.matrix[ROOT]
    for x in range(weights.shape[0]):
        square = 0.0
        for i in range(rank):
            square += vector[W, i, x] * vector[W, i, x]
        weights[x] = 1.0 / square if square > 0.0 else 0.0
    if not whitening(weights, rank, vector[W], proof.matrix, root):
        return True
    inverse = 0.0  # no less than the largest eigenvalue of the inverse
    for i in range(rank):
        for j in range(i, rank):
            inverse += root[i, j] * root[i, j]
    return not inverse * weights.shape[0] < FLAT


@kernel
def aim(x: int, best: int, information: Quadratic, out: np.ndarray) -> None:
    """The direction of the alternative that is held for an arm, orthogonal to the best one."""
    arms, kept, frame = information.arms, information.kept, information.frame
    dimension = arms.shape[1]
    for c in range(dimension):
        out[c] = 0.0
    for i in range(information.sizes[RANK]):
        for c in range(dimension):
            out[c] += kept[x, i] * frame[i, c]
    along, square = 0.0, 0.0
    for c in range(dimension):
        along += out[c] * arms[best, c]
        square += arms[best, c] * arms[best, c]
    if square > 0.0:
        for c in range(dimension):
            out[c] -= along / square * arms[best, c]


@kernel
def confuse(x: int, best: int, rank: int, arms: np.ndarray, proof: Enclosure) -> bool:
    """Push the direction until arm x is proved to be no worse than the best one.

    ``proof.arm[SEEN]`` is what every arm then sees of it; False if there is none.
    """
    phi, arm = proof.phi, proof.arm
    gap = arm[GAP_HIGH, x]
    reach = 0.0
    for i in range(arms.shape[0]):
        reach += phi[DIRECTION, i] * arms[i, x]
    if not 0.0 < reach < HUGE:
        return False
    push, more = gap / reach, 4.0 * UNIT
    for _ in range(PUSHES):
        for i in range(arms.shape[0]):
            phi[DIRECTION, i] *= push
        reach = see(phi[DIRECTION], best, rank, arms, proof.vector, arm, x)
        if reach >= gap:
            return True
        if not reach > 0.5 * gap:
            return False
        push = 1.0 + max(2.0 * (gap - reach) / gap, more)
        more *= 2.0
    return False


@kernel
def prove_lower(
    best: int, rank: int, memory: LinearMemory, proof: Enclosure, n: int, answer: Answers
) -> float:
    """Write alternatives of instance n, their weights not yet scaled; the bound they prove."""
    arms, arm, price, phi = proof.arms, proof.arm, proof.arm[PRICE], proof.phi
    waits, n_arms = memory.held.work.alternatives.weight, arms.shape[1]
    largest = 0.0
    for x in range(n_arms):
        price[x] = 0.0
        largest = max(largest, waits[x])
    count, total = 0, 0.0
    for x in range(n_arms):
        if waits[x] > 1e-12 * largest:
            if count == answer.arms.shape[2]:
                return 0.0
            weight = waits[x] / largest
            aim(x, best, memory.information, phi[DIRECTION])
            if not confuse(x, best, rank, arms, proof):
                return 0.0
            for y in range(n_arms):
                price[y] += weight * arm[SEEN, y] * arm[SEEN, y]
            total += weight
            answer.arms[n, 1, count] = x
            answer.weights[n, 1, count] = weight
            for i in range(arms.shape[0]):
                answer.directions[n, count, i] = phi[DIRECTION, i]
            count += 1
    answer.size[n, N_ALTERNATIVES] = count
    dearest = 0.0
    for y in range(n_arms):
        if y != best:
            if not price[y] < HUGE:
                return 0.0
            dearest = max(dearest, price[y] / arm[GAP_LOW, y])
    if not dearest > 0.0:
        return 0.0
    return 2.0 * total / dearest * (1.0 - GUARD * (2 * count + 16) * UNIT)


@kernel
def prove_upper(
    rank: int,
    lower: float,
    gap: float,
    memory: LinearMemory,
    proof: Enclosure,
    n: int,
    answer: Answers,
) -> float:
    """Write the rates of instance n, proved to be feasible; a bound of what they cost.

    Rates that are next to nothing are left out where the gap allows it.
    """
    plays = memory.held.work.plays
    arm, vector, matrix = proof.arm, proof.vector, proof.matrix
    rates, fewer = arm[PLAYED_RATE], arm[FEWER]
    n_arms = rates.shape[0]
    spent = 0.0
    for x in range(n_arms):
        rates[x] = plays.spent[x] / plays.costs[x] if plays.is_open[x] == 1 else 0.0
        spent += rates[x] * arm[GAP, x]
    for share in SHARES:
        for x in range(n_arms):
            fewer[x] = rates[x] if rates[x] * arm[GAP, x] > share * spent else 0.0
        scale = proved_scale(fewer, rank, arm, vector, matrix)
        if not 0.0 < scale < HUGE:
            continue
        for x in range(n_arms):
            fewer[x] *= scale * (1.0 + 4.0 * UNIT)
        cost = proved_cost(fewer, arm)
        if not cost - lower <= gap * cost:
            continue
        count = 0
        for x in range(n_arms):
            if fewer[x] > 0.0:
                if count == answer.arms.shape[2] or not FAINT < fewer[x] < 1.0 / FAINT:
                    return math.inf
                answer.arms[n, 0, count] = x
                answer.weights[n, 0, count] = fewer[x]
                count += 1
        answer.size[n, N_RATES] = count
        return cost
    return math.inf


@kernel
def rescale(n: int, power: int, by_phi: int, sigma: float, answer: Answers) -> None:
    """Write everything in the units of the instance: gaps are 2^power times the scaled ones.

    Rates and bounds go with σ², which has one rounding, and their product another.
    """
    size, weights, bounds = answer.size, answer.weights, answer.bounds
    variance = sigma * sigma
    for e in range(size[n, N_RATES]):
        rate = weights[n, 0, e] * variance * (1.0 + 4.0 * UNIT)
        weights[n, 0, e] = math.ldexp(rate, -2 * power)
    bounds[n, 0] = math.ldexp(bounds[n, 0] * variance * (1.0 - 4.0 * UNIT), -power)
    bounds[n, 1] = math.ldexp(bounds[n, 1] * variance * (1.0 + 10.0 * UNIT), -power)
    total = 0.0
    for e in range(size[n, N_ALTERNATIVES]):
        total += weights[n, 1, e]
    for e in range(size[n, N_ALTERNATIVES]):
        weights[n, 1, e] *= bounds[n, 0] / total
        for i in range(answer.directions.shape[2]):
            answer.directions[n, e, i] = math.ldexp(answer.directions[n, e, i], by_phi)


@kernel
def answer_one(
    n: int,
    arms: np.ndarray,
    phi: np.ndarray,
    sigma: float,
    gap: float,
    memory: LinearMemory,
    proof: Enclosure,
    answer: Answers,
) -> int:
    """Solve and prove instance n; whether it is proved."""
    by_arms, by_phi = exponent(arms), exponent(phi)
    far = max(abs(by_arms), abs(by_phi))
    if far > EXTREME or not 1e-30 < sigma < 1e30 or is_faint(arms) or is_faint(phi):
        return LEFT
    best = pose(arms, phi, memory, proof)
    if best < 0:
        return LEFT
    answer.size[n, BEST_ARM] = best
    rank = reduce_arms(proof.arms, best, proof.vector)
    if rank == 0 or arms.shape[0] == 1:  # one feature, or one arm: there is nothing to tell apart
        return NOTHING
    if nearly_parallel(best, rank, proof.arms, proof.vector) or nearly_flat(rank, proof):
        return LEFT
    information, work = memory.information, memory.held.work
    generate(information, best, 0, 0, INSIDE * gap, math.inf, 0.0, work)
    if information.sizes[RANK] != rank:
        return LEFT
    lower = prove_lower(best, rank, memory, proof, n, answer)
    if not lower > 0.0:
        return LEFT
    upper = prove_upper(rank, lower, 0.99 * gap, memory, proof, n, answer)
    if not FAINT < upper < 1.0 / FAINT:
        return LEFT
    answer.bounds[n, 0] = lower
    answer.bounds[n, 1] = upper
    rescale(n, by_arms + by_phi, by_phi, sigma, answer)
    return PROVED


@kernel
def answer_all(
    arms: np.ndarray,
    phi: np.ndarray,
    sigma: np.ndarray,
    gap: float,
    memory: LinearMemory,
    proof: Enclosure,
    answer: Answers,
) -> None:
    """Solve and prove every instance: arms (N, K, d), parameters (N, d), noise (N,)."""
    for n in range(arms.shape[0]):
        answer.size[n, N_RATES] = 0
        answer.size[n, N_ALTERNATIVES] = 0
        status = answer_one(n, arms[n], phi[n], sigma[n], gap, memory, proof, answer)
        answer.size[n, STATUS] = status
