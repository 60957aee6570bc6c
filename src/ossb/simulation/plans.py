"""``plans``: a test under several beliefs, and how long it takes at the median and at worst."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ossb.errors import InputError
from ossb.simulation.beliefs import beliefs_of, has_ranges
from ossb.simulation.planning import Plan, duration, plan


@dataclass(frozen=True, eq=False)
class Plans:
    """Plans of one test under several beliefs."""

    found: list[Plan]
    drawn: bool = False  # whether the beliefs were drawn from ranges

    def __iter__(self) -> Any:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    @property
    def median(self) -> Plan:
        """The plan of median length, the longer of two."""
        return sorted(self.found, key=lambda one: one.rounds)[len(self.found) // 2]

    @property
    def worst(self) -> Plan:
        """The longest plan."""
        return max(self.found, key=lambda one: one.rounds)

    def to_dict(self) -> list[dict[str, Any]]:
        return [one.to_dict() for one in self.found]

    def summary(self) -> str:
        """The median and the worst in a line."""
        said = [_length(one) for one in (self.median, self.worst)]
        return f"over {len(self.found)} beliefs: median {said[0]}, at worst {said[1]}"

    def table(self) -> str:
        """All of them in words; of beliefs drawn from ranges the median and the worst."""
        if self.drawn:
            parts = [("at the median:", self.median), ("at worst:", self.worst)]
        else:
            parts = [(f"{one.instance.name}:", one) for one in self.found]
        lines = [
            f"{head}\n{one.table()}" if one.instance.name or self.drawn else one.table()
            for head, one in parts
        ]
        return "\n".join([*lines, self.summary()] if len(self.found) > 1 else lines)

    def __repr__(self) -> str:
        return f"<Plans beliefs={len(self.found)}>\n{self.table()}"

    def _repr_html_(self) -> str:
        from ossb.notebook import curves, table

        rows = [
            (name, f"{one.rounds:,}", "" if one.days is None else duration(one.days), cost)
            for name, one in (("median", self.median), ("worst", self.worst))
            for cost in (f"{one.regret:.4g}",)
        ]
        lines = {
            name: ([r for r, _ in one.frontier], [c for _, c in one.frontier])
            for name, one in (("median", self.median), ("worst", self.worst))
        }
        caption = f"a test, planned under {len(self.found)} beliefs"
        return table(caption, ("belief", "rounds", "time", "regret"), rows) + curves(
            "regret over rounds", lines
        )


def plans(
    believed: Sequence[Any] | Mapping[str, Any],
    delta: float = 0.05,
    epsilon: float = 0.0,
    per_day: float | None = None,
    simulate: int = 0,
    seed: int = 0,
    gap: float = 0.0,
    progress: Callable[[str, int], None] | None = None,
    answer: Any = "best",
) -> Plans:
    """How long a test takes under several beliefs.

    Parameters
    ----------
    believed
        Instances; or the keys of one, with a range [low, high] in the place of some entries of its
        parameter, from which parameters are drawn.
    gap
        The smallest gap that matters, of ranges: parameters whose best arm is ahead by less are
        left out.
    delta, epsilon, per_day, simulate, answer
        As of ``plan``.

    Examples
    --------
    >>> import ossb
    >>> believed = [
    ...     ossb.Classical(observation="bernoulli", theta=[0.5, better]) for better in (0.7, 0.8)
    ... ]
    >>> round(ossb.plans(believed, delta=0.05).worst.characteristic_time, 2)
    47.6
    """
    if isinstance(believed, Mapping):
        if not has_ranges(believed):
            raise InputError("instance", "hold ranges, such as theta = [[0.2, 0.3], [0.4, 0.6]]")
        chosen, drawn = beliefs_of(believed, gap, seed), True
    elif gap > 0.0:
        raise InputError("gap", "be used with ranges, such as theta = [[0.2, 0.3], [0.4, 0.6]]")
    else:
        chosen, drawn = list(believed), False
    if not chosen:
        raise InputError("instances", "hold at least one")
    test = (delta, epsilon, per_day, simulate, seed, progress, answer)
    found = [plan(one, *test) for one in chosen]
    return Plans(found, drawn)


def _length(one: Plan) -> str:
    days = "" if one.days is None else f" ({duration(one.days)})"
    return f"{one.rounds:,} rounds{days}"
