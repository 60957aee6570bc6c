"""``ossb run``, ``ossb report`` and ``ossb experiments``."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from experiment_cases import TESTS
from ossb.experiments.definition import bundled

FILE = """
name = "tiny"
horizon = 30
trials = 2
horizons = [10, 30]
policies = ["ucb1", { name = "own_policies:RoundRobin", step = 2 }]

[[instances]]
group = "one & <only>"
structure = "classical"
observation = "bernoulli"
theta = [0.3, 0.45, 0.5]
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tiny.toml"
    path.write_text(FILE)
    return path


def test_a_run_ends_in_a_table_and_files(ossb, file, tmp_path):
    assert ossb("run", "tiny.toml", "--workers", 1) == 0
    assert "one & <only>, t = 30, 2 trials, C(θ) = 12.41" in ossb.out
    wrote = [line.removeprefix("wrote ") for line in ossb.out.splitlines() if "wrote" in line]
    names = {"regret", "regret-summary", "regret-plays", "regret-phases"}
    assert set(wrote) == {
        *(f"results/tiny/{name}.{suffix}" for name in names for suffix in ("pdf", "png")),
        *(f"results/tiny/{name}" for name in ("report.html", "table.csv", "table.tex")),
        "results/tiny/comparisons.csv",
    }
    assert all((tmp_path / name).stat().st_size > 50 for name in wrote)
    assert "2/2 cells" in ossb.err
    folder = tmp_path / "results" / "tiny"
    assert ossb("report", "results/tiny", "--html", "page.html", "--pdf", "a.pdf") == 0
    assert (tmp_path / "page.html").read_bytes() == (folder / "report.html").read_bytes()
    for name in names:
        drawn = tmp_path / f"{name.replace('regret', 'a')}.pdf"
        assert drawn.read_bytes() == (folder / f"{name}.pdf").read_bytes()


def test_with_nothing_to_play_the_report_stands(ossb, file, tmp_path, monkeypatch):
    assert ossb("run", "tiny.toml", "--workers", 1) == 0
    table = ossb.out.partition("\n\nwrote")[0]

    def draw(*_):
        raise AssertionError("drawn again")

    with monkeypatch.context() as patched:
        patched.setattr("ossb.figures.experiment.draw_experiment", draw)
        assert ossb("run", "tiny.toml", "--workers", 1) == 0
    assert ossb.out.strip() == table.strip()
    assert "nothing was missing" in ossb.err
    (tmp_path / "results/tiny/regret.pdf").unlink()
    assert ossb("run", "tiny.toml", "--workers", 1) == 0
    assert (tmp_path / "results/tiny/regret.pdf").exists()
    assert ossb("run", "tiny.toml", "trials=3", "--workers", 1) == 0
    assert "3 trials" in ossb.out, "what is new is in the table"


def test_the_same_command_again_plays_nothing(ossb, file):
    assert ossb("run", "tiny.toml", "--shard", "1/2", "--workers", 1) == 0
    assert "1/1 cells" in ossb.err
    assert ossb("run", "tiny.toml", "--shard", "1/2", "--workers", 1) == 0
    assert ossb.err == ""


def test_shards_and_outputs(ossb, file, tmp_path):
    assert ossb("run", "tiny.toml", "output=there", "--shard", "1/2", "--workers", 1) == 0
    assert ossb.out == "shard 1/2 of tiny is in there\n"
    assert len(list((tmp_path / "there" / "parts").iterdir())) == 1
    assert ossb("run", "tiny.toml", "--out", "there", "--shard", "2/2", "--workers", 1) == 0
    assert len(list((tmp_path / "there" / "parts").iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tiny.tml"], "`experiment` must be a file or one of"),
        (["tiny.toml", "horizon=-5"], "`horizon` must be at least 1, got -5"),
        (["tiny.toml", "horizon=long"], "`horizon` must be a whole number, got long"),
        (["tiny.toml", "trails=5"], "did you mean 'trials'"),
        (["tiny.toml", 'policies=["hlg"]'], "did you mean 'hgl'"),
        (["tiny.toml", 'policies=["glm-ucb"]'], "glm-ucb"),
        (["tiny.toml", 'instances=[{file="no.toml"}]'], "no.toml"),
        (["tiny.toml", "--shard", "3"], "`shard` must be written I/N"),
        (["tiny.toml", "--shard", "3/2"], "`shard` must be written I/N with"),
        (["tiny.toml", "--workers", "-1"], "`workers` must be at least 1"),
        (["tiny.toml", "--out", "tiny.toml"], "`out` must be a folder"),
        (["tiny.toml", "--out", "."], "`out` must be a new or empty folder"),
        (["tiny.toml", "--scheduler", "nonsense"], "`scheduler` must be a reachable scheduler"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_mistakes_take_one_line_and_write_nothing(arguments, message, ossb, file, tmp_path):
    assert ossb("run", *arguments) == 2
    assert message in ossb.err
    assert len(ossb.err.splitlines()) == 1
    assert ossb.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.toml"]


def test_mistakes_in_a_report(ossb, file, tmp_path):
    assert ossb("report", "nowhere") == 2
    assert "`folder` must hold an experiment" in ossb.err
    assert ossb("run", "tiny.toml", "--shard", "1/2", "--workers", 1, "--out", "a") == 0
    for options, message in (
        (["--band", "wide"], "`band` must be one of confidence, percentile, simultaneous"),
        (["--pdf", "a.gif"], "`pdf` must end in one of"),
        (["--html", "no/where.html"], "`html` must be a writable file"),
    ):
        assert ossb("report", "a", *options) == 2
        assert message in ossb.err
    for part in (tmp_path / "a" / "parts").iterdir():
        part.unlink()
    assert ossb("report", "a") == 2
    assert "`folder` must hold finished cells" in ossb.err


def test_the_bundled_experiments_are_listed(ossb):
    assert ossb("experiments") == 0
    lines = ossb.out.splitlines()
    assert len(lines) == len(bundled())
    assert any(
        line.startswith("figure1 ") and "30 instances × 8 policies" in line for line in lines
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_keeps_what_is_finished(workers, file, tmp_path):
    slow = '{name="own_policies:Sleepy", step=1}'
    process = subprocess.Popen(
        [sys.executable, "-c", "from ossb.cli import main; main()", "run", "tiny.toml", "trials=1"]
        + ["horizon=100000", f'policies=["own_policies:RoundRobin:step=2", {slow}]']
        + ["--workers", str(workers), "--out", "out"],
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    parts = tmp_path / "out" / "parts"
    while process.poll() is None and not (parts.exists() and list(parts.iterdir())):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does; the rest would take hours
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "finished cells are kept; run the same command to go on" in error
    assert error.splitlines()[-1] == "ossb: interrupted"
    assert "Traceback" not in error
    assert len(list(parts.iterdir())) == 1
    assert len(json.loads((tmp_path / "out" / "cells.json").read_text())) == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_a_policy_that_goes_wrong_ends_in_one_line(ossb, file, tmp_path, workers):
    wrong = '{ name = "wrong_policies:Wrong", arm = 3, round = 9 }'
    file.write_text(FILE.replace('{ name = "own_policies:RoundRobin", step = 2 }', wrong))
    assert ossb("run", "tiny.toml", "--workers", workers) == 2
    (line,) = [line for line in ossb.err.splitlines() if line.startswith("ossb: ")]
    said = "`arm` must be 0, …, 2, got 3"
    assert line == f"ossb: policy 'wrong_policies:Wrong:arm=3,round=9' in round 9: {said}"
    assert "Traceback" not in ossb.err
    assert not list(tmp_path.rglob("table.csv"))
