"""Dueling bandits in closed form.

Item i ≠ i* becomes the Condorcet winner by raising every θ_ij < ½ to ½, so its constraint is
Σ over j with θ_ij < ½ of η_ij d(θ_ij, ½) ≥ 1.  An unordered pair occurs in one constraint
only, hence c puts 1/d on the cheapest duel of each item and
C = Σ_{i ≠ i*} min over j with θ_ij < ½ of r_ij / d(θ_ij, ½), r_ij = ½(θ_{i*i} + θ_{i*j} − 1).
(Komiyama, Honda, Kashima and Nakagawa, 2015; the regret's sign is that of the paper's text.)
"""

import math

import numpy as np

from ossb.families.bernoulli import bernoulli_kl
from ossb.kernels import kernel

FLOOR = 1e-12  # regrets and preferences' distances from ½ below this count as this, at estimates


@kernel
def pair_position(i: int, j: int, n_items: int) -> int:
    """Index of the unordered pair {i, j} among all pairs i ≤ j, in lexicographic order."""
    low, high = min(i, j), max(i, j)
    return low * n_items - (low * (low - 1)) // 2 + high - low


@kernel
def duel_regret(preferences: np.ndarray, winner: int, i: int, j: int) -> float:
    return 0.5 * (preferences[winner, i] + preferences[winner, j] - 1.0)


@kernel
def cheapest_opponent(preferences: np.ndarray, winner: int, item: int) -> int:
    """The item that beats ``item`` at the least regret per unit of information."""
    opponent, least = -1, math.inf
    for j in range(preferences.shape[0]):
        if preferences[item, j] < 0.5:
            information = max(bernoulli_kl(preferences[item, j], 0.5), FLOOR * FLOOR)
            regret = max(duel_regret(preferences, winner, item, j), FLOOR)
            if regret / information < least:
                opponent, least = j, regret / information
    return opponent


@kernel
def dueling_rates(preferences: np.ndarray, winner: int, out: np.ndarray) -> None:
    """Rates of all pairs i ≤ j at estimated preferences with a given leader.

    An item that nobody beats at the estimate is level with the leader: no information tells
    them apart there, and their duel is wanted without end, as for any other tie.
    """
    n_items = preferences.shape[0]
    for place in range(out.shape[0]):
        out[place] = 0.0
    for i in range(n_items):
        if i != winner:
            j = cheapest_opponent(preferences, winner, i)
            if j < 0:
                out[pair_position(i, winner, n_items)] += 1.0 / (FLOOR * FLOOR)
            else:
                information = max(bernoulli_kl(preferences[i, j], 0.5), FLOOR * FLOOR)
                out[pair_position(i, j, n_items)] += 1.0 / information
