"""What polytopes and unions of polytopes share: the general form, and what proves its bounds.

A parameter λ gives component means ``means`` λ and rewards ``rewards`` λ; arm x shows the
components ``reveals[x]``.  Arms that show several components are graph feedback; rewards that
are no component are linear partial monitoring.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.families import Family
from ossb.graves_lai.generic.certificate import plain
from ossb.graves_lai.generic.cutting import solve
from ossb.graves_lai.generic.divergence import divergence_of
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.region import holds_a_point
from ossb.graves_lai.generic.separation import Separation
from ossb.graves_lai.generic.tracked_rates import RateTracker
from ossb.graves_lai.proof import Alternative, Arm, Ball, ProofError, Support
from ossb.models.general import GeneralModel
from ossb.models.pieces import pieces_of, showing_all
from ossb.models.piecewise import PiecewiseModel
from ossb.numerics.ties import terms_of
from ossb.structures.base import Bound, Instance, clear_best

POLICY_GAP = 1e-4  # to which policies have the program solved where they hold nothing
MEMBER = 1e-9  # how far outside a row the true parameter may lie, for rounding
CONVEX = ("gaussian", "bernoulli", "poisson", "bounded")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Piecewise(Instance):
    """Arms that show components of a parameter known to lie in one of several polytopes."""

    means: Any = None
    reveals: Any = None
    theta: Any = None

    def _read_shared(self, size: int, reward_rows: int | None) -> None:
        """Check ``means``, ``reveals``, the common keys and the size of ``theta``."""
        if self.means is not None:
            self._set("means", read.matrix(self.means, "means", size))
        components = self.mean_matrix(size).shape[0]
        if self.reveals is not None:
            self._set("reveals", _shown(self.reveals, components))
        n_arms = components if self.reveals is None else len(self.reveals)
        if n_arms == 0:
            raise InputError("reveals", "give at least one arm", 0)
        if reward_rows is not None and reward_rows != n_arms:
            raise InputError("rewards", f"have one row for each of the {n_arms} arms", reward_rows)
        self._read_common(n_arms)
        if self.theta is not None:
            self._set("theta", read.vector(self.theta, "theta", size))

    def mean_matrix(self, size: int) -> np.ndarray:
        """Component means as rows on λ."""
        return np.eye(size) if self.means is None else np.asarray(self.means)

    def default_rewards(self, size: int) -> np.ndarray:
        """Each arm brings the mean of the one component that it shows."""
        means = self.mean_matrix(size)
        if self.reveals is None:
            return means
        for arm, components in enumerate(self.reveals):
            if len(components) != 1:
                must = f"be given: arm {arm} shows {len(components)} components, not one"
                raise InputError("rewards", must)
        return np.array([means[components[0]] for components in self.reveals])

    def _check_theta(self) -> None:
        """Refuse a parameter outside the set, and a set without parameters."""
        self._check_filled()
        if self.theta is None:
            return
        means = self.mean_matrix(self.theta.size) @ self.theta
        low, high = self.plain_family.lowest(), self.plain_family.highest()
        for k, mean in enumerate(means):
            if not low - MEMBER <= mean <= high + MEMBER:
                must = f"give component {k} a mean in [{low:g}, {high:g}]"
                raise InputError("theta", must, float(mean))

    def _away(self, parameter: np.ndarray) -> float:
        """How far a parameter is from the nearest piece, relative to its size."""
        return min(_apart(piece, parameter) for piece in self.polytopes)

    def _check_filled(self) -> None:
        """Refuse a piece without parameters: more likely a mistake than meant."""
        for k, piece in enumerate(self.polytopes):
            if self.theta is not None and _apart(piece, self.theta) <= MEMBER:
                continue
            if not holds_a_point(piece, self.mean_matrix(piece.rewards.shape[1]), self.mean_space):
                field = "A" if self.kind == "polytope" else f"pieces[{k}]"
                raise InputError(field, "leave some parameter: the polytope is empty")

    @property
    def mean_space(self) -> tuple[float, float]:
        return self.plain_family.lowest(), self.plain_family.highest()

    @cached_property
    def polytopes(self) -> tuple[Piece, ...]:
        raise AssertionError("every structure says what its pieces are")

    @cached_property
    def n_arms(self) -> int:
        return int(self.polytopes[0].rewards.shape[0])

    @cached_property
    def home(self) -> int:
        """The piece that holds θ, whose rewards are the true ones."""
        if len(self.polytopes) == 1:
            return 0
        from ossb.graves_lai.generic.home import home_of  # loads flint

        return home_of(self.polytopes, self.theta)

    @cached_property
    def brings(self) -> np.ndarray:
        """Reward of each arm under θ, signed so that more is better."""
        return np.asarray(self.polytopes[self.home].rewards @ self.theta)

    @cached_property
    def best(self) -> int:
        terms = terms_of(self.polytopes[self.home].rewards, self.theta)
        return clear_best(self, self.brings, terms)

    @cached_property
    def own_gaps(self) -> np.ndarray | None:
        """Δ(x), where it is not what the rewards lack."""
        return None

    @cached_property
    def gaps(self) -> np.ndarray:
        """Δ(x); 0 at the best arm, or at each of several."""
        if self.own_gaps is not None:
            return self.own_gaps
        return np.asarray(self.brings.max() - self.brings)

    @cached_property
    def incidence(self) -> np.ndarray:
        """1 where an arm (row) shows a component (column)."""
        components = self.mean_matrix(self.polytopes[0].rewards.shape[1]).shape[0]
        if self.reveals is None:
            return np.eye(components)
        table = np.zeros((len(self.reveals), components))
        for arm, shown in enumerate(self.reveals):
            table[arm, list(shown)] = 1.0
        return table

    @cached_property
    def program(self) -> Program:
        """The Graves–Lai program at θ."""
        return Program(
            divergence_of(self.plain_family),
            self.mean_matrix(self.theta.size),
            self.incidence,
            self.polytopes,
            np.asarray(self.theta),
            self.best,
            self.gaps,
        )

    @cached_property
    def exactly(self) -> Any:
        """The program with its numbers as the rationals that they are."""
        return self._exactly(self.polytopes)

    def _exactly(self, pieces: Sequence[Piece]) -> Any:
        from ossb.graves_lai.generic.conjugate import conjugate_of  # loads flint
        from ossb.graves_lai.generic.exact import ExactProgram

        theta = np.asarray(self.theta)
        self._refuse_dispute()
        return ExactProgram(
            conjugate_of(self.plain_family),
            self.mean_matrix(theta.size),
            self.incidence,
            pieces,
            theta,
            self.best,
            self.home,
            self.own_gaps,
        )

    def _refuse_dispute(self) -> None:
        """Pieces that hold θ have to agree on its rewards, exactly."""
        if len(self.polytopes) == 1:
            return
        from ossb.graves_lai.generic.home import disputed_at  # loads flint

        near = MEMBER * (1.0 + float(np.abs(self.theta).max(initial=0.0)))
        found = disputed_at(self.polytopes, self.theta, near)
        if found is not None:
            raise ProofError(
                f"instance: pieces[{self.home}] and pieces[{found[0]}] hold {self.parameter} and "
                f"differ in the reward of arm {found[1]}"
            )

    def solve(self, gap: float) -> Bound:
        from ossb.graves_lai.generic.proving import prepared, proved_regions  # loads flint

        regions, empty = proved_regions(self.program, self.exactly)
        separation = Separation(self.program, regions, patient=True) if regions else None
        answer = solve(self.program, separation, empty, gap)
        answer = prepared(self.program, self.exactly, answer)
        support = [(arm, float(rate)) for arm, rate in enumerate(answer.rates) if rate > 0]
        alternatives = []
        for cut, weight in zip(answer.cuts, answer.weights, strict=True):
            assert separation is not None
            region = regions[cut.region]
            witness = separation.witness(cut.region)
            alternatives.append(
                Alternative(region.arm, cut.parameter, witness, float(weight), region.piece)
            )
        return Bound(self, answer.lower, answer.upper, support, alternatives, plain(answer.duals))

    def follow(self, kappa: float = 1e-2, gap: float = 1e-3) -> RateTracker:
        """Rates at moving estimates of θ: kept within ``kappa``, else solved to ``gap``."""
        return RateTracker(
            divergence_of(self.plain_family),
            self.mean_matrix(self.polytopes[0].rewards.shape[1]),
            self.incidence,
            self.polytopes,
            kappa,
            gap,
        )

    def model(self) -> GeneralModel:
        """The structure as policies see it, interpreted."""
        size = self.polytopes[0].rewards.shape[1]
        return GeneralModel(
            divergence_of(self.plain_family),
            self.mean_matrix(size),
            self.incidence,
            self.polytopes,
            lambda kappa: self.follow(kappa, min(kappa, POLICY_GAP) or POLICY_GAP),
        )

    def weighing(self) -> PiecewiseModel:
        """The structure as the default policy sees it, compiled."""
        divergence = divergence_of(self.plain_family)
        size = self.polytopes[0].rewards.shape[1]
        return PiecewiseModel(
            self.plain_family,
            divergence.kind,
            divergence.precision,
            self.incidence.shape[0],
            self.incidence.shape[1],
            self.incidence,
            np.array(showing_all(self.incidence), np.int64),
            pieces_of(self.polytopes, self.mean_matrix(size), *self.mean_space),
        )

    @cached_property
    def components(self) -> np.ndarray:
        """Mean of each component; they are not signed here, rewards are."""
        return self.component_means(np.asarray(self.theta))

    @property
    def observed_family(self) -> Family:
        return self.plain_family

    @property
    def observed_sign(self) -> float:
        return 1.0

    def shows_rewards(self) -> bool:
        means = self.mean_matrix(self.polytopes[0].rewards.shape[1])
        return self.reveals is None and all(
            np.array_equal(piece.rewards, means) for piece in self.polytopes
        )

    def showing(self) -> list[list[int]]:
        """The components that each arm shows, in the order in which they were named."""
        if self.reveals is None:
            return [[arm] for arm in range(len(self.incidence))]
        return [list(shown) for shown in self.reveals]

    def component_count(self) -> int:
        return int(self.incidence.shape[1])

    def arm_at(self, position: int) -> Arm:
        return int(position)

    def best_arm(self) -> Arm:
        return self.best

    def position(self, arm: Arm) -> int:
        place = read.integer(arm, "arm")
        if place >= self.n_arms:
            raise InputError("arm", f"be below {self.n_arms}", place)
        return place

    def gap_of(self, arm: Arm) -> float:
        return float(self.gaps[self.position(arm)])

    def total_gap(self) -> float:
        return float(self.gaps.sum())

    def component_means(self, parameter: np.ndarray) -> np.ndarray:
        return np.asarray(self.mean_matrix(parameter.size) @ parameter)

    def disagreement(self, parameter: np.ndarray) -> float:
        moved = self.component_means(parameter) - self.component_means(np.asarray(self.theta))
        return float(np.abs(moved[self.incidence[self.best] > 0]).max(initial=0.0))

    def advantage(self, parameter: np.ndarray, arm: Arm) -> float:
        rewards = self.polytopes[self.home].rewards
        return float((rewards[self.position(arm)] - rewards[self.best]) @ parameter)

    def exact_gap(self, arm: Arm) -> Ball:
        from flint import arb

        return arb(self.exactly.gap(self.position(arm)))

    def exact_confusing(self, alternative: Alternative) -> Any:
        """λ − θ in rationals: the parameter brought exactly into its region."""
        from ossb.graves_lai.generic.lower import brought_inside

        return brought_inside(self.exactly, self.position(alternative.arm), alternative)

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.generic.proving import heaviest

        return heaviest(self.exactly, confusing, weights)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.generic.proving import proved_information

        rates = [(self.position(arm), rate) for arm, rate in support]
        return proved_information(self.exactly, rates, multipliers)


def violation(piece: Piece, parameter: np.ndarray) -> tuple[float, str, int]:
    """The worst broken row of a piece: by how much, and which of ``A`` or ``A_eq`` it is."""
    over = piece.matrix @ parameter - piece.bounds
    off = np.abs(piece.equal_matrix @ parameter - piece.equal_bounds)
    worst = (0.0, "", -1)
    if over.size and over.max() > 0:
        worst = (float(over.max()), "A", int(np.argmax(over)))
    if off.size and off.max() > worst[0]:
        worst = (float(off.max()), "A_eq", int(np.argmax(off)))
    return worst


def _apart(piece: Piece, parameter: np.ndarray) -> float:
    """How far a parameter is from a piece, relative to its size."""
    return violation(piece, parameter)[0] / (1.0 + float(np.abs(parameter).max(initial=0.0)))


def read_piece(
    fields: dict[str, Any], prefix: str, size: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, b, A_eq, b_eq of one polytope as arrays with the same number of columns."""
    answer = []
    for rows, sides in (("A", "b"), ("A_eq", "b_eq")):
        given, right = fields.get(rows), fields.get(sides)
        if (given is None) != (right is None):
            missing, there = (rows, sides) if given is None else (sides, rows)
            raise InputError(prefix + missing, f"be given with `{prefix + there}`")
        matrix = read.matrix([] if given is None else given, prefix + rows, size)
        if matrix.shape[0]:
            size = int(matrix.shape[1])
        answer.append(matrix)
        answer.append(read.vector([] if right is None else right, prefix + sides, len(matrix)))
    if size is None:
        raise InputError(prefix + "A", "have a row, or `theta` or `means` be given", "none")
    if size == 0:
        raise InputError(prefix + "A", "have at least one column: a parameter has entries", "none")
    A, b, A_eq, b_eq = answer
    return A.reshape(-1, size), b, A_eq.reshape(-1, size), b_eq


def _shown(value: Any, components: int) -> list[list[int]]:
    if isinstance(value, str | dict) or not hasattr(value, "__len__"):
        raise InputError("reveals", "be a list of lists of components", value)
    answer = []
    for arm, entry in enumerate(value):
        if isinstance(entry, str | dict) or not hasattr(entry, "__len__"):
            raise InputError(f"reveals[{arm}]", "be a list of components", entry)
        shown = [read.integer(k, f"reveals[{arm}][{i}]") for i, k in enumerate(entry)]
        for i, component in enumerate(shown):
            if component >= components:
                raise InputError(f"reveals[{arm}][{i}]", f"be below {components}", component)
        if len(set(shown)) != len(shown):
            raise InputError(f"reveals[{arm}]", "name each component once", shown)
        answer.append(shown)
    return answer
