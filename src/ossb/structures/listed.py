"""What structures with a list of numbered arms share, and those whose parameter is their means."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.families import check_means
from ossb.graves_lai.proof import Alternative, Arm, Ball
from ossb.structures.base import Instance, clear_best


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ListedArms(Instance):
    """Arms 0, 1, …; a structure says what ``rewards`` they bring, signed so that more is better."""

    @cached_property
    def rewards(self) -> np.ndarray:
        raise AssertionError("every structure says what its arms bring")

    @cached_property
    def best(self) -> int:
        return clear_best(self, self.rewards)

    @cached_property
    def gaps(self) -> np.ndarray:
        """Δ(x); 0 at the best arm, or at each of several."""
        return np.asarray(self.rewards.max() - self.rewards)

    @cached_property
    def others(self) -> np.ndarray:
        """Every arm but the best."""
        return np.flatnonzero(np.arange(self.rewards.size) != self.best)

    @cached_property
    def components(self) -> np.ndarray:
        """Mean of each component, signed so that larger is better."""
        return self.rewards

    def reveals(self) -> list[list[int]]:
        """The components that each arm shows: by default its own."""
        return [[arm] for arm in range(self.n_arms)]  # type: ignore[attr-defined]

    def best_arm(self) -> Arm:
        return self.best

    def arm_at(self, position: int) -> Arm:
        """The arm at a position of the list."""
        return int(position)

    def position(self, arm: Arm) -> int:
        place = read.integer(arm, "arm")
        if place >= self.rewards.size:
            raise InputError("arm", f"be below {self.rewards.size}", place)
        return place

    def gap_of(self, arm: Arm) -> float:
        return float(self.gaps[self.position(arm)])

    def total_gap(self) -> float:
        return float(self.gaps.sum())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MeanVector(ListedArms):
    """Each arm shows its own mean, and the parameter θ is the vector of these means."""

    theta: Any = None

    def _read_theta(self, n_arms: int | None) -> int:
        """Check ``theta``, the number of arms and the common keys; returns that number."""
        if self.theta is not None:
            self._set("theta", read.vector(self.theta, "theta", n_arms))
            n_arms = int(self.theta.size)
        if not n_arms:
            if n_arms is None:
                raise InputError(self.parameter, "be given, or n_arms")
            raise InputError(self.parameter, "hold at least one arm", "none")
        self._read_common(n_arms)
        if self.theta is not None:
            check_means(self.plain_family, self.theta, "theta")
        return n_arms

    @cached_property
    def rewards(self) -> np.ndarray:
        return self.sign * np.asarray(self.theta)

    @cached_property
    def truth(self) -> Any:
        """θ as proofs see it; holds balls, which are of one process."""
        return self.truth_about(self.best)

    def truth_about(self, best: int) -> Any:
        """θ as proofs see it, with regret counted from an arm."""
        from ossb.graves_lai.exact.divergences import Divergence  # loads flint
        from ossb.graves_lai.exact.means import Truth

        low, high = self.plain_family.lowest(), self.plain_family.highest()
        divergence = Divergence(self.observation, self.sigma)
        return Truth(np.asarray(self.theta), best, self.sign, low, high, divergence)

    def exact_gap(self, arm: Arm) -> Ball:
        return self.truth.gap(self.position(arm))

    def exact_confusing(self, alternative: Alternative) -> Any:
        from ossb.graves_lai.exact.means import confusing  # loads flint

        arm = self.position(alternative.arm)
        self.check_member(alternative, arm)
        return confusing(self.truth, alternative, arm)

    def check_member(self, alternative: Alternative, arm: int) -> None:
        """Raise ``ProofError`` unless a parameter and its witness lie in one convex piece of Θ.

        Beyond what all of them need: to be in the mean space, and true of the best arm.
        """

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.exact.means import heaviest  # loads flint

        return heaviest(self.truth, confusing, weights, self.truth.gap)
