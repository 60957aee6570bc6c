"""What proves a bound, and the check of it with no solver.

The Graves–Lai program: C(θ) = min Σ η(x) Δ(x) over rates η ≥ 0 with
Σ η(x) D(θ, λ, x) ≥ 1 for every confusing parameter λ.  Both sides have a short proof.

- Upper: F(η) = inf over confusing λ of Σ η(x) D(θ, λ, x) is homogeneous, so any rates with
  F(η) ≥ f > 0 give C ≤ Σ η(x) Δ(x) / f.  The instance bounds F from below, in closed form or
  from dual multipliers.
- Lower: for weights y ≥ 0 on confusing parameters λ_k,
  C ≥ Σ y_k / max over x ≠ x* of Σ y_k D(θ, λ_k, x) / Δ(x).
  Each λ_k is a limit of parameters under which another arm is strictly better: it lies in a
  convex piece of the parameter set that also holds a ``witness`` with a strict advantage.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

Arm = int | tuple[int, ...]
Support = Sequence[tuple[Arm, float]]

TOLERANCE = 1e-9
STRICT = 100.0  # a witness is better by this many times its own distance from the set
# what an instance raises on a proof of the wrong shape, which is then no proof
MALFORMED = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


@dataclass(frozen=True, eq=False)
class Alternative:
    """A confusing parameter with its weight in the lower bound.

    Parameters
    ----------
    arm
        The arm that is as good as the best one under ``parameter``.
    parameter
        λ, in the shape of the instance's own parameter.
    witness
        A parameter of the same convex piece under which ``arm`` is strictly better.
    weight
        y ≥ 0.
    piece
        Which piece of the parameter set holds both, where it is a union.
    """

    arm: Arm
    parameter: np.ndarray
    witness: np.ndarray
    weight: float
    piece: int = 0


class Provable(Protocol):
    """What an instance offers to have its bounds checked."""

    @property
    def witnessed(self) -> bool:
        """False where a user's word stands for witnesses: ties are then taken for limits."""
        ...

    def best_arm(self) -> Arm: ...

    def gap_of(self, arm: Arm) -> float:
        """Δ(x) under the true parameter."""
        ...

    def outside(self, parameter: np.ndarray, arm: Arm, piece: int) -> float:
        """How far a parameter is from the piece where ``arm`` may be best; 0 inside."""
        ...

    def rounding(self, parameter: np.ndarray) -> float:
        """How far outside rounding alone may put a parameter."""
        ...

    def disagreement(self, parameter: np.ndarray) -> float:
        """Largest difference, from the truth, in what the best arm reveals."""
        ...

    def advantage(self, parameter: np.ndarray, arm: Arm) -> float:
        """Reward of ``arm`` minus that of the true best arm, under ``parameter``."""
        ...

    def heaviest(self, parameters: Sequence[np.ndarray], weights: np.ndarray) -> float:
        """Maximum over x ≠ x* of Σ_k weights[k] D(θ, parameters[k], x) / Δ(x)."""
        ...

    def information(self, support: Support, multipliers: Any) -> float:
        """A proved lower bound of F(η); +∞ where no parameter is confusing."""
        ...


@dataclass(frozen=True)
class Report:
    """Outcome of a check: the bounds recomputed, the residuals met, and what was wrong."""

    lower: float
    upper: float
    residuals: dict[str, float]
    problems: tuple[str, ...] = field(default=())

    @property
    def valid(self) -> bool:
        return not self.problems


