"""Results of an experiment as frames and curves."""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module  # figures stand above, and load matplotlib
from pathlib import Path
from typing import Any

import numpy as np

from ossb.errors import InputError, OssbError
from ossb.experiments.cells import ANSWERS
from ossb.experiments.definition import Experiment
from ossb.experiments.ledger import Ledger
from ossb.extras import load
from ossb.graves_lai.bound import Bound
from ossb.structures.base import bound

Curves = dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]


class Results:
    """What an experiment's folder holds; read once, so that all that is said of it agrees.

    ``frame()`` has a row for each (group, instance, policy, trial, checkpoint).
    """

    def __init__(self, folder: str | Path) -> None:
        self.ledger = Ledger(folder)
        self.experiment: Experiment = self.ledger.experiment()

    @cached_property
    def trials(self) -> Any:
        """A polars frame with a row for each (group, instance, policy, trial), lists inside."""
        polars = load("polars", "results")

        finished = self.ledger.finished()
        frames = [
            polars.read_parquet(self.ledger.part(cell["part"])).select(
                polars.lit(cell["group"]).alias("group"),
                polars.lit(cell["instance"]).alias("instance"),
                polars.lit(cell["policy"]).alias("policy"),
                polars.all(),
            )
            for cell in self.ledger.index()
            if cell["part"] in finished
        ]
        if not frames:
            raise InputError("folder", "hold finished cells", str(self.ledger.folder))
        return polars.concat(frames)

    def plot(self, group: str | None = None, **options: Any) -> Any:
        """Draw mean regret of a group, the first by default; returns matplotlib axes.

        Options: ``policies`` (labels, in the order wanted), ``labels`` (label → legend),
        ``logarithmic`` (the bound as a slope), ``bound``, ``interval``, ``axes``, ``size``,
        ``style``, ``title``, ``legend``: see ``ossb.figures.axes.plot``.
        """
        return import_module("ossb.figures.axes").plot_results(self, group, **options)

    def _repr_html_(self) -> str:
        from ossb.experiments.card import card

        return card(self)

    def frame(self) -> Any:
        """A polars frame with a row for each checkpoint of each trial."""
        columns = ["checkpoints", "regret", "exploit", "estimate", "explore"]
        others = ["plays", "arms", "stopped", *ANSWERS]
        kept = self.trials.drop(others, strict=False)
        return kept.explode(columns).rename({"checkpoints": "t"})

    def to_pandas(self) -> Any:
        """The frame for those who use pandas."""
        pandas = load("pandas", "to_pandas")
        return pandas.DataFrame({column.name: column.to_numpy() for column in self.frame()})

    @cached_property
    def curves(self) -> Curves:
        """For each (group, policy): checkpoints, and regret as (trials over instances, times)."""
        answer = {}
        for (group, policy), part in self.trials.group_by(["group", "policy"], maintain_order=True):
            ordered = part.sort("instance", "trial")
            times = np.array(ordered["checkpoints"][0].to_list())
            regret = np.array(ordered["regret"].to_list())
            answer[str(group), str(policy)] = (times, regret)
        return answer

    @cached_property
    def groups(self) -> list[str]:
        """Groups with finished cells, in the order of the definition."""
        there = {group for group, _ in self.curves}
        order = dict.fromkeys(named.group for named in self.experiment.instances)
        return [group for group in order if group in there]

    @cached_property
    def policies(self) -> list[str]:
        """Labels of the policies with finished cells, in the order of the definition."""
        return list(dict.fromkeys(policy for _, policy in self.curves))

    @cached_property
    def bounds(self) -> list[Bound | OssbError]:
        """The bound of each instance, or why there is none."""
        answer: list[Bound | OssbError] = []
        for named in self.experiment.instances:
            instance: Any = named.instance
            try:
                answer.append(bound(instance))
            except OssbError as error:
                answer.append(error)
        return answer

    @cached_property
    def constants(self) -> dict[str, float]:
        """Mean of C(θ) over the instances of each group; NaN where one has none."""
        return self._by_group(self.bounds)

    @cached_property
    def tests(self) -> list[Bound | None]:
        """The bound in samples of each instance; None where there is none, or ε > 0."""
        answer: list[Bound | None] = []
        for named in self.experiment.instances:
            instance: Any = named.instance
            asked = self.experiment.answer
            try:
                found = None
                if not self.experiment.epsilon:
                    found = bound(instance, cost="samples", answer=asked)
            except OssbError:
                found = None
            answer.append(found)
        return answer

    @cached_property
    def characteristic_times(self) -> dict[str, float]:
        """Mean of T*(θ) over the instances of each group; NaN where one has none."""
        return self._by_group(self.tests)

    def _by_group(self, bounds: Sequence[Any]) -> dict[str, float]:
        values: dict[str, list[float]] = {}
        for named, found in zip(self.experiment.instances, bounds, strict=True):
            value = found.value if isinstance(found, Bound) else np.nan
            values.setdefault(named.group, []).append(value)
        return {group: float(np.mean(found)) for group, found in values.items()}
