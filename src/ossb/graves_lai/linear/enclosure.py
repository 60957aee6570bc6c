"""Proved bounds of a linear instance in double precision: a filter before exact arithmetic.

Both functions here answer with a double that is certainly a bound of what exact arithmetic would
give on the same numbers, so that only what they leave open has to be computed exactly.

**Coordinates.**  Let x*_p be the largest entry of the best arm.  Parameters that agree with φ on
x* are φ + δ with δ_p = −Σ_{i≠p} δ_i x*_i/x*_p, so that ⟨δ, y⟩ = Σ_{i≠p} δ_i w_i(y) for
w_i(y) = y_i − x*_i y_p/x*_p.  No basis has to be orthonormal, and w is three operations away from
the arms.  With W(η) = Σ η_y w(y) w(y)ᵀ, z_xᵀ G(η)⁻¹ z_x = w(x)ᵀ W(η)⁻¹ w(x).

**Gaps** are differences of much larger numbers near ties.  Sums of products are compensated: the
result of Dot2 (Ogita, Rump and Oishi 2005, section 5) differs from ⟨a, b⟩ by at most
u |⟨a, b⟩| + γ_n² Σ |a_i b_i|, as if computed with twice the digits.

**Rounding.**  u = 2⁻⁵³, and a sum of n products differs from its exact value by at most
γ_n = n u/(1 − n u) times the sum of the absolute products (Higham 2002, section 3.1).  Every
computed number comes with a radius; the factor GUARD and a few operations more in each count
cover the rounding of the radii themselves, and TINY what underflow may take from a product.
Arms and parameter are scaled to a largest entry in [½, 1) by powers of 2, which is exact.

**Upper side.**  For any matrix S, v = Sᵀw changes nothing in vᵀ V⁻¹ v, V = Sᵀ W S.  S comes from
a factor of the computed W, and if ‖V − I‖ ≤ ρ < 1, by the largest row sum of a bound of |V − I|
entry by entry, then V is invertible, and so are S and W, and wᵀ W⁻¹ w = vᵀ V⁻¹ v ≤ |v|²/(1 − ρ)
(Rump 2010, section 10).  Rates are then multiplied by what makes them feasible, rounded up.

**Lower side.**  A direction δ in doubles stands for its part orthogonal to x*,
δ′ = δ − x* ⟨δ, x*⟩/⟨x*, x*⟩, whose coordinates differ from those of δ by at most |x*_i| times a
bound of |⟨δ, x*⟩|/⟨x*, x*⟩.  It is pushed until its arm is proved to be no worse under φ + δ′ than
the best one, and what every arm sees of δ′ is bounded from above.  Exact checks make it as long
as the tie asks, which can only prove more.

References: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, SIAM 2002.
T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005.
S. M. Rump, Verification methods: rigorous results using floating-point arithmetic, Acta
Numerica 19, 2010.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.numerics.dense import cholesky

UNIT = 2.0**-53
GUARD = 1.01
TINY = 1e-280
LEAST = 1e-40  # gaps below this, in units of the scaled numbers, have no squares
HUGE = 1e280
SPLIT = 2.0**27 + 1.0
TIE = 4e-13  # gaps below this share of the terms they are made of are looked at closely
NEAR = 1e-12  # distance from the identity that is not worth improving

# Rows of Enclosure.arm.
GAP_LOW, GAP_HIGH, GAP, PLAYED_RATE, FEWER, SEEN, PRICE = range(7)
# Slices of Enclosure.vector: w and its radius, v and its radius.
W, W_RADIUS, V, V_RADIUS = range(4)
# Matrices of Enclosure.matrix.
FACTOR, ROOT, OFF = range(3)
# Rows of Enclosure.phi.
TRUTH, DIRECTION = range(2)


class Enclosure(NamedTuple):
    """Work arrays for one instance at a time."""

    arms: np.ndarray  # (d, K) scaled
    arm: np.ndarray  # (7, K)
    vector: np.ndarray  # (4, d, K)
    matrix: np.ndarray  # (3, d, d)
    phi: np.ndarray  # (2, d)


def enclosure(n_arms: int, dimension: int) -> Enclosure:
    """Work arrays for so many arms and features."""
    return Enclosure(
        np.zeros((dimension, n_arms)),
        np.zeros((7, n_arms)),
        np.zeros((4, dimension, n_arms)),
        np.zeros((3, dimension, dimension)),
        np.zeros((2, dimension)),
    )


@kernel
def rest_of_sum(a: float, b: float, total: float) -> float:
    """What rounding took from a + b (Knuth's TwoSum)."""
    part = total - a
    return (a - (total - part)) + (b - part)


@kernel
def rest_of_product(a: float, b: float, product: float) -> float:
    """What rounding took from a · b (Dekker's TwoProduct, by halves of 26 bits)."""
    shifted = SPLIT * a
    high_a = shifted - (shifted - a)
    low_a = a - high_a
    shifted = SPLIT * b
    high_b = shifted - (shifted - b)
    low_b = b - high_b
    return low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)


