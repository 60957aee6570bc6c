"""Segments: who asks decides which instance is played, and none of them tells of another.

Each segment is a whole instance of one structure, with keys of its own beside those that all of
them share.  The best arm of each has to be found, so that bounds add up.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, cast

import numpy as np

from ossb import fields as read
from ossb.errors import CertificationError, InputError
from ossb.families import Family
from ossb.graves_lai.cost import Cost
from ossb.graves_lai.proof import Arm
from ossb.structures.base import Bound, Instance, bound, keys_of, required_keys
from ossb.structures.contexts import Layout, read_who
from ossb.structures.summed import SummedBound, summed

# of all segments
ALIKE = tuple(item.name for item in fields(Instance) if item.name not in ("name", "arm_names"))
APART = ("contexts", "interaction")  # which share a parameter


class Segmented(Instance):
    """Independent segments of one structure; an arm is written ``[segment, arm]``."""

    has_contexts: ClassVar[bool] = True
    has_segments: ClassVar[bool] = True

    parts: list[Any]
    layout: Layout
    segments: list[dict[str, Any]]
    shared: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {"structure": self.kind, **self.shared, "segments": self.segments}

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<{len(self.parts)} segments, {self.kind}{name} {self.observation}>"

    def alone(self, segment: Any) -> Any:
        """One segment as an instance of its own."""
        return self.parts[self.layout.context(segment, "segment")]

    # what is known of it

    @property
    def known(self) -> bool:
        return all(part.known for part in self.parts)

    @property
    def parameter(self) -> str:  # type: ignore[override]
        """The true parameter of the first segment that lacks it."""
        place = next((z for z, part in enumerate(self.parts) if not part.known), 0)
        return f"segments[{place}].{self.parts[place].parameter}"

    @property
    def may_certify(self) -> bool:
        return all(part.may_certify for part in self.parts)

    def out_of_range(self) -> tuple[str, float] | None:
        for z, part in enumerate(self.parts):
            found: tuple[str, float] | None = part.out_of_range()
            if found is not None:
                return f"segments[{z}].{found[0]}", found[1]
        return None

    # its arms

    @property
    def n_arms(self) -> int | None:
        listed = all(part.n_arms is not None for part in self.parts)
        return int(self.layout.starts[-1]) if listed else None

    def best_arms(self) -> list[Arm]:
        found: list[Any] = []
        for z, part in enumerate(self.parts):
            with placed(z):
                found.append((z, part.best_arm()))
        return found

    def best_arm(self) -> Any:
        """The best arm of each segment."""
        return tuple(self.best_arms())

    def _split(self, arm: Any) -> tuple[int, Any]:
        if not isinstance(arm, list | tuple) or len(arm) != 2:
            raise InputError("arm", "be a pair [segment, arm]", arm)
        return self.layout.context(arm[0], "arm[0]"), arm[1]

    def position(self, arm: Any) -> int:
        z, inner = self._split(arm)
        return int(self.layout.starts[z]) + int(self.parts[z].position(inner))

    def arm_at(self, position: int) -> Any:
        z = self.layout.context_of(int(position))
        return z, self.parts[z].arm_at(int(position) - int(self.layout.starts[z]))

    def arm_name(self, arm: Any) -> str:
        """How an arm is called: by its segment and its name or number."""
        if isinstance(arm, tuple) and arm and isinstance(arm[0], tuple):
            return ", ".join(map(self.arm_name, arm))
        z, inner = self._split(self.arm_at(arm) if isinstance(arm, int) else arm)
        return f"{self.layout.names[z]}: {self.parts[z].arm_name(inner)}"

    def context_name(self, arm: Any) -> str:
        """The name of an arm's segment."""
        return self.layout.names[self._split(arm)[0]]

    def gap_of(self, arm: Any) -> float:
        z, inner = self._split(arm)
        return float(self.parts[z].gap_of(inner))

    def total_gap(self) -> float:
        return sum(part.total_gap() for part in self.parts)

    @cached_property
    def gaps(self) -> np.ndarray:
        """Δ(x) of all listed arms, segment after segment."""
        return np.concatenate([part.gaps for part in self.parts])

    # what they show, as a campaign needs to know it

    def showing(self) -> list[list[int]]:
        firsts = self.first_components()
        return [
            [first + component for component in shown]
            for first, part in zip(firsts, self.parts, strict=False)
            for shown in part.showing()
        ]

    def first_components(self) -> list[int]:
        """Where the components of each segment begin, and where the last ends."""
        return [0, *np.cumsum([part.component_count() for part in self.parts]).tolist()]

    def component_count(self) -> int:
        return self.first_components()[-1]

    def unit_count(self) -> int:
        return sum(part.unit_count() for part in self.parts)

    @property
    def observed_family(self) -> Family:
        return cast(Family, self.parts[0].observed_family)

    @property
    def observed_sign(self) -> float:
        return float(self.parts[0].observed_sign)

    @property
    def shows_lists(self) -> bool:
        return bool(self.parts[0].shows_lists)

    @property
    def adds_up(self) -> bool:  # type: ignore[override]
        return bool(self.parts[0].adds_up)

    # its bound

    def costs(self, cost: Cost) -> list[Cost]:
        """What plays of each segment cost."""
        if not isinstance(cost.price, tuple):
            return [cost] * len(self.parts)
        return [
            replace(cost, price=cost.price[start:stop])
            for start, stop in pairwise(self.layout.starts.tolist())
        ]

    def solve(self, gap: float) -> SummedBound:
        return self._solve(gap, ["regret"] * len(self.parts))

    def _solve(self, gap: float, costs: list[Any]) -> SummedBound:
        found: list[Bound] = []
        for z, (part, cost) in enumerate(zip(self.parts, costs, strict=True)):
            with placed(z):
                found.append(bound(part, gap, cost))
        return summed(self, found)

    def priced(self, cost: Cost) -> "_Priced":
        for z, (part, own) in enumerate(zip(self.parts, self.costs(cost), strict=True)):
            with placed(z):
                part.priced(own)
        return _Priced(self, cost)


