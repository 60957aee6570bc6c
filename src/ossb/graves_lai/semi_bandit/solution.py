"""What a semi-bandit solver answers, and gaps and weights of a list of arms."""

import math
from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.semi_bandit.item_family import EDGE, ItemFamily


@dataclass(frozen=True, eq=False)
class SemiBanditSolution:
    """lower ≤ C(φ) ≤ upper, with feasible rates that cost ``upper``.

    Parameters
    ----------
    leader
        The best arm x*.
    rates
        c(x, φ) of every arm.
    alternatives
        Arms x whose confusing parameters prove the lower bound.
    confusing
        One item-mean vector λ for each, equal to φ on the items of x*.
    weights
        Their weights y: C ≥ Σ y / max_x (Σ_k y_k Σ_{i∈x} d(φ_i, λ_ki) / Δ_x).
    """

    leader: int
    rates: np.ndarray  # (K,)
    upper: float
    lower: float
    alternatives: np.ndarray  # int64 (n_alternatives,)
    confusing: np.ndarray  # (n_alternatives, d)
    weights: np.ndarray  # (n_alternatives,)

    @property
    def gap(self) -> float:
        """Certified relative gap."""
        return 0.0 if self.upper <= 0.0 else (self.upper - self.lower) / self.upper


def item_weights(arms: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """w_i = Σ_{x∋i} η_x."""
    return rates @ arms


NEAR = 1e-3  # gaps below this, relative to the means that differ, are summed exactly


def gaps_to(arms: np.ndarray, phi: np.ndarray, leader: int) -> np.ndarray:
    """Δ(x) of every arm, accurate also where arms are nearly as good as the leader."""
    apart = arms[leader] - arms
    gaps = apart @ phi
    for x in np.flatnonzero(gaps < NEAR * (np.abs(apart) @ np.abs(phi))):
        gaps[x] = math.fsum((apart[x] * phi).tolist())
    return np.ascontiguousarray(gaps)


def movable(items: ItemFamily, phi: np.ndarray) -> np.ndarray:
    """Which items can have a larger mean."""
    return np.array([items.room(float(mean)) > EDGE for mean in phi])
