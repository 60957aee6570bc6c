"""``ossb structures``: what there is."""

from typing import Annotated

import typer

COMMON = ("observation", "sigma", "goal", "name", "arm_names", "note", "reward_unit")


def structures(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the structures: keys, observations that fit, sources.

    Example: ossb structures --json
    """
    from dataclasses import fields

    from ossb.structures import STRUCTURES

    rows = [
        {
            "name": structure.kind,
            "parameters": [
                *(item.name for item in fields(structure) if item.name not in COMMON),
                "segments",
            ],
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
    from ossb.cli.listing import print_list

    print_list(
        "structure",
        (
            (
                str(row["name"]),
                {
                    "keys": ", ".join(row["parameters"][:-1]),
                    "observations": ", ".join(row["observations"]),
                    "reference": str(row["reference"]),
                },
            )
            for row in rows
        ),
        f"Common keys: {', '.join(COMMON)}; and segments, a list of tables with keys that differ",
    )
