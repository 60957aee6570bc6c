"""In what order cells are played where their code may have to be compiled first.

A compiled loop serves all cells of its types, in all processes that share the disk cache.  So one
short cell of each goes first, and what it made is then loaded by the others.  Loops that call the
same solver are compiled one after the other, the second when there is nothing else to wait for,
and the cells of the first ones are played meanwhile.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from ossb.experiments.cells import Cell
from ossb.experiments.code import solvers_of
from ossb.instances import from_dict
from ossb.policies.own import policy_of
from ossb.records import layout
from ossb.simulation.environment import environment_of


class Schedule(NamedTuple):
    """Cells in order, and the keys of those that are only there to have something compiled."""

    cells: list[Cell]
    warming: set[str]


def schedule(missing: Iterable[Cell]) -> Schedule:
    """Cells to play, each combination of types led by a short one."""
    combinations: dict[tuple[str, str, str, bool], str] = {}
    members: dict[str, list[Cell]] = {}
    solvers: dict[str, frozenset[str]] = {}
    for cell in missing:
        kind, family = cell.instance["structure"], cell.instance["observation"]
        late = cell.batch > 1 or cell.delay > 0
        named = (cell.label, str(kind), str(family), late)
        if named not in combinations:
            types, needs = _types(cell)
            combinations[named] = f"{types} {late}"
            solvers.setdefault(combinations[named], needs)
        members.setdefault(combinations[named], []).append(cell)
    first: list[str] = []
    later: list[str] = []
    taken: set[str] = set()
    for types in members:
        (later if solvers[types] & taken else first).append(types)
        taken |= solvers[types]
    warming: set[str] = set()
    ordered: list[Cell] = []
    for wave in (first, later):
        wave.sort(key=lambda types: len(solvers[types]))
        for types in reversed(wave):  # what takes longest is begun first, and waited for last
            lead = members[types][0]
            short = replace(
                lead, checkpoints=(1,), last=lead.first + 1, budgets=lead.budgets and (1,)
            )
            if short.key != lead.key:
                warming.add(short.key)
                ordered.append(short)
        for types in wave:
            ordered.extend(members[types])
    return Schedule(ordered, warming)


def _types(cell: Cell) -> tuple[Any, frozenset[str]]:
    """What the compiled loop of a cell is specialised to, and the solvers it calls."""
    instance: Any = from_dict(cell.instance)
    environment = environment_of(instance) if instance.n_arms is not None else None
    record, end = policy_of(cell.policy, instance, cell.parameters), cell.end(instance)
    judged = () if end is None else (end.rivals,)
    return layout((record, environment, *judged)), solvers_of(record, environment)
