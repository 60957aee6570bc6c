"""A Graves–Lai bound: its value, its rates, and what proves them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from ossb.errors import InputError
from ossb.graves_lai.answers import BEST, Answer
from ossb.graves_lai.cost import REGRET, Cost
from ossb.graves_lai.proof import GAP, Alternative, Arm, Provable, Report, Support, check

Status = Literal["certified", "heuristic"]


class Bounded(Provable, Protocol):
    """An instance with a bound: what can be proved of it, and how its arms are called."""

    def gap_of(self, arm: Arm) -> float:
        """Δ(x) under the true parameter, rounded."""
        ...

    @property
    def n_arms(self) -> int | None:
        """Number of arms where they are listed, else None."""
        ...

    def position(self, arm: Arm) -> int:
        """Index of a listed arm."""
        ...

    def priced(self, cost: Cost) -> Any:
        """The program in which plays have other costs than regret: it solves and proves."""
        ...

    def answered(self, cost: Cost, answer: Answer) -> Any:
        """The program of a test that is asked for more than the best arm."""
        ...

    def arm_name(self, arm: Arm) -> str: ...

    def total_gap(self) -> float:
        """Σ_x Δ(x) over the listed arms."""
        ...


@dataclass(frozen=True, eq=False)
class Bound:
    """lower ≤ C(θ) ≤ upper, with feasible rates that cost ``value`` = ``upper``.

    Where plays have other costs than regret, all of this is of V(κ) in the place of C(θ).

    Parameters
    ----------
    instance
        What the bound is about.
    support
        Arms with a non-zero rate c(x, θ), and the rate: plays per unit of ln t that together
        meet every constraint at this cost.
    alternatives
        Confusing parameters and weights: the proof of ``lower``.
    multipliers
        What the instance needs to prove ``upper``; None where a closed form does.
    status
        ``certified``, or ``heuristic`` where a side rests on a search that may have missed.
    promised
        The relative gap that ``certified`` promises.
    proved
        Whether both sides were proved, rounding included, when it was computed.
    cost
        What a play costs.
    answer
        What a test is asked for.

    Examples
    --------
    >>> import ossb
    >>> answer = ossb.bound(ossb.Linear(arms=[[1, 0], [0, 1], [0.9, 0.2]], phi=[1, 0]))
    >>> round(answer.value, 6), answer.rates.round(6), answer.verify().valid
    (8.0, array([0., 8., 0.]), True)
    """

    instance: Any
    lower: float
    upper: float
    support: Support
    alternatives: Sequence[Alternative]
    multipliers: Any = None
    status: Status = "certified"
    seconds: float = 0.0
    promised: float = GAP
    proved: bool = False
    cost: Cost = REGRET
    answer: Answer = BEST

    @property
    def problem(self) -> Any:
        """What the proof is checked against: the instance, with the costs of its plays."""
        return problem_of(self.instance, self.cost, self.answer)

    @property
    def chosen(self) -> list[int]:
        """The answer under the true parameter, as positions of arms."""
        instance = self.instance
        return self.answer.chosen(np.asarray(instance.rewards), instance.sign)

    @property
    def value(self) -> float:
        return self.upper

    @property
    def gap(self) -> float:
        """Certified relative gap between the two sides."""
        return 0.0 if self.upper == self.lower else (self.upper - self.lower) / abs(self.upper)

    @property
    def best_arm(self) -> Arm:
        arm: Arm = self.instance.best_arm()
        return arm

    @property
    def rates(self) -> np.ndarray:
        """c(x, θ) for every listed arm; for implicit arm sets use ``support``."""
        if self.instance.n_arms is None:
            raise InputError("rates", "be read from `support`: the arms are not listed")
        rates = np.zeros(self.instance.n_arms)
        for arm, rate in self.support:
            rates[self.instance.position(arm)] = rate
        return rates

    def price_of(self, arm: Arm) -> float:
        """κ(x), what a play costs, rounded."""
        return self.price_at(arm, self.gap_of(arm))

    def price_at(self, arm: Arm, gap: float) -> float:
        """κ(x) of an arm whose gap is known."""
        place = self.instance.position(arm) if isinstance(self.cost.price, tuple) else 0
        return self.cost.of(gap, place)

    def gap_of(self, arm: Arm) -> float:
        """Δ(x), rounded; there may be several best arms where more is asked for than one."""
        if self.answer.is_best:
            return float(self.instance.gap_of(arm))
        rewards = np.asarray(self.instance.rewards)
        return float(rewards.max() - rewards[self.instance.position(arm)])

    @property
    def weights(self) -> np.ndarray:
        """Share of each listed arm in all plays: w* where samples are counted."""
        rates = self.rates
        total = float(rates.sum())
        return rates / total if total > 0.0 else rates

    def verify(self) -> Report:
        """Recompute both sides from the instance and the proof alone, with no solver."""
        return check(
            self.problem,
            self.support,
            self.alternatives,
            self.multipliers,
            self.lower,
            self.upper,
            self.status,
            self.promised,
        )

    def asymptotic_constant(self, epsilon: float = 0.0, gamma: float = 0.0) -> float:
        """The constant of Theorem 2, (C(θ) + 2 ε ψ(θ)) (1 + γ), for OSSB(ε, γ).

        ψ(θ) = |X| · max_x c(x, θ) · Σ_x Δ(x); the theorem asks for ε < 1/|X|.
        """
        n_arms = self.instance.n_arms
        if not self.cost.is_regret:
            raise InputError("cost", "be regret: Theorem 2 is about regret", self.cost.plain)
        if n_arms is None:
            raise InputError("epsilon", "be used with listed arms only")
        if not 0 <= epsilon < 1 / n_arms:
            raise InputError("epsilon", f"lie in [0, 1/{n_arms}), as Theorem 2 asks", epsilon)
        if not 0 <= gamma < np.inf:
            raise InputError("gamma", "be non-negative", gamma)
        largest = max((rate for _, rate in self.support), default=0.0)
        psi = n_arms * largest * self.instance.total_gap()
        return float((self.value + 2 * epsilon * psi) * (1 + gamma))

    def to_dict(self) -> dict[str, Any]:
        """The bound as the command line prints it."""
        found = {"best_arm": _plain(self.best_arm)} if self.answer.is_best else self._answered()
        content = {
            "cost": self.cost.plain,
            "value": self.value,
            "lower": self.lower,
            "upper": self.upper,
            **found,
            "rates": [{**self._named(arm), "rate": rate} for arm, rate in self.support],
        }
        if self.has_contexts:
            content["greedy_suffices"] = self.greedy_suffices
        if not self.cost.is_regret:
            total = sum(rate for _, rate in self.support) or 1.0
            content["weights"] = [
                {**self._named(arm), "weight": rate / total} for arm, rate in self.support
            ]
        return {**content, "status": self.status, "seconds": self.seconds}

    @property
    def right(self) -> str:
        """What is right under the true parameter, in words."""
        name = self.instance.arm_name
        if self.answer.is_best:
            return f"best arm {name(self.best_arm)}"
        return self.answer.said([name(self.instance.arm_at(arm)) for arm in self.chosen])

    def _answered(self) -> dict[str, Any]:
        """What was asked for, and what is right."""
        return {"answer": self.answer.plain, "chosen": self.chosen}

    @property
    def has_contexts(self) -> bool:
        """Whether the instance has a best arm in each of several contexts."""
        return bool(getattr(self.instance, "has_contexts", False))

    @property
    def greedy_suffices(self) -> bool:
        """Whether nothing needs exploring: the best arms show all there is to know."""
        return self.cost.is_regret and self.upper == 0.0

    def _named(self, arm: Arm) -> dict[str, Any]:
        """An arm in plain data, with its context where there are contexts."""
        if not self.has_contexts:
            return {"arm": _plain(arm)}
        return {"arm": _plain(arm), "context": self.instance.context_name(arm)}

    def _repr_html_(self) -> str:
        from ossb.graves_lai.table import html_table

        return html_table(self)

    def __repr__(self) -> str:
        cost = "" if self.cost.is_regret else f" cost={self.cost.plain}"
        if self.answer.is_best:
            found = f"best_arm={self.instance.arm_name(self.best_arm)}"
        else:
            found = f"answer={self.answer.plain} chosen={self.chosen}"
        return (
            f"<Bound{cost} value={self.value:.6g} gap={self.gap:.1e} {found} "
            f"support={len(self.support)} {self.status}>"
        )


def problem_of(instance: Any, cost: Cost, answer: Answer) -> Any:
    """What solves and proves: the instance itself, or a program of it."""
    if not answer.is_best:
        return instance.answered(cost, answer)
    return instance if cost.is_regret else instance.priced(cost)


def _plain(arm: Any) -> Any:
    return list(map(_plain, arm)) if isinstance(arm, tuple) else int(arm)
