"""Small experiments, and a process that runs one; interpreted where the engine is not the point."""

import os
import subprocess
import sys
from pathlib import Path

from ossb.experiments.definition import parse

TESTS = Path(__file__).parent
CLASSICAL = {"structure": "classical", "observation": "bernoulli", "theta": [0.3, 0.45, 0.5]}
GAUSSIAN = {"structure": "classical", "observation": "gaussian", "theta": [0.9, 0.2]}


def tiny(**changes):
    """The keys of a small experiment: 12 cells."""
    keys = {
        "name": "tiny",
        "horizon": 60,
        "trials": 4,
        "block": 2,
        "seed": 3,
        "policies": ["ucb1", {"name": "ucb1", "proxy": 2.0}, "thompson"],
        "instances": [{"group": "one", **CLASSICAL}, {"group": "two", **GAUSSIAN}],
    }
    return keys | changes


def experiment(**changes):
    return parse(tiny(**changes))


def many():
    """Forty cells that take some milliseconds each."""
    return experiment(horizon=1500, trials=20, block=1, policies=["ucb1"])


def contents(folder):
    """All that an experiment's folder holds, but for timings."""
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    names = [str(path.relative_to(folder)) for path in files]
    return {
        name: path.read_bytes()
        for name, path in zip(names, files, strict=True)
        if name != "timings.jsonl"
    }


def driver(folder, workers):
    """A process that runs ``many`` into a folder."""
    code = (
        "import sys; from experiment_cases import many; from ossb.experiments.run import run; "
        "run(many(), sys.argv[1], workers=int(sys.argv[2]), compiled=False)"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, str(folder), str(workers)],
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        stderr=subprocess.PIPE,
        text=True,
    )


def children(process):
    """Process numbers of the workers of a driver."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = status.read_text().rpartition(")")[2].split()[1]
            command = (status.parent / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == process and b"popen_loky" in command:
            found.append(int(status.parent.name))
    return sorted(found)
