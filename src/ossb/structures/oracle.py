"""Any set of parameters, given by a function that finds the most confusing one.

Cutting planes over its answers.  The lower side of the bound rests on the parameters it
returned being in the set; the upper side on its finding the most confusing ones: the bound is
``certified`` only if the oracle is declared exact, and then relative to that claim.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.graves_lai.generic.oracle_cuts import Found, search
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.tracked_rates import MARGIN, Held
from ossb.graves_lai.proof import Alternative, Ball, Support
from ossb.structures.base import Bound
from ossb.structures.piecewise import Piecewise

AGREES = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Oracle(Piecewise):
    """Arms whose parameter set is known through an oracle only.

    Parameters
    ----------
    oracle
        Function (θ, rates) ↦ a confusing parameter λ that makes Σ rates(x) D(θ, λ, x) least;
        or a pair of that and a lower bound of this least value; or None if no parameter is
        confusing.  λ must agree with θ in what the best arm reveals, and have another arm at
        least as good.
    exact
        Whether the oracle's λ, or its bound, is the true least value.  If not, the upper side
        of the bound may be too small, and the bound says ``heuristic``.
    theta
        The true parameter.
    means, reveals, rewards
        As for polytopes.

    Examples
    --------
    >>> import ossb
    >>> def most_confusing(theta, rates):  # the better arm is known to have mean 1 at the least
    ...     return [theta[0], 1.0]
    >>> known = ossb.Oracle(oracle=most_confusing, exact=True, theta=[0.8, 0.5])
    >>> round(ossb.bound(known).value, 6)
    2.4
    """

    kind: ClassVar[str] = "oracle"
    witnessed: ClassVar[bool] = False
    parameter: ClassVar[str] = "theta"
    observations: ClassVar[tuple[str, ...]] = (
        "gaussian",
        "bernoulli",
        "poisson",
        "exponential",
        "bounded",
    )
    reference: ClassVar[str] = "Graves and Lai (1997)"

    oracle: Any
    exact: bool = False
    rewards: Any = None

    def __post_init__(self) -> None:
        if self.theta is None:
            raise InputError("theta", "be given: it says how many entries a parameter has")
        size = int(read.vector(self.theta, "theta").size)
        rows = None
        if self.rewards is not None:
            self._set("rewards", read.matrix(self.rewards, "rewards", size))
            rows = int(self.rewards.shape[0])
        self._read_shared(size, rows)
        if not callable(self.oracle):
            raise InputError("oracle", "be a function of theta and rates", self.oracle)
        self._check_theta()

    @cached_property
    def polytopes(self) -> tuple[Piece, ...]:
        size = int(self.theta.size)
        rewards = self.default_rewards(size) if self.rewards is None else self.rewards
        nothing = np.zeros((0, size)), np.zeros(0)
        return (Piece(*nothing, *nothing, self.sign * rewards),)

    @cached_property
    def others(self) -> np.ndarray:
        return np.flatnonzero(np.arange(self.n_arms) != self.best)

    def _ask(self, rates: np.ndarray) -> Found | None:
        """What the oracle says at rates of every arm but the best, checked."""
        every = np.zeros(self.n_arms)
        every[self.others] = rates
        try:
            answer = self.oracle(np.array(self.theta), every)
        except Exception as error:
            must = f"answer at every rates: it raised {type(error).__name__}: {error}"
            raise InputError("oracle", must) from error
        if answer is None:
            return None
        told = None
        if isinstance(answer, tuple):
            answer, told = answer
        parameter = read.vector(answer, "oracle", self.theta.size)
        scale = 1.0 + float(np.abs(parameter).max())
        if self.disagreement(parameter) > AGREES * scale:
            raise InputError("oracle", "agree with theta on the best arm", parameter.tolist())
        if self.advantage(parameter, self.rival(parameter)) < -AGREES * scale:
            raise InputError("oracle", "make another arm as good as the best", parameter.tolist())
        divergences = self.divergences(parameter)[self.others]
        with np.errstate(invalid="ignore"):
            value = float(np.where(rates > 0, rates * divergences, 0.0).sum())
        information = value if told is None else min(value, read.number(told, "oracle"))
        return Found(parameter, divergences, information)

    def rival(self, parameter: np.ndarray) -> int:
        """The arm, other than the best one, that a parameter makes best."""
        rewards = self.polytopes[0].rewards @ parameter
        return int(self.others[np.argmax(rewards[self.others])])

    def divergences(self, parameter: np.ndarray) -> np.ndarray:
        """D(θ, λ, x) of every arm."""
        family = self.plain_family
        truth, means = self.component_means(np.asarray(self.theta)), self.component_means(parameter)
        each = [family.kl(float(p), float(q)) for p, q in zip(truth, means, strict=True)]
        shown = self.incidence[self.best] > 0
        table = np.where(self.incidence > 0, np.where(shown, 0.0, each), 0.0)
        return np.asarray(table.sum(axis=1))

    def solve(self, gap: float) -> Bound:
        if not self.others.size:
            return Bound(self, 0.0, 0.0, [], [], None, self._status())
        answer = search(self.gaps[self.others], self._ask, gap)
        support = [
            (int(arm), float(rate))
            for arm, rate in zip(self.others, answer.rates, strict=True)
            if rate > 0
        ]
        alternatives = [
            Alternative(
                self.rival(entry.parameter), entry.parameter, entry.parameter, float(weight)
            )
            for entry, weight in zip(answer.found, answer.weights, strict=True)
            if weight > 0
        ]
        return Bound(self, answer.lower, answer.upper, support, alternatives, None, self._status())

    @property
    def may_certify(self) -> bool:
        return bool(self.exact)

    def _status(self) -> Any:
        return "certified" if self.exact else "heuristic"

    def exact_confusing(self, alternative: Alternative) -> Any:
        """The parameter moved onto what it must meet; that the set holds it, the oracle says."""
        from ossb.graves_lai.generic.lower import moved_inside

        return moved_inside(self.exactly, self.position(alternative.arm), alternative)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        """What the oracle itself says: nothing else is known of the set."""
        from flint import arb

        rates = np.zeros(self.n_arms)
        for arm, rate in support:
            rates[self.position(arm)] = rate
        found = self._ask(rates[self.others]) if self.others.size else None
        return arb.pos_inf() if found is None else arb(found.information)

    def follow(self, kappa: float = 1e-2, gap: float = 1e-3) -> Any:
        """Rates at moving estimates of θ: kept within ``kappa``, else solved to ``gap``."""
        return OracleFollower(self, kappa, gap)

    def to_dict(self) -> dict[str, Any]:
        raise InputError("structure", "be one that a file can hold: an oracle is a function")


class OracleFollower:
    """Rates at estimates, through an oracle; ties count as gaps of a small margin."""

    def __init__(self, instance: Oracle, kappa: float, gap: float) -> None:
        self.instance, self.kappa, self.gap = instance, kappa, gap
        self.best = -1
        self.held = np.zeros(0)

    def rates(self, theta: np.ndarray) -> Held:
        """Feasible rates at an estimate, as far as the oracle is right."""
        low, high = self.instance.mean_space
        if self.instance.means is None:
            theta = np.clip(theta, low, high)
        there = replace(self.instance, theta=theta)
        best = int(np.argmax(there.brings))
        there._set("best", best)
        unit = there.family.yardstick(float(there.brings[best]))
        margin = MARGIN * max(unit, float(there.brings[best] - there.brings.min()))
        gaps = np.maximum(there.brings[best] - there.brings, margin)[there.others]
        held = self.held if best == self.best and self.held.any() else None
        answer = search(gaps, there._ask, self.gap if held is None else self.kappa, held)
        kept = held is not None and len(answer.found) <= 1
        if held is not None and not kept:
            answer = search(gaps, there._ask, self.gap, answer.rates)
        rates = np.zeros(there.n_arms)
        rates[there.others] = answer.rates
        self.best, self.held = best, answer.rates
        return Held(best, rates, answer.lower, answer.upper, kept)
