"""The bound of independent segments: the sum of theirs, each with its own proof."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ossb.graves_lai.bound import Bound
from ossb.graves_lai.proof import Report, judge


@dataclass(frozen=True, eq=False, repr=False)
class SummedBound(Bound):
    """A bound that is the sum of others.

    Parameters
    ----------
    parts
        The bound of every segment.  Both sides of this one are the exact sums of theirs, rounded
        outward.
    """

    parts: Sequence[Bound] = ()

    def verify(self) -> Report:
        """Check every segment's proof, and that what they prove adds up to what is claimed."""
        reports = [part.verify() for part in self.parts]
        said = [f"segments[{z}].{p}" for z, found in enumerate(reports) for p in found.problems]
        report = Report(
            exact_sum((found.lower for found in reports), -math.inf),
            exact_sum((found.upper for found in reports), math.inf),
            min(found.information for found in reports),
            exact_sum((found.cost for found in reports), math.inf),
            tuple(said),
        )
        return judge(self.instance, report, self.lower, self.upper, self.status, self.promised)


def summed(instance: Any, parts: Sequence[Bound]) -> SummedBound:
    """The bound of an instance of segments, from that of each."""
    heuristic = any(part.status == "heuristic" for part in parts)
    return SummedBound(
        instance,
        exact_sum((part.lower for part in parts), -math.inf),
        exact_sum((part.upper for part in parts), math.inf),
        [((z, arm), rate) for z, part in enumerate(parts) for arm, rate in part.support],  # type: ignore[misc]
        [],
        status="heuristic" if heuristic else "certified",
        proved=True,  # each of them was, as far as its structure has it
        parts=parts,
    )


def exact_sum(values: Iterable[float], toward: float) -> float:
    """The sum of doubles, rounded once, in the direction of an infinity."""
    found = list(values)
    if not all(map(math.isfinite, found)):
        return math.inf
    exact = sum(map(Fraction, found), Fraction(0))
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf if toward > 0 else math.nextafter(math.inf, 0.0)
    inside = nearest > exact if toward < 0 else nearest < exact
    return math.nextafter(nearest, toward) if inside else nearest
