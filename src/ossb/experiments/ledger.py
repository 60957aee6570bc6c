"""The ledger: one Parquet part per cell, named by its key, written whole or not at all."""

import json
import os
import socket
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ossb.errors import InputError
from ossb.experiments.cells import Cell
from ossb.experiments.definition import Experiment, parse

DEFINITION, INDEX, TIMINGS, PARTS = "experiment.json", "cells.json", "timings.jsonl", "parts"
WRITING = ".writing-"


class Ledger:
    """The folder of an experiment."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def check(self, experiment: Experiment) -> None:
        """Refuse a folder that is not for this experiment; writes nothing."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError("out", "be a folder", str(self.folder))
        if (self.folder / DEFINITION).exists():
            held = self._definition().get("name")
            if held != experiment.name:
                raise InputError("out", f"not hold another experiment, {held!r}", str(self.folder))
        elif self.folder.exists() and any(
            name != PARTS and not name.startswith(WRITING) for name in os.listdir(self.folder)
        ):
            raise InputError("out", "be a new or empty folder", str(self.folder))

    def open(self, experiment: Experiment, cells: Iterable[Cell]) -> None:
        """Make the folder ready, and say which part belongs to what."""
        try:
            (self.folder / PARTS).mkdir(parents=True, exist_ok=True)
            for left in self.folder.glob(f"{WRITING}*"):
                if not _is_written(left.name):
                    left.unlink(missing_ok=True)
            self._write(DEFINITION, _json(experiment.to_dict()))
            self._write(INDEX, _json([_entry(cell) for cell in cells]))
        except OSError as error:
            raise InputError("out", f"be a writable folder: {error}") from None

    def experiment(self) -> Experiment:
        """The experiment that the folder holds."""
        return parse(self._definition())

    def index(self) -> list[dict[str, Any]]:
        """What the cells of the grid are: number of the instance, group, policy, trials, part."""
        return list(json.loads((self.folder / INDEX).read_text(encoding="utf-8")))

    def finished(self) -> set[str]:
        """Keys of the cells that are there."""
        names = os.listdir(self.folder / PARTS)
        return {name.removesuffix(".parquet") for name in names if name.endswith(".parquet")}

    def part(self, key: str) -> Path:
        return self.folder / PARTS / f"{key}.parquet"

    def enter(self, cell: Cell, part: bytes, seconds: float) -> None:
        """Enter a finished cell."""
        self._write(f"{PARTS}/{cell.key}.parquet", part)
        line = json.dumps({"cell": cell.key, "policy": cell.label, "seconds": seconds})
        with (self.folder / TIMINGS).open("a", encoding="utf-8") as timings:
            timings.write(line + "\n")

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

    def _definition(self) -> dict[str, Any]:
        try:
            return dict(json.loads((self.folder / DEFINITION).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            raise InputError("folder", "hold an experiment", str(self.folder)) from None

    def _write(self, name: str, content: bytes) -> None:
        """Write to a temporary name, flush to disk, rename: readers see all or nothing."""
        target = self.folder / name
        handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=_prefix())
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _entry(cell: Cell) -> dict[str, Any]:
    return {
        "part": cell.key,
        "instance": cell.number,
        "group": cell.group,
        "policy": cell.label,
        "trials": [cell.first, cell.last],
    }


def _prefix() -> str:
    """What temporary files of this process begin with."""
    return f"{WRITING}{socket.gethostname()}-{os.getpid()}-"


def _is_written(name: str) -> bool:
    """Whether the process that began a temporary file may still be at it."""
    host, _, process = name.removeprefix(WRITING).rpartition("-")[0].rpartition("-")
    if host != socket.gethostname():
        return True  # of a shard on another machine, for all we know
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError):
        return True
    return int(process) != os.getpid()


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
