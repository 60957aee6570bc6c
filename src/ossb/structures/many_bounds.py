"""Bounds of many instances: those of a kind are solved together, where that is quicker."""

from collections.abc import Iterable
from typing import Any

from ossb.errors import CertificationError, InputError, OssbError
from ossb.structures.base import Bound, Structure, bound, readable_gap, refuse_unknown


def bounds(
    instances: Iterable[Structure], gap: float = 1e-6, cost: Any = "regret", answer: Any = "best"
) -> list[Bound]:
    """The bound of each of several instances, in their order; see ``bound``.

    An instance without one raises the error that ``bound`` would, which says where in the list it
    stands.  Linear instances of one shape take tens of microseconds each and every
    processor, once their kernel is compiled.

    Examples
    --------
    >>> import ossb
    >>> arms = [[1, 0], [0, 1], [0.9, 0.2]]
    >>> instances = [ossb.Linear(arms=arms, phi=[1, y]) for y in (0, 0.1)]
    >>> [round(bound.value, 6) for bound in ossb.bounds(instances)]
    [8.0, 11.25]
    """
    gap = readable_gap(gap)
    if isinstance(instances, str | bytes | dict) or not isinstance(instances, Iterable):
        raise InputError("instances", "be a list of structures such as Classical(…)", instances)
    items = list(instances)
    kinds: dict[Any, list[int]] = {}
    for place, instance in enumerate(items):
        try:
            refuse_unknown(instance)
        except InputError as error:
            raise placed(error, place) from None
        kinds.setdefault(type(instance), []).append(place)
    found: list[Bound | None] = [None] * len(items)
    regret = isinstance(cost, str) and cost == "regret" and answer == "best"
    for kind, places in kinds.items() if regret else ():
        some = kind.solve_list([items[place] for place in places], gap)
        for place, one in zip(places, some, strict=True):
            found[place] = one
    complete = []
    for place, (instance, one) in enumerate(zip(items, found, strict=True)):
        try:
            complete.append(bound(instance, gap, cost, answer) if one is None else one)
        except OssbError as error:
            raise placed(error, place) from None
    return complete


def placed(error: OssbError, place: int) -> OssbError:
    """The error of one instance of a list, which says which one it is."""
    where = f"instances[{place}]"
    if isinstance(error, InputError):
        return InputError(where, f"be valid: {error}")
    if isinstance(error, CertificationError):
        return CertificationError(f"{where}: {error}")
    return error
