"""What structures with a list of numbered arms share, and those whose parameter is their means."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.families import check_means
from ossb.graves_lai.independent import beyond, divergences
from ossb.graves_lai.proof import Arm
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
        """Δ(x); 0 at the best arm."""
        return np.asarray(self.rewards[self.best] - self.rewards)

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

    def disagreement(self, parameter: np.ndarray) -> float:
        return float(abs(parameter[self.best] - self.theta[self.best]))

    def advantage(self, parameter: np.ndarray, arm: Arm) -> float:
        return float(self.sign * (parameter[self.position(arm)] - parameter[self.best]))

    def outside_mean_space(self, parameter: np.ndarray) -> float:
        return beyond(self.family, self.sign * parameter)

    def heaviest(self, parameters: Sequence[np.ndarray], weights: np.ndarray) -> float:
        total = np.zeros(self.rewards.size)
        for weight, parameter in zip(weights, parameters, strict=True):
            signed = self.sign * parameter
            moved = np.flatnonzero(signed != self.rewards)
            total[moved] += weight * divergences(self.family, self.rewards[moved], signed[moved])
        return float((total[self.others] / self.gaps[self.others]).max())
