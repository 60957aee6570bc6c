"""Closed forms where each alternative moves one arm: classical and unimodal bandits.

If arm x can become best by moving its own mean alone, up to θ*, its constraint reads
η(x) d(θ_x, θ*) ≥ 1 and no other rate occurs in it: c(x) = 1 / d(θ_x, θ*).  Where θ* is the
greatest mean there is, nothing can exceed it and no parameter is confusing.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ossb.families import Family
from ossb.graves_lai.proof import Alternative, Support
from ossb.kernels import kernel


def divergences(family: Family, means: np.ndarray, others: np.ndarray) -> np.ndarray:
    """d(means[x], others[x]) for every x."""
    return np.array([family.kl(float(p), float(q)) for p, q in zip(means, others, strict=True)])


def beyond(family: Family, means: np.ndarray) -> float:
    """How far means reach outside the family's mean space."""
    low, high = family.lowest(), family.highest()
    return float(max(0.0, (low - means).max(initial=0.0), (means - high).max(initial=0.0)))


def closed_form(
    family: Family, means: np.ndarray, best: int, candidates: Iterable[int]
) -> list[tuple[int, float]]:
    """The candidates with their rates 1 / d(θ_x, θ*)."""
    if not means[best] < family.highest():
        return []
    return [(int(x), 1.0 / family.kl(float(means[x]), float(means[best]))) for x in candidates]


def raised(
    family: Family, means: np.ndarray, best: int, support: Sequence[tuple[int, float]]
) -> list[tuple[int, np.ndarray, np.ndarray, float]]:
    """For each arm of the support, λ (its mean raised to θ*), a witness beyond, and its weight.

    The weight is the arm's own cost c(x) Δ(x), which makes the two sides of the bound equal.
    """
    top, limit = float(means[best]), family.highest()
    answer = []
    for arm, rate in support:
        gap = top - float(means[arm])
        higher = top + min(gap, 0.5 * (limit - top)) if math.isfinite(limit) else top + gap
        parameter, witness = np.array(means), np.array(means)
        parameter[arm], witness[arm] = top, higher
        answer.append((arm, parameter, witness, rate * gap))
    return answer


def proved(
    family: Family, means: np.ndarray, best: int, candidates: Iterable[int], sign: float
) -> tuple[list[tuple[int, float]], list[Alternative], float]:
    """Rates, confusing parameters in the user's sign, and the value."""
    support = closed_form(family, means, best, candidates)
    alternatives = [
        Alternative(arm, sign * parameter, sign * witness, weight)
        for arm, parameter, witness, weight in raised(family, means, best, support)
    ]
    value = math.fsum(alternative.weight for alternative in alternatives)
    return support, alternatives, value


def least_information(
    family: Family, means: np.ndarray, best: int, candidates: Iterable[int], support: Support
) -> float:
    """F(η) = min over the candidates of η(x) d(θ_x, θ*); +∞ if there is none."""
    if not means[best] < family.highest():
        return math.inf
    rates = dict(support)
    return min(
        (
            rates.get(int(x), 0.0) * family.kl(float(means[x]), float(means[best]))
            for x in candidates
        ),
        default=math.inf,
    )


@kernel
def independent_rate(family: Family, mean: float, top: float) -> float:
    """1 / d(mean, top) for use inside policies: 0 where nothing can be confused, never NaN.

    A mean equal to the top is as undecided as can be: its rate is held at a large finite value.
    """
    if top >= family.highest():
        return 0.0
    divergence = family.kl(mean, top)
    if divergence < TIED:
        return 1.0 / TIED
    return 1.0 / divergence


TIED = 1e-24
