"""``ossb experiments``: what comes with the package."""

import typer

from ossb.words import counted


def experiments() -> None:
    """List the bundled experiments.

    Example: ossb experiments
    """
    from ossb.experiments.definition import bundled, read

    for name in bundled():
        found = read(name)
        instances = counted(len(found.instances), "instance")
        policies = counted(len(found.policies), "policy", "policies")
        trials = counted(found.trials, "trial")
        size = f"{instances} × {policies}, {trials} to {found.horizon:,}"
        typer.echo(f"{name:22} {found.title} ({size})")
