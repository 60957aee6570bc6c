"""Structures: what is known of the arms beforehand. One file each, one line here."""

from typing import Any

from ossb.plugins import Registry
from ossb.structures.base import Bound, Instance, Structure, bound
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.dueling import Dueling
from ossb.structures.finite import Finite
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.linear import Linear
from ossb.structures.lipschitz import Lipschitz
from ossb.structures.many_bounds import bounds
from ossb.structures.polytope import Polytope
from ossb.structures.unimodal import Unimodal
from ossb.structures.union import Union

__all__ = ["STRUCTURES", "Bound", "Instance", "Structure", "bound", "bounds"]

OWN: dict[str, type[Instance]] = {
    structure.kind: structure
    for structure in (
        Classical,
        Combinatorial,
        Dueling,
        Finite,
        GeneralizedLinear,
        Linear,
        Lipschitz,
        Polytope,
        Unimodal,
        Union,
    )
}


def _fault(name: str, found: Any) -> str | None:
    if not (isinstance(found, type) and issubclass(found, Instance)):
        return "it is no subclass of ossb.structures.Instance"
    kind = getattr(found, "kind", None)
    return None if kind == name else f"its kind is {kind!r}"


STRUCTURES: Registry[type[Instance]] = Registry("ossb.structures", OWN, _fault)
