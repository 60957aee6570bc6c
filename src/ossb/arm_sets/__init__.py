"""Implicit sets of arms, reached through a linear-maximisation oracle and never listed."""

from typing import Any

from ossb.arm_sets.base import ArmSet, Items, indicator, total
from ossb.arm_sets.m_sets import MSets
from ossb.arm_sets.matchings import Matchings
from ossb.arm_sets.paths import Detours, Paths
from ossb.arm_sets.spanning_trees import SpanningTrees

__all__ = [
    "ARM_SETS",
    "ArmSet",
    "Detours",
    "Items",
    "MSets",
    "Matchings",
    "Paths",
    "SpanningTrees",
    "indicator",
    "total",
]

# with the keys that an instance has for each
ARM_SETS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "m_sets": (MSets, ("n_items", "size")),
    "paths": (Paths, ("edges", "source", "target")),
    "matchings": (Matchings, ("n_left", "n_right", "edges")),
    "spanning_trees": (SpanningTrees, ("n_nodes", "edges")),
}
