"""Any convex set of parameters, described in Python by CVXPY constraints.

Solved from outside: tangents make a polytope around the set, rates feasible for the polytope
are feasible for the set, and confusing parameters of the polytope, moved into the set, bound C
from below.  Tangents are added where these were, until both sides meet.  Kelley (1960).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.errors import CertificationError, InputError
from ossb.graves_lai.generic.certificate import plain
from ossb.graves_lai.generic.convex_set import ROOM, ConvexSet
from ossb.graves_lai.generic.cutting import solve
from ossb.graves_lai.generic.divergence import divergence_of
from ossb.graves_lai.generic.duals import Dual, mean_rows
from ossb.graves_lai.generic.listed_cuts import solve_listed
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.region import greatest_advantage
from ossb.graves_lai.generic.separation import Separation
from ossb.graves_lai.proof import Alternative, Ball, ProofError, Support
from ossb.structures.base import Bound
from ossb.structures.piecewise import CONVEX, MEMBER, Piecewise

ROUNDS = 60
BOX = 100.0  # times the largest gap: how far from θ parameters are looked for
DESCRIBED = 1e-9  # of a gap: a convex set is described to a precision
STRICT = 100.0  # a witness is better by this many times its own distance from the set


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Convex(Piecewise):
    """Parameters that satisfy CVXPY constraints, inside the family's mean space.

    Parameters
    ----------
    constraints
        Function from a CVXPY variable λ to a list of constraints: inequalities, equalities,
        second-order cones, semidefinite ones.
    theta
        The true parameter.
    means, reveals, rewards
        As for polytopes.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import ossb
    >>> near = ossb.Convex(
    ...     observation="gaussian",
    ...     theta=[0.6, 0.3, 0.2],
    ...     constraints=lambda means: [cp.norm(means - [0.6, 0.3, 0.2]) <= 1],
    ... )
    >>> round(ossb.bound(near).value, 4)
    11.6667
    """

    kind: ClassVar[str] = "convex"
    parameter: ClassVar[str] = "theta"
    observations: ClassVar[tuple[str, ...]] = CONVEX
    reference: ClassVar[str] = "Graves and Lai (1997)"

    constraints: Any
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
        if not callable(self.constraints):
            raise InputError("constraints", "be a function of a CVXPY variable", self.constraints)
        _ = self.region
        self._check_theta()
        off = self.region.violation(self.theta)
        if off > MEMBER * (1.0 + float(np.abs(self.theta).max())):
            raise InputError("theta", f"satisfy the constraints: off by {off:.3g}", self.theta)

    @cached_property
    def region(self) -> ConvexSet:
        return ConvexSet(self.constraints, int(self.theta.size))

    @cached_property
    def polytopes(self) -> tuple[Piece, ...]:
        return (self._around([]),)

    def _around(self, points: list[np.ndarray]) -> Piece:
        """The polytope of the tangents at some points."""
        region, size = self.region, int(self.theta.size)
        rewards = self.default_rewards(size) if self.rewards is None else self.rewards
        matrix, bounds = region.tangents(points)
        return Piece(matrix, bounds, region.equal_matrix, region.equal_bounds, self.sign * rewards)

    def _program(self, points: list[np.ndarray]) -> Program:
        return Program(
            divergence_of(self.plain_family),
            self.mean_matrix(self.theta.size),
            self.incidence,
            (self._around(points),),
            np.asarray(self.theta),
            self.best,
            self.gaps,
        )

    def solve(self, gap: float) -> Bound:
        from ossb.graves_lai.generic.proving import prepared, proved_regions  # loads flint

        insides: dict[int, np.ndarray] = {}
        points = [np.array(self.theta)]
        for arm in range(self.n_arms):
            if arm != self.best:
                point, strict = self._inside(arm)
                points += [] if point is None else [point]
                if strict and point is not None:
                    insides[arm] = point
        for arm in range(self.n_arms):
            if arm != self.best and arm not in insides:
                self._exclude(arm, points)
        found: list[tuple[int, np.ndarray]] = []
        rates = None
        for _ in range(ROUNDS):
            program = self._program(points)
            exactly = self._exactly(program.pieces)
            regions, empty = proved_regions(program, exactly)
            for region in regions:
                if region.arm not in insides:
                    raise self._hardly(region.arm)
            separation = Separation(program, regions, patient=True) if regions else None
            answer = solve(program, separation, empty, 0.1 * gap, rates=rates)
            answer = prepared(program, exactly, answer)
            for cut in answer.cuts:
                arm = regions[cut.region].arm
                moved = self._moved(cut.parameter, insides[arm])
                found.append((arm, moved))
                points += [cut.parameter, moved]
            bound = self._bound(answer.rates, answer.upper, answer.duals, points, found, insides)
            if bound.gap <= gap:
                break
            rates = answer.rates
        return bound

    def _exclude(self, arm: int, points: list[np.ndarray]) -> None:
        """Add points until their tangents prove that an arm is strictly better nowhere in the set.

        First around θ, since a tangent alone bounds nothing across it; then where the polytope
        around the set still lets the arm gain most.  Kelley (1960), once more.
        """
        from ossb.graves_lai.generic.proving import is_excluded  # loads flint

        theta = np.asarray(self.theta)
        box = BOX * float(self.gaps.max())
        steps = float(self.gaps[arm]) * np.eye(theta.size)
        around = [theta + sign * step for step in steps for sign in (1.0, -1.0)]
        for _ in range(ROUNDS):
            program = self._program(points)
            if is_excluded(program, self._exactly(program.pieces), arm):
                return
            if around:
                points += around
                around = []
                continue
            point = greatest_advantage(program, 0, arm, box)
            if point is None:
                break
            points.append(point)
        raise self._hardly(arm)

    def _hardly(self, arm: int) -> CertificationError:
        return CertificationError(
            f"arm {arm} can hardly be better than arm {self.best}: no strict advantage was "
            "found, and no proof that there is none"
        )

    def _inside(self, arm: int) -> tuple[np.ndarray | None, bool]:
        """A confusing parameter with room in every constraint, and whether there is room."""
        program = self.program
        component, sign, slack = mean_rows(program)
        rows = sign[:, None] * program.means[component]
        sides = slack + rows @ program.theta
        equal = program.means[program.shown]
        gain = program.advantage_row(0, arm)
        answer = self.region.inside(equal, equal @ program.theta, rows, sides, gain)
        if answer is None:
            return None, False
        # the solver's point is right to its tolerance; agreement has to be exact
        fixed = np.vstack([equal, program.pieces[0].equal_matrix])
        to = np.concatenate([equal @ program.theta, program.pieces[0].equal_bounds])
        point = answer[0] + np.linalg.pinv(fixed) @ (to - fixed @ answer[0])
        return point, bool(answer[1] > ROOM * (1.0 + float(np.abs(gain).max())))

    def _moved(self, parameter: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """The point nearest to a parameter, on the way to an inner point, that is in the set."""
        if self.region.violation(parameter) <= 0:
            return parameter
        low, high = 0.0, 1.0
        for _ in range(60):
            share = 0.5 * (low + high)
            if self.region.violation(parameter + share * (inside - parameter)) <= 1e-13:
                high = share
            else:
                low = share
        return np.asarray(parameter + high * (inside - parameter))

    def _bound(
        self,
        rates: np.ndarray,
        upper: float,
        duals: list[Dual],
        points: list[np.ndarray],
        found: list[tuple[int, np.ndarray]],
        insides: dict[int, np.ndarray],
    ) -> Bound:
        others = self.program.others
        rows = [self.program.divergences(parameter)[others] for _, parameter in found]
        table = np.array(rows).reshape(-1, others.size)
        finite = np.isfinite(table).all(axis=1)
        weights = np.zeros(len(found))
        lower = 0.0
        if finite.any():
            _, weights[finite], lower, _ = solve_listed(self.gaps[others], table[finite])
        alternatives = [
            Alternative(arm, parameter, insides[arm], float(weight))
            for (arm, parameter), weight in zip(found, weights, strict=True)
            if weight > 0
        ]
        used = len(duals[0].bounds) if duals else 0
        multipliers = {
            "tangents": [point.tolist() for point in self._first(points, used)],
            "duals": plain(duals),
        }
        support = [(arm, float(rate)) for arm, rate in enumerate(rates) if rate > 0]
        return Bound(self, min(lower, upper), upper, support, alternatives, multipliers)

    def _first(self, points: list[np.ndarray], rows: int) -> list[np.ndarray]:
        """The points whose tangents the multipliers are of: later ones came after."""
        for count in range(len(points) + 1):
            if len(self.region.tangents(points[:count])[1]) == rows:
                return points[:count]
        raise AssertionError("multipliers belong to tangents at the first points")

    def exact_confusing(self, alternative: Alternative) -> Any:
        """The parameter, exactly where straight rows are asked for; CVXPY says the rest of it."""
        point = super().exact_confusing(alternative)
        arm = alternative.arm
        for name, parameter in (
            ("parameter", self.theta + np.array([float(entry) for entry in point])),
            ("witness", np.asarray(alternative.witness) + alternative.relative * self.theta),
        ):
            off = self.region.violation(parameter)
            if not off <= DESCRIBED * min(1.0, self.gap_of(arm)):
                raise ProofError(f".{name}: outside the parameter set by {off:.2e}")
        if not self.advantage(parameter, arm) > STRICT * off:
            raise ProofError(".witness: its arm is not strictly better")
        return point

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        """From multipliers of the tangents at points that the certificate names."""
        from ossb.graves_lai.generic.proving import proved_information

        points = [read.vector(p, "tangents", self.theta.size) for p in multipliers["tangents"]]
        rates = [(self.position(arm), rate) for arm, rate in support]
        exactly = self._exactly((self._around(points),))
        return proved_information(exactly, rates, multipliers["duals"])

    def follow(self, kappa: float = 1e-2, gap: float = 1e-3) -> Any:
        raise InputError("structure", "be a polytope or union to follow estimates", self.kind)

    def to_dict(self) -> dict[str, Any]:
        raise InputError("structure", "be one that a file can hold: constraints are a function")
