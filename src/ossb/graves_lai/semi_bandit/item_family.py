"""How an item of a set is observed, as solvers see it; written once, for every family."""

from typing import Protocol

EDGE = 1e-12  # distance kept from the ends of the mean space


class ItemFamily(Protocol):
    """Divergences of one item's means, more being better, by how far a mean rises."""

    def quadratic(self) -> bool:
        """Whether the divergence is, so that multipliers are in closed form."""
        ...

    def move(self, mean: float, weight: float, tau: float) -> tuple[float, float]:
        """How far the mean λ is that maximises τ λ − w d(φ, λ), and 1/(w d″) there."""
        ...

    def divergence(self, mean: float, shift: float) -> float:
        """Information one observation of the item brings between a mean and a larger one."""
        ...

    def room(self, mean: float) -> float:
        """How far the mean can rise; 0 at the end of the mean space."""
        ...

    def spread(self, mean: float) -> float:
        """Variance of the item."""
        ...

    def steepest(self, weight: float) -> float:
        """The multiplier at which the mean of an item of that weight would move without end."""
        ...
