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
from ossb.graves_lai.generic.certificate import plain, proved_information
from ossb.graves_lai.generic.convex_set import ROOM, ConvexSet
from ossb.graves_lai.generic.cutting import regions_of, solve
from ossb.graves_lai.generic.divergence import divergence_of
from ossb.graves_lai.generic.duals import Dual, mean_rows
from ossb.graves_lai.generic.listed_cuts import solve_listed
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.separation import Separation
from ossb.graves_lai.proof import Alternative, Arm, Support
from ossb.structures.base import Bound
from ossb.structures.piecewise import CONVEX, MEMBER, Piecewise

ROUNDS = 60


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
        insides: dict[int, np.ndarray] = {}
        points = [np.array(self.theta)]
        for arm in range(self.n_arms):
            if arm != self.best:
                point, strict = self._inside(arm)
                points += [] if point is None else [point]
                if strict and point is not None:
                    insides[arm] = point
        found: list[tuple[int, np.ndarray]] = []
        rates = None
        for _ in range(ROUNDS):
            program = self._program(points)
            regions, empty = regions_of(program)
            missing = [region.arm for region in regions if region.arm not in insides]
            if missing:
                raise CertificationError(
                    f"arm {missing[0]} can hardly be better than arm {self.best}: no strict "
                    "advantage was found, and no proof that there is none"
                )
            separation = Separation(program, regions) if regions else None
            answer = solve(program, separation, empty, 0.1 * gap, rates=rates)
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

    def outside(self, parameter: np.ndarray, arm: Arm, piece: int) -> float:
        scale = 1.0 + float(np.abs(parameter).max(initial=0.0))
        near = min(1.0, self.gap_of(arm) / scale)  # a convex set is described to a precision
        return max(super().outside(parameter, arm, piece), near * self.region.violation(parameter))

    def information(self, support: Support, multipliers: Any) -> float:
        rates = np.zeros(self.n_arms)
        for arm, rate in support:
            rates[self.position(arm)] = rate
        try:
            points = [read.vector(p, "tangents", self.theta.size) for p in multipliers["tangents"]]
            duals = multipliers["duals"]
        except (TypeError, KeyError, InputError):
            return -np.inf
        return proved_information(self._program(points), rates, duals)

    def follow(self, kappa: float = 1e-2, gap: float = 1e-3) -> Any:
        raise InputError("structure", "be a polytope or union to follow estimates", self.kind)

    def to_dict(self) -> dict[str, Any]:
        raise InputError("structure", "be one that a file can hold: constraints are a function")
