"""Lipschitz bandits: means that differ by at most the distance between their arms.

Magureanu, Combes and Proutiere (2014).  The most confusing parameter under which x is best is
λ_z = max(θ_z, θ* − ℓ(x, z)), so the rates solve a linear program over the suboptimal arms with
entries d(θ_z, λ_z), for any metric ℓ.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.errors import CertificationError, InputError
from ossb.families import FAMILIES
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.lipschitz import solve
from ossb.graves_lai.proof import Alternative, Ball, Support
from ossb.models.lipschitz import LipschitzModel, lipschitz_model
from ossb.structures.base import Bound
from ossb.structures.listed import MeanVector
from ossb.structures.offers import DISTANCES, DOUBTS, MODEL, OWN_COMPONENT
from ossb.structures.priced import FreeLeader
from ossb.structures.priced_levels import Following, PricedFollowing
from ossb.structures.roster import Keys
from ossb.tally import Tally

ROUNDING = 1e-12  # relative differences that count as rounding of what was written
LEAST = 1e-290  # a smaller divergence has no rate within the range of doubles


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Lipschitz(MeanVector):
    """Arms at known distances.

    Parameters
    ----------
    theta
        Mean of each arm, where known.
    points
        Where the arms stand: numbers, or vectors of one length, with the Euclidean distance.
    lipschitz_constant
        How much means may differ per unit of distance between ``points``.
    distances
        In place of both: how much the means of each pair of arms may differ.  Where a detour
        is shorter than the direct way, it counts.

    Examples
    --------
    >>> import ossb
    >>> doses = ossb.Lipschitz(
    ...     observation="bernoulli",
    ...     points=[0, 0.5, 1],
    ...     lipschitz_constant=0.5,
    ...     theta=[0.4, 0.6, 0.5],
    ... )
    >>> round(ossb.bound(doses).value, 6)
    7.365623
    """

    kind: ClassVar[str] = "lipschitz"
    offers: ClassVar[tuple[str, ...]] = (MODEL, DOUBTS, OWN_COMPONENT, DISTANCES)
    parameter: ClassVar[str] = "theta"
    observations: ClassVar[tuple[str, ...]] = FAMILIES
    reference: ClassVar[str] = "Magureanu, Combes and Proutiere (2014)"

    can_restrict: ClassVar[bool] = True
    can_grow: ClassVar[bool] = True
    largest: ClassVar[Mapping[str, int]] = {"points": 1_500}

    points: Any = None
    lipschitz_constant: Any = None
    distances: Any = None

    def __post_init__(self) -> None:
        if self.distances is not None:
            self._read_distances()
        else:
            self._read_points()
        self._read_theta(self.n_arms)
        _ = self.metric  # warns here
        if self.theta is not None and self.n_arms > 1:
            self._check_lipschitz()
            self._check_apart()

    def _read_points(self) -> None:
        if self.points is None:
            raise InputError("points", "be given with lipschitz_constant, or distances alone")
        nested = isinstance(self.points, Sequence | np.ndarray) and len(self.points) > 0
        nested = nested and isinstance(self.points[0], Sequence | np.ndarray)
        self._set("points", (read.matrix if nested else read.vector)(self.points, "points"))
        if not len(self.points):
            raise InputError("points", "hold at least one point", "none")
        if self.lipschitz_constant is None:
            raise InputError("lipschitz_constant", "be given with points")
        constant = read.number(self.lipschitz_constant, "lipschitz_constant")
        if not constant > 0:
            raise InputError("lipschitz_constant", "be positive", constant)
        self._set("lipschitz_constant", constant)

    def _read_distances(self) -> None:
        for key in ("points", "lipschitz_constant"):
            if getattr(self, key) is not None:
                raise InputError(key, "be left out: the distances are given")
        table = read.matrix(self.distances, "distances")
        if table.shape[0] != table.shape[1]:
            raise InputError("distances", "have as many rows as columns", list(table.shape))
        for wrong, must in (
            (table < 0, "be non-negative"),
            ((table != 0) & np.eye(len(table), dtype=bool), "be 0: an arm's distance to itself"),
            (~np.isclose(table, table.T, rtol=ROUNDING, atol=0.0), "be the same in both ways"),
        ):
            if wrong.any():
                x, z = (int(i) for i in np.argwhere(wrong)[0])
                raise InputError(f"distances[{x}][{z}]", must, float(table[x, z]))
        self._set("distances", table)

    @property
    def n_arms(self) -> int:
        return len(self.points if self.distances is None else self.distances)

    # arms that come and go: a new one brings its point, or its distances to those before it

    def fewer(self, kept: Sequence[int], keys: Keys) -> None:
        if self.distances is None:
            keys["points"] = self.points[list(kept)].tolist()
        else:  # with detours over the arms left out
            keys["distances"] = self.metric[np.ix_(kept, kept)].tolist()

    def one_more(self, given: Keys, keys: Keys) -> None:
        if self.distances is None:
            if "point" not in given:
                raise InputError("arm.point", "be given")
            point = given.pop("point")
            if self.points.ndim == 1:
                keys["points"] = [*self.points.tolist(), read.number(point, "arm.point")]
            else:
                place = read.vector(point, "arm.point", self.points.shape[1])
                keys["points"] = [*self.points.tolist(), place.tolist()]
            return
        if "distances" not in given:
            raise InputError("arm.distances", "be given, one to each arm before it")
        row = read.vector(given.pop("distances"), "arm.distances", self.n_arms)
        table = np.zeros((row.size + 1, row.size + 1))
        table[:-1, :-1] = self.distances
        table[-1, :-1] = table[:-1, -1] = row
        keys["distances"] = table.tolist()

    def leading(self, tally: Tally, told_first: np.ndarray) -> int:
        return self.leading_of_told(tally)

    @cached_property
    def metric(self) -> np.ndarray:
        """ℓ(x, z): the largest difference of means that the structure allows."""
        if self.distances is None:
            places = np.asarray(self.points).reshape(self.n_arms, -1)
            apart: np.ndarray = np.linalg.norm(places[:, None] - places[None], axis=2)
            return self.lipschitz_constant * apart
        direct = np.minimum(self.distances, self.distances.T)
        shortest = direct.copy()
        for stop in range(self.n_arms):
            np.minimum(shortest, shortest[:, stop, None] + shortest[stop], out=shortest)
        if (shortest < direct * (1 - ROUNDING)).any():
            x, z = (int(i) for i in np.argwhere(shortest < direct * (1 - ROUNDING))[0])
            warnings.warn(
                "`distances` break the triangle inequality and are replaced by the lengths of "
                f"shortest paths: {direct[x, z]:g} between arms {self.arm_name(x)} and "
                f"{self.arm_name(z)} becomes {shortest[x, z]:g}",
                stacklevel=2,
            )
        return shortest

    def _check_lipschitz(self) -> None:
        differences = np.abs(self.theta[:, None] - self.theta[None])
        scale = np.abs(self.theta).max(initial=0.0) + self.metric
        excess = differences - self.metric - ROUNDING * scale
        x, z = (int(i) for i in np.unravel_index(np.argmax(excess), excess.shape))
        if excess[x, z] > 0:
            raise InputError(
                "theta",
                f"be Lipschitz: arms {self.arm_name(x)} and {self.arm_name(z)} may differ by "
                f"{self.metric[x, z]:.6g}",
                float(differences[x, z]),
            )

    def _check_apart(self) -> None:
        top = int(np.argmax(self.rewards))
        twins = np.flatnonzero(self.metric[top] == 0)
        if twins.size > 1:
            twin = int(twins[twins != top][0])
            raise InputError(
                "points" if self.distances is None else "distances",
                f"keep the best arm apart: arm {self.arm_name(twin)} is at distance 0 from the "
                f"best arm {self.arm_name(top)}, and the two are always equal",
            )

    def priced(self, cost: Cost) -> "PricedFollowing | FreeDistances":
        free = FreeDistances(self, cost)
        if free.is_free:
            return free
        if self.observation == "exponential" and self.n_arms > 1:
            must = "be regret, or make the best arm free: exponential means at distances have no "
            must += "convex program for each alternative where the best mean may move"
            raise InputError("cost", must, cost.plain)
        others = self.others
        floors = np.array(self.metric[others])
        ceilings = np.repeat(self.metric[self.best][None], others.size, axis=0)
        return PricedFollowing(self, cost, Following(self, others, floors, ceilings, self._moves))

    def _moves(self, arm: int) -> Any:
        """How far arms may stay below the level of one, and above the best arm, exactly."""
        from ossb.graves_lai.exact.levels import Moves  # loads flint

        return Moves(self._distances(arm), self._distances(self.best))

    def _distances(self, arm: int) -> dict[int, Ball]:
        """ℓ from an arm to all; where rounding puts θ outside, the difference of their means."""
        from flint import arb

        reach = self._reach
        theta = [arb(mean) for mean in self.theta]
        return {z: reach(arm, z).max(abs(theta[arm] - theta[z])) for z in range(self.n_arms)}

    def model(self) -> LipschitzModel:
        """The structure as policies see it."""
        return lipschitz_model(self.family, self.metric, self.sign)

    def solve(self, gap: float) -> Bound:
        return self.solved(self.gaps)

    def solved(self, costs: np.ndarray) -> Bound:
        """The bound where plays of other arms than the best have these costs."""
        if self.best_is_certain or self.n_arms == 1:
            return Bound(self, 0.0, 0.0, [], [])
        table = self.divergences
        least = int(np.argmin(np.diag(table)))
        if not table[least, least] >= LEAST:
            raise CertificationError(
                f"arms {self.best} and {self.others[least]} differ too little for the "
                f"observations: the divergence of their means, {table[least, least]:.3g}, has "
                "no rate within the range of doubles"
            )
        answer = solve(table, costs[self.others])
        support = [(int(x), float(r)) for x, r in zip(self.others, answer.rates, strict=True) if r]
        alternatives = [
            Alternative(
                int(self.others[k]),
                self.sign * self.confusing(int(self.others[k])),
                self.sign * self.confusing(int(self.others[k]), strict=True),
                float(answer.weights[k]),
            )
            for k in np.flatnonzero(answer.weights)
        ]
        return Bound(self, answer.lower, answer.upper, support, alternatives)

    @property
    def best_is_certain(self) -> bool:
        """Whether no mean can exceed the best one."""
        return not float(self.rewards[self.best]) < self.family.highest()

    def confusing(self, arm: int, strict: bool = False) -> np.ndarray:
        """The parameter nearest to θ under which an arm is as good as the best, or better."""
        top = float(self.rewards[self.best])
        height = top
        if strict:
            room = min(self.metric[arm, self.best], self.family.highest() - top)
            height += min(float(self.gaps[arm]), 0.5 * float(room))
        return np.asarray(np.maximum(self.rewards, height - self.metric[arm]))

    @cached_property
    def divergences(self) -> np.ndarray:
        """M[x, z] = d(θ_z, max(θ_z, θ* − ℓ(x, z))) over the suboptimal arms."""
        table = np.zeros((self.others.size, self.others.size))
        means, gaps = self.rewards[self.others], self.gaps[self.others]
        # differences keep digits that means at a high level have not: all that Gaussian ones need
        at_zero = self.observation == "gaussian"
        for row, x in enumerate(self.others):
            rises = gaps - self.metric[x, self.others]
            for column in np.flatnonzero(rises > 0.0):
                mean, rise = 0.0 if at_zero else float(means[column]), float(rises[column])
                table[row, column] = self.family.kl(mean, mean + rise)
        return table

    @property
    def _reach(self) -> Any:
        """ℓ(x, z) as proofs see it."""
        from ossb.graves_lai.exact.lipschitz import along_paths, between_points  # loads flint

        if self.distances is not None:
            return along_paths(self.metric)
        points = np.asarray(self.points).reshape(self.n_arms, -1)
        return between_points(points, self.lipschitz_constant)

    def exact_confusing(self, alternative: Alternative) -> int:
        from ossb.graves_lai.exact.lipschitz import confusing  # loads flint

        arm = self.position(alternative.arm)
        return confusing(self.truth, alternative, arm, self.sign * self.confusing(arm))

    def exact_heaviest(self, confusing: Sequence[int], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.lipschitz import heaviest  # loads flint

        truth = self.truth
        return heaviest(truth, self._reach, self.metric, confusing, weights, truth.gap)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.lipschitz import information  # loads flint

        return information(self.truth, self._reach, self.metric, support)


class FreeDistances(FreeLeader):
    """Priced plays of all arms but the best: the linear program of regret, at other costs."""

    def solve(self, gap: float) -> Bound:
        return self.instance.solved(self.prices)

    def exact_heaviest(self, confusing: Sequence[int], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.lipschitz import heaviest  # loads flint

        instance = self.instance
        return heaviest(
            instance.truth, instance._reach, instance.metric, confusing, weights, self.exact_cost
        )
