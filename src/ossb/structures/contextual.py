"""Linear and generalised linear arms in contexts: one parameter, and a best arm in each context.

Hao, Lattimore and Szepesvári (2020), Tirinzoni et al. (2020).  Regret per ln T is at least

    min Σ_{z, x} Δ_z(x) η(z, x)  subject to  Σ η(z, x) d(θ, λ; z, x) ≥ 1

for every λ under which some best arm b_z is not best in its context, and which agrees with θ on
what all b_z show.  How often contexts come drops out, as long as each comes with a positive
frequency.  Best arms of several contexts can show everything: then it is 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ossb.errors import InputError
from ossb.graves_lai.cost import REGRET, Cost
from ossb.graves_lai.information.links import IDENTITY
from ossb.graves_lai.proof import Alternative, Arm, Ball, Support
from ossb.models.glm import glm_model
from ossb.models.glm_within import GlmWithin, glm_within
from ossb.models.leaders import LeadersModel, leaders_model
from ossb.models.linear_within import LinearWithin, linear_within
from ossb.structures.base import Bound
from ossb.structures.contexts import Layout, read_contexts
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.linear import Linear
from ossb.structures.listed import ListedArms
from ossb.structures.priced_contexts import GlmInContexts, LinearInContexts

if TYPE_CHECKING:
    from ossb.graves_lai.exact.linear import Frame


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InContext(ListedArms):
    """Arms in contexts; ``arms`` holds the rows of all of them, context after context."""

    has_contexts: ClassVar[bool] = True
    plain: ClassVar[Any]  # the structure of a context by itself
    can_restrict: ClassVar[bool] = False
    can_leave_out: ClassVar[bool] = True
    can_grow: ClassVar[bool] = False

    def __post_init__(self) -> None:
        keys: Any = self
        given = keys.arms
        found = read_contexts(keys.contexts, given, keys.interaction, self.arm_names)
        names = self.arm_names
        self._set("contexts", found.plain)
        self._set("layout", found.layout)
        self._set("shared", given if given is None else np.asarray(given))
        self._set("arms", found.rows)
        self._set("arm_names", ())
        super().__post_init__()  # type: ignore[misc]
        self._set("arm_names", tuple(names))

    layout: ClassVar[Layout]  # set on each instance
    shared: ClassVar[Any]

    def to_dict(self) -> dict[str, Any]:
        content = super().to_dict()
        content.pop("arms", None)
        if self.shared is not None:
            content["arms"] = self.shared.tolist()
        return content

    def fewer(self, kept: Sequence[int], keys: dict[str, Any]) -> None:
        rows: np.ndarray = self.arms  # type: ignore[attr-defined]
        for key in ("arms", "interaction"):
            keys.pop(key, None)
        blocks = np.split(np.array(kept), np.searchsorted(kept, self.layout.starts[1:-1]))
        keys["contexts"] = [
            {"name": name, "weight": weight, "arms": rows[here]}
            for name, weight, here in zip(
                self.layout.names, self.layout.weights.tolist(), blocks, strict=True
            )
        ]

    @cached_property
    def _alone(self) -> list[Any]:
        content = {k: v for k, v in self.to_dict().items() if k in _SHARED}
        rows: np.ndarray = self.arms  # type: ignore[attr-defined]
        found = []
        for z, name in enumerate(self.layout.names):
            here = self.layout.rows(z)
            keys = {**content, "arms": rows[here.start : here.stop]}
            called = self.layout.arm_names[here.start : here.stop]
            if len(set(called)) == len(called):
                keys["arm_names"] = called
            keys["name"] = f"{self.name}: {name}" if self.name else name
            found.append(self.plain(**keys))
        return found

    def alone(self, context: Any) -> Any:
        """One context as an instance of its own, to which the others show nothing."""
        return self._alone[self.layout.context(context)]

    @cached_property
    def bests(self) -> list[int]:
        """The row of the best arm of each context."""
        return [self.layout.rows(z).start + int(one.best) for z, one in enumerate(self._checked())]

    def _checked(self) -> list[Any]:
        """Every context as an instance of its own, its best arm refused under its name."""
        for z, one in enumerate(self._alone):
            try:
                _ = one.best
            except InputError as error:
                raise InputError(f"contexts[{z}]", f"be valid: {error}") from None
        return self._alone

    @cached_property
    def leaders(self) -> np.ndarray:
        """The row of the best arm of each row's context."""
        return np.repeat(np.array(self.bests), np.diff(self.layout.starts))

    @cached_property
    def best(self) -> int:
        """The best row, where there is one context only."""
        if self.layout.n_contexts > 1:
            raise InputError("contexts", "be looked at one by one: each has its own best arm")
        return self.bests[0]

    @cached_property
    def others(self) -> np.ndarray:
        return np.flatnonzero(self.leaders != np.arange(self.leaders.size))

    @cached_property
    def gaps(self) -> np.ndarray:
        return np.concatenate([one.gaps for one in self._checked()])

    def best_arm(self) -> Any:
        """The best arm of each context."""
        return tuple(self.best_arms())

    def best_arms(self) -> list[Arm]:
        return [self.arm_at(row) for row in self.bests]

    def arm_at(self, position: int) -> Arm:
        row = int(position)
        return self.layout.context_of(row), int(self.layout.numbers[row])

    def position(self, arm: Any) -> int:
        return self.layout.row(arm)

    def arm_name(self, arm: Any) -> str:
        """How an arm is called: by its context and its name or number."""
        if isinstance(arm, tuple) and arm and isinstance(arm[0], tuple):
            return ", ".join(map(self.arm_name, arm))
        row = arm if isinstance(arm, int) else self.position(arm)
        return f"{self.layout.names[self.layout.context_of(row)]}: {self.layout.arm_names[row]}"

    def context_name(self, arm: Any) -> str:
        """The name of an arm's context."""
        return self.layout.names[self.layout.context_of(self.position(arm))]

    # the program, and what proves it

    def program(self, cost: Cost) -> Any:
        raise AssertionError("every structure says which")

    @cached_property
    def _regret(self) -> Any:
        return self.program(REGRET)

    def priced(self, cost: Cost) -> Any:
        return self.program(cost)

    @classmethod
    def solve_list(cls, instances: Sequence[Any], gap: float) -> list[Bound | None]:
        return [None] * len(instances)

    def solve(self, gap: float) -> Bound:
        answer: Bound = self._regret.solve(gap)
        return answer

    def named(self, answer: Bound) -> Bound:
        """The bound of the only context as one of this instance."""
        numbers, multipliers = self.layout.numbers.tolist(), answer.multipliers
        if multipliers is not None:
            multipliers = {**multipliers, "arms": [(0, numbers[x]) for x in multipliers["arms"]]}
        return replace(
            answer,
            instance=self,
            support=[((0, numbers[x]), rate) for x, rate in answer.support],
            alternatives=[replace(a, arm=(0, numbers[a.arm])) for a in answer.alternatives],
            multipliers=multipliers,
        )

    @property
    def _frame(self) -> "Frame":
        frame: Frame = self._regret.frame
        return frame

    def exact_confusing(self, alternative: Alternative) -> Any:
        return self._regret.exact_confusing(alternative)

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        return self._regret.exact_heaviest(confusing, weights)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        return self._regret.exact_information(support, multipliers)


