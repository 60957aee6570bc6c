"""What proves a bound, and the check of it with no solver and in exact arithmetic.

The Graves–Lai program: C(θ) = min Σ η(x) Δ(x) over rates η ≥ 0 with
Σ η(x) D(θ, λ, x) ≥ 1 for every confusing parameter λ.  Both sides have a short proof.

- Upper: F(η) = inf over confusing λ of Σ η(x) D(θ, λ, x) is homogeneous, so any rates with
  F(η) ≥ f > 0 give C ≤ Σ η(x) Δ(x) / f.  The instance bounds F from below, in closed form or
  from dual multipliers.
- Lower: for weights y ≥ 0 on confusing parameters λ_k,
  C ≥ Σ y_k / max over x ≠ x* of Σ y_k D(θ, λ_k, x) / Δ(x).
  Each λ_k is a limit of parameters under which another arm is strictly better: it lies in a
  convex piece of the parameter set that also holds a ``witness`` with a strict advantage.

Where a play costs κ(x) in the place of Δ(x), the same holds with κ; and if the best arm has a
price too, then λ need not agree with θ on what the best arm reveals.

Nothing is taken for equal, inside or better that is not so exactly, for the numbers as they
stand in the certificate: whoever wrote it, what passes is true.  Quantities that doubles do not
hold are balls around their true values, and each side counts the end that proves less.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from ossb.fields import WITHIN

Arm = int | tuple[int, ...]
Support = Sequence[tuple[Arm, float]]
Ball = Any  # flint.arb, which is loaded by the check and not before

GAP = 1e-6  # the relative gap that "certified" stands for where nothing else is said
# rates count as feasible, and as costing the upper side, to this share: C itself is proved exactly
FEASIBLE = 1e-9
# what an instance raises on a proof of the wrong shape, which is then no proof
MALFORMED = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


class ProofError(ValueError):
    """Why an alternative proves nothing: what it is not, in a few words."""


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
    relative
        Whether ``parameter`` and ``witness`` are written as differences from the true parameter:
        near ties, doubles hold these to more digits.
    """

    arm: Arm
    parameter: np.ndarray
    witness: np.ndarray
    weight: float
    piece: int = 0
    relative: bool = False


class Provable(Protocol):
    """What an instance offers to have its bounds checked.

    Every answer is exact, or a ball that holds the true value; the check has set the precision.
    """

    @property
    def may_certify(self) -> bool:
        """False where the upper side rests on a search that may have missed."""
        ...

    def out_of_range(self) -> tuple[str, float] | None:
        """A number of the instance, and its field, whose products doubles may not hold."""
        ...

    def best_arm(self) -> Arm: ...

    def exact_gap(self, arm: Arm) -> Ball:
        """Δ(x) under the true parameter."""
        ...

    def is_rival(self, arm: Arm) -> bool:
        """Whether an alternative may be about an arm: it is surely worse than the best one."""
        ...

    def exact_cost(self, arm: Arm) -> Ball:
        """κ(x), what a play costs: Δ(x), where nothing but regret counts."""
        ...

    def exact_confusing(self, alternative: Alternative) -> Any:
        """The parameter that an alternative stands for, exactly.

        It agrees with θ on all that the best arm reveals and is a limit of such parameters of Θ
        under which the alternative's arm is strictly better; ``ProofError`` if that is not shown.
        Where doubles cannot meet an equality, the structure says which exact point they stand for.
        """
        ...

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        """Maximum over x with κ(x) > 0 of Σ_k weights[k] D(θ, confusing[k], x) / κ(x), or more.

        The parameters are what ``exact_confusing`` gave; the weights are positive.
        """
        ...

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        """A lower bound of F(η); +∞ where no parameter is confusing."""
        ...


@dataclass(frozen=True)
class Report:
    """Outcome of a check: what was proved, rounded outward, and what was wrong.

    Parameters
    ----------
    lower, upper
        The interval that the proof itself gives, whatever was claimed.
    information
        F(η) of the rates, at least.
    cost
        Σ η(x) κ(x), at most.
    """

    lower: float
    upper: float
    information: float
    cost: float
    problems: tuple[str, ...] = field(default=())

    @property
    def valid(self) -> bool:
        return not self.problems


def check(
    instance: Any,
    support: Support,
    alternatives: Sequence[Alternative],
    multipliers: Any,
    lower: float,
    upper: float,
    status: str = "certified",
    gap: float = GAP,
) -> Report:
    """Prove both sides anew from the instance and the proof, and compare with what is claimed."""
    report = prove(instance, support, alternatives, multipliers)
    return judge(instance, report, lower, upper, status, gap)


def judge(
    instance: Any, report: Report, lower: float, upper: float, status: str, gap: float
) -> Report:
    """The report of a proof, with what a claim says beyond it."""
    problems = [*report.problems, *_claimed(report, lower, upper)]
    if status == "certified":
        problems += _certified(instance, lower, upper, gap)
    return replace(report, problems=tuple(problems))


