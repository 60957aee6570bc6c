"""Linear bandits: the mean of an arm is ⟨φ, x⟩, in Gaussian noise.

Lattimore and Szepesvári (2017), Combes, Magureanu and Proutiere (2017).  With z the part of x
orthogonal to x* and G(η) = Σ η_x z_x z_xᵀ: minimise Σ η_x Δ_x subject to
2σ² z_xᵀ G(η)⁻¹ z_x ≤ Δ_x² for every x not parallel to x*.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb import garbage
from ossb.errors import InputError
from ossb.graves_lai.answers import Answer
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.information.links import IDENTITY
from ossb.graves_lai.linear import solve
from ossb.graves_lai.linear.answer import LEFT, N_RATES, PROVED
from ossb.graves_lai.linear.certificate import feasible_scale
from ossb.graves_lai.linear.gaps import exact_gaps
from ossb.graves_lai.linear.many import answer_many
from ossb.graves_lai.proof import Alternative, Arm, Ball, Support
from ossb.models.linear import LinearModel, linear_model
from ossb.numerics.ties import terms_of
from ossb.structures.answered_linear import AnsweredLinear
from ossb.structures.base import Bound, clear_best, refuse_twins
from ossb.structures.lengths import check_lengths
from ossb.structures.listed import ListedArms
from ossb.structures.offers import (
    FEATURES,
    LINKED_FEATURES,
    MODEL,
    OPEN_ROWS,
    OWN_COMPONENT,
)
from ossb.structures.priced_linear import PricedLinear
from ossb.structures.roster import FeatureRoster

if TYPE_CHECKING:
    from ossb.graves_lai.exact.linear import Frame

_BEYOND = 1.1  # a witness goes that much further than its confusing parameter
BLOCK = 2**20  # numbers in the arms of instances that are solved together


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Linear(FeatureRoster, ListedArms):
    """Arms whose mean is linear in their features.

    Parameters
    ----------
    contexts, interaction
        Where who asks decides which arms there are: a list of tables, and how rows come about
        where the contexts share ``arms``; see ``ossb.structures.contexts``.
    arms
        Features of each arm, K rows of d numbers.
    feature_norm
        How long a row may be, of the arms and of those that asks bring; as long as it likes by
        default.
    phi
        The true parameter, where known.

    Examples
    --------
    >>> import ossb
    >>> ossb.bound(ossb.Linear(arms=[[1, 0], [0, 1], [0.9, 0.2]], phi=[1, 0])).rates.round(6)
    array([0., 8., 0.])
    """

    kind: ClassVar[str] = "linear"
    offers: ClassVar[tuple[str, ...]] = (
        MODEL,
        OWN_COMPONENT,
        FEATURES,
        LINKED_FEATURES,
        OPEN_ROWS,
    )
    parameter: ClassVar[str] = "phi"
    observations: ClassVar[tuple[str, ...]] = ("gaussian",)
    reference: ClassVar[str] = "Lattimore and Szepesvári (2017)"

    contexts: Any = None
    interaction: Any = None
    arms: Any = None
    phi: Any = None
    feature_norm: Any = None

    def __post_init__(self) -> None:
        if self.arms is None:
            raise InputError("arms", "be given: a list of feature vectors")
        self._set("arms", read.matrix(self.arms, "arms"))
        if not self.arms.size:
            raise InputError("arms", "hold at least one arm of at least one feature")
        self._read_common(self.n_arms)
        check_lengths(self.arms, self.feature_norm, "arms")
        if self.phi is not None:
            self._set("phi", read.vector(self.phi, "phi", self.arms.shape[1]))
            if not np.isfinite(self.rewards).all():
                raise InputError("phi", "give every arm a finite mean ⟨phi, x⟩")

    @classmethod
    def _of_keys(cls, keys: dict[str, Any]) -> type[Any]:
        from ossb.structures.contextual import kind_of  # which derives from this class

        return kind_of(cls, keys)

    @property
    def links(self) -> tuple[int, int]:
        """The links of rewards, and of what plays show: a mean is its index."""
        return IDENTITY, IDENTITY

    @property
    def n_arms(self) -> int:
        return int(self.arms.shape[0])

    @cached_property
    def rewards(self) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.sign * (self.arms @ self.phi))

    @cached_property
    def gaps(self) -> np.ndarray:
        """Δ(x); near ties from all digits."""
        return exact_gaps(self.arms, self.sign * self.phi, int(np.argmax(self.rewards)))

    @cached_property
    def best(self) -> int:
        leader = int(np.argmax(self.rewards))
        refuse_twins(self, self.arms, leader)
        return clear_best(self, self.rewards, terms_of(self.arms, self.phi))

    def priced(self, cost: Cost) -> PricedLinear:
        return PricedLinear(self, cost, self.arms, self.phi, self.gaps)

    def answered(self, cost: Cost, answer: Answer) -> AnsweredLinear:
        if self.has_contexts:
            must = "be best: arms in contexts have a best one each"
            raise InputError("answer", must, answer.plain)
        return AnsweredLinear(self, cost, answer)

    def model(self) -> LinearModel:
        """The structure as policies see it."""
        return linear_model(self.arms, self.sigma)

    def solve(self, gap: float) -> Bound:
        (answer,) = self.solve_list([self], gap)
        return answer or self._solve_closely(gap)

    @classmethod
    def solve_list(cls, instances: Sequence["Linear"], gap: float) -> list[Bound | None]:
        """Bounds that doubles prove; None where an instance needs a closer look."""
        found: list[Bound | None] = [None] * len(instances)
        shapes: dict[tuple[int, ...], list[int]] = {}
        for place, instance in enumerate(instances):
            shapes.setdefault(instance.arms.shape, []).append(place)
        for shape, places in shapes.items():
            block = max(1, BLOCK // (shape[0] * shape[1]))
            for first in range(0, len(places), block):
                here = places[first : first + block]
                with garbage.kept():
                    some = _solve_alike([instances[place] for place in here], gap)
                for place, answer in zip(here, some, strict=True):
                    found[place] = answer
        return found

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def _solve_closely(self, gap: float) -> Bound:
        if not self.others.size:
            return Bound(self, 0.0, 0.0, [], [])
        found = solve(self.arms, self.best, self.gaps, self.gaps, 0.9 * gap)
        # as differences from φ, which keep their digits near ties; the check makes them exact
        alternatives = [
            Alternative(int(arm), delta, _BEYOND * delta, float(found.weights[arm]), relative=True)
            for arm, delta in zip(found.alternatives, self.sign * found.directions, strict=True)
        ]
        rates = found.rates * (self.sigma * self.sigma)
        support = [(int(arm), float(rates[arm])) for arm in np.flatnonzero(rates)]
        scale = feasible_scale(self.arms, self.best, self.gaps, found.rates)
        if scale == 0.0:
            return Bound(self, 0.0, 0.0, [], [])
        if not 0.0 < scale < math.inf or not alternatives:
            return Bound(self, 0.0, math.inf, support, alternatives)
        support = [(arm, rate * scale) for arm, rate in support]
        upper = math.fsum(rate * self.gap_of(arm) for arm, rate in support)
        if not upper > 0.0:  # rates below the range of doubles
            return Bound(self, 0.0, math.inf, support, alternatives)
        lower = found.lower * (self.sigma * self.sigma)
        return Bound(self, min(lower, upper), upper, support, alternatives)

    def exact_gap(self, arm: Arm) -> Ball:
        return self._frame.margins[self.position(arm)]

    @property
    def _frame(self) -> "Frame":
        from ossb.graves_lai.exact.linear import frame_of  # loads flint

        return frame_of(self, self.arms, self.phi, self.best, self.sign)

    def exact_confusing(self, alternative: Alternative) -> Any:
        return self._frame.confusing(alternative, self.position(alternative.arm))

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.linear import heaviest, variance  # loads flint

        frame = self._frame
        return heaviest(frame, confusing, weights, frame.margins, variance(self.sigma))

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.linear import information, variance  # loads flint
        from ossb.graves_lai.exact.means import summed

        return information(self._frame, summed(support), variance(self.sigma))


@np.errstate(all="ignore")  # what is not finite is not proved
def _solve_alike(instances: Sequence[Linear], gap: float) -> list[Bound | None]:
    """Bounds of instances of one shape, solved together; None where one is left to others."""
    started = time.perf_counter()
    sign = np.array([instance.sign for instance in instances])
    out = answer_many(
        np.array([instance.arms for instance in instances]),
        sign[:, None] * np.array([instance.phi for instance in instances]),
        np.array([instance.sigma for instance in instances]),
        gap,
    )
    directions = sign[:, None, None] * out.directions
    witnesses = _BEYOND * directions
    sizes, interval = out.size.tolist(), out.bounds.tolist()
    used = int(out.size[:, N_RATES:].max())
    arms, weights = out.arms[:, :, :used].tolist(), out.weights[:, :, :used].tolist()
    seconds = (time.perf_counter() - started) / len(instances)
    found: list[Bound | None] = []
    for n, instance in enumerate(instances):
        status, best, played, confusing = sizes[n]
        if status == LEFT:
            found.append(None)
            continue
        vars(instance)["best"] = best  # proved to be so, and clearly: what ``best`` would find
        alternatives = [
            Alternative(
                arms[n][1][k], directions[n, k], witnesses[n, k], weights[n][1][k], relative=True
            )
            for k in range(confusing)
        ]
        support = list(zip(arms[n][0][:played], weights[n][0][:played], strict=True))
        lower, upper = interval[n] if status == PROVED else (0.0, 0.0)
        found.append(
            Bound(
                instance,
                lower,
                upper,
                support,
                alternatives,
                seconds=seconds,
                promised=gap,
                proved=True,
            )
        )
    return found