@kernel
def enclose_gaps(
    arms: np.ndarray, phi: np.ndarray, best: int, largest: float, arm: np.ndarray
) -> bool:
    """Fill in bounds of ⟨φ, x* − x⟩; False unless every other arm is proved to be clearly worse.

    That is, by TIE of the ``largest`` mean, and of the products that make up the two means.
    """
    dimension, n_arms = arms.shape
    unit = GUARD * (2 * dimension + 4) * UNIT
    for x in range(n_arms):
        gap, rest, size = 0.0, 0.0, 0.0
        for i in range(2 * dimension):
            left = phi[i // 2]
            right = arms[i // 2, best] if i % 2 == 0 else -arms[i // 2, x]
            term = left * right
            total = gap + term
            rest += rest_of_sum(gap, term, total) + rest_of_product(left, right, term)
            gap = total
            size += abs(term)
        gap += rest
        radius = unit * unit * size + TINY
        arm[GAP, x] = gap
        arm[GAP_LOW, x] = gap - radius - 4.0 * UNIT * gap
        arm[GAP_HIGH, x] = gap + radius + 4.0 * UNIT * gap
        if x != best and not arm[GAP_LOW, x] > max(LEAST, TIE * max(size, largest)):
            return False
    for row in (GAP, GAP_LOW, GAP_HIGH):
        arm[row, best] = 0.0
    return True


@kernel
def reduce_arms(arms: np.ndarray, best: int, vector: np.ndarray) -> int:
    """Fill in w and its radius; how many coordinates it has."""
    dimension, n_arms = arms.shape
    axis = 0
    for i in range(dimension):
        if abs(arms[i, best]) > abs(arms[axis, best]):
            axis = i
    top = arms[axis, best]
    rank = 0
    for i in range(dimension):
        if i != axis or top == 0.0:
            for x in range(n_arms):
                if top == 0.0:
                    vector[W, rank, x] = arms[i, x]
                    vector[W_RADIUS, rank, x] = 0.0
                else:
                    moved = arms[axis, x] / top * arms[i, best]
                    rest = arms[i, x] - moved
                    vector[W, rank, x] = rest
                    vector[W_RADIUS, rank, x] = UNIT * (3.0 * abs(moved) + 2.0 * abs(rest)) + TINY
            if top != 0.0:
                vector[W, rank, best] = 0.0
                vector[W_RADIUS, rank, best] = 0.0
            rank += 1
    return rank


@kernel
def whitening(
    rates: np.ndarray, rank: int, vectors: np.ndarray, matrix: np.ndarray, out: np.ndarray
) -> bool:
    """Fill in S with Sᵀ (Σ rates w wᵀ) S about I, upper triangular; False if that is singular."""
    factor = matrix[FACTOR]
    for i in range(rank):
        for j in range(i, rank):
            factor[i, j] = 0.0
    for x in range(rates.shape[0]):
        if rates[x] > 0.0:
            for i in range(rank):
                weight = rates[x] * vectors[i, x]
                for j in range(i, rank):
                    factor[i, j] += weight * vectors[j, x]
    if not cholesky(factor, rank):
        return False
    for j in range(rank):
        out[j, j] = 1.0 / factor[j, j]
        for i in range(j - 1, -1, -1):
            total = 0.0
            for k in range(i + 1, j + 1):
                total -= factor[i, k] * out[k, j]
            out[i, j] = total / factor[i, i]
    return True


@kernel
def whiten_again(rates: np.ndarray, rank: int, vector: np.ndarray, matrix: np.ndarray) -> bool:
    """Improve S by what v, which has fewer rounding errors than W, says of it."""
    root, more, product = matrix[ROOT], matrix[OFF], matrix[FACTOR]
    if not whitening(rates, rank, vector[V], matrix, more):
        return False
    for i in range(rank):
        for j in range(i, rank):
            product[i, j] = 0.0
            for k in range(i, j + 1):
                product[i, j] += root[i, k] * more[k, j]
    for i in range(rank):
        for j in range(i, rank):
            root[i, j] = product[i, j]
    return True


@kernel
def enclose_images(rank: int, vector: np.ndarray, matrix: np.ndarray) -> None:
    """Fill in v = Sᵀ w and its radius."""
    root = matrix[ROOT]
    unit = GUARD * (rank + 3) * UNIT
    for x in range(vector.shape[2]):
        for i in range(rank):
            entry, size, radius = 0.0, 0.0, 0.0
            for j in range(i + 1):
                entry += root[j, i] * vector[W, j, x]
                size += abs(root[j, i]) * abs(vector[W, j, x])
                radius += abs(root[j, i]) * vector[W_RADIUS, j, x]
            vector[V, i, x] = entry
            vector[V_RADIUS, i, x] = GUARD * radius + unit * size + TINY


@kernel
def distance_from_identity(
    rates: np.ndarray, rank: int, vector: np.ndarray, matrix: np.ndarray
) -> float:
    """A bound of ‖V(rates) − I‖, from v and its radius."""
    off = matrix[OFF]
    played = 0
    for x in range(rates.shape[0]):
        if rates[x] > 0.0:
            played += 1
    unit = GUARD * (played + 4) * UNIT
    for i in range(rank):
        for j in range(i, rank):
            entry, size, radius = 0.0, 0.0, 0.0
            for x in range(rates.shape[0]):
                if rates[x] > 0.0:
                    left, right = vector[V, i, x], vector[V, j, x]
                    a, b = vector[V_RADIUS, i, x], vector[V_RADIUS, j, x]
                    entry += rates[x] * left * right
                    size += rates[x] * abs(left) * abs(right)
                    radius += rates[x] * (abs(left) * b + a * abs(right) + a * b)
            entry -= 1.0 if i == j else 0.0
            bound = GUARD * (abs(entry) + radius) + unit * (size + 1.0) + TINY
            if not bound < HUGE:  # nor a number, perhaps
                return math.inf
            off[i, j] = bound
            off[j, i] = bound
    largest = 0.0
    for i in range(rank):
        total = 0.0
        for j in range(rank):
            total += off[i, j]
        largest = max(largest, GUARD * total)
    return largest


@kernel
def proved_scale(
    rates: np.ndarray,
    rank: int,
    arm: np.ndarray,
    vector: np.ndarray,
    matrix: np.ndarray,
) -> float:
    """A factor that certainly makes these rates feasible; infinite where none is proved."""
    if not whitening(rates, rank, vector[W], matrix, matrix[ROOT]):
        return math.inf
    enclose_images(rank, vector, matrix)
    distance = distance_from_identity(rates, rank, vector, matrix)
    for _ in range(2):
        if distance > NEAR and whiten_again(rates, rank, vector, matrix):
            enclose_images(rank, vector, matrix)
            distance = distance_from_identity(rates, rank, vector, matrix)
    if not distance < 0.5:
        return math.inf
    largest = 0.0
    for x in range(rates.shape[0]):
        length = 0.0
        for i in range(rank):
            entry = abs(vector[V, i, x]) + vector[V_RADIUS, i, x]
            length += entry * entry
        if not length < HUGE:
            return math.inf
        low = arm[GAP_LOW, x]
        if low > 0.0:  # not the best arm
            largest = max(largest, length / (low * low))
    # about 2 rank + 8 operations, and (1 − ρ)⁻¹ ≤ 1 + 2ρ up to ½
    return 2.0 * largest * (1.0 + 2.0 * distance) * (1.0 + GUARD * (2 * rank + 16) * UNIT)


@kernel
def proved_cost(rates: np.ndarray, arm: np.ndarray) -> float:
    """A bound of what these rates cost, from above."""
    total, played = 0.0, 0
    for x in range(rates.shape[0]):
        if rates[x] > 0.0:
            total += rates[x] * arm[GAP_HIGH, x]
            played += 1
    return total * (1.0 + GUARD * (played + 4) * UNIT)


@kernel
def see(
    direction: np.ndarray,
    best: int,
    rank: int,
    arms: np.ndarray,
    vector: np.ndarray,
    arm: np.ndarray,
    aim: int,
) -> float:
    """Fill in a bound of |⟨δ′, y⟩| for every arm y; one of ⟨δ′, aim⟩ from below."""
    dimension, n_arms = arms.shape
    axis = 0
    along, size, square = 0.0, 0.0, 0.0
    for i in range(dimension):
        if abs(arms[i, best]) > abs(arms[axis, best]):
            axis = i
        term = direction[i] * arms[i, best]
        along += term
        size += abs(term)
        square += arms[i, best] * arms[i, best]
    unit = GUARD * (dimension + 6) * UNIT
    share = 0.0
    if rank < dimension:  # x* is not 0
        if square < 1e-200:  # its squares may have been lost
            return -1.0
        share = GUARD * (abs(along) + unit * size + TINY) / square
    reach = 0.0
    for x in range(n_arms):
        seen, size, radius = 0.0, 0.0, 0.0
        place = 0
        for i in range(dimension):
            if i != axis or rank == dimension:
                entry = vector[W, place, x]
                seen += direction[i] * entry
                size += abs(direction[i]) * abs(entry)
                moved = share * abs(arms[i, best])
                radius += (abs(direction[i]) + moved) * vector[W_RADIUS, place, x]
                radius += moved * abs(entry)
                place += 1
        radius = GUARD * radius + unit * size + TINY
        arm[SEEN, x] = (abs(seen) + radius) * (1.0 + 4.0 * UNIT)
        if x == aim:
            reach = seen - radius - 4.0 * UNIT * abs(seen)
    arm[SEEN, best] = 0.0
    return reach
