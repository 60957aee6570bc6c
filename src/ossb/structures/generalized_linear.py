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
from typing import Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.graves_lai.glm import certificate
from ossb.graves_lai.glm import solution as glm
from ossb.graves_lai.glm.links import IDENTITY, LARGEST, LINKS
from ossb.graves_lai.linear import solution as linear
from ossb.graves_lai.linear.agreement import disagreement, slips
from ossb.graves_lai.proof import TOLERANCE, Alternative, Arm, Support
from ossb.models.glm import GlmModel, glm_model
from ossb.structures.base import Bound, clear_best, refuse_twins
from ossb.structures.listed import ListedArms

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
class GeneralizedLinear(ListedArms):
    """Arms whose mean reward is g(⟨φ, x⟩).

    Parameters
    ----------
    arms
        Features of each arm, K rows of d numbers.
    link
        g: ``logistic``, ``log`` (g = exp) or ``identity``.
    observes
        ``index`` or ``reward``; where not given, ``index`` for Gaussian observations and
        ``reward`` for others.
    phi
        The true parameter, where known.
    """

    kind: ClassVar[str] = "generalized_linear"
    parameter: ClassVar[str] = "phi"
    observations: ClassVar[tuple[str, ...]] = ("gaussian", "bernoulli", "bounded", "poisson")
    reference: ClassVar[str] = "Filippi, Cappé, Garivier and Szepesvári (2010)"

    arms: Any = None
    link: Any = None
    observes: Any = None
    phi: Any = None

    def __post_init__(self) -> None:
        if self.arms is None:
            raise InputError("arms", "be given: a list of feature vectors")
        self._set("arms", read.matrix(self.arms, "arms"))
        if not self.arms.size:
            raise InputError("arms", "hold at least one arm of at least one feature")
        self._read_common(self.n_arms)
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

    def model(self) -> GlmModel:
        """The structure as policies see it."""
        return glm_model(self.arms, self._reward_link, self._observed_link, self.sigma, self.sign)

    @cached_property
    def best(self) -> int:
        """The best arm by index, which tells arms apart where their means round to 0 or 1."""
        signed = self.sign * self.index
        leader = int(np.argmax(signed))
        refuse_twins(self, self.arms, leader)
        return clear_best(self, signed)

    @cached_property
    def gaps(self) -> np.ndarray:
        """Δ(x), accurate also where the means round to 0 or 1."""
        top = self.index[self.best]
        shift = self.index - top
        return np.abs(certificate.changes(self._reward_link, np.full_like(shift, top), shift))

    @cached_property
    def _steepness(self) -> float:
        """Least ratio of gaps in reward to gaps in index: turns index errors into rewards."""
        margins = np.abs(self.index[self.others] - self.index[self.best])
        return float((self.gaps[self.others] / margins).min(initial=math.inf))

    @np.errstate(all="ignore")  # at the ends of the doubles: bounds that are not finite
    def solve(self, gap: float) -> Bound:
        if not self.others.size:
            return Bound(self, 0.0, 0.0, [], [])
        certificate.across(self.arms, self.best)  # refuses what doubles cannot tell apart
        rates, confusing, multipliers = self._solved(gap)
        pushed = [self._alternative(*one) for one in confusing]
        alternatives = [one for one in pushed if one is not None]
        rates = rates * self._variance
        support = [(int(arm), float(rates[arm])) for arm in np.flatnonzero(rates)]
        proved = self.information(support, multipliers)
        if proved == math.inf:
            return Bound(self, 0.0, 0.0, [], [], multipliers)
        if not proved > 0 or not alternatives:
            return Bound(self, 0.0, math.inf, support, alternatives, multipliers)
        support = [(arm, rate / proved) for arm, rate in support]
        upper = math.fsum(rate * self.gap_of(arm) for arm, rate in support)
        weights = np.array([alternative.weight for alternative in alternatives])
        parameters = [alternative.parameter for alternative in alternatives]
        lower = float(weights.sum() / self.heaviest(parameters, weights))
        return Bound(self, min(lower, upper), upper, support, alternatives, multipliers)

    def _solved(self, gap: float) -> tuple[np.ndarray, list[tuple[int, np.ndarray, float]], Any]:
        """Rates for unit variance; arms, directions and weights of the lower bound; multipliers."""
        link = self._observed_link
        if link == IDENTITY:  # quadratic divergences: a linear bandit with costs of its own
            margins = np.abs(self.index - self.index[self.best])
            flat = linear.solve(self.arms, self.best, self.gaps, margins, gap)
            chosen = zip(flat.alternatives, flat.directions, strict=True)
            confusing = [
                (int(arm), self.sign * direction, float(flat.weights[arm]))
                for arm, direction in chosen
            ]
            return flat.rates, confusing, None
        found = glm.solve(self.arms, self.index, self.best, self.gaps, link, gap)
        triples = zip(found.alternatives, found.directions, found.weights, strict=True)
        multipliers = {
            "arms": found.open_arms.tolist(),
            "directions": found.most_confusing.tolist(),
        }
        return found.rates, [(int(x), d, float(w)) for x, d, w in triples], multipliers

    def _alternative(self, arm: int, direction: np.ndarray, weight: float) -> Alternative | None:
        """φ + δ, nudged as rounding asks: unseen by the best arm, and the arm no worse than it.

        None where rounding has taken too much of δ.
        """
        top = self.arms[self.best]
        length = float(top @ top)
        margin = abs(float(self.index[self.best] - self.index[arm]))
        for _ in range(20):
            if length > 0:
                direction = direction - top * (((self.phi + direction) - self.phi) @ top / length)
            parameter = self.phi + direction
            short = -self._lead(parameter, arm)
            if not 0.0 < short <= margin:
                break
            direction = direction * (1.0 + 2.0 * short / margin)
        if not short <= TOLERANCE * margin:
            return None
        return Alternative(arm, parameter, self.phi + _BEYOND * direction, weight)

    def _lead(self, parameter: np.ndarray, arm: int) -> float:
        """Index of an arm beyond that of the best one, in the direction of the goal.

        At the nearest parameter on which the best arm agrees with the truth, at least.
        """
        top = self.arms[self.best]
        lead = self.arms[arm] - top
        drift = float(np.abs(slips(top, self.phi, parameter, lead)))
        return float(self.sign * (lead @ parameter)) - drift

    def outside(self, parameter: np.ndarray, arm: Arm, piece: int) -> float:
        return 0.0

    def disagreement(self, parameter: np.ndarray) -> float:
        """In units of reward, at the least slope between the best arm and another.

        Beyond what rounding explains, which ``_lead`` and ``heaviest`` make good.
        """
        return disagreement(self.arms[self.best], self.phi, parameter) * self._steepness

    def advantage(self, parameter: np.ndarray, arm: Arm) -> float:
        lead = np.array([self.sign * self._lead(parameter, self.position(arm))])
        top = np.array([self.arms[self.best] @ parameter])
        return float(self.sign * certificate.changes(self._reward_link, top, lead)[0])

    def heaviest(self, parameters: Sequence[np.ndarray], weights: np.ndarray) -> float:
        directions = np.array([parameter - self.phi for parameter in parameters])
        top = self.arms[self.best]
        drifts = [np.abs(slips(top, self.phi, parameter, self.arms)) for parameter in parameters]
        heaviest = certificate.heaviest(
            self._observed_link, self.arms, self.index, self.gaps, self.others, directions, weights,
            np.array(drifts).T,
        )  # fmt: skip
        return heaviest / self._variance

    def information(self, support: Support, multipliers: Any) -> float:
        rates = np.zeros(self.n_arms)
        for arm, rate in support:
            rates[self.position(arm)] += rate / self._variance
        rates[self.best] = 0.0
        directions: dict[int, np.ndarray] = {}
        if multipliers is not None:
            named = zip(multipliers["arms"], multipliers["directions"], strict=True)
            directions = {int(arm): np.asarray(one, dtype=np.float64) for arm, one in named}
        return certificate.information(
            self._observed_link, self.arms, self.index, self.best, rates, directions
        )
