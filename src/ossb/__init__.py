"""Minimal exploration for structured bandits.

Structures are classes whose fields are the keys of an instance file; ``bound`` gives the
Graves–Lai bound C(θ) of one, with its rates and a certificate.  Names are loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ossb.campaigns import Campaign
    from ossb.errors import CertificationError, InputError, OssbError, PolicyError
    from ossb.graves_lai.bound import Bound
    from ossb.instances import from_dict, load
    from ossb.policies import policy
    from ossb.simulation.planning import plan
    from ossb.simulation.plans import plans
    from ossb.simulation.simulate import simulate
    from ossb.structures import bound, bounds
    from ossb.structures.classical import Classical
    from ossb.structures.combinatorial import Combinatorial
    from ossb.structures.convex import Convex
    from ossb.structures.dueling import Dueling
    from ossb.structures.finite import Finite
    from ossb.structures.generalized_linear import GeneralizedLinear
    from ossb.structures.linear import Linear
    from ossb.structures.lipschitz import Lipschitz
    from ossb.structures.oracle import Oracle
    from ossb.structures.polytope import Polytope
    from ossb.structures.unimodal import Unimodal
    from ossb.structures.union import Union

_HOMES = {
    "Bound": "ossb.graves_lai.bound",
    "Campaign": "ossb.campaigns",
    "CertificationError": "ossb.errors",
    "Classical": "ossb.structures.classical",
    "Combinatorial": "ossb.structures.combinatorial",
    "Convex": "ossb.structures.convex",
    "Dueling": "ossb.structures.dueling",
    "Finite": "ossb.structures.finite",
    "GeneralizedLinear": "ossb.structures.generalized_linear",
    "InputError": "ossb.errors",
    "Linear": "ossb.structures.linear",
    "Lipschitz": "ossb.structures.lipschitz",
    "Oracle": "ossb.structures.oracle",
    "OssbError": "ossb.errors",
    "PolicyError": "ossb.errors",
    "Polytope": "ossb.structures.polytope",
    "Unimodal": "ossb.structures.unimodal",
    "Union": "ossb.structures.union",
    "bound": "ossb.structures",
    "bounds": "ossb.structures",
    "from_dict": "ossb.instances",
    "load": "ossb.instances",
    "plan": "ossb.simulation.planning",
    "plans": "ossb.simulation.plans",
    "policy": "ossb.policies",
    "simulate": "ossb.simulation",
}

__all__ = [
    "Bound",
    "Campaign",
    "CertificationError",
    "Classical",
    "Combinatorial",
    "Convex",
    "Dueling",
    "Finite",
    "GeneralizedLinear",
    "InputError",
    "Linear",
    "Lipschitz",
    "Oracle",
    "OssbError",
    "PolicyError",
    "Polytope",
    "Unimodal",
    "Union",
    "bound",
    "bounds",
    "from_dict",
    "load",
    "plan",
    "plans",
    "policy",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    from ossb.words import hint

    raise AttributeError(f"module 'ossb' has no attribute {name!r}{hint(name, _HOMES)}")


def __dir__() -> list[str]:
    return list(__all__)
