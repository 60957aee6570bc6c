"""Structures: what is known of the arms beforehand. One file each, one line here."""

from ossb.structures.base import Bound, Instance, Structure, bound
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.dueling import Dueling
from ossb.structures.finite import Finite
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.linear import Linear
from ossb.structures.lipschitz import Lipschitz
from ossb.structures.polytope import Polytope
from ossb.structures.unimodal import Unimodal
from ossb.structures.union import Union

__all__ = ["STRUCTURES", "Bound", "Instance", "Structure", "bound"]

STRUCTURES: dict[str, type[Instance]] = {
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
