"""A finite set of possible parameters: the Graves–Lai program is a linear program as it stands.

One row for each parameter λ that agrees with θ on the best arm and under which another arm
is strictly better: Σ η(x) d(θ_x, λ_x) ≥ 1.  Both are meant as the numbers stand: a mean that
differs in its last digit differs.  Agrawal, Teneketzis and Anantharam (1989).  A λ
that one observation can rule out for good (an infinite divergence) costs nothing in the
limit and gives no row.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.families import FAMILIES, check_means
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.generic.listed_cuts import solve_listed
from ossb.graves_lai.generic.tracked_rates import MARGIN, Held
from ossb.graves_lai.independent import divergences
from ossb.graves_lai.proof import Alternative, Ball, Support
from ossb.models.finite import OPENING, FiniteModel
from ossb.structures.base import Bound
from ossb.structures.listed import MeanVector
from ossb.structures.offers import DOUBTS, LISTED_PARAMETERS, MODEL, OWN_COMPONENT
from ossb.structures.priced_lists import PricedFinite

MEMBER = 1e-9  # how near a listed parameter the true one must be, relative to its size
AGREES = 1e-12  # relative to the largest: means this close are the same to policies


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Finite(MeanVector):
    """Arms whose means are one of finitely many vectors.

    Parameters
    ----------
    parameters
        The possible vectors of means, one row each.
    theta
        The true one, where known.

    Examples
    --------
    >>> import ossb
    >>> either = ossb.Finite(
    ...     observation="gaussian", parameters=[[0.5, 0.2], [0.5, 0.8]], theta=[0.5, 0.2]
    ... )
    >>> round(ossb.bound(either).value, 6)
    1.666667
    """

    kind: ClassVar[str] = "finite"
    offers: ClassVar[tuple[str, ...]] = (MODEL, DOUBTS, LISTED_PARAMETERS, OWN_COMPONENT)
    parameter: ClassVar[str] = "theta"
    observations: ClassVar[tuple[str, ...]] = FAMILIES
    reference: ClassVar[str] = "Agrawal, Teneketzis and Anantharam (1989)"

    parameters: Any

    def __post_init__(self) -> None:
        parameters = read.matrix(self.parameters, "parameters")
        if parameters.shape[0] == 0:
            raise InputError("parameters", "hold at least one parameter", "none")
        self._set("parameters", parameters)
        self._read_theta(int(parameters.shape[1]))
        check_means(self.plain_family, parameters, "parameters")
        if self.theta is not None:
            self._check_member()

    def _check_member(self) -> None:
        distances = np.abs(self.parameters - self.theta).max(axis=1)
        nearest = int(np.argmin(distances))
        if not distances[nearest] <= MEMBER * float(np.abs(self.theta).max()):
            must = (
                f"be one of `parameters`: the nearest, parameters[{nearest}], "
                f"differs by {distances[nearest]:.3g}"
            )
            raise InputError("theta", must, self.theta.tolist())

    @property
    def n_arms(self) -> int:
        return int(self.parameters.shape[1])

    @cached_property
    def confusing(self) -> list[int]:
        """Numbers of the parameters that could be mistaken for θ."""
        rewards = self.sign * self.parameters
        agrees = rewards[:, self.best] == self.rewards[self.best]
        better = rewards.max(axis=1) > rewards[:, self.best]
        return [int(k) for k in np.flatnonzero(agrees & better) if self._finite(int(k))]

    def _finite(self, k: int) -> bool:
        return bool(np.isfinite(self._divergences(self.parameters[k])[self.others]).all())

    def _divergences(self, parameter: np.ndarray) -> np.ndarray:
        return divergences(self.family, self.rewards, self.sign * parameter)

    def solve(self, gap: float) -> Bound:
        rows = np.array([self._divergences(self.parameters[k]) for k in self.confusing])
        rows = rows.reshape(-1, self.n_arms)[:, self.others]
        rates, weights, lower, upper = solve_listed(self.gaps[self.others], rows)
        support = [
            (int(arm), float(rate))
            for arm, rate in zip(self.others, rates, strict=True)
            if rate > 0.0
        ]
        alternatives = [
            self._alternative(k, float(weight))
            for k, weight in zip(self.confusing, weights, strict=True)
            if weight > 0.0
        ]
        return Bound(self, lower, upper, support, alternatives)

    def _alternative(self, k: int, weight: float) -> Alternative:
        parameter = np.array(self.parameters[k])
        arm = int(np.argmax(self.sign * parameter))
        return Alternative(arm, parameter, parameter, weight, k)

    def priced(self, cost: Cost) -> PricedFinite:
        return PricedFinite(self, cost)

    def follow(self) -> "FiniteFollower":
        """Rates at moving estimates, each taken for the nearest of the parameters."""
        return FiniteFollower(self)

    def model(self) -> FiniteModel:
        """The structure as policies see it: the rates of every parameter, worked out once."""
        signed = self.sign * self.parameters
        follower = self.follow()
        held = [follower.rates(parameter) for parameter in self.parameters]
        return FiniteModel(
            self.family,
            self.n_arms,
            self.n_arms,
            signed,
            np.array([entry.best for entry in held]),
            np.array([entry.rates for entry in held]),
            OPENING * self.n_arms,
            AGREES * float(np.abs(signed).max()),
        )

    def exact_confusing(self, alternative: Alternative) -> np.ndarray:
        from ossb.graves_lai.exact.finite import confusing  # loads flint

        arm = self.position(alternative.arm)
        return confusing(self.truth, self.parameters, alternative, arm)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.finite import information  # loads flint

        return information(self.truth, self.parameters, support)


class FiniteFollower:
    """Rates at estimates of a finite set; each parameter is solved once, when first needed.

    A parameter with two best arms counts its lowest, and the others as a small margin behind.
    """

    def __init__(self, instance: Finite) -> None:
        self.instance = instance
        self.solved: dict[int, Held] = {}

    def rates(self, theta: np.ndarray) -> Held:
        """Feasible rates at the parameter nearest to an estimate."""
        nearest = int(np.argmin(np.square(self.instance.parameters - theta).sum(axis=1)))
        if nearest in self.solved:
            return replace(self.solved[nearest], kept=True)
        self.solved[nearest] = self._solve(self.instance.parameters[nearest])
        return self.solved[nearest]

    def _solve(self, theta: np.ndarray) -> Held:
        rewards = self.instance.sign * theta
        best = int(np.argmax(rewards))
        unit = self.instance.family.yardstick(float(rewards[best]))
        margin = MARGIN * max(unit, float(rewards[best] - rewards.min()))
        others = np.flatnonzero(np.arange(theta.size) != best)
        truth = replace(self.instance, theta=theta)
        truth._set("best", best)
        rows = np.array([truth._divergences(truth.parameters[k]) for k in truth.confusing])
        gaps = np.maximum(rewards[best] - rewards, margin)[others]
        found = solve_listed(gaps, rows.reshape(-1, theta.size)[:, others])
        rates = np.zeros(theta.size)
        rates[others] = found[0]
        return Held(best, rates, found[2], found[3], False)
