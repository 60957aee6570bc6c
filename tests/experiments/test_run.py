"""The ledger: the same bytes however a grid is played, and only what is missing."""

import json
import os
import socket
import tracemalloc

import numpy as np
import pytest

from experiment_cases import CLASSICAL, contents, experiment, tiny
from ossb.errors import InputError
from ossb.experiments import cells as cells_module
from ossb.experiments.cells import cells, work
from ossb.experiments.definition import parse, read
from ossb.experiments.ledger import Ledger
from ossb.experiments.results import Results
from ossb.experiments.run import run
from ossb.instances import from_dict
from ossb.simulation import simulate

PATHS = {
    "structure": "combinatorial",
    "feedback": "semi_bandit",
    "observation": "gaussian",
    "arm_set": "m_sets",
    "n_items": 4,
    "size": 2,
    "phi": [0.9, 0.5, 0.3, 0.1],
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of an uninterrupted run."""
    folder = tmp_path_factory.mktemp("whole") / "out"
    run(experiment(), folder, compiled=False)
    return contents(folder)


def test_processes_and_engines_give_the_same_bytes(whole, tmp_path):
    run(experiment(), tmp_path / "two", workers=2, compiled=False)
    assert contents(tmp_path / "two") == whole
    said, told = [], []
    run(
        experiment(),
        tmp_path / "compiled",
        progress=lambda cell, done, total: told.append((cell.label, done, total)),
        announce=said.append,
    )
    assert contents(tmp_path / "compiled") == whole
    assert said == ["compiling 4 combinations of policy and structure, where not cached"]
    assert told[0] == ("ucb1", 1, 12)
    assert told[-1] == ("thompson", 12, 12)


def test_shards_make_up_the_grid(whole, tmp_path):
    for place in (2, 1, 3):
        run(experiment(), tmp_path / "out", shard=(place, 3), compiled=False)
    assert contents(tmp_path / "out") == whole
    with pytest.raises(InputError, match="`shard` must be written I/N"):
        run(experiment(), tmp_path / "other", shard=(4, 3))
    assert not (tmp_path / "other").exists()


def played(folder, found):
    """The labels of the cells that a run plays."""
    labels = []
    run(found, folder, compiled=False, progress=lambda cell, *_: labels.append(cell.label))
    return labels


def test_only_what_is_missing_is_played(whole, tmp_path):
    run(experiment(), tmp_path, compiled=False)
    assert played(tmp_path, experiment()) == []
    gone = sorted((tmp_path / "parts").iterdir())[:3]
    for path in gone:
        path.unlink()
    assert len(played(tmp_path, experiment())) == 3
    assert contents(tmp_path) == whole


def test_a_changed_policy_is_played_alone(tmp_path):
    run(experiment(), tmp_path, compiled=False)
    changed = experiment(policies=["ucb1", {"name": "ucb1", "proxy": 3.0}, "thompson"])
    assert played(tmp_path, changed) == ["ucb1:proxy=3.0"] * 4
    assert len(played(tmp_path, experiment(trials=6))) == 6
    assert len(played(tmp_path, experiment(seed=4))) == 12


def test_parts_hold_what_the_simulator_says(tmp_path):
    found = experiment(policies=["thompson"], instances=[CLASSICAL])
    run(found, tmp_path, compiled=False)
    answer = simulate(from_dict(CLASSICAL), ["thompson"], 60, 4, 3, compiled=False)
    times, regret = Results(tmp_path).curves["classical", "thompson"]
    assert np.array_equal(times, answer.policies[0].checkpoints)
    assert np.array_equal(regret, answer.policies[0].curves)
    plays = np.array(Results(tmp_path).trials["plays"].to_list()).mean(axis=0)
    assert np.array_equal(plays, answer.policies[0].plays)


def test_arms_that_are_not_listed(tmp_path):
    found = experiment(policies=["hgl"], instances=[PATHS], trials=2, horizon=20)
    run(found, tmp_path, compiled=False)
    rows = Results(tmp_path).trials
    for arms, plays in zip(rows["arms"].to_list(), rows["plays"].to_list(), strict=True):
        assert sum(plays) == 20
        assert all(len(arm) == 2 for arm in arms)


def test_late_observations(tmp_path):
    run(experiment(batch=5, delay=3), tmp_path, compiled=False)
    assert Results(tmp_path).trials.height == 24


def test_a_folder_of_something_else_stays_as_it_is(tmp_path):
    run(experiment(), tmp_path / "tiny", compiled=False)
    before = contents(tmp_path / "tiny")
    with pytest.raises(InputError, match="`out` must not hold another experiment, 'tiny'"):
        run(experiment(name="other"), tmp_path / "tiny")
    assert contents(tmp_path / "tiny") == before
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear").write_text("…")
    with pytest.raises(InputError, match="`out` must be a new or empty folder"):
        run(experiment(), tmp_path / "letters")
    assert [path.name for path in (tmp_path / "letters").iterdir()] == ["dear"]
    with pytest.raises(InputError, match="`out` must be a folder"):
        run(experiment(), tmp_path / "letters" / "dear")
    with pytest.raises(InputError, match="`out` must be a writable folder"):
        run(experiment(), "/proc/nowhere/out")
    with pytest.raises(InputError, match="`folder` must hold an experiment"):
        Results(tmp_path)
    with pytest.raises(InputError, match="`workers` must be at least 1"):
        run(experiment(), tmp_path / "new", workers=0)
    assert not (tmp_path / "new").exists()


def test_what_a_killed_process_was_writing_is_swept(whole, tmp_path):
    (tmp_path / "parts").mkdir()
    host = socket.gethostname()
    dead = tmp_path / f".writing-{host}-{2**22 + 1}-abc"
    mine = tmp_path / f".writing-{host}-{os.getpid()}-abc"
    alive = tmp_path / f".writing-{host}-{os.getppid()}-abc"
    elsewhere = tmp_path / ".writing-another-host-1-abc"
    odd = tmp_path / f".writing-{host}-x-abc"
    for path in (dead, mine, alive, elsewhere, odd):
        path.write_bytes(b"half")
    run(experiment(), tmp_path, compiled=False)
    assert not dead.exists()
    assert not mine.exists()
    for path in (alive, elsewhere, odd):
        path.unlink()
    assert contents(tmp_path) == whole


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path)
    found = experiment()
    grid = list(cells(found))
    ledger.open(found, grid)

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        ledger.enter(grid[0], b"part", 0.1)
    assert ledger.finished() == set()
    assert not list(tmp_path.glob(".writing-*"))


def test_timings_survive_a_cut_line(tmp_path):
    ledger = Ledger(tmp_path)
    assert ledger.seconds() == {}
    found = experiment()
    grid = list(cells(found))
    ledger.open(found, grid)
    ledger.enter(grid[0], b"part", 0.25)
    with (tmp_path / "timings.jsonl").open("a") as file:
        file.write('{"cell": "ab')
    assert ledger.seconds() == {grid[0].key: 0.25}


def test_ten_thousand_cells_start_and_resume(tmp_path, monkeypatch):
    found = experiment(trials=2500, block=1, policies=["ucb1", "thompson"])
    made = []
    kept = cells_module.policy_of
    monkeypatch.setattr(cells_module, "policy_of", lambda *a: made.append(1) or kept(*a))
    grid = list(cells(found))
    assert len({cell.key for cell in grid}) == len(grid) == 10_000
    assert len(made) == 4  # once for each policy and instance
    Ledger(tmp_path).open(found, grid)
    for cell in grid[:-1]:
        (tmp_path / "parts" / f"{cell.key}.parquet").touch()
    assert played(tmp_path, found) == ["thompson"]
    assert len(json.loads((tmp_path / "cells.json").read_text())) == 10_000


def test_parts_do_not_grow_with_the_horizon():
    small, large = (
        next(cells(parse(tiny(horizon=h, trials=1, policies=["ucb1"])))) for h in (2_000, 20_000)
    )
    assert len(large.checkpoints) <= 121
    assert len(work(large, compiled=True)[0]) < 1.2 * len(work(small, compiled=True)[0])


def test_the_key_is_the_content():
    one, two = (next(cells(read("classical", [f"note={note}"]))) for note in "ab")
    assert one.key == two.key
    named = experiment(instances=[CLASSICAL | {"name": "another"}])
    assert next(cells(named)).key == next(cells(experiment(instances=[CLASSICAL]))).key


def test_memory_does_not_grow_with_trials_and_rounds(tmp_path):
    def most_held(name, **keys):
        tracemalloc.start()
        run(experiment(block=2, policies=["ucb1"], **keys), tmp_path / name, compiled=False)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return held

    most_held("once", trials=2, horizon=20)  # what is imported and kept for good
    few = most_held("few", trials=4, horizon=50)
    many = most_held("many", trials=20, horizon=600)
    assert many < 1.5 * few + 200_000
