"""What the solver asks of the way items are observed; written once, for every family."""

from typing import Protocol

from ossb.records import Floats


class ItemFamily(Protocol):
    """The least information F_x(w) = min Σ w_i d(φ_i, λ_i) over Σ (λ_i − φ_i) ≥ need_x, by item.

    Shapes: ``w``, ``means``, ``pull`` (p,); ``need``, ``t``, ``tau``, ``multiplier``,
    ``slackness``, ``work`` (m,); ``member``, ``gradient``, ``rank_one``, ``diagonal`` (p, m).
    """

    def quadratic(self) -> bool:
        """Whether F_x is need² times a function of the weights, so that it can be cached."""
        ...

    def tilted(self, mean: float, weight: float, tau: float) -> float:
        """The most confusing mean of an item, given the multiplier of its alternative."""
        ...

    def divergence(self, mean: float, other: float) -> float:
        """Information one observation of the item brings between two means."""
        ...

    def bend(self, mean: float, other: float) -> float:
        """Second derivative of the divergence in its second mean."""
        ...

    def room(self, mean: float) -> float:
        """How far the mean can rise; 0 at the end of the mean space."""
        ...

    def steepest(self, weight: float) -> float:
        """The multiplier at which the mean of an item of that weight would move without end."""
        ...

    def log_information(
        self,
        w: Floats,
        member: Floats,
        need: Floats,
        means: Floats,
        p: int,
        m: int,
        t: Floats,
        tau: Floats,
    ) -> None:
        """t = log F_x, from a dual value and so never above it, and the multiplier tau."""
        ...

    def gradients(
        self,
        w: Floats,
        member: Floats,
        need: Floats,
        means: Floats,
        tau: Floats,
        p: int,
        m: int,
        gradient: Floats,
        rank_one: Floats,
        diagonal: Floats,
    ) -> None:
        """Gradient of log F_x, and what ``add_curvature`` needs of its Hessian."""
        ...

    def add_curvature(
        self,
        w: Floats,
        gradient: Floats,
        rank_one: Floats,
        diagonal: Floats,
        multiplier: Floats,
        slackness: Floats,
        pull: Floats,
        p: int,
        m: int,
        out: Floats,
        work: Floats,
    ) -> None:
        """Add −Σ q ∇² log F + Σ slackness G Gᵀ, where pull = Σ q G."""
        ...
