"""What a structure answers about its arms in a campaign, where they come and go one by one.

What can be retired or added is an arm, or an item where arms are made of items: a unit.  The
defaults are those of a structure whose arms belong together: none comes, none goes.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.tally import Tally

Keys = dict[str, Any]


class Roster:
    """The arms of an instance, as those who play it for real need to know them."""

    can_restrict: ClassVar[bool] = False  # whether units can be retired
    can_leave_out: ClassVar[bool] = False  # whether an ask may, where none can be retired
    can_grow: ClassVar[bool] = False  # whether units can be added
    has_pairs: ClassVar[bool] = False  # whether an arm is written as a pair of units
    adds_up: ClassVar[bool] = False  # whether an arm is worth the sum of what its components show
    largest: ClassVar[Mapping[str, int]] = {}  # key → the most that a service takes, where few

    @property
    def shows_lists(self) -> bool:
        """Whether what an arm shows is a list, be it of one value."""
        return False

    def unit_count(self) -> int:
        """How many units there are."""
        count: int = self.n_arms  # type: ignore[attr-defined]
        return int(count)

    def fewer(self, kept: Sequence[int], keys: Keys) -> None:
        """Change the keys of this instance to those of some of its units, in increasing order."""
        raise AssertionError("what can be restricted says how")

    def one_more(self, given: Keys, keys: Keys) -> None:
        """Change the keys of this instance to those with one more unit, which comes last.

        What it brings is taken out of ``given``.
        """
        raise AssertionError("what can grow says how")

    def places(self, kept: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Positions of the arms and of the components that some units leave."""
        return np.array(kept, dtype=np.int64), np.array(kept, dtype=np.int64)

    def moves(self, larger: Any) -> dict[str, list[int]]:
        """Where arms and components stand in an instance with one unit more."""
        return {
            "arms": list(range(self.unit_count())),
            "components": list(range(self.unit_count())),
        }

    def leading(self, tally: Tally, told_first: np.ndarray) -> int:
        """The arm that leads by what was told, where some components were never told of.

        Parameters
        ----------
        told_first
            Means under which no arm with components never told of beats one without.
        """
        model: Any = self.model()  # type: ignore[attr-defined]
        return int(model.project(tally, model.start()))

    def parameter_from(self, memory: Any, means: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """The parameter behind a model's estimate; refused where too little was told.

        Parameters
        ----------
        means
            Estimated means of the components, in the sign of the instance.
        counts
            How often each component was told.
        """
        for key in ("phi", "parameter"):
            if hasattr(memory, key):
                return np.asarray(getattr(memory, key))
        return means

    def refuse_untold(self, counts: np.ndarray) -> None:
        """Refuse to estimate while an arm has shown nothing."""
        instance: Any = self
        for position, shown in enumerate(instance.showing()):
            if any(counts[component] == 0 for component in shown):
                name = instance.arm_name(instance.arm_at(position))
                raise InputError("estimate", f"know every arm: arm {name} has shown nothing yet")

    def leading_of_told(self, tally: Tally) -> int:
        """The arm of the largest estimate among those told of: of the others little is known."""
        model: Any = self.model()  # type: ignore[attr-defined]
        memory = model.start()
        model.project(tally, memory)
        return int(np.argmax(np.where(tally.counts > 0, memory.rewards, -math.inf)))

    def leading_by_means(self, tally: Tally, told_first: np.ndarray) -> int:
        """The arm of the largest mean, those never told of last."""
        model: Any = self.model()  # type: ignore[attr-defined]
        return int(model.project(tally._replace(means=told_first), model.start()))


class FeatureRoster(Roster):
    """Arms by their ``features``: any can go, and one that comes brings its own."""

    can_restrict: ClassVar[bool] = True
    can_grow: ClassVar[bool] = True

    def fewer(self, kept: Sequence[int], keys: Keys) -> None:
        arms: np.ndarray = self.arms  # type: ignore[attr-defined]
        keys["arms"] = arms[list(kept)].tolist()

    def one_more(self, given: Keys, keys: Keys) -> None:
        arms: np.ndarray = self.arms  # type: ignore[attr-defined]
        if "features" not in given:
            raise InputError("arm.features", "be given")
        row = read.vector(given.pop("features"), "arm.features", arms.shape[1])
        keys["arms"] = [*arms.tolist(), row.tolist()]

    def parameter_from(self, memory: Any, means: np.ndarray, counts: np.ndarray) -> np.ndarray:
        if hasattr(memory, "phi"):
            return np.asarray(memory.phi)
        return least_squares(self.arms, means)  # type: ignore[attr-defined]


def least_squares(arms: np.ndarray, means: np.ndarray) -> np.ndarray:
    """The parameter of arms that are linear in it."""
    found: np.ndarray = np.linalg.lstsq(arms, means, rcond=None)[0]
    return found
