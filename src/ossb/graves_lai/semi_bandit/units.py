"""One-off problems in units in which their numbers are near 1.

Gaussian items: means in units of the least gap g, and σ = 1; rates are then in units of σ²/g².
Poisson items: means in units of the largest m, and rates in units of 1/m.  Units of means are
powers of 2, so that nothing is rounded.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.graves_lai.semi_bandit.poisson_items import PoissonItems


class Units(NamedTuple):
    """What means and rates are multiples of, and the items in these units."""

    mean: float
    rate: float
    items: ItemFamily


def units_of(items: ItemFamily, phi: np.ndarray, gaps: np.ndarray) -> Units:
    """The units of a problem; ``gaps`` are those of the arms, 0 at the best one."""
    if isinstance(items, GaussianItems):
        mean = power_below(float(gaps[gaps > 0].min(initial=math.inf)))
        deviation = items.sigma / mean
        return Units(mean, deviation * deviation, GaussianItems(1.0))
    if isinstance(items, PoissonItems):
        mean = power_below(float(np.abs(phi).max(initial=0.0)))
        return Units(mean, 1.0 / mean, items)
    return Units(1.0, 1.0, items)


def power_below(size: float) -> float:
    """A power of 2 near a positive number; 1 where there is none."""
    if not 0.0 < size < math.inf:
        return 1.0
    return math.ldexp(1.0, max(-1000, min(1000, math.frexp(size)[1] - 1)))
