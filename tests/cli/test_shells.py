"""Completion in shells: the one that is named, or the one that the command is called from."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import shellingham

SCRIPT = Path(sys.executable).with_name("ossb")
BASH = shutil.which("bash")
MARKS = {
    "bash": "complete -o default -F _ossb_completion ossb",
    "zsh": "#compdef ossb",
    "fish": "complete --command ossb",
    "powershell": "Register-ArgumentCompleter",
    "pwsh": "Register-ArgumentCompleter",
}

needs_bash = pytest.mark.skipif(BASH is None, reason="needs bash")


def in_bash(program, home):
    """What a person's bash prints, without what pytest and this machine put into it."""
    path = f"{SCRIPT.parent}:{os.environ['PATH']}"
    result = subprocess.run(
        [BASH, "--norc", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"HOME": str(home), "PATH": path, "LANG": "C.UTF-8"},
        timeout=60,
    )
    assert result.stderr == ""
    return result.stdout


def completions(setup, words, home):
    """What bash offers for the last word, once its set-up has run."""
    quoted = " ".join(f"'{word}'" for word in words)
    program = (
        f"{setup}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n"
        "function_of_ossb=$(complete -p ossb | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
        '"$function_of_ossb" ossb\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    return in_bash(program, home).split()


@needs_bash
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ossb", "str"], ["structures"]),
        (["ossb", "campaign", "cl"], ["close"]),
        (["ossb", "bound", "--cert"], ["--certificate"]),
        (["ossb", "simulate", "x.toml", "--policy", "kl-u"], ["kl-ucb"]),
        (["ossb", "run", "end-"], ["end-of-optimism"]),
        (["ossb", "run", "./"], []),
    ],
)
def test_bash_completes(words, expected, tmp_path):
    setup = 'eval "$(ossb --show-completion bash)"'
    assert completions(setup, words, tmp_path) == expected


@needs_bash
def test_completion_is_installed_for_the_next_shell(tmp_path):
    said = in_bash("ossb --install-completion bash", tmp_path)
    assert said.startswith(f"bash completion installed in {tmp_path}/")
    assert completions("source ~/.bashrc", ["ossb", "doc"], tmp_path) == ["doctor"]


@needs_bash
def test_the_shell_above_is_found(tmp_path):
    said = in_bash("ossb --show-completion; true", tmp_path)  # bash stays, to do the second
    assert MARKS["bash"] in said


@pytest.mark.parametrize("shell", MARKS)
@pytest.mark.parametrize("written", ["--show-completion {}", "--show-completion={}"])
def test_the_shell_that_is_named_counts(ossb, shell, written, monkeypatch):
    monkeypatch.setattr(shellingham, "detect_shell", lambda: ("fish", "/bin/fish"))
    assert ossb(*written.format(shell).split()) == 0
    assert MARKS[shell] in ossb.out
    assert sum(mark in ossb.out for mark in set(MARKS.values())) == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_else_the_one_it_is_called_from(ossb, shell, monkeypatch, tmp_path):
    monkeypatch.setattr(shellingham, "detect_shell", lambda: (shell, f"/bin/{shell}"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ossb("--show-completion") == 0
    assert MARKS[shell] in ossb.out
    assert ossb("--install-completion") == 0
    place = Path(ossb.out.splitlines()[0].removeprefix(f"{shell} completion installed in "))
    assert place.is_relative_to(tmp_path)
    assert MARKS[shell] in place.read_text()


def test_no_shell_to_be_found(ossb, monkeypatch):
    def nothing():
        raise shellingham.ShellDetectionFailure

    monkeypatch.setattr(shellingham, "detect_shell", nothing)
    for option in ("--show-completion", "--install-completion"):
        assert ossb(option) == 2
        named = f"`shell` must be named, as in {option} bash|zsh|fish|powershell|pwsh: "
        assert ossb.err == f"ossb: {named}which one this is called from is not known\n"
        assert ossb.out == ""


def test_shells_that_are_not_known(ossb, monkeypatch):
    monkeypatch.setattr(shellingham, "detect_shell", lambda: ("dash", "/bin/dash"))
    assert ossb("--show-completion") == 2
    assert ossb.err.startswith("ossb: `shell` must be named")
    assert ossb.err.endswith("this is called from dash\n")
    must = "`shell` must be one of bash, zsh, fish, powershell, pwsh, got"
    assert ossb("--install-completion", "fsh") == 2
    assert ossb.err == f"ossb: did you mean 'fish'? {must} fsh\n"
    assert ossb("--show-completion", "bash", "zsh") == 2
    assert "be one name" in ossb.err


def test_a_shell_that_is_not_on_this_machine(ossb, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ossb("--install-completion", "pwsh") == 2
    assert ossb.err.startswith("ossb: `shell` must be set up on this machine: ")
    assert ossb.err.endswith(", got pwsh\n")