@np.errstate(all="ignore")  # what overflows proves nothing, and is said to
def check(
    instance: Provable,
    support: Support,
    alternatives: Sequence[Alternative],
    multipliers: Any,
    lower: float,
    upper: float,
) -> Report:
    """Recompute both sides of a claimed bound from the instance and the proof."""
    problems: list[str] = []
    residuals = {"outside": 0.0, "disagreement": 0.0, "disadvantage": 0.0}
    proved_lower, proved_upper, information, cost = math.nan, math.inf, 0.0, math.nan
    try:
        for k, alternative in enumerate(alternatives):
            problems += _check_alternative(instance, k, alternative, residuals)
        proved_lower = _lower(instance, alternatives)
    except MALFORMED as error:
        problems.append(f"alternatives: not what this instance needs: {error}")
    try:
        information = _information(instance, support, multipliers)
        cost = math.fsum(rate * instance.gap_of(arm) for arm, rate in support)
        proved_upper = _upper(cost, information)
    except MALFORMED as error:
        problems.append(f"rates or multipliers: not what this instance needs: {error}")
    residuals["infeasibility"] = max(0.0, 1.0 - information)
    if not information >= 1.0 - TOLERANCE:
        problems.append(f"rates: not feasible, the least information is {information!r}")
    if not np.isfinite([lower, upper]).all():
        problems.append(f"lower and upper: must be finite, got {lower!r} and {upper!r}")
    residuals["lower"] = max(0.0, lower - proved_lower)
    residuals["upper"] = max(0.0, proved_upper - upper)
    if not proved_lower >= lower - TOLERANCE * abs(lower):
        problems.append(f"lower: claimed {lower!r}, proved {proved_lower!r}")
    if not proved_upper <= upper + TOLERANCE * abs(upper):
        problems.append(f"upper: claimed {upper!r}, proved {proved_upper!r}")
    elif not upper - cost <= TOLERANCE * abs(upper):
        problems.append(f"upper: claimed {upper!r}, where the rates cost {cost!r}")
    if lower < 0:
        problems.append(f"lower: claimed {lower!r}, and no cost is negative")
    return Report(proved_lower, proved_upper, residuals, tuple(problems))


def _check_alternative(
    instance: Provable, k: int, alternative: Alternative, residuals: dict[str, float]
) -> list[str]:
    problems = []
    error = 0.0
    arm, piece = alternative.arm, alternative.piece
    gap = instance.gap_of(arm)
    if arm == instance.best_arm() or not gap > 0:
        return [f"alternatives[{k}]: {arm} is the best arm itself"]
    if not 0 <= alternative.weight < np.inf:
        problems.append(f"alternatives[{k}]: weight {alternative.weight!r}")
    for name, parameter in (("parameter", alternative.parameter), ("witness", alternative.witness)):
        if not np.isfinite(parameter).all():
            return [*problems, f"alternatives[{k}].{name}: not finite"]
        scale = 1.0 + float(np.abs(parameter).max(initial=0.0))
        # what is proved is a matter of gaps: an error beside them is no proof, however small
        limit = min(scale, gap)
        outside = max(0.0, instance.outside(parameter, arm, piece) - instance.rounding(parameter))
        disagreement = instance.disagreement(parameter)
        error = outside + disagreement  # that of the witness, in the end
        outside, disagreement = outside / limit, disagreement / limit
        residuals["outside"] = max(residuals["outside"], outside)
        residuals["disagreement"] = max(residuals["disagreement"], disagreement)
        if not outside <= TOLERANCE:
            problems.append(f"alternatives[{k}].{name}: outside the parameter set by {outside:.2e}")
        if not disagreement <= TOLERANCE:
            problems.append(
                f"alternatives[{k}].{name}: differs in what the best arm reveals "
                f"by {disagreement:.2e}"
            )
    disadvantage = -instance.advantage(alternative.parameter, arm) / gap
    residuals["disadvantage"] = max(residuals["disadvantage"], disadvantage)
    if not disadvantage <= TOLERANCE:
        problems.append(f"alternatives[{k}].parameter: its arm is worse by {disadvantage:.2e}")
    # rounding must not be what makes it better: ties at the edge of the set are no proof
    strict = instance.advantage(alternative.witness, arm) > STRICT * error
    if instance.witnessed and not strict:
        problems.append(f"alternatives[{k}].witness: its arm is not strictly better")
    return problems


def _lower(instance: Provable, alternatives: Sequence[Alternative]) -> float:
    weights = np.array([alternative.weight for alternative in alternatives])
    if not weights.size or not 0 < weights.sum() < np.inf:
        return 0.0
    parameters = [alternative.parameter for alternative in alternatives]
    heaviest = float(instance.heaviest(parameters, weights))
    return float(weights.sum()) / heaviest if heaviest > 0 else math.nan


def _information(instance: Provable, support: Support, multipliers: Any) -> float:
    """What the rates are proved to reveal, at least, of every confusing parameter."""
    if any(not 0 <= rate < np.inf for _, rate in support):
        return 0.0
    information = float(instance.information(support, multipliers))
    return information if information > 0 else 0.0  # also where it is not a number


def _upper(cost: float, information: float) -> float:
    if information == np.inf:
        return 0.0  # nothing to tell apart: zero rates are feasible
    return cost / information if information > 0 else math.inf
