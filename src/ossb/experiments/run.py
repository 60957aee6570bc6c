"""``run``: play what is missing of an experiment."""

from collections.abc import Callable
from pathlib import Path

from ossb.errors import InputError
from ossb.experiments.cells import Cell, cells
from ossb.experiments.definition import Experiment
from ossb.experiments.ledger import Ledger
from ossb.experiments.schedule import Schedule, schedule
from ossb.experiments.workers import workers_for
from ossb.extras import need
from ossb.fields import integer

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
    need("polars", "experiment")
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
        plan = Schedule(missing, set())
        if missing and compiled and scheduler is None:
            plan = schedule(missing)
            if announce is not None:
                count = len(plan.warming)
                announce(
                    f"compiling {count} combinations of policy and structure, where not cached"
                )
        for cell, part, seconds in players.play(plan.cells):
            if cell.key in plan.warming:
                continue
            ledger.enter(cell, part, seconds)
            done += 1
            if progress is not None:
                progress(cell, done, len(mine))
    finally:
        players.close()
    return ledger