def prove(
    instance: Any, support: Support, alternatives: Sequence[Alternative], multipliers: Any
) -> Report:
    """What a proof gives, whatever is claimed."""
    from ossb.graves_lai.exact.balls import down, up, working  # loads flint

    problems: list[str] = []
    beyond = instance.out_of_range()
    if beyond is not None:
        said = f"instance.{beyond[0]}: must {WITHIN}, got {beyond[1]!r}"
        return Report(0.0, math.inf, 0.0, math.inf, (said,))
    with working(), np.errstate(all="ignore"):
        lower = _lower(instance, alternatives, problems)
        cost, information = _upper(instance, support, multipliers, problems)
        if information.is_nan() or not information > 0:
            upper = math.inf
        else:
            upper = 0.0 if not information.is_finite() else up(cost / information)
        report = Report(down(lower), upper, down(information), up(cost), tuple(problems))
    if report.lower > report.upper:
        contradiction = (
            f"lower and upper: the proofs contradict each other, {report.lower!r} and "
            f"{report.upper!r}: they are of different sets of parameters"
        )
        return replace(report, problems=(*report.problems, contradiction))
    return report


def _claimed(report: Report, lower: float, upper: float) -> list[str]:
    """What is claimed beyond what is proved."""
    if not np.isfinite([lower, upper]).all():
        return [f"lower and upper: must be finite, got {lower!r} and {upper!r}"]
    problems = []
    if not report.information >= 1.0 - FEASIBLE:
        least = report.information
        problems.append(f"rates: not feasible, the least information is {least!r}")
    if not lower >= 0.0:
        problems.append(f"lower: claimed {lower!r}, and no cost is negative")
    if not lower <= upper:
        problems.append(f"lower: claimed {lower!r}, above the upper side, {upper!r}")
    if not lower <= report.lower:
        problems.append(f"lower: claimed {lower!r}, proved {report.lower!r}")
    if not report.upper <= upper:
        problems.append(f"upper: claimed {upper!r}, proved {report.upper!r}")
    elif not _near(upper, report.cost):
        problems.append(f"upper: claimed {upper!r}, where the rates cost {report.cost!r}")
    return problems


def _near(upper: float, cost: float) -> bool:
    """Whether rates cost what the upper side says, to a share of ``FEASIBLE``."""
    if not math.isfinite(cost):
        return False
    claim = Fraction(upper)
    return abs(claim - Fraction(cost)) <= Fraction(FEASIBLE) * claim


def _certified(instance: Any, lower: float, upper: float, gap: float) -> list[str]:
    if not instance.may_certify:
        return ["status: certified, where the upper side rests on a search that may have missed"]
    if not 0.0 < gap < 1.0:
        return [f"gap: must lie in (0, 1), got {gap!r}"]
    if not np.isfinite([lower, upper]).all() or lower > upper:
        return []  # said already
    if Fraction(upper) - Fraction(lower) > Fraction(gap) * Fraction(upper):
        share = (upper - lower) / upper if upper > 0.0 else math.inf
        return [f"status: certified to a relative gap of {gap:.1e}, where it is {share:.1e}"]
    return []


def _lower(instance: Any, alternatives: Sequence[Alternative], problems: list[str]) -> Ball:
    """What the alternatives prove; 0 from any that is wrong."""
    from flint import arb

    from ossb.graves_lai.exact.balls import total

    confusing, weights = [], []
    for k, alternative in enumerate(alternatives):
        try:
            problem = _refused(instance, alternative)
            if problem is None:
                confusing.append(instance.exact_confusing(alternative))
                weights.append(float(alternative.weight))
                continue
        except ProofError as error:
            problem = str(error)
        except MALFORMED as error:
            problem = f" not what this instance needs: {error}"
        problems.append(f"alternatives[{k}]{problem}")
    kept = [k for k, weight in enumerate(weights) if weight > 0.0]
    if problems or not kept:
        return arb(0)
    try:
        chosen = [weights[k] for k in kept]
        heaviest = instance.exact_heaviest([confusing[k] for k in kept], chosen)
    except MALFORMED as error:
        problems.append(f"alternatives: not what this instance needs: {error}")
        return arb(0)
    if not heaviest.is_finite():
        return arb(0)
    if not heaviest > 0:
        problems.append("alternatives: they differ from the truth in nothing that is shown")
        return arb(0)
    return total(map(arb, chosen)) / heaviest


def _refused(instance: Any, alternative: Alternative) -> str | None:
    """What is wrong with an alternative before it is looked at closely."""
    if not instance.is_rival(alternative.arm):
        return f".arm: {alternative.arm} is the best arm itself"
    if not 0.0 <= alternative.weight < math.inf:
        return f".weight: must be 0 or more, got {alternative.weight!r}"
    shape = np.shape(alternative.parameter)
    for name in ("parameter", "witness"):
        numbers = np.asarray(getattr(alternative, name))
        if not np.isfinite(numbers).all():
            return f".{name}: not finite"
        if numbers.shape != shape:
            return f".{name}: of another shape"
    return None


def _upper(
    instance: Any, support: Support, multipliers: Any, problems: list[str]
) -> tuple[Ball, Ball]:
    """Σ η(x) κ(x), and F(η) at least."""
    from flint import arb

    from ossb.graves_lai.exact.balls import INFINITE, total

    for arm, rate in support:
        if not 0.0 <= rate < math.inf:
            problems.append(f"rates: that of arm {arm} must be 0 or more, got {rate!r}")
            return INFINITE, arb(0)
    try:
        cost = total(arb(rate) * instance.exact_cost(arm) for arm, rate in support)
        return cost, instance.exact_information(support, multipliers)
    except ProofError as error:
        problems.append(str(error))
    except MALFORMED as error:
        problems.append(f"rates or multipliers: not what this instance needs: {error}")
    return INFINITE, arb(0)
