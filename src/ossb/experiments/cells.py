"""Cells: the units of work of an experiment, each named by all that determines its numbers."""

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from ossb.experiments.definition import Experiment
from ossb.experiments.policies import own_parameters, policy_of, source_of
from ossb.instances import from_dict
from ossb.simulation.environment import environment_of
from ossb.simulation.seeds import instance_key, noise_stream, policy_stream
from ossb.simulation.simulate import Timing, log_spaced, run

FORMAT = 1


@dataclass(frozen=True)
class Cell:
    """One policy on one instance for a block of trials; plain data, so that it can travel."""

    group: str
    instance: dict[str, Any]
    policy: str
    parameters: dict[str, Any]
    horizon: int
    horizons: tuple[int, ...]
    seed: int
    first: int
    last: int  # exclusive
    batch: int
    delay: int
    source: str  # digest of a policy that is not ours

    @property
    def label(self) -> str:
        """The policy as it is written on a command line."""
        given = ",".join(f"{k}={v}" for k, v in self.parameters.items())
        return f"{self.policy}:{given}" if given else self.policy

    @property
    def key(self) -> str:
        """Digest of everything that determines the cell's numbers."""
        content = {
            "format": FORMAT,
            "version": version("ossb"),
            "instance": instance_key(self.instance),
            "policy": self.policy,
            "parameters": self.parameters,
            "horizon": self.horizon,
            "horizons": list(self.horizons),
            "seed": self.seed,
            "trials": [self.first, self.last],
            "batch": self.batch,
            "delay": self.delay,
            "source": self.source,
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def cells(experiment: Experiment) -> Iterator[Cell]:
    """All cells of an experiment; a policy that does not fit an instance is refused here."""
    for named in experiment.instances:
        content = named.instance.to_dict()
        for name, parameters in experiment.policies:
            policy_of(name, named.instance, parameters)
            own = own_parameters(name, parameters)
            for first in range(0, experiment.trials, experiment.block):
                yield Cell(
                    named.group,
                    content,
                    name,
                    own,
                    experiment.horizon,
                    experiment.horizons,
                    experiment.seed,
                    first,
                    min(first + experiment.block, experiment.trials),
                    experiment.batch,
                    experiment.delay,
                    source_of(name),
                )


def checkpoints_of(cell: Cell) -> np.ndarray:
    """Rounds at which a cell notes the regret: log-spaced, and those that tables quote."""
    return np.union1d(log_spaced(cell.horizon), np.array(cell.horizons, dtype=np.int64))


def work(cell: Cell, compiled: bool = True) -> tuple[bytes, float]:
    """Play a cell; its part as Parquet, and the CPU seconds it took."""
    import polars

    instance: Any = from_dict({k: v for k, v in cell.instance.items() if k != "group"})
    record = policy_of(cell.policy, instance, cell.parameters)
    environment = environment_of(instance)
    checkpoints = checkpoints_of(cell)
    key = instance_key(cell.instance)
    stream = cell.policy + "".join(f",{k}={cell.parameters[k]!r}" for k in sorted(cell.parameters))
    rows: list[dict[str, Any]] = []
    seconds = 0.0
    for trial in range(cell.first, cell.last):
        outcome = run(
            record,
            environment,
            checkpoints,
            policy_stream(cell.seed, key, stream, trial),
            noise_stream(cell.seed, key, trial),
            Timing(cell.batch, cell.delay),
            compiled and hasattr(type(record), "_fields"),
        )
        seconds += outcome.seconds
        rows.append(
            {
                "trial": trial,
                "checkpoints": checkpoints.tolist(),
                "regret": outcome.curve.tolist(),
                "exploit": outcome.spent[:, 0].tolist(),
                "estimate": outcome.spent[:, 1].tolist(),
                "explore": outcome.spent[:, 2].tolist(),
                "plays": outcome.plays.tolist(),
            }
        )
    frame = polars.DataFrame(
        rows,
        schema={
            "trial": polars.Int64,
            "checkpoints": polars.List(polars.Int64),
            "regret": polars.List(polars.Float64),
            "exploit": polars.List(polars.Int64),
            "estimate": polars.List(polars.Int64),
            "explore": polars.List(polars.Int64),
            "plays": polars.List(polars.Int64),
        },
    )
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue(), seconds