class _Priced:
    """The program in which plays have other costs than regret."""

    def __init__(self, instance: Segmented, cost: Cost) -> None:
        self.instance, self.cost = instance, cost

    @property
    def may_certify(self) -> bool:
        return self.instance.may_certify

    def solve(self, gap: float) -> SummedBound:
        return self.instance._solve(gap, self.instance.costs(self.cost))


def segmented(structure: Any, keys: dict[str, Any]) -> Segmented:
    """The instance that keys of a structure describe, ``segments`` among them."""
    given = keys["segments"]
    if structure.kind in ("convex", "oracle"):
        raise InputError("segments", f"be left out: {structure.kind} instances stand in no file")
    if not isinstance(given, list | tuple) or not given:
        raise InputError("segments", "be a list of at least one table", given)
    shared = {k: v for k, v in keys.items() if k != "segments" and v is not None}
    known = [key for key in keys_of(structure) if key not in APART]
    for key in APART:
        if key in shared:
            raise InputError(key, "be left out: segments share nothing but their structure")
    read.check_keys(shared, [*known, "segments"], f"a key of {structure.kind}")
    name = read.text(shared.pop("name", ""), "name")
    own = [*(key for key in known if key not in ALIKE), "weight"]
    titles, weights = read_who(given, own, "segments")
    parts = []
    for z, entry in enumerate(given):
        others = {k: v for k, v in entry.items() if k not in ("name", "weight") and v is not None}
        with placed(z):
            title = f"{name}: {titles[z]}" if name else titles[z]
            parts.append(_part(structure, {**shared, **others, "name": title}))
    instance: Segmented = object.__new__(Segmented)
    for key in (*ALIKE, "_has_sigma"):
        instance._set(key, getattr(parts[0], key))
    for key in ("kind", "observations", "reference"):
        instance._set(key, getattr(structure, key))
    instance._set("name", name)
    instance._set("arm_names", ())
    instance._set("parts", parts)
    instance._set("layout", _layout(parts, titles, weights))
    _remember(instance, given, shared)
    return instance


def _part(structure: Any, keys: dict[str, Any]) -> Any:
    for name in required_keys(structure):
        if keys.get(name) is None:
            raise InputError(name, f"be given for {structure.kind}")
    part = structure(**keys)
    for i, name in enumerate(part.arm_names):
        read.seen(name, f"arm_names[{i}]")
    return part


def _layout(parts: list[Any], titles: list[str], weights: list[float]) -> Layout:
    """Where the arms of each segment stand, as far as arms are listed."""
    counts = [part.n_arms or 0 for part in parts]
    numbers = np.concatenate([np.arange(count) for count in counts])
    called = [part.arm_name(part.arm_at(x)) for part in parts for x in range(part.n_arms or 0)]
    shares = np.array(weights) / np.sum(weights)
    return Layout(np.cumsum([0, *counts]), numbers, tuple(titles), tuple(called), shares)


def _remember(instance: Segmented, given: Any, shared: dict[str, Any]) -> None:
    """Keys as a file holds them, those at their defaults left out."""
    plain = [part.to_dict() for part in instance.parts]
    tables = []
    for entry, content in zip(given, plain, strict=True):
        table = {k: entry[k] for k in ("name", "weight") if entry.get(k) is not None}
        tables.append(table | {k: content[k] for k in entry if k in content and k != "name"})
    held: dict[str, Any] = {"name": instance.name} if instance.name else {}
    for key in dict.fromkeys(("observation", *shared)):
        alike = (
            content[key]
            for content, entry in zip(plain, given, strict=True)
            if key in content and entry.get(key) is None
        )
        value = next(alike, None)
        if value is not None:
            held[key] = value
    instance._set("segments", tables)
    instance._set("shared", held)


@contextmanager
def placed(z: int) -> Iterator[None]:
    """Say of an error in which segment it is."""
    try:
        yield
    except InputError as error:
        raise InputError(f"segments[{z}]", f"be valid: {error}") from None
    except CertificationError as error:
        raise CertificationError(f"segments[{z}]: {error}") from None


def refuse_segments(instance: Any) -> None:
    """Refuse segments where one instance is asked for."""
    if isinstance(instance, Segmented):
        must = "be given one by one here, each as an instance (in Python, `alone` makes one)"
        raise InputError("segments", must)
