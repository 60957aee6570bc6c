"""What a price brings: itself, or nothing."""

from typing import NamedTuple

from numpy.random import Generator

from ossb.records import Floats, record


@record
class Sales(NamedTuple):
    """One price or nothing, for arms told apart by their means, no two of which are the same.

    For environments alone; policies are told that observations lie in [0, 1].
    """

    means: Floats
    prices: Floats

    def sample(self, mean: float, rng: Generator) -> float:
        price = 1.0
        for k in range(self.means.shape[0]):
            if self.means[k] == mean:
                price = self.prices[k]
        return price if price * rng.random() < mean else 0.0
