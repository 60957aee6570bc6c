"""Workers that die, clusters, and what is said when a cell is to blame."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from experiment_cases import CLASSICAL, TESTS, contents, experiment, many
from ossb.errors import InputError, OssbError, PolicyError
from ossb.experiments import workers
from ossb.experiments.cells import cells
from ossb.experiments.ledger import Ledger
from ossb.experiments.run import run
from ossb.experiments.workers import Processes, workers_for


class Deadly:
    """Takes down the process that plays it, unless told when to stop."""

    def __init__(self, mark=""):
        self.mark = mark

    def start(self):
        if not self.mark or not os.path.exists(self.mark):
            if self.mark:
                open(self.mark, "w").close()
            time.sleep(0.5)  # so that others have finished
            os.kill(os.getpid(), 9)

    def select(self, tally, memory, rng):
        from ossb.tally import EXPLOIT, Decision

        return Decision(0, EXPLOIT)


class Faulty(Deadly):
    def start(self):
        raise RuntimeError("a fault of its own")


@pytest.fixture
def own_policies(monkeypatch):
    """Workers can import this module."""
    folder = str(TESTS / "experiments")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([folder, str(TESTS)]))


def deadly(**parameters):
    policies = ["ucb1", {"name": "test_workers:Deadly", **parameters}]
    return experiment(policies=policies, instances=[CLASSICAL], trials=2)


def test_a_cell_that_dies_once_is_played_again(own_policies, tmp_path):
    found = list(cells(deadly(mark=str(tmp_path / "mark"))))
    players = Processes(2, compiled=False)
    done = list(players.play(found))
    players.close()
    assert sorted(cell.key for cell, _, _ in done) == sorted(cell.key for cell in found)


def test_a_cell_that_always_dies_is_named(own_policies, monkeypatch):
    monkeypatch.setattr(workers, "TRIES", 3)
    found = list(cells(deadly()))
    players = Processes(2, compiled=False)
    played = players.play(found)
    assert next(played)[0].label == "ucb1"  # the others are not held up
    with pytest.raises(OssbError, match=r"test_workers:Deadly.* on classical, trials 0 to 1"):
        next(played)
    players.close()


def test_an_error_of_a_policy_is_raised(own_policies):
    found = experiment(policies=["test_workers:Faulty"], instances=[CLASSICAL], trials=1)
    players = Processes(2, compiled=False)
    said = (
        "policy 'test_workers:Faulty' before round 1: "
        "`start` failed: RuntimeError: a fault of its own"
    )
    with pytest.raises(PolicyError, match=f"^{said}$"):
        list(players.play(list(cells(found))))
    players.close()


def wrong(**parameters):
    policies = ["ucb1", {"name": "wrong_policies:Wrong", **parameters}]
    return experiment(policies=policies, instances=[CLASSICAL], trials=2)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_wrong_decision_is_refused_and_leaves_nothing(tmp_path, workers, compiled):
    said = (
        r"^policy 'wrong_policies:Wrong:arm=3,round=40' in round 40: `arm` must be 0, …, 2, got 3$"
    )
    for _ in range(2):  # the same again where it is resumed
        with pytest.raises(PolicyError, match=said) as caught:
            run(wrong(arm=3, round=40), tmp_path / "out", workers=workers, compiled=compiled)
        assert (caught.value.round, caught.value.fault[:5]) == (40, "`arm`")
    grid = cells(wrong(arm=3, round=40))
    finished = Ledger(tmp_path / "out").finished()
    assert not [cell for cell in grid if cell.policy != "ucb1" and cell.key in finished]


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_decision_on_a_cluster(cluster, tmp_path):
    address, _ = cluster
    while not address.exists():
        time.sleep(0.05)
    scheduler = json.loads(address.read_text())["address"]
    with pytest.raises(PolicyError, match=r"round=1' in round 1: `arm` must be 0, …, 2, got -1$"):
        run(wrong(arm=-1, round=1), tmp_path / "out", scheduler=scheduler, compiled=False)


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, in processes of their own."""
    address = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    common = ["--scheduler-file", str(address), "--no-dashboard"]
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path}
    module = "distributed.cli.dask_scheduler"
    running = [
        subprocess.Popen(
            [sys.executable, "-m", module, *common, "--port", "0", "--host", "127.0.0.1"], **quiet
        )
    ]
    worker = "distributed.cli.dask_worker"
    options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path)]
    for _ in range(2):
        running.append(
            subprocess.Popen(
                [sys.executable, "-m", worker, *common, *options], env=environment, **quiet
            )
        )
    yield address, running
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_loses_a_worker(cluster, tmp_path):
    address, running = cluster
    while not address.exists():
        time.sleep(0.05)
    run(many(), tmp_path / "alone", compiled=False)
    done = []

    def progress(cell, count, total):
        done.append(cell.key)
        if len(done) == 5:
            running[1].kill()

    scheduler = json.loads(address.read_text())["address"]
    run(many(), tmp_path / "cluster", scheduler=scheduler, compiled=False, progress=progress)
    assert len(done) == 40
    assert contents(tmp_path / "cluster") == contents(tmp_path / "alone")


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_not_there(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="`scheduler` must be a reachable scheduler"):
        run(experiment(), tmp_path / "out", scheduler="nonsense")
    assert not (tmp_path / "out").exists()
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match="`scheduler` must have distributed installed"):
        workers_for(1, "tcp://127.0.0.1:1")


def test_what_counts_as_a_loss():
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    cell = replace(next(cells(experiment())), group="here")
    assert workers._is_loss(KilledWorker("task", None, 3))
    assert workers._is_loss(CommClosedError())
    assert not workers._is_loss(ValueError())
    workers._give_up(workers.TRIES - 1, cell, ValueError("gone"))
    with pytest.raises(OssbError, match=r"ucb1 on here, trials 0 to 1: lost 5 times .* gone"):
        workers._give_up(workers.TRIES, cell, ValueError("gone"))


class Client:
    """A cluster whose answers are known: what each submission ends in."""

    def __init__(self, endings):
        self.endings, self.loop = iter(endings), None

    def nthreads(self):
        return {}

    def submit(self, work, cell, compiled, pure):
        return Ending(next(self.endings))


class Ending:
    def __init__(self, failure):
        self.failure, self.key = failure, str(id(self))

    def exception(self):
        return self.failure

    def result(self):
        return b"part", 0.5


class Queue(list):
    """``as_completed`` of the known answers, first in, first out."""

    def __init__(self, loop):
        super().__init__()

    add = list.append

    def __next__(self):
        return self.pop(0)


def played(endings, monkeypatch):
    import distributed

    monkeypatch.setattr(distributed, "as_completed", Queue)
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: Client(endings))
    return workers_for(2, "tcp://known").play(list(cells(experiment()))[:2])


def test_a_cluster_plays_again_what_died(monkeypatch):
    from distributed import KilledWorker

    lost = KilledWorker("task", SimpleNamespace(address="tcp://gone"), 3)
    done = list(played([lost, None, lost, None], monkeypatch))
    assert len({cell.key for cell, _, _ in done}) == 2
    with pytest.raises(OssbError, match="lost 5 times"):
        list(played([lost] * 20, monkeypatch))
    with pytest.raises(ValueError, match="of its own"):
        list(played([ValueError("a fault of its own")] * 4, monkeypatch))
