"""Arms that come and go: the same structure on fewer arms, or on one more.

What can be retired or added is an arm, or an item where arms are made of items (dueling, sets of
arms that are not listed).

- classical: any arm; a new one brings nothing but its name.
- linear, generalised linear: any arm; a new one brings its ``features``.
- lipschitz: any arm; a new one brings its ``point``, or its ``distances`` to all arms before it.
- unimodal: any arm.  Its neighbours become neighbours of one another, which keeps means
  unimodal on the rest: a path that rises through the arm rises without it.  A new arm brings its
  ``neighbours``, or the two it stands ``between``; without either it stands at the end of the
  line.
- dueling: any item; the rest must still have a Condorcet winner, which nobody can check
  beforehand.
- combinatorial, arms not listed: any item, while there are arms without it; none can be added.

Other structures tie their arms together in ways that do not restrict: they refuse.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ossb import fields as read
from ossb.errors import InputError
from ossb.instances import from_dict

Keys = dict[str, Any]


def n_units(instance: Any) -> int:
    """How many arms (items, where arms are made of items) there are to retire."""
    if is_described(instance):
        return int(instance.item_count)
    return int(instance.n_items if instance.kind == "dueling" else instance.n_arms)


def is_described(instance: Any) -> bool:
    """Whether the arms are those of a set, and not listed."""
    return bool(instance.n_arms is None)


def restricted(instance: Any, kept: Sequence[int]) -> Any:
    """The structure on some of its arms (items), in increasing order."""
    keys = _bare(instance)
    if is_described(instance):
        _fewer_of_set(instance, list(kept), keys)
    else:
        _known(instance, "have all its arms: those of {kind} structures belong together")
        _REDUCE[instance.kind](instance, list(kept), keys)
    if len(instance.arm_names):
        keys["arm_names"] = [instance.arm_names[unit] for unit in kept]
    try:
        return from_dict(keys)
    except InputError as error:
        if not is_described(instance):
            raise
        raise InputError("arm", f"leave an arm of the set to play: {error}") from None


def extended(instance: Any, arm: Mapping[str, Any]) -> Any:
    """The structure with one more arm (item), which comes last."""
    refuse_growth(instance)
    keys, given = _bare(instance), dict(arm)
    if len(instance.arm_names):
        keys["arm_names"] = [*instance.arm_names, _new_name(instance, given)]
    elif "name" in given:
        raise InputError("arm.name", "be left out: the other arms have no names", given["name"])
    _GROW[instance.kind](instance, given, keys)
    for key in given:
        raise InputError(f"arm.{key}", f"be left out of a new arm of {instance.kind}")
    return from_dict(keys)


def _new_name(instance: Any, given: Keys) -> str:
    if "name" not in given:
        raise InputError("arm.name", "be given: the other arms have names")
    name = read.seen(given.pop("name"), "arm.name")
    if name in instance.arm_names:
        raise InputError("arm.name", "be distinct: it is another arm's", name)
    return name


def may_grow(instance: Any) -> bool:
    """Whether arms can be added."""
    return not is_described(instance) and instance.kind in _GROW


def refuse_growth(instance: Any) -> None:
    """Refuse an instance whose arms are what they are."""
    if is_described(instance):
        raise InputError("arm", "not be added: the items of a set of arms belong together")
    _known(instance, "not be added: the arms of {kind} structures belong together")


def places(instance: Any, kept: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the arms and of the components that remain, in the restricted order."""
    if instance.kind != "dueling":  # the arms of a set have their numbers from a table
        return np.array(kept, dtype=np.int64), np.array(kept, dtype=np.int64)
    wanted, reveals = set(kept), instance.showing()
    arms = [x for x, pair in enumerate(instance.pairs) if wanted.issuperset(pair)]
    components = [shown for x in arms for shown in reveals[x]]
    return np.array(arms, dtype=np.int64), np.array(components, dtype=np.int64)


def moves(old: Any, new: Any) -> dict[str, list[int]]:
    """Where the arms and components of an instance stand in the extended one."""
    if old.kind != "dueling":
        return {"arms": list(range(old.n_arms)), "components": list(range(old.n_arms))}
    place = {pair: x for x, pair in enumerate(new.pairs)}
    reveals = new.showing()
    arms = [place[pair] for pair in old.pairs]
    components = [reveals[place[pair]][0] for pair in old.pairs if pair[0] != pair[1]]
    return {"arms": arms, "components": components}


def _known(instance: Any, must: str) -> None:
    if instance.kind not in _REDUCE:
        raise InputError("arm", must.format(kind=instance.kind))


def _bare(instance: Any) -> Keys:
    """The keys of an instance without its true parameter and its arms' names."""
    keys: Keys = instance.to_dict()
    for key in (instance.parameter, "arm_names"):
        keys.pop(key, None)
    return keys


def _fewer_classical(instance: Any, kept: list[int], keys: Keys) -> None:
    keys["n_arms"] = len(kept)


