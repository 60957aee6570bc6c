"""Generalised linear arms in contexts, as ``hgl`` sees them.

The estimate is that of ``glm.py``, from what was told of the rows of all contexts.
"""

from typing import NamedTuple

import numpy as np

from ossb.models.glm import INVERSE, GlmModel
from ossb.models.within import first_within, lift_within, widths_within
from ossb.records import Floats, record
from ossb.tally import Tally


class GlmWithinLook(NamedTuple):
    """The estimate, and what follows from it."""

    rewards: np.ndarray  # float64 (n_rows,)
    widths: np.ndarray  # float64 (n_rows,): xᵀWx
    estimate: np.ndarray  # float64 (n_rows,)
    phi: np.ndarray  # float64 (d,): in the user's sign, as the indices
    indices: np.ndarray  # float64 (n_rows,): u
    bends: np.ndarray  # float64 (n_rows,): b″(u)
    squares: np.ndarray  # float64 (4, d, d): as ``GlmLook`` has them
    vector: np.ndarray  # float64 (d,): scratch


@record
class GlmWithin(NamedTuple):
    """Rows whose reward is g(⟨φ, x⟩).

    Parameters
    ----------
    features, sigma
        Of the model.
    model
        All rows as one structure.
    """

    features: Floats
    sigma: float
    model: GlmModel

    def start(self) -> GlmWithinLook:
        d, n = self.features.shape
        return GlmWithinLook(
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(d),
            np.zeros(n),
            np.zeros(n),
            np.zeros((4, d, d)),
            np.zeros(d),
        )

    def first(self, low: int, high: int, tally: Tally) -> int:
        return first_within(self.model.spanning, low, high, tally)

    def look(self, low: int, high: int, tally: Tally, memory: GlmWithinLook) -> int:
        self.model.project(tally, memory)
        self.model.add_up(tally, True, memory)
        self.model.invert(0.0, 1.0, memory)
        widths_within(self.features, memory.squares[INVERSE], low, high, memory.widths)
        leader = low
        for x in range(low + 1, high):  # by the index: means may round to the ends of their range
            if self.ahead(leader, x, memory) < 0.0:
                leader = x
        return leader

    def lift(
        self, low: int, high: int, leader: int, memory: GlmWithinLook, out: np.ndarray
    ) -> None:
        inverse = memory.squares[INVERSE]
        lift_within(self.features, inverse, low, high, leader, out)

    def ahead(self, leader: int, x: int, memory: GlmWithinLook) -> float:
        return self.model.sign * float(memory.indices[leader] - memory.indices[x])

    def worth(self, leader: int, x: int, memory: GlmWithinLook) -> float:
        return self.model.slope_between(leader, x, memory)

    def told(self, x: int, memory: GlmWithinLook) -> float:
        return float(memory.bends[x])


def glm_within(model: GlmModel) -> GlmWithin:
    return GlmWithin(model.features, model.sigma, model)
