"""Small kindnesses: examples, near names, and plain output where it belongs."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

import ossb as package
from ossb.cli import app

SCRIPT = Path(sys.executable).with_name("ossb")
CLASSICAL = json.dumps({"structure": "classical", "theta": [1.0, 0.5]})
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def commands(group, path=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def test_every_command_shows_an_example():
    for path, command in commands(typer.main.get_command(app)):
        example = re.search(r"Example: (.*)", command.help)
        assert example is not None, path
        words = example[1].split()
        assert tuple(words[: 1 + len(path)]) == ("ossb", *path), example[1]
        assert len(example[0]) <= 76, "a terminal would break the line"
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= known, example[1]


@pytest.mark.parametrize("group", ["", "campaign", "token"])
def test_every_group_of_commands_shows_an_example(ossb, group, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert ossb(*group.split(), "--help") == 0
    assert "..." not in ossb.out.partition("\n")[2]  # what a command does is said in full
    assert re.search(rf"^  Example: ossb {group}", ossb.out, re.MULTILINE)


def test_help_is_the_same_as_if_it_were_parsed(ossb, capsys):
    paths = [(), ("campaign",), ("token",)]
    paths += [path for path, _ in commands(typer.main.get_command(app))]
    for path in paths:
        for asked in ("-h", "--help"):
            assert ossb(*path, asked) == 0
            with pytest.raises(SystemExit) as stop:
                app([*path, asked], prog_name="ossb")
            assert stop.value.code == 0
            assert capsys.readouterr().out == ossb.out
    assert ossb("bonud", "--help") == 2
    assert "'bound'" in ossb.err


def test_help_of_a_command_loads_nothing_heavy():
    program = (
        "import sys\nfrom ossb.cli import main\nsys.argv = ['ossb', 'simulate', '--help']\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "heavy = {'numpy', 'numba', 'scipy', 'matplotlib', 'pydantic', 'rich.table'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "--horizon" in result.stdout
    assert "LOADED []" in result.stdout


def test_names_that_are_near(ossb):
    for arguments, near in (
        (["bonud"], "'bound'"),
        (["campaign", "crate"], "'create'"),
        (["bound", "-", "--certifcate", "x"], "--certificate"),
        (["run", "figre1"], "'figure1'"),
    ):
        assert ossb(*arguments) == 2
        assert near in ossb.err
    for content, near in (
        ({"structure": "clasical", "theta": [1.0, 0.0]}, "'classical'"),
        ({"structure": "classical", "teta": [1.0, 0.0]}, "'theta'"),
        ({"structure": "classical", "theta": [1.0, 0.0], "observation": "gausian"}, "'gaussian'"),
    ):
        assert ossb("bound", "-", stdin=json.dumps(content)) == 2
        assert f"did you mean {near}?" in ossb.err
    assert ossb("simulate", "-", "--policy", "klucb", "--horizon", 9, stdin=CLASSICAL) == 2
    assert "did you mean 'kl-ucb'?" in ossb.err
    assert ossb("simulate", "-", "--policy", "ossb:epsilom=1", "--horizon", 9, stdin=CLASSICAL) == 2
    assert "did you mean 'epsilon'?" in ossb.err


def test_the_nearest_name_stands_before_a_long_list(ossb):
    assert ossb("simulate", "-", "--policy", "hlg", "--horizon", 9, stdin=CLASSICAL) == 2
    assert ossb.err.startswith("ossb: did you mean 'hgl'? `policy` must be one of hgl, ")
    assert ossb.err.endswith(", got hlg\n")
    with pytest.raises(AttributeError, match=r"no attribute 'Classicl' \(did you mean 'Classical"):
        _ = package.Classicl


def test_importing_the_package_loads_nothing_heavy():
    program = "import sys, ossb; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"numpy", "numba", "scipy", "matplotlib", "polars", "pandas", "rich", "typer"}
    assert not heavy & set(loaded)
    assert "ossb" in loaded


def on_a_terminal(arguments, content, **variables):
    """What a command writes to a real terminal."""
    main, side = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    environment.update(TERM="xterm-256color", COLUMNS="100", **variables)
    process = subprocess.Popen(
        [SCRIPT, *arguments], stdin=subprocess.PIPE, stdout=side, stderr=side, env=environment
    )
    os.close(side)
    process.stdin.write(content.encode())
    process.stdin.close()
    written = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # Linux says so when the other side is gone
            break
        if not part:
            break
        written += part
    os.close(main)
    assert process.wait(timeout=60) == 0, written
    return written.decode()


def test_colour_and_bars_on_a_terminal_only():
    simulate = ("simulate", "-", "--policy", "ucb1", "--horizon", "30", "--trials", "2")
    simulate = (*simulate, "--interpreted")
    coloured = on_a_terminal(("bound", "-"), CLASSICAL)
    assert ESCAPE.search(coloured)
    plain = on_a_terminal(("bound", "-"), CLASSICAL, NO_COLOR="1")
    assert "C(θ)" in plain
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", plain)
    for arguments in (("bound", "-"), simulate):
        environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        piped = subprocess.run(
            [SCRIPT, *arguments],
            input=CLASSICAL,
            capture_output=True,
            text=True,
            check=True,
            env={**environment, "TERM": "xterm-256color"},
        )
        assert "\x1b" not in piped.stdout + piped.stderr
        assert "\r" not in piped.stdout + piped.stderr