_SHARED = ("link", "observes", "phi", "observation", "sigma", "goal")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ContextualLinear(InContext, Linear):
    """Linear arms in contexts."""

    plain: ClassVar[Any] = Linear

    def model_within(self) -> LinearWithin:
        """The structure as policies see it that ask about one context."""
        return linear_within(self.model())

    def model_of_leaders(self) -> LeadersModel:
        """The structure as policies see it that ask about all contexts at once."""
        model = glm_model(self.arms, IDENTITY, IDENTITY, self.sigma, 1.0)
        return leaders_model(model, self.layout.starts)

    def program(self, cost: Cost) -> LinearInContexts:
        return LinearInContexts(self, cost, self.arms, self.phi, self.gaps)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ContextualGeneralizedLinear(InContext, GeneralizedLinear):
    """Generalised linear arms in contexts."""

    plain: ClassVar[Any] = GeneralizedLinear

    def model_within(self) -> GlmWithin:
        """The structure as policies see it that ask about one context."""
        return glm_within(self.model())

    def model_of_leaders(self) -> LeadersModel:
        """The structure as policies see it that ask about all contexts at once."""
        return leaders_model(self.model(), self.layout.starts)

    def program(self, cost: Cost) -> LinearInContexts | GlmInContexts:
        if self._observed_link != IDENTITY:
            return GlmInContexts(self, cost, self._observed_link)
        margins = np.abs(self.index - self.index[self.leaders])
        return LinearInContexts(self, cost, self.arms, self.phi, margins)


def kind_of(cls: type[Any], keys: dict[str, Any]) -> type[Any]:
    """The class of an instance with these keys: one in contexts where they are given."""
    if keys.get("contexts") is None:
        if keys.get("interaction") is not None:
            raise InputError("contexts", "be given: an interaction is of arms with contexts")
        return cls
    if issubclass(cls, InContext):
        return cls
    return ContextualLinear if issubclass(cls, Linear) else ContextualGeneralizedLinear
