"""The command line as a whole: help, versions, structures, the doctor, and how it ends."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ossb.structures import STRUCTURES

SCRIPT = Path(sys.executable).with_name("ossb")
ENVIRONMENT = {**os.environ, "COLUMNS": "120"}


def run(*arguments, **options):
    return subprocess.run(
        [SCRIPT, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
        **options,
    )


def test_help_loads_nothing_heavy():
    program = (
        "import sys\nfrom ossb.cli import main\nsys.argv = ['ossb', '--help']\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "heavy = {'numpy', 'numba', 'scipy', 'matplotlib', 'highspy', 'clarabel', 'rich.table'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "LOADED []" in result.stdout
    for command in ("bound", "verify", "structures", "doctor"):
        assert command in result.stdout


def test_the_installed_command():
    result = run("--version")
    assert result.returncode == 0
    assert result.stdout.startswith("ossb ")
    assert run("bound", "--help").returncode == 0


def test_usage_errors_are_one_line(ossb):
    for arguments in (["bound"], ["bonud"], ["bound", "x", "--nothing"]):
        assert ossb(*arguments) == 2
        assert ossb.err.startswith("ossb: ")
        assert ossb.err.count("\n") == 1
    assert ossb() in (0, 2)  # no command: the help
    assert ossb("--version") == 0


def test_the_list_of_structures(ossb):
    assert ossb("structures", "--json") == 0
    rows = json.loads(ossb.out)
    assert [row["name"] for row in rows] == list(STRUCTURES)
    for row in rows:
        assert set(row) == {"name", "parameters", "structures", "observations", "reference"}
        assert row["observations"] == list(STRUCTURES[row["name"]].observations)
        assert STRUCTURES[row["name"]].parameter in row["parameters"]
    assert ossb("structures") == 0
    assert "observation" in ossb.out


def test_the_doctor_finds_everything_well(ossb):
    assert ossb("doctor") == 0, ossb.out
    lines = ossb.out.splitlines()
    assert all(line.startswith("ok    ") for line in lines)
    named = [line.split(":")[0].removeprefix("ok    ") for line in lines]
    assert {"python", "packages", "bound", "compiler", "cache"} <= set(named)


def test_the_doctor_in_json(ossb):
    assert ossb("doctor", "--json") == 0, ossb.out
    lines = json.loads(ossb.out)
    assert all(set(line) == {"check", "ok", "found"} and line["ok"] for line in lines)
    assert {"python", "packages", "bound", "compiler"} <= {line["check"] for line in lines}


def test_the_doctor_says_what_is_wrong(ossb, monkeypatch):
    module = sys.modules["ossb.cli.doctor"]

    def broken():
        raise RuntimeError("no compiler here")

    monkeypatch.setattr(module, "_compiler", broken)
    assert ossb("doctor") == 1
    assert "FAIL  compiler: RuntimeError: no compiler here" in ossb.out
    assert ossb("doctor", "--json") == 1
    wrong = [line for line in json.loads(ossb.out) if not line["ok"]]
    assert [line["check"] for line in wrong] == ["compiler"]


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
def test_an_interrupt_exits_with_130():
    process = subprocess.Popen(
        [SCRIPT, "bound", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, "PYTHONUNBUFFERED": "1", "PYTHONVERBOSE": ""},
    )
    try:
        # it waits for standard input once everything is imported
        wait_until_reading(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert out == ""
    assert err.strip() == "ossb: interrupted"


def wait_until_reading(pid):
    """Until the process sleeps in a read of its standard input."""
    import time

    for _ in range(600):
        try:
            if Path(f"/proc/{pid}/wchan").read_text().strip("0") in ("pipe_read", "anon_pipe_read"):
                return
            if Path(f"/proc/{pid}/syscall").read_text().split()[:2] == ["0", "0x0"]:
                return
        except OSError:
            pass
        time.sleep(0.05)


def test_a_reader_that_leaves_is_no_error():
    theta = json.dumps({"structure": "classical", "theta": [1.0, *[k / 1000 for k in range(300)]]})
    process = subprocess.Popen(
        [SCRIPT, "bound", "-", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    process.stdout.close()
    process.stdin.write(theta)
    process.stdin.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 1  # as other programs do
    assert err == ""


def test_colours_are_left_out_on_request():
    content = json.dumps({"structure": "classical", "theta": [1.0, 0.5]})
    result = subprocess.run(
        [SCRIPT, "bound", "-"],
        input=content,
        capture_output=True,
        text=True,
        check=True,
        env={**ENVIRONMENT, "NO_COLOR": "1", "FORCE_COLOR": "1"},
    )
    assert "\x1b[3" not in result.stdout
