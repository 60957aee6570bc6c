"""Parts of the reference that come from the software itself, put in when the site is built.

A hook of mkdocs: in a page, ``<!-- policies -->`` and the like stand for a table or a section
that is written from what is installed.
"""

import inspect
from typing import Any

MARKS = ("policies", "policy modules", "structures", "commands", "layers")


def on_page_markdown(markdown: str, **_: Any) -> str:
    for mark in MARKS:
        place = f"<!-- {mark} -->"
        if place in markdown:
            markdown = markdown.replace(place, globals()[mark.replace(" ", "_")]())
    return markdown


def policies() -> str:
    """A row for each policy: parameters, structures, reference."""
    from ossb.policies import POLICIES
    from ossb.policies.base import structures_of
    from ossb.structures import STRUCTURES

    rows = ["| policy | parameters | structures | reference |", "|---|---|---|---|"]
    for kind in POLICIES.values():
        set_by = ", ".join(f"`{key}={value}`" for key, value in kind.parameters.items()) or "–"
        fits = ", ".join(structures_of(kind, STRUCTURES))
        rows.append(f"| `{kind.name}` | {set_by} | {fits} | {kind.reference} |")
    return "\n".join(rows)


def policy_modules() -> str:
    """The documentation of the module of each policy."""
    from ossb.policies import POLICIES

    modules: dict[str, list[str]] = {}
    for kind in POLICIES.values():
        modules.setdefault(kind.build.__module__, []).append(f"`{kind.name}`")
    sections = []
    for module, names in modules.items():
        sections.append(
            f"### {', '.join(names)}\n\n::: {module}\n"
            "    options: {members: false, show_root_heading: false}\n"
        )
    return "\n".join(sections)


def structures() -> str:
    """A row for each structure: keys, observations, reference."""
    from dataclasses import fields

    from ossb.structures import STRUCTURES
    from ossb.structures.base import Instance

    common = {item.name for item in fields(Instance)}
    rows = ["| structure | keys | observations | reference |", "|---|---|---|---|"]
    for kind, structure in STRUCTURES.items():
        keys = ", ".join(f"`{f.name}`" for f in fields(structure) if f.name not in common)
        seen = ", ".join(structure.observations)
        rows.append(f"| `{kind}` | {keys} | {seen} | {structure.reference} |")
    return "\n".join(rows)


def commands() -> str:
    """The help of every command."""
    import typer

    from ossb.cli import app

    group: Any = typer.main.get_command(app)
    return "\n".join(_help(group, "ossb"))


def _help(command: Any, name: str) -> list[str]:
    context = command.make_context(name, [], resilient_parsing=True, terminal_width=88)
    said = command.get_help(context).strip()
    sections = [] if name == "ossb" else [f"## `{name}`\n\n```\n{said}\n```\n"]
    for key, child in sorted(getattr(command, "commands", {}).items()):
        sections += _help(child, f"{name} {key}")
    return sections


def layers() -> str:
    """The layers as the import linter checks them, top first."""
    import tomllib
    from pathlib import Path

    found = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    contract = next(c for c in found["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    rows = ["| layer | what it is |", "|---|---|"]
    for layer in contract["layers"]:
        modules = [name.strip() for name in layer.replace(":", "|").split("|")]
        said = " · ".join(_first_line(module) for module in modules)
        rows.append(f"| {' '.join(f'`{module}`' for module in modules)} | {said} |")
    return "\n".join(rows)


def _first_line(module: str) -> str:
    from importlib import import_module

    return (inspect.getdoc(import_module(module)) or "").partition("\n")[0]
