"""How large an instance a stranger may ask for: some structures grow with the square."""

from collections.abc import Mapping
from typing import Any

from ossb.arm_sets import ARM_SETS
from ossb.errors import InputError
from ossb.structures import STRUCTURES

MOST_ARMS = 20_000
COUNTS = ("n_arms", "n_items", "n_left", "n_right", "n_nodes", "size")  # other numbers are none


def check(instance: dict[str, Any]) -> None:
    """Refuse what would not fit into memory."""
    largest = _largest(instance)
    for key, value in instance.items():
        if not isinstance(value, list) and key not in COUNTS:
            continue
        size = len(value) if isinstance(value, list) else value
        if isinstance(size, bool) or not isinstance(size, int):
            continue
        most = largest.get(key, MOST_ARMS)
        if size > most:
            raise InputError(f"instance.{key}", f"be at most {most} in a campaign over HTTP")
    if isinstance(instance.get("edges"), list):
        _check_nodes(instance["edges"])


def check_grown(instance: dict[str, Any]) -> None:
    """Refuse an added arm with which an instance would not fit into memory."""
    try:
        check(instance)
    except InputError as error:
        key = error.field.removeprefix("instance.")
        raise InputError("arm", f"not be added: `{key}` must {error.must}") from None


def _largest(instance: dict[str, Any]) -> Mapping[str, int]:
    """Key → the most that fits, where the structure or the set of arms says so."""
    structure, arm_set = instance.get("structure"), instance.get("arm_set")
    if isinstance(arm_set, str) and arm_set in ARM_SETS:
        found: Mapping[str, int] = ARM_SETS[arm_set][0].largest
        return found
    if isinstance(structure, str) and structure in STRUCTURES.own:
        return STRUCTURES[structure].largest
    return {}


def _check_nodes(edges: list[Any]) -> None:
    """Nodes are numbered without gaps: a high number is a large graph."""
    for i, edge in enumerate(edges):
        for end in edge if isinstance(edge, list) else ():
            if isinstance(end, int) and end >= MOST_ARMS:
                must = f"join nodes below {MOST_ARMS} in a campaign over HTTP"
                raise InputError(f"instance.edges[{i}]", must)
