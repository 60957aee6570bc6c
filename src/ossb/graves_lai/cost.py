"""What a play costs: the regret that it brings, one per sample, a mixture, or any prices.

V(κ) = min Σ κ(x) η(x) over rates η ≥ 0 with Σ η(x) D(θ, λ, x) ≥ 1 for every λ under which
another arm is better.  κ = Δ is the Graves–Lai bound C(θ); κ = 1 the characteristic time T*(θ)
of Garivier and Kaufmann (2016); κ = Δ + c the trade of Qin and Russo (2024) between the two.
Where the best arm has a price, alternatives may move what it shows; where it has none, its plays
are free and they may not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.graves_lai.proof import Ball

MUST = "be regret, samples, a number (regret + so much per sample), or a price for each arm"
Plain = str | float | list[float]  # as users write it


@dataclass(frozen=True)
class Cost:
    """κ(x) = share · Δ(x) + price(x).

    Parameters
    ----------
    share
        1 where regret counts, else 0.
    price
        Of one play: one number, or one for each listed arm.
    """

    share: float = 1.0
    price: float | tuple[float, ...] = 0.0

    @property
    def is_regret(self) -> bool:
        """Whether nothing but regret counts."""
        return self.share > 0.0 and self.price == 0.0

    def out_of_range(self) -> tuple[str, float] | None:
        """A price, and its field, that is too small or large for a proof."""
        return read.extreme(self.price, "cost")

    @property
    def plain(self) -> Plain:
        """The cost as users write it."""
        if isinstance(self.price, tuple):
            return list(self.price)
        if self.share == 0.0:
            return "samples"
        return "regret" if self.price == 0.0 else self.price

    @property
    def symbol(self) -> str:
        """What the value is called."""
        if self.is_regret:
            return "C(θ)"
        return "T*(θ)" if self.plain == "samples" else "V(κ)"

    def prices(self, gaps: np.ndarray) -> np.ndarray:
        """κ of every listed arm, in doubles."""
        return self.share * gaps + np.asarray(self.price)

    def of(self, gap: float, place: int) -> float:
        """κ of the arm at a place of the list, in doubles."""
        price = self.price[place] if isinstance(self.price, tuple) else self.price
        return self.share * gap + price

    def rational(self, gap: Any, place: int) -> Any:
        """κ of the arm at a place of the list, whose gap is a rational number."""
        from flint import fmpq

        price = self.price[place] if isinstance(self.price, tuple) else self.price
        share = fmpq(1) if self.share > 0.0 else fmpq(0)
        return share * gap + fmpq(*float(price).as_integer_ratio())

    def exact(self, gap: Ball, place: int) -> Ball:
        """κ of the arm at a place of the list, whose gap is known exactly."""
        from flint import arb

        price = self.price[place] if isinstance(self.price, tuple) else self.price
        return arb(self.share) * gap + arb(price)


REGRET, SAMPLES = Cost(), Cost(0.0, 1.0)


def read_cost(value: Any, n_arms: int | None, bests: Sequence[int]) -> Cost:
    """The cost that a user's value stands for.

    Parameters
    ----------
    n_arms, bests
        Number of listed arms, None where they are not listed, and which of them are the best: one,
        or one in each context.
    """
    if isinstance(value, Cost):
        return value
    if isinstance(value, str):
        if value not in ("regret", "samples"):
            raise InputError("cost", MUST, value)
        return REGRET if value == "regret" else SAMPLES
    if isinstance(value, Sequence | np.ndarray) and np.ndim(value) > 0:
        return Cost(0.0, _read_prices(value, n_arms, bests))
    number = read.number(value, "cost")
    if not number >= 0.0:
        raise InputError("cost", "be 0 or more", number)
    return Cost(1.0, number)


def _read_prices(value: Any, n_arms: int | None, bests: Sequence[int]) -> tuple[float, ...]:
    """A price for each arm: positive, and only the best arm may be played for nothing."""
    if n_arms is None:
        raise InputError("cost", "be one number: the arms are not listed")
    prices = read.vector(value, "cost", n_arms)
    for arm, price in enumerate(prices.tolist()):
        if not price > 0.0 and (arm not in bests or price < 0.0):
            must = "be 0 or more" if arm in bests else "be positive: only the best arm may be free"
            raise InputError(f"cost[{arm}]", must, price)
    return tuple(prices.tolist())
