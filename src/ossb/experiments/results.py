"""Results of an experiment as frames."""

from pathlib import Path
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.experiments.cells import cells
from ossb.experiments.definition import Experiment
from ossb.experiments.ledger import Ledger


class Results:
    """What an experiment's folder holds.

    ``frame()`` has a row for each (group, instance, policy, trial, checkpoint).
    """

    def __init__(self, folder: str | Path) -> None:
        self.ledger = Ledger(folder)
        self.experiment: Experiment = self.ledger.experiment()

    def trials(self) -> Any:
        """A polars frame with a row for each (group, instance, policy, trial), lists inside."""
        import polars

        finished = self.ledger.finished()
        blocks = -(-self.experiment.trials // self.experiment.block)
        per_instance = len(self.experiment.policies) * blocks
        frames = []
        for i, cell in enumerate(cells(self.experiment)):
            if cell.key in finished:
                frames.append(
                    polars.read_parquet(self.ledger.part(cell)).select(
                        polars.lit(cell.group).alias("group"),
                        polars.lit(i // per_instance).alias("instance"),
                        polars.lit(cell.label).alias("policy"),
                        polars.all(),
                    )
                )
        if not frames:
            raise InputError("folder", "hold finished cells", str(self.ledger.folder))
        return polars.concat(frames)

    def frame(self) -> Any:
        """A polars frame with a row for each checkpoint of each trial."""
        columns = ["checkpoints", "regret", "exploit", "estimate", "explore"]
        return self.trials().drop("plays").explode(columns).rename({"checkpoints": "t"})

    def to_pandas(self) -> Any:
        """The frame for those who use pandas."""
        return self.frame().to_pandas()

    def curves(self) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
        """For each (group, policy): checkpoints, and regret as (trials over instances, times)."""
        answer = {}
        for (group, policy), part in self.trials().group_by(
            ["group", "policy"], maintain_order=True
        ):
            ordered = part.sort("instance", "trial")
            times = np.array(ordered["checkpoints"][0].to_list())
            regret = np.array(ordered["regret"].to_list())
            answer[str(group), str(policy)] = (times, regret)
        return answer
