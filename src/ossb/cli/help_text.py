"""The help of a command without parsing its arguments, which loads what checks their values."""

from collections.abc import Sequence
from typing import Any

import typer.main

ASKED = ("-h", "--help")


def help_of(app: typer.Typer, words: Sequence[str]) -> str | None:
    """The help that ``ossb WORDS… --help`` prints; None where this is asked in another way."""
    if not words or words[-1] not in ASKED:
        return None
    command: Any = typer.main.get_command(app)
    context = command.context_class(command, info_name=app.info.name, **command.context_settings)
    for word in words[:-1]:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            return None
        context = command.context_class(
            command, info_name=word, parent=context, **command.context_settings
        )
    return str(command.get_help(context))


def missing(error: Any) -> str:
    """All that a command still needs, where the error is about the first of it; else nothing.

    What was given is read before what was not, so that nothing required is left to be read but
    what is missing.
    """
    if type(error).__name__ != "MissingParameter" or error.ctx is None:
        return ""
    read = error.ctx.params
    left = [p for p in error.ctx.command.params if p.required and p.name not in read]
    names = "`, `".join(p.opts[0] for p in left)
    return f"`{names}` must be given: see {error.ctx.command_path} --help"