def _one_classical(instance: Any, given: Keys, keys: Keys) -> None:
    keys["n_arms"] = instance.n_arms + 1


def _fewer_linear(instance: Any, kept: list[int], keys: Keys) -> None:
    keys["arms"] = instance.arms[kept].tolist()


def _one_linear(instance: Any, given: Keys, keys: Keys) -> None:
    if "features" not in given:
        raise InputError("arm.features", "be given")
    row = read.vector(given.pop("features"), "arm.features", instance.arms.shape[1])
    keys["arms"] = [*instance.arms.tolist(), row.tolist()]


def _fewer_lipschitz(instance: Any, kept: list[int], keys: Keys) -> None:
    if instance.distances is None:
        keys["points"] = instance.points[kept].tolist()
    else:  # with detours over the arms left out
        keys["distances"] = instance.metric[np.ix_(kept, kept)].tolist()


def _one_lipschitz(instance: Any, given: Keys, keys: Keys) -> None:
    if instance.distances is None:
        if "point" not in given:
            raise InputError("arm.point", "be given")
        point = given.pop("point")
        if instance.points.ndim == 1:
            keys["points"] = [*instance.points.tolist(), read.number(point, "arm.point")]
        else:
            place = read.vector(point, "arm.point", instance.points.shape[1])
            keys["points"] = [*instance.points.tolist(), place.tolist()]
        return
    if "distances" not in given:
        raise InputError("arm.distances", "be given, one to each arm before it")
    row = read.vector(given.pop("distances"), "arm.distances", instance.n_arms)
    table = np.zeros((row.size + 1, row.size + 1))
    table[:-1, :-1] = instance.distances
    table[-1, :-1] = table[:-1, -1] = row
    keys["distances"] = table.tolist()


def _edges(instance: Any) -> set[tuple[int, int]]:
    return {(a, b) for a, near in enumerate(instance.neighbours) for b in near if a < b}


def _fewer_unimodal(instance: Any, kept: list[int], keys: Keys) -> None:
    keys["n_arms"] = len(kept)
    if instance.edges is None:
        return
    near = [set(arms) for arms in instance.neighbours]
    for gone in set(range(instance.n_arms)).difference(kept):
        for a, b in combinations(sorted(near[gone]), 2):
            near[a].add(b)
            near[b].add(a)
        for a in near[gone]:
            near[a].discard(gone)
        near[gone].clear()
    number = {arm: place for place, arm in enumerate(kept)}
    keys["edges"] = sorted([number[a], number[b]] for a in kept for b in near[a] if a < b)


def _one_unimodal(instance: Any, given: Keys, keys: Keys) -> None:
    new = instance.n_arms
    keys["n_arms"] = new + 1
    if "between" in given and "neighbours" in given:
        raise InputError("arm.between", "be left out: neighbours are given")
    if "between" in given:
        ends = sorted(read.pairs([given.pop("between")], "arm.between", new)[0].tolist())
        edges = _edges(instance)
        if tuple(ends) not in edges:
            raise InputError("arm.between", "be two neighbours", ends)
        edges.discard((ends[0], ends[1]))
    elif "neighbours" in given:
        near = given.pop("neighbours")
        if not isinstance(near, list | tuple) or not near:
            raise InputError("arm.neighbours", "be a list of arms", near)
        ends = [_arm(arm, f"arm.neighbours[{i}]", new) for i, arm in enumerate(near)]
        edges = _edges(instance)
    elif instance.edges is None:
        return
    else:
        raise InputError("arm.neighbours", "be given")
    keys["edges"] = sorted([a, b] for a, b in edges | {(end, new) for end in ends})


def _fewer_items(instance: Any, kept: list[int], keys: Keys) -> None:
    keys["n_items"] = len(kept)


def _one_item(instance: Any, given: Keys, keys: Keys) -> None:
    keys["n_items"] = instance.n_items + 1


def _fewer_of_set(instance: Any, kept: list[int], keys: Keys) -> None:
    if instance.edges is None:
        keys["n_items"] = len(kept)
    else:
        keys["edges"] = instance.edges[kept].tolist()


def _arm(value: Any, field: str, n_arms: int) -> int:
    arm = read.integer(value, field)
    if arm >= n_arms:
        raise InputError(field, f"be below {n_arms}", arm)
    return arm


_REDUCE: dict[str, Callable[[Any, list[int], Keys], None]] = {
    "classical": _fewer_classical,
    "linear": _fewer_linear,
    "generalized_linear": _fewer_linear,
    "lipschitz": _fewer_lipschitz,
    "unimodal": _fewer_unimodal,
    "dueling": _fewer_items,
}
_GROW: dict[str, Callable[[Any, Keys, Keys], None]] = {
    "classical": _one_classical,
    "linear": _one_linear,
    "generalized_linear": _one_linear,
    "lipschitz": _one_lipschitz,
    "unimodal": _one_unimodal,
    "dueling": _one_item,
}
