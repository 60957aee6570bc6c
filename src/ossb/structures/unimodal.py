"""Unimodal bandits: on a line or a graph, from every arm the means rise along a path to the best.

Combes and Proutiere (2014): only the neighbours of the best arm need exploring,
c(y) = 1 / d(θ_y, θ*).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.families import FAMILIES
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.independent import proved
from ossb.graves_lai.proof import Alternative, Ball, ProofError, Support
from ossb.models.classical import ClassicalModel
from ossb.models.unimodal import UnimodalModel
from ossb.structures.base import Bound
from ossb.structures.classical import Classical
from ossb.structures.listed import MeanVector
from ossb.structures.offers import DOUBTS, MODEL, NEIGHBOURS, OWN_COMPONENT
from ossb.structures.priced_levels import Following, FreeMeans, PricedFollowing
from ossb.structures.roster import Keys
from ossb.tally import Tally


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Unimodal(MeanVector):
    """Arms on a line, or on a connected graph.

    Plateaus are accepted away from the peak.

    Parameters
    ----------
    theta
        Mean of each arm, where known.
    n_arms
        Number of arms; taken from ``theta`` or ``edges`` where not given.
    edges
        Pairs of neighbouring arms; without them the arms stand in a line.

    Examples
    --------
    >>> import ossb
    >>> line = ossb.Unimodal(observation="bernoulli", theta=[0.1, 0.4, 0.7, 0.3])
    >>> round(ossb.bound(line).value, 6)
    2.742381
    """

    kind: ClassVar[str] = "unimodal"
    offers: ClassVar[tuple[str, ...]] = (MODEL, DOUBTS, OWN_COMPONENT, NEIGHBOURS)
    parameter: ClassVar[str] = "theta"
    observations: ClassVar[tuple[str, ...]] = FAMILIES
    reference: ClassVar[str] = "Combes and Proutiere (2014)"

    can_restrict: ClassVar[bool] = True
    can_grow: ClassVar[bool] = True

    n_arms: Any = None
    edges: Any = None

    def __post_init__(self) -> None:
        given = None if self.n_arms is None else read.integer(self.n_arms, "n_arms", least=1)
        if self.edges is not None:
            edges = read.pairs(self.edges, "edges", given)
            if (edges[:, 0] == edges[:, 1]).any():
                at = int(np.flatnonzero(edges[:, 0] == edges[:, 1])[0])
                raise InputError(f"edges[{at}]", "join two different arms", edges[at].tolist())
            self._set("edges", edges)
            if given is None and self.theta is None:
                given = int(edges.max(initial=0)) + 1
        n_arms = self._read_theta(given)
        self._set("n_arms", n_arms)
        if self.edges is not None:
            read.pairs(self.edges, "edges", n_arms)
        self._check_connected()
        if self.theta is not None and n_arms > 1:
            self._check_unimodal()

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The neighbours of each arm, in increasing order."""
        near: list[set[int]] = [set() for _ in range(self.n_arms)]
        line = [(x, x + 1) for x in range(self.n_arms - 1)]
        for a, b in line if self.edges is None else self.edges.tolist():
            near[a].add(b)
            near[b].add(a)
        return tuple(tuple(sorted(arms)) for arms in near)

    # arms that come and go

    def fewer(self, kept: Sequence[int], keys: Keys) -> None:
        """Neighbours of an arm that goes become neighbours of one another.

        That keeps means unimodal: a path that rises through the arm rises without it.
        """
        keys["n_arms"] = len(kept)
        if self.edges is None:
            return
        near = [set(arms) for arms in self.neighbours]
        for gone in set(range(self.n_arms)).difference(kept):
            for a, b in combinations(sorted(near[gone]), 2):
                near[a].add(b)
                near[b].add(a)
            for a in near[gone]:
                near[a].discard(gone)
            near[gone].clear()
        number = {arm: place for place, arm in enumerate(kept)}
        keys["edges"] = sorted([number[a], number[b]] for a in kept for b in near[a] if a < b)

    def one_more(self, given: Keys, keys: Keys) -> None:
        """A new arm brings its ``neighbours``, or the two it stands ``between``.

        Without either it stands at the end of the line.
        """
        new = self.n_arms
        keys["n_arms"] = new + 1
        if "between" in given and "neighbours" in given:
            raise InputError("arm.between", "be left out: neighbours are given")
        if "between" in given:
            ends = sorted(read.pairs([given.pop("between")], "arm.between", new)[0].tolist())
            edges = self._pairs()
            if tuple(ends) not in edges:
                raise InputError("arm.between", "be two neighbours", ends)
            edges.discard((ends[0], ends[1]))
        elif "neighbours" in given:
            near = given.pop("neighbours")
            if not isinstance(near, list | tuple) or not near:
                raise InputError("arm.neighbours", "be a list of arms", near)
            ends = [_arm(arm, f"arm.neighbours[{i}]", new) for i, arm in enumerate(near)]
            edges = self._pairs()
        elif self.edges is None:
            return
        else:
            raise InputError("arm.neighbours", "be given")
        keys["edges"] = sorted([a, b] for a, b in edges | {(end, new) for end in ends})

    def _pairs(self) -> set[tuple[int, int]]:
        return {(a, b) for a, near in enumerate(self.neighbours) for b in near if a < b}

    def leading(self, tally: Tally, told_first: np.ndarray) -> int:
        return self.leading_of_told(tally)

    def parameter_from(self, memory: Any, means: np.ndarray, counts: np.ndarray) -> np.ndarray:
        self.refuse_untold(counts)
        return super().parameter_from(memory, means, counts)

    def _check_connected(self) -> None:
        if self.edges is None:
            return
        if len(self.edges) < self.n_arms - 1:
            must = f"connect all arms: {self.n_arms} arms need {self.n_arms - 1} edges"
            raise InputError("edges", must, len(self.edges))
        reached = _spread(self.neighbours, 0, lambda _, __: True)
        for arm in range(self.n_arms):
            if arm not in reached:
                raise InputError("edges", f"connect all arms: no path joins 0 and {arm}")

    def _check_unimodal(self) -> None:
        reached = self._tree
        for parent in reached:
            for child in self.neighbours[parent]:
                if child not in reached:
                    low, high = float(self.theta[parent]), float(self.theta[child])
                    raise InputError(
                        "theta",
                        f"be unimodal: away from the best arm {self.arm_name(self.best)} it turns "
                        f"between arms {self.arm_name(parent)} and {self.arm_name(child)}",
                        [low, high],
                    )

    @cached_property
    def _tree(self) -> dict[int, int]:
        """For each arm that a descent from the peak reaches, the arm it is reached from."""
        return _spread(self.neighbours, self.best, lambda a, b: self.rewards[b] <= self.rewards[a])

    @cached_property
    def is_tree(self) -> bool:
        """Whether no path leads back to where it began."""
        return sum(map(len, self.neighbours)) == 2 * (self.n_arms - 1)

    def priced(self, cost: Cost) -> FreeMeans | PricedFollowing:
        free = FreeMeans(self, cost)
        if free.is_free:
            return free
        if not self.is_tree:
            must = "be regret, or make the best arm free: on a graph with a cycle, which "
            must += "parameters are confusing where its mean may move is not worked out"
            raise InputError("cost", must, cost.plain)
        return PricedFollowing(self, cost, self._following())

    def _following(self) -> Following:
        """A neighbour rises to its level; none of those behind the best arm exceeds it."""
        arms = np.array(self.neighbours[self.best], dtype=np.int64)
        floors = np.full((arms.size, self.n_arms), np.inf)
        ceilings = np.full((arms.size, self.n_arms), np.inf)
        for row, arm in enumerate(arms.tolist()):
            floors[row, arm] = 0.0
            ceilings[row, self._behind(arm)] = 0.0

        def exactly(arm: int) -> Any:
            from flint import arb

            from ossb.graves_lai.exact.levels import Moves

            return Moves({arm: arb(0)}, dict.fromkeys(self._behind(arm), arb(0)))

        return Following(self, arms, floors, ceilings, exactly)

    def _behind(self, arm: int) -> list[int]:
        """The arms from which the way to a neighbour of the best arm leads over the best arm."""
        reached = _spread(self.neighbours, self.best, lambda _, to: to != arm)
        return sorted(reached)

    def model(self) -> UnimodalModel:
        """The structure as policies see it."""
        has_prior = self.observation in ("bernoulli", "bounded")
        return UnimodalModel(
            self.family,
            self.n_arms,
            self.n_arms,
            np.cumsum([0, *map(len, self.neighbours)]),
            np.array([y for near in self.neighbours for y in near], dtype=np.int64),
            np.array(self._path(), dtype=np.int64),
            2.0 if has_prior else 0.0,
            0.5 * self.sign,
        )

    def _path(self) -> list[int]:
        """The arms from end to end where they stand in a line, else nothing."""
        ends = [x for x in range(self.n_arms) if len(self.neighbours[x]) <= 1]
        if not self.is_tree or max(map(len, self.neighbours)) > 2:
            return []
        path = [ends[0]]
        while len(path) < self.n_arms:
            path += [y for y in self.neighbours[path[-1]] if y not in path[-2:]]
        return path

    def unprojected(self) -> str | None:
        if self.is_tree:
            return None
        return "needs the best means with a given mode, which are known on lines and trees only"

    def tested(self) -> UnimodalModel | ClassicalModel:
        """On a graph with a cycle, as if the arms knew nothing of one another."""
        if self.is_tree:
            return self.model()
        common: dict[str, Any] = {
            "observation": self.observation,
            "sigma": self.sigma,
            "goal": self.goal,
        }
        return Classical(n_arms=self.n_arms, **common).model()

    def solve(self, gap: float) -> Bound:
        support, alternatives, value = proved(
            self.family, self.rewards, self.best, self.neighbours[self.best], self.sign
        )
        return Bound(self, value, value, support, alternatives)

    def check_member(self, alternative: Alternative, arm: int) -> None:
        """Both must fall along one tree rooted at ``arm``: a convex set.

        The tree is the true one, rooted at the best arm, with ``arm`` put in front of its root.
        """
        if arm not in self.neighbours[self.best]:
            raise ProofError(".arm: must be a neighbour of the best arm")
        below = [x for x in self._tree if x not in (arm, self.best)]
        children = [self.best, *below]
        parents = [arm, *(self._tree[x] for x in below)]
        for name in ("parameter", "witness"):
            means = self.sign * getattr(alternative, name)
            if means.shape == (self.n_arms,) and not (means[children] <= means[parents]).all():
                raise ProofError(f".{name}: outside the parameter set, its means do not fall")

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.exact.means import information  # loads flint

        return information(self.truth, self.neighbours[self.best], support)


def _spread(neighbours: tuple[tuple[int, ...], ...], start: int, passes: Any) -> dict[int, int]:
    """Arms reached from ``start`` over edges that ``passes``, each with where it came from."""
    reached, waiting = {start: start}, [start]
    while waiting:
        arm = waiting.pop()
        for other in neighbours[arm]:
            if other not in reached and passes(arm, other):
                reached[other] = arm
                waiting.append(other)
    return reached


def _arm(value: Any, field: str, n_arms: int) -> int:
    arm = read.integer(value, field)
    if arm >= n_arms:
        raise InputError(field, f"be below {n_arms}", arm)
    return arm
