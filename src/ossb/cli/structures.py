"""``ossb structures``: what there is."""

from typing import Annotated

import typer

COMMON = ("observation", "sigma", "goal", "name", "arm_names", "note")


def structures(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the structures: their keys, the observations that fit, and where they come from.

    Example: ossb structures --json
    """
    from dataclasses import fields

    from ossb.structures import STRUCTURES

    rows = [
        {
            "name": structure.kind,
            "parameters": [item.name for item in fields(structure) if item.name not in COMMON],
            "structures": [structure.kind],
            "observations": list(structure.observations),
            "reference": structure.reference,
        }
        for structure in STRUCTURES.values()
    ]
    if json:
        import json as encoder

        typer.echo(encoder.dumps(rows, indent=2, ensure_ascii=False))
        return
    from textwrap import fill

    from rich.console import Console
    from rich.table import Table

    table = Table(caption=f"Common keys: {', '.join(COMMON)}", caption_justify="left")
    longest = max(len(key) for row in rows for key in row["parameters"])
    for heading in ("structure", "keys"):  # to be copied: never cut short
        table.add_column(heading, no_wrap=True)
    for heading in ("observations", "reference"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(
            str(row["name"]),
            fill(", ".join(row["parameters"]), longest + 1),
            ", ".join(row["observations"]),
            str(row["reference"]),
        )
    Console().print(table)
