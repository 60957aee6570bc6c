"""One alternative's part in the gain of a play.

With z = √(2 GLR c), c the evidence discount, and s the scale of the reward difference, the
expected improvement of the alternative over the leader is s(φ(z) − z Φ(−z)); a play of x that
carries the share ρ(x) of the evidence lowers it by ½ φ(z) s ρ(x) / c.
"""

import math
from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.models.base import NU, TOP_SHARE
from ossb.models.normal import DENSITY_AT_ZERO, density, tail

TIED = 1e-9  # a smaller likelihood ratio is a tie
DECIDED = 600.0  # a larger one leaves nothing to gain
CLEAR = 2.0  # what half the square of a gap in its deviations has beyond this tells of its scale


class Improvement(NamedTuple):
    """Φ(−z), the expected improvement, and the factors of the share and spread terms."""

    chance: float
    expected: float
    factor: float
    widening: float
    tie: bool


@kernel
def improvement(glr: float, gap: float, deviation: float, discount: float) -> Improvement:
    """The part of an alternative with likelihood ratio ``glr``.

    Parameters
    ----------
    glr
        Likelihood ratio against the alternative.
    gap
        Estimated reward the alternative is short of.
    deviation
        Standard deviation of that same difference, positive.
    discount
        1 / (1 + deviation² / v), a prior worth one observation; 1 where the model has a prior.
        A gap that is wide beside its deviation speaks for a wider prior, and little is discounted.
    """
    width = gap / deviation
    clear = 0.5 * width * width - CLEAR
    if discount < 1.0 and gap > 0.0 and clear > 0.0:
        discount = max(discount, 1.0 - 1.0 / (1.0 + clear))
    tie = glr < TIED or gap <= 0.0
    ratio = deviation if tie else gap / math.sqrt(2.0 * glr)
    scale = max(ratio, deviation)
    z = math.sqrt(2.0 * max(glr, 0.0) * discount)
    chance = tail(z)
    height = density(z)
    spread = 0.0
    if not tie and 2.0 * ratio < deviation:
        # the evidence came through other arms: this one may be barely sampled itself
        spread = chance * DENSITY_AT_ZERO / deviation * (1.0 - 2.0 * ratio / deviation)
    return Improvement(
        chance,
        scale * max(height - z * chance, 0.0),
        0.5 * height * scale / discount,
        spread,
        tie,
    )


@kernel
def conclude(numbers: np.ndarray, chances: float, improvements: float, largest: float) -> None:
    """Fill in ν and the largest share, given Σ Φ(−z), all expected improvements and the largest."""
    numbers[NU] = 1.0 / (1.0 + chances)
    numbers[TOP_SHARE] = largest / improvements if improvements > 0.0 else 1.0
