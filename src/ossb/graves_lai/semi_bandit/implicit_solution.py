"""What the solvers of implicit arm sets answer, and what they ask of an arm set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

Items = tuple[int, ...]
Status = Literal["certified", "heuristic"]


class Oracle(Protocol):
    """A set of arms behind a linear-maximisation oracle."""

    @property
    def n_items(self) -> int: ...

    def maximize(self, weights: np.ndarray) -> Items: ...

    def maximize_with(self, weights: np.ndarray, item: int) -> Items | None: ...


@dataclass(frozen=True, eq=False)
class ImplicitSolution:
    """lower ≤ C(φ) ≤ upper for a set of arms that is not listed.

    Parameters
    ----------
    leader
        The best arm x*.
    support
        Arms with a non-zero rate, and the rate.
    alternatives, confusing, weights
        Arms, item-mean vectors and weights that prove the lower bound.
    status
        ``heuristic`` where the search for violated alternatives was cut short; ``upper`` then
        comes from a relaxation of all alternatives and still holds.
    """

    leader: Items
    support: Sequence[tuple[Items, float]]
    upper: float
    lower: float
    alternatives: Sequence[Items]
    confusing: np.ndarray  # (n_alternatives, d)
    weights: np.ndarray  # (n_alternatives,)
    status: Status = "certified"

    @property
    def gap(self) -> float:
        """Relative gap."""
        if self.upper <= 0.0:
            return 0.0
        return 1.0 - self.lower / self.upper


def reward(phi: np.ndarray, items: Items) -> float:
    """Σ φ_i over the items of an arm, summed exactly in order."""
    return float(sum(phi[i] for i in items))


def heaviest_ratio(
    oracle: Oracle, phi: np.ndarray, leader: Items, pull: np.ndarray, start: float = 0.0
) -> tuple[float, list[Items]]:
    """max over x of Σ_{i∈x} pull_i / Δ_x, and the arms met on the way (Dinkelbach).

    ``pull`` must be 0 on the items of the leader, and ``start`` a ratio that some arm has.
    Each step is one call of the oracle; the last one finds no arm above the ratio.
    """
    best = reward(phi, leader)
    ratio = start
    met: list[Items] = []
    for _ in range(100):
        arm = oracle.maximize(pull + ratio * phi)
        gap = best - reward(phi, arm)
        if arm == leader or not gap > 0:
            break
        mine = reward(pull, arm) / gap
        if mine <= ratio * (1.0 + 1e-13):
            break
        met.append(arm)
        ratio = mine
    return ratio, met
