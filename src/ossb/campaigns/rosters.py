"""Arms that come and go: the same structure on fewer arms, or on one more.

What can be retired or added is an arm, or an item where arms are made of items (dueling, sets of
arms that are not listed).  Each structure says what goes with it and what a new one brings
(``structures/roster.py``); those that tie their arms together in ways that do not restrict refuse.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ossb import fields as read
from ossb.errors import InputError
from ossb.instances import from_dict

Keys = dict[str, Any]


def is_described(instance: Any) -> bool:
    """Whether the arms are those of a set, and not listed."""
    return bool(instance.n_arms is None)


def restricted(instance: Any, kept: Sequence[int]) -> Any:
    """The structure on some of its arms (items), in increasing order."""
    if not instance.can_leave_out:
        refuse_retiring(instance)
    keys = _bare(instance)
    instance.fewer(list(kept), keys)
    if len(instance.arm_names) and not instance.has_contexts:
        keys["arm_names"] = [instance.arm_names[unit] for unit in kept]
    try:
        return from_dict(keys)
    except InputError as error:
        if not is_described(instance):
            raise
        raise InputError("arm", f"leave an arm of the set to play: {error}") from None


def refuse_retiring(instance: Any) -> None:
    """Refuse an instance whose arms stay."""
    if not instance.can_restrict:
        must = f"have all its arms: those of {instance.kind} structures belong together"
        if instance.has_contexts:
            must = "stay: arms in contexts are retired nowhere (an ask may leave them out)"
        raise InputError("arm", must)


def extended(instance: Any, arm: Mapping[str, Any]) -> Any:
    """The structure with one more arm (item), which comes last."""
    refuse_growth(instance)
    keys, given = _bare(instance), dict(arm)
    if len(instance.arm_names):
        keys["arm_names"] = [*instance.arm_names, _new_name(instance, given)]
    elif "name" in given:
        raise InputError("arm.name", "be left out: the other arms have no names", given["name"])
    instance.one_more(given, keys)
    for key in given:
        raise InputError(f"arm.{key}", f"be left out of a new arm of {instance.kind}")
    return from_dict(keys)


def with_context(instance: Any, context: Mapping[str, Any]) -> Any:
    """The instance with one more context or segment, which comes last."""
    if not instance.has_contexts:
        raise InputError("context", "be left out: the instance has none that it could join")
    keys, key = instance.to_dict(), "segments" if instance.has_segments else "contexts"
    if not instance.has_segments:
        keys.pop(instance.parameter, None)  # which may be of another length then
    where = f"{key}[{len(keys[key])}]"
    keys[key] = [*keys[key], dict(context)]
    try:
        return from_dict(keys)
    except InputError as error:
        if not error.field.startswith(where):
            raise
        field = "context" + error.field[len(where) :]
        raise InputError(field, error.must) from None


def _new_name(instance: Any, given: Keys) -> str:
    if "name" not in given:
        raise InputError("arm.name", "be given: the other arms have names")
    name = read.seen(given.pop("name"), "arm.name")
    if name in instance.arm_names:
        raise InputError("arm.name", "be distinct: it is another arm's", name)
    return name


def refuse_growth(instance: Any) -> None:
    """Refuse an instance whose arms are what they are."""
    if is_described(instance):
        raise InputError("arm", "not be added: the items of a set of arms belong together")
    if not instance.can_grow:
        must = f"not be added: the arms of {instance.kind} structures belong together"
        raise InputError("arm", must)


def _bare(instance: Any) -> Keys:
    """The keys of an instance without its true parameter and its arms' names."""
    keys: Keys = instance.to_dict()
    for key in (instance.parameter, "arm_names"):
        keys.pop(key, None)
    return keys
