"""``ossb experiments``: what comes with the package."""

import typer


def experiments() -> None:
    """List the bundled experiments.

    Example: ossb experiments
    """
    from ossb.experiments.definition import bundled, read

    for name in bundled():
        found = read(name)
        size = f"{len(found.instances)} instances × {len(found.policies)} policies"
        typer.echo(f"{name:22} {found.title} ({size}, {found.trials} trials to {found.horizon:,})")
