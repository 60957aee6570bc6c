"""``ossb policies``: what there is."""

from typing import Annotated

import typer


def policies(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the policies: parameters, structures they fit, sources.

    Example: ossb policies --json
    """
    from ossb.policies import POLICIES
    from ossb.policies.base import structures_of
    from ossb.structures import STRUCTURES

    rows = [
        {
            "name": kind.name,
            "parameters": dict(kind.parameters),
            "structures": structures_of(kind, STRUCTURES),
            "reference": kind.reference,
            "breaks": dict(kind.breaks),
        }
        for kind in POLICIES.values()
    ]
    if json:
        import json as encoder

        typer.echo(encoder.dumps(rows, indent=2, ensure_ascii=False))
        return
    from ossb.cli.listing import print_list

    print_list(
        "policy",
        (
            (
                kind.name,
                {
                    "parameters": ", ".join(f"{k}={v}" for k, v in kind.parameters.items()),
                    "structures": ", ".join(structures_of(kind, STRUCTURES)),
                    "reference": kind.reference,
                    "breaks": "; ".join(f"{name}: {why}" for name, why in kind.breaks.items()),
                },
            )
            for kind in POLICIES.values()
        ),
        "None: left to the policy",
    )
