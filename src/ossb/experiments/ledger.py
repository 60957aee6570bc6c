"""The ledger: one Parquet part per cell, named by its key, written whole or not at all."""

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ossb.errors import InputError
from ossb.experiments.cells import Cell
from ossb.experiments.definition import Experiment, parse

DEFINITION, INDEX, TIMINGS, PARTS = "experiment.json", "cells.json", "timings.jsonl", "parts"


class Ledger:
    """The folder of an experiment."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def open(self, experiment: Experiment) -> None:
        """Make the folder ready; one that holds another experiment is refused."""
        definition = self.folder / DEFINITION
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError("out", "be a folder", str(self.folder))
        if definition.exists():
            held = json.loads(definition.read_text(encoding="utf-8")).get("name")
            if held != experiment.name:
                raise InputError("out", f"not hold another experiment, {held!r}", str(self.folder))
        elif self.folder.exists() and any(self.folder.iterdir()):
            raise InputError("out", "be a new or empty folder", str(self.folder))
        try:
            (self.folder / PARTS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError("out", f"be a writable folder: {error}") from None
        self._write(DEFINITION, _json(experiment.to_dict()))

    def experiment(self) -> Experiment:
        """The experiment that the folder holds."""
        try:
            content = json.loads((self.folder / DEFINITION).read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            raise InputError("folder", "hold an experiment", str(self.folder)) from None
        return parse(content)

    def finished(self) -> set[str]:
        """Keys of the cells that are there."""
        names = os.listdir(self.folder / PARTS)
        return {name.removesuffix(".parquet") for name in names if name.endswith(".parquet")}

    def part(self, cell: Cell) -> Path:
        return self.folder / PARTS / f"{cell.key}.parquet"

    def enter(self, cell: Cell, part: bytes, seconds: float) -> None:
        """Enter a finished cell."""
        self._write(f"{PARTS}/{cell.key}.parquet", part)
        line = json.dumps({"cell": cell.key, "policy": cell.label, "seconds": seconds})
        with (self.folder / TIMINGS).open("a", encoding="utf-8") as timings:
            timings.write(line + "\n")

    def index(self, cells: Iterable[Cell]) -> None:
        """Say which part belongs to what."""
        entries = [
            {
                "part": cell.key,
                "group": cell.group,
                "policy": cell.label,
                "trials": [cell.first, cell.last],
            }
            for cell in cells
        ]
        self._write(INDEX, _json(entries))

    def seconds(self) -> dict[str, float]:
        """CPU seconds of each cell that was played here."""
        path = self.folder / TIMINGS
        if not path.exists():
            return {}
        found: dict[str, float] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue  # a line cut off by a kill: the part itself is whole
            found[entry["cell"]] = float(entry["seconds"])
        return found

    def _write(self, name: str, content: bytes) -> None:
        """Write to a temporary name, flush to disk, rename: readers see all or nothing."""
        target = self.folder / name
        handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=".writing-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
