"""Play an experiment under the eyes of whoever asked for it."""

import os
from pathlib import Path

from ossb.cli.progress import CellProgress
from ossb.experiments.definition import Experiment
from ossb.experiments.run import run


def play(
    experiment: Experiment,
    folder: str | Path,
    workers: int = 0,
    scheduler: str | None = None,
    shard: tuple[int, int] = (1, 1),
) -> None:
    """What is missing of an experiment, with progress; 0 workers are as many as there are cores."""
    with CellProgress() as progress:
        try:
            run(
                experiment,
                folder,
                workers=workers or os.cpu_count() or 1,
                scheduler=scheduler,
                shard=shard,
                progress=progress,
                announce=progress.say,
            )
        except KeyboardInterrupt:
            progress.say("interrupted: finished cells are kept; run the same command to go on")
            raise
