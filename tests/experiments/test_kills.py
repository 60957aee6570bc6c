"""Kill −9 of drivers and workers at seeded moments: the folder ends up with the same bytes."""

import os
import shutil
import signal
import time

import numpy as np
import pytest

from experiment_cases import children, contents, driver, many
from ossb.experiments.run import run


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of an uninterrupted run."""
    folder = tmp_path_factory.mktemp("whole") / "out"
    run(many(), folder, compiled=False)
    return contents(folder)


def parts(folder):
    return len(list((folder / "parts").glob("*.parquet"))) if folder.exists() else 0


def interrupt(process, folder, workers, rng):
    """Kill the driver or one of its workers at a random moment; answers what was killed."""
    target = parts(folder) + int(rng.integers(0, 6))
    jitter = float(rng.uniform(0.0, 0.02))
    worker = workers > 1 and rng.random() < 0.5
    while process.poll() is None:
        if parts(folder) >= target:
            time.sleep(jitter)
            crew = children(process.pid)
            victim = int(rng.choice(crew)) if worker and crew else process.pid
            os.kill(victim, signal.SIGKILL)
            if victim == process.pid:
                process.wait()
                wait_for_the_end(crew)
                return "driver"
            return "worker"
        time.sleep(0.002)
    return "nothing"


def wait_for_the_end(crew):
    """Workers without a driver end by themselves."""
    for number in crew:
        while alive(number):
            time.sleep(0.05)


def alive(number):
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill_and_resume(folder, workers, kills, whole):
    rng = np.random.default_rng([workers, kills])
    killed = []
    while len(killed) < kills:
        process = driver(folder, workers)
        victim = "worker"
        while victim == "worker" and len(killed) < kills:
            victim = interrupt(process, folder, workers, rng)
            if victim != "nothing":
                killed.append(victim)
        error = process.communicate()[1]
        if victim != "driver":
            assert process.returncode == 0, error
            assert contents(folder) == whole
            shutil.rmtree(folder)
    process = driver(folder, workers)
    assert process.communicate()[1] == ""
    assert process.returncode == 0
    assert contents(folder) == whole
    return killed


@pytest.mark.parametrize(("workers", "kills"), [(1, 14), (2, 4), (4, 2)])
def test_twenty_kills(workers, kills, whole, tmp_path):
    killed = kill_and_resume(tmp_path / "out", workers, kills, whole)
    assert len(killed) == kills


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_fifty_kills(workers, whole, tmp_path):
    assert len(kill_and_resume(tmp_path / "out", workers, 50, whole)) == 50
