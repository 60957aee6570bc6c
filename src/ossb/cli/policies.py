"""``ossb policies``: what there is."""

from typing import Annotated

import typer


def policies(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the policies: their parameters, the structures they fit, and where they come from.

    Example: ossb policies --json
    """
    from ossb.policies import POLICIES

    rows = [
        {
            "name": kind.name,
            "parameters": dict(kind.parameters),
            "structures": list(kind.structures),
            "reference": kind.reference,
        }
        for kind in POLICIES.values()
    ]
    if json:
        import json as encoder

        typer.echo(encoder.dumps(rows, indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for heading in ("policy", "parameters", "structures", "reference"):
        table.add_column(heading, overflow="fold")  # a long word goes on below, never cut short
    for kind in POLICIES.values():
        parameters = ", ".join(f"{k}={v}" for k, v in kind.parameters.items())
        table.add_row(kind.name, parameters, ", ".join(kind.structures), kind.reference)
    Console().print(table)
