"""Generalised linear bandits: the mean of an arm is a known function of its index ⟨φ, x⟩.

Two readings.  ``observes = "index"``: plays show the index in Gaussian noise, Y ~ N(⟨φ, x⟩, σ²),
and earn g(⟨φ, x⟩), as in Combes, Magureanu and Proutiere (2017).  ``observes = "reward"``: plays
show the reward itself, E[Y] = g(⟨φ, x⟩), as in Filippi, Cappé, Garivier and Szepesvári (2010),
with the family whose canonical link g is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.glm import certificate, solution
from ossb.graves_lai.information.links import IDENTITY, LARGEST, LINKS
from ossb.graves_lai.linear import solution as linear
from ossb.graves_lai.linear.gaps import exact_gaps
from ossb.graves_lai.proof import Alternative, Arm, Ball, Support
from ossb.models.glm import GlmModel, glm_model
from ossb.numerics.ties import terms_of
from ossb.structures.base import Bound, clear_best, refuse_twins
from ossb.structures.lengths import check_lengths
from ossb.structures.listed import ListedArms
from ossb.structures.offers import LINKED_FEATURES, MODEL, OPEN_ROWS, OWN_COMPONENT
from ossb.structures.priced_glm import PricedGlm
from ossb.structures.priced_linear import PricedLinear
from ossb.structures.roster import FeatureRoster

if TYPE_CHECKING:
    from ossb.graves_lai.exact.linear import Frame

FITS = {
    ("index", "logistic"): ("gaussian",),
    ("index", "log"): ("gaussian",),
    ("index", "identity"): ("gaussian",),
    ("reward", "logistic"): ("bernoulli", "bounded"),
    ("reward", "log"): ("poisson",),
    ("reward", "identity"): ("gaussian",),
}
_BEYOND = 1.1  # a witness goes that much further than its confusing parameter


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GeneralizedLinear(FeatureRoster, ListedArms):
    """Arms whose mean reward is g(⟨φ, x⟩).

    Parameters
    ----------
    contexts, interaction
        Where who asks decides which arms there are: a list of tables, and how rows come about
        where the contexts share ``arms``; see ``ossb.structures.contexts``.
    arms
        Features of each arm, K rows of d numbers.
    link
        g: ``logistic``, ``log`` (g = exp) or ``identity``.
    observes
        ``index`` or ``reward``; where not given, ``index`` for Gaussian observations and
        ``reward`` for others.
    feature_norm
        How long a row may be, of the arms and of those that asks bring; as long as it likes by
        default.
    phi
        The true parameter, where known.

    Examples
    --------
    >>> import ossb
    >>> clicks = ossb.GeneralizedLinear(
    ...     observation="bernoulli", link="logistic", arms=[[1, 0], [0, 1], [1, 1]], phi=[0.5, -0.3]
    ... )
    >>> round(ossb.bound(clicks).value, 4)
    6.6096
    """

    kind: ClassVar[str] = "generalized_linear"
    offers: ClassVar[tuple[str, ...]] = (MODEL, OWN_COMPONENT, LINKED_FEATURES, OPEN_ROWS)
    parameter: ClassVar[str] = "phi"
    observations: ClassVar[tuple[str, ...]] = ("gaussian", "bernoulli", "bounded", "poisson")
    reference: ClassVar[str] = "Filippi, Cappé, Garivier and Szepesvári (2010)"

    contexts: Any = None
    interaction: Any = None
    arms: Any = None
    link: Any = None
    observes: Any = None
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
        if self.link is None:
            raise InputError("link", f"be given: {', '.join(LINKS)}")
        read.choice(self.link, "link", LINKS)
        if self.observes is None:
            self._set("observes", "index" if self.observation == "gaussian" else "reward")
        read.choice(self.observes, "observes", ("index", "reward"))
        fit = FITS[self.observes, self.link]
        if self.observation not in fit:
            raise InputError(
                "observation",
                f"be {' or '.join(fit)} where observes = {self.observes!r} and "
                f"link = {self.link!r} (reward: logistic with bernoulli or bounded, log with "
                "poisson, identity with gaussian; index: gaussian)",
                self.observation,
            )
        if self.phi is not None:
            self._set("phi", read.vector(self.phi, "phi", self.arms.shape[1]))
            self._check_index()

    def _check_index(self) -> None:
        if not np.isfinite(self.index).all():
            raise InputError("phi", "give every arm a finite index ⟨phi, x⟩")
        largest = int(np.abs(self.index).argmax())
        if self.link != "identity" and abs(self.index[largest]) > LARGEST:
            raise InputError(
                "phi",
                f"give every arm an index ⟨phi, x⟩ within ±{LARGEST:g}, where means can be told "
                f"apart; arm {self.arm_name(largest)} is outside",
                float(self.index[largest]),
            )

    @classmethod
    def _of_keys(cls, keys: dict[str, Any]) -> type[Any]:
        from ossb.structures.contextual import kind_of  # which derives from this class

        return kind_of(cls, keys)

    @property
    def links(self) -> tuple[int, int]:
        """The links of rewards, and of what plays show."""
        return self._reward_link, self._observed_link

    @property
    def n_arms(self) -> int:
        return int(self.arms.shape[0])

    @cached_property
    def index(self) -> np.ndarray:
        """⟨φ, x⟩ of every arm."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.arms @ self.phi)

    @property
    def _reward_link(self) -> int:
        return LINKS.index(self.link)

    @property
    def _observed_link(self) -> int:
        return IDENTITY if self.observes == "index" else self._reward_link

    @property
    def _variance(self) -> float:
        return self.sigma * self.sigma

    @cached_property
    def rewards(self) -> np.ndarray:
        return self.sign * certificate.means(self._reward_link, self.index)[0]

    @cached_property
    def components(self) -> np.ndarray:
        """What plays of each arm show on average: the index, or the reward."""
        return self.sign * self.index if self.observes == "index" else self.rewards

    def priced(self, cost: Cost) -> PricedLinear | PricedGlm:
        if self._observed_link != IDENTITY:
            return PricedGlm(self, cost, self._observed_link)
        return PricedLinear(self, cost, self.arms, self.phi, np.abs(self.margins))

    def model(self) -> GlmModel:
        """The structure as policies see it."""
        return glm_model(self.arms, self._reward_link, self._observed_link, self.sigma, self.sign)

    @cached_property
    def best(self) -> int:
        """The best arm by index, which tells arms apart where their means round to 0 or 1."""
        signed = self.sign * self.index
        leader = int(np.argmax(signed))
        refuse_twins(self, self.arms, leader)
        return clear_best(self, signed, terms_of(self.arms, self.phi))

    @cached_property
    def margins(self) -> np.ndarray:
        """How far the best arm's index is from that of each arm, to the last digit near ties."""
        return exact_gaps(self.arms, self.phi, self.best)

    @cached_property
    def gaps(self) -> np.ndarray:
        """Δ(x), accurate also where the means round to 0 or 1."""
        top, shift = self.index[self.best], -self.margins
        return np.abs(certificate.changes(self._reward_link, np.full_like(shift, top), shift))

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def solve(self, gap: float) -> Bound:
        if not self.others.size:
            return Bound(self, 0.0, 0.0, [], [])
        certificate.across(self.arms, self.best)  # refuses what doubles cannot tell apart
        rates, confusing, multipliers, lower = self._solved(gap)
        # as differences from φ, which keep their digits near ties; the check makes them exact
        alternatives = [
            Alternative(arm, delta, _BEYOND * delta, weight, relative=True)
            for arm, delta, weight in confusing
        ]
        rates = rates * self._variance
        support = [(int(arm), float(rates[arm])) for arm in np.flatnonzero(rates)]
        proved = self._information(rates / self._variance, multipliers)
        if proved == math.inf:
            return Bound(self, 0.0, 0.0, [], [], multipliers)
        if not proved > 0 or not alternatives:
            return Bound(self, 0.0, math.inf, support, alternatives, multipliers)
        support = [(arm, rate / proved) for arm, rate in support]
        upper = math.fsum(rate * self.gap_of(arm) for arm, rate in support)
        if not upper > 0.0:  # rates below the range of doubles
            return Bound(self, 0.0, math.inf, support, alternatives, multipliers)
        lower *= self._variance
        return Bound(self, min(lower, upper), upper, support, alternatives, multipliers)

    def _solved(
        self, gap: float
    ) -> tuple[np.ndarray, list[tuple[int, np.ndarray, float]], Any, float]:
        """For unit variance: rates, arms, directions and weights of the lower bound; multipliers,
        and that bound.
        """
        link = self._observed_link
        if link == IDENTITY:  # quadratic divergences: a linear bandit with costs of its own
            flat = linear.solve(self.arms, self.best, self.gaps, np.abs(self.margins), gap)
            chosen = zip(flat.alternatives, flat.directions, strict=True)
            confusing = [
                (int(arm), self.sign * direction, float(flat.weights[arm]))
                for arm, direction in chosen
            ]
            return flat.rates, confusing, None, flat.lower
        known = self.arms, self.index, self.best
        found = solution.solve(*known, self.gaps, link, gap, margins=self.margins)
        triples = zip(found.alternatives, found.directions, found.weights, strict=True)
        multipliers = {
            "arms": found.open_arms.tolist(),
            "directions": found.most_confusing.tolist(),
        }
        named = [(int(x), direction, float(weight)) for x, direction, weight in triples]
        return found.rates, named, multipliers, found.lower

    def _information(self, rates: np.ndarray, multipliers: Any) -> float:
        """What rates for unit variance tell, in doubles."""
        link = self._observed_link
        directions = self.directions(multipliers)
        known = self.arms, self.index, self.best
        return certificate.information(link, *known, rates, directions, margins=self.margins)

    def directions(self, multipliers: Any) -> dict[int, np.ndarray]:
        """The direction that multipliers name for each arm."""
        if multipliers is None:
            return {}
        named = zip(multipliers["arms"], multipliers["directions"], strict=True)
        size = self.arms.shape[1]
        return {
            self.position(arm): read.vector(one, "multipliers.directions", size)
            for arm, one in named
        }

    # what proves it

    @property
    def _frame(self) -> "Frame":
        from ossb.graves_lai.exact.linear import frame_of  # loads flint

        return frame_of(self, self.arms, self.phi, self.best, self.sign)

    def exact_gap(self, arm: Arm) -> Ball:
        from ossb.graves_lai.exact.glm import gap  # loads flint

        return gap(self._frame, self._reward_link, self.position(arm))

    def exact_confusing(self, alternative: Alternative) -> Any:
        return self._frame.confusing(alternative, self.position(alternative.arm))

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact import glm, linear  # loads flint

        frame = self._frame
        costs = [glm.gap(frame, self._reward_link, arm) for arm in range(self.n_arms)]
        if self._observed_link == IDENTITY:
            spread = linear.variance(self.sigma)
            return linear.heaviest(frame, confusing, weights, costs, spread)
        return glm.heaviest(frame, self._observed_link, costs, confusing, weights)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact import glm, linear  # loads flint
        from ossb.graves_lai.exact.means import summed

        link, frame, rates = self._observed_link, self._frame, summed(support)
        if link == IDENTITY:
            return linear.information(frame, rates, linear.variance(self.sigma))
        rounded = np.zeros(self.n_arms)
        for arm, rate in rates.items():
            rounded[arm] = float(rate) if arm != self.best else 0.0
        directions = self.directions(multipliers)
        known = self.arms, self.index, self.best
        proposed = certificate.proposals(link, *known, rounded, directions, margins=self.margins)

        def propose(x: int, played: list[int]) -> Any:
            return (proposed[x][0], proposed[x][1][played]) if x in proposed else None

        return glm.information(frame, link, rates, propose)
