"""Completion of a shell that is named, or else of the one that the command is called from.

Typer has both options too, as its help says, but takes no name with them.
"""

import subprocess
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer

from ossb.errors import InputError
from ossb.words import hint

SHOW, INSTALL = "--show-completion", "--install-completion"
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
PROGRAM = {"prog_name": "ossb", "complete_var": "_OSSB_COMPLETE"}


def completes(words: Sequence[str]) -> bool:
    """Show or install completion where ``ossb WORDS…`` asks for it; False where it does not."""
    asked, named, shell = words[0].partition("=") if words else ("", "", "")
    if asked not in (SHOW, INSTALL):
        return False
    given = ([shell] if named else []) + list(words[1:])
    if len(given) > 1:
        raise InputError("shell", f"be one name after {asked}", " ".join(given))
    shell = _known(given[0]) if given else _caller(asked)
    kit: Any = import_module("typer.completion")
    if asked == SHOW:
        typer.echo(kit.get_completion_script(shell=shell, **PROGRAM))
        return True
    try:
        _, place = kit.install(shell=shell, **PROGRAM)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise InputError("shell", f"be set up on this machine: {error}", shell) from None
    typer.echo(f"{shell} completion installed in {place}")
    typer.echo("It takes effect in the next shell.")
    return True


def _known(shell: str) -> str:
    if shell not in SHELLS:
        raise InputError("shell", f"be one of {', '.join(SHELLS)}{hint(shell, SHELLS)}", shell)
    return shell


def _caller(asked: str) -> str:
    """The shell above this process."""
    import shellingham

    must = f"be named, as in {asked} {'|'.join(SHELLS)}: "
    try:
        shell = str(shellingham.detect_shell()[0])
    except (shellingham.ShellDetectionFailure, OSError, NotImplementedError):
        raise InputError("shell", must + "which one this is called from is not known") from None
    if shell not in SHELLS:
        raise InputError("shell", f"{must}this is called from {shell}")
    return shell
