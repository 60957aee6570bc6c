"""The frozen rows of a version, as they come with the package."""

import json
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from ossb.suite.definition import NEWEST
from ossb.suite.lines import Line


class Frozen(NamedTuple):
    """What was played once, by one command, and is compared with ever after."""

    made: dict[str, Any]  # when, and with what
    bounds: dict[str, float]  # C(θ) of each instance
    lines: tuple[Line, ...]

    def of(self, instance: str) -> list[Line]:
        """The rows of an instance, least mean regret first."""
        found = [line for line in self.lines if line.instance == instance]
        return sorted(found, key=lambda line: float(line.regret.mean()))

    def least(self, instance: str) -> float:
        """The least mean regret of any row: what regrets of the instance are divided by."""
        return float(self.of(instance)[0].regret.mean())


@cache
def frozen(version: int = NEWEST) -> Frozen:
    """The frozen rows of a version."""
    path = resources.files("ossb.suite").joinpath(f"frozen-{version}.json")
    return read(json.loads(path.read_text(encoding="utf-8")))


def read(content: dict[str, Any]) -> Frozen:
    """Rows from plain data."""
    lines = tuple(
        Line(
            row["instance"],
            row["policy"],
            row["digest"],
            row["microseconds"],
            np.array(row["regret"], dtype=float),
        )
        for row in content["rows"]
    )
    return Frozen(content["made"], content["bounds"], lines)


def written(rows: Frozen) -> str:
    """Plain data as text, a line for each row."""
    head = json.dumps({"made": rows.made, "bounds": rows.bounds}, ensure_ascii=False)
    body = ",\n".join(json.dumps(line.to_dict(), separators=(",", ":")) for line in rows.lines)
    return f'{head[:-1]}, "rows": [\n{body}\n]}}\n'
