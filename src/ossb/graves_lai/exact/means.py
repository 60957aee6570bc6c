"""Parameters that are the means of the arms: comparisons of doubles, which are exact.

Means are in the user's own sign; ``sign`` −1 says that less is better.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from flint import arb

from ossb.graves_lai.exact.balls import INFINITE, greatest, least
from ossb.graves_lai.exact.divergences import Divergence
from ossb.graves_lai.proof import Alternative, ProofError, Support


class Truth(NamedTuple):
    """The true means, the best arm, and the space that means are in."""

    theta: np.ndarray
    best: int
    sign: float
    low: float
    high: float
    divergence: Divergence

    def gap(self, arm: int) -> arb:
        """Δ(x)."""
        return arb(self.sign) * (arb(self.theta[self.best]) - arb(self.theta[arm]))

    def is_certain(self) -> bool:
        """Whether no mean can be better than the best one."""
        top = self.high if self.sign > 0 else self.low
        return bool(self.theta[self.best] == top)


def confusing(truth: Truth, alternative: Alternative, arm: int) -> np.ndarray:
    """The parameter as it stands: it and its witness in the mean space and true of the best arm.

    Whether they lie in the structure's own set is for the structure to say.
    """
    if alternative.relative:
        raise ProofError(".relative: must be false, means are written as they are")
    for name in ("parameter", "witness"):
        means = getattr(alternative, name)
        if means.shape != truth.theta.shape:
            raise ProofError(f".{name}: must have the shape {list(truth.theta.shape)}")
        if not ((means >= truth.low) & (means <= truth.high)).all():
            raise ProofError(f".{name}: outside the parameter set, by the means there are")
        if means[truth.best] != truth.theta[truth.best]:
            raise ProofError(f".{name}: differs in what the best arm reveals")
    parameter, witness = alternative.parameter, alternative.witness
    if not truth.sign * parameter[arm] >= truth.sign * parameter[truth.best]:
        raise ProofError(".parameter: its arm is worse than the best one")
    if not truth.sign * witness[arm] > truth.sign * witness[truth.best]:
        raise ProofError(".witness: its arm is not strictly better")
    return parameter


def heaviest(
    truth: Truth,
    parameters: Sequence[np.ndarray],
    weights: Sequence[float],
    costs: Callable[[int], arb],
) -> arb:
    """Maximum over x of Σ_k weights[k] d(θ_x, parameters[k]_x) / κ(x)."""
    collected: dict[int, arb] = {}
    for parameter, weight in zip(parameters, weights, strict=True):
        for x in np.flatnonzero(parameter != truth.theta).tolist():
            shown = weight * truth.divergence(truth.theta[x], parameter[x])
            collected[x] = collected.get(x, arb(0)) + shown
    return greatest(total / costs(x) for x, total in collected.items())


def summed(support: Support) -> dict[int, arb]:
    """The rate of each arm; one that is named twice has the sum."""
    rates: dict[int, arb] = {}
    for arm, rate in support:
        assert isinstance(arm, int)
        rates[arm] = rates.get(arm, arb(0)) + arb(rate)
    return rates


def information(truth: Truth, candidates: Iterable[int], support: Support) -> arb:
    """F(η) = min over the arms that can become best by their own mean of η(x) d(θ_x, θ*)."""
    if truth.is_certain():
        return INFINITE
    rates, top = summed(support), truth.theta[truth.best]
    found = []
    for x in candidates:
        if x not in rates:
            return arb(0)
        found.append(rates[x] * truth.divergence(truth.theta[x], top))
    return least(found)
