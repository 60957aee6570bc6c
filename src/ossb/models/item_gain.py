"""What observing an item buys against the rivals of the leading set.

A rival differs from the leader by some items, and by a gap.  The least evidence that would close
it moves each of these items by its part v_i/N_i of s² = Σ v_i/N_i, with v_i the variance half way
to where it gets to: with that, z² / 2 = gap² / 2s² is the likelihood ratio where observations are
Gaussian, and nearly so elsewhere.  An item of which the first few observations say that it has
next to no variance is not known the better for it.

Families without pseudo-observations have a prior worth ``PRIOR`` observations of each item in
the place of these: z² is multiplied by Σ v_i / (Σ v_i + PRIOR s²).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.models.normal import FAR, density, tail
from ossb.tally import Tally, fill_untold

PRIOR = 4.0
STEPS = 3  # towards variances that agree with how far they let each item move
CHANCES, IMPROVEMENTS, LARGEST = 0, 1, 2  # places in ItemLook.sums


class ItemLook(NamedTuple):
    """What is known of items, and what observing each is worth; other looks have these too."""

    estimate: np.ndarray  # float64 (n_items,): means
    weights: np.ndarray  # float64 (n_items,): observations, prior and pending included
    doubts: np.ndarray  # float64 (n_items,): v_i / N_i, v_i the variance at the mean
    spread: np.ndarray  # float64 (n_items,): likewise, half way to where a rival meets the leader
    inside: np.ndarray  # bool (n_items,): the items of the leader
    worth: np.ndarray  # float64 (n_items,): what one observation buys, per unit of horizon
    sums: np.ndarray  # float64 (3,): Σ Φ(−z), all expected improvements, and the largest


def new_look(n_items: int) -> ItemLook:
    """A look at nothing yet."""
    estimate, weights, doubts, spread, worth = np.zeros((5, n_items))
    inside = np.zeros(n_items, dtype=np.bool_)
    return ItemLook(estimate, weights, doubts, spread, inside, worth, np.zeros(3))


@kernel
def look_at_items(
    family: Any, prior: float, prior_mean: float, half: float, tally: Tally, look: Any
) -> None:
    """Write means, observations and v_i/N_i of all items, with their pseudo-observations."""
    n_items = tally.counts.shape[0]
    for i in range(n_items):
        count = tally.counts[i] + prior
        total = tally.counts[i] * tally.means[i] + prior * prior_mean
        look.weights[i] = max(count + tally.pending[i], 1.0)
        look.estimate[i] = total / max(count, 1.0)
        look.worth[i] = 0.0
    look.sums[:] = 0.0
    if prior <= 0.0:
        fill_untold(tally.counts, look.estimate)
    for i in range(n_items):
        variance = family.positive_variance(look.estimate[i]) + half / max(tally.counts[i], 1)
        look.doubts[i] = variance / look.weights[i]


@kernel
def spread_apart(family: Any, gap: float, apart: np.ndarray, look: Any) -> float:
    """Write v_i/N_i of the items that tell a rival apart; returns s²."""
    square = 0.0
    for i in apart:
        look.spread[i] = look.doubts[i]
        square += look.doubts[i]
    for _ in range(STEPS):
        each, moved = 0.5 * gap / square, 0.0
        for i in apart:
            way = -each if look.inside[i] else each
            there = look.estimate[i] + way * look.spread[i]
            there = min(max(there, family.lowest()), family.highest())
            look.spread[i] = family.positive_variance(there) / look.weights[i]
            moved += look.spread[i]
        if moved == square:  # Gaussian: variances are what they are
            break
        square = moved
    return square


@kernel
def add_rival(family: Any, has_prior: bool, apart: np.ndarray, look: Any) -> None:
    """Add what one rival makes an observation of each item worth.

    Parameters
    ----------
    family, has_prior
        The observations, and whether means have pseudo-observations.
    apart
        The items that tell the rival from the leader.
    look
        As ``ItemLook``.
    """
    gap = 0.0
    for i in apart:
        gap += look.estimate[i] if look.inside[i] else -look.estimate[i]
    gap = max(gap, 0.0)
    square = spread_apart(family, gap, apart, look)
    deviation, discount = math.sqrt(square), 1.0
    if not has_prior:
        total = 0.0
        for i in apart:
            total += look.spread[i] * look.weights[i]
        discount = total / (total + PRIOR * square)
    z = gap / deviation * math.sqrt(discount)
    if z > FAR:
        return
    chance, height = tail(z), density(z)
    expected = deviation * max(height - z * chance, 0.0)
    look.sums[CHANCES] += chance
    look.sums[IMPROVEMENTS] += expected
    look.sums[LARGEST] = max(look.sums[LARGEST], expected)
    factor = 0.5 * height / (deviation * discount)
    for i in apart:
        # v_i/N_i² times the one-play factor N_i/(1 + N_i)
        look.worth[i] += factor * look.spread[i] / (1.0 + look.weights[i])


@kernel
def add_rivals(
    family: Any, has_prior: bool, starts: np.ndarray, items: np.ndarray, look: Any
) -> None:
    """``add_rival`` for every stretch of ``items``."""
    for j in range(starts.shape[0] - 1):
        add_rival(family, has_prior, items[starts[j] : starts[j + 1]], look)
