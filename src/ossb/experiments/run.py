"""``run``: play what is missing of an experiment."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ossb.errors import InputError
from ossb.experiments.cells import Cell, cells
from ossb.experiments.definition import Experiment
from ossb.experiments.ledger import Ledger
from ossb.experiments.policies import policy_of
from ossb.experiments.workers import Workers, workers_for
from ossb.fields import integer
from ossb.instances import from_dict
from ossb.records import layout
from ossb.simulation.environment import environment_of

Progress = Callable[[Cell, int, int], None]  # (finished cell, cells done, cells in all)


def run(
    experiment: Experiment,
    out: str | Path,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    shard: tuple[int, int] = (1, 1),
    compiled: bool = True,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
) -> Ledger:
    """Play the cells that the folder does not hold yet.

    Parts depend on their cells alone, so the folder ends up with the same bytes for any number
    of workers, any interruption and either engine.
    """
    place, of = shard
    if not 1 <= place <= of:
        raise InputError("shard", "be written I/N with 1 <= I <= N", f"{place}/{of}")
    workers = integer(workers, "workers", least=1)
    grid = list(cells(experiment))
    ledger = Ledger(out)
    ledger.check(experiment)
    players = workers_for(workers, scheduler, compiled)
    try:
        ledger.open(experiment, grid)
        finished = ledger.finished()
        mine = [cell for i, cell in enumerate(grid) if i % of == place - 1]
        missing = [cell for cell in mine if cell.key not in finished]
        done = len(mine) - len(missing)
        if missing and compiled and scheduler is None:
            _compile(missing, players, announce)
        for cell, part, seconds in players.play(missing):
            ledger.enter(cell, part, seconds)
            done += 1
            if progress is not None:
                progress(cell, done, len(mine))
    finally:
        players.close()
    return ledger


def _compile(
    missing: Iterable[Cell], players: Workers, announce: Callable[[str], None] | None
) -> None:
    """Compile each combination once, side by side, before the processes that share the cache."""
    named: dict[tuple[str, str, str], Cell] = {}
    for cell in missing:
        kind, family = cell.instance["structure"], cell.instance["observation"]
        named.setdefault((cell.label, str(kind), str(family)), cell)
    first: dict[str, Cell] = {}
    for cell in named.values():  # two policies may be one record with other numbers in it
        instance: Any = from_dict(cell.instance)
        types = [layout(policy_of(cell.policy, instance, cell.parameters))]
        if instance.n_arms is not None:
            types.append(layout(environment_of(instance)))
        first.setdefault(f"{types} {cell.batch > 1 or cell.delay > 0}", cell)
    if announce is not None:
        announce(f"compiling {len(first)} combinations of policy and structure, where not cached")
    short = [replace(cell, checkpoints=(1,), last=cell.first + 1) for cell in first.values()]
    for _ in players.play(short):
        pass
