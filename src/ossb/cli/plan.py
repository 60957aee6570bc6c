"""``ossb plan``: how long a test will take, before it begins."""

from typing import Annotated, Any

import typer


def plan(
    instance: Annotated[
        list[str], typer.Argument(help="Instance files, TOML or JSON, with what is believed.")
    ],
    delta: Annotated[float, typer.Option(help="How often the answer may be wrong.")] = 0.05,
    epsilon: Annotated[
        float, typer.Option(help="How much worse than the best arm is good enough.")
    ] = 0.0,
    per_day: Annotated[float | None, typer.Option(metavar="N", help="Rounds a day.")] = None,
    simulate: Annotated[
        int, typer.Option(metavar="TRIALS", help="Check the plan by so many simulated tests.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of their randomness.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw regret against rounds (.png, .pdf or .svg)."),
    ] = None,
) -> None:
    """Plan how long a test takes and what it costs.

    Example: ossb plan instance.toml --delta 0.05 --per-day 2000
    """
    from ossb.instances import load
    from ossb.simulation.planning import of_list
    from ossb.simulation.planning import plan as think

    believed: list[Any] = []
    is_list = len(instance) > 1
    for path in instance:
        found, several = load(path)
        believed += found
        is_list = is_list or several
    plans = [think(one, delta, epsilon, per_day, simulate, seed) for one in believed]
    if plot is not None:
        from ossb.figures.frontier import draw_frontier

        draw_frontier(plans, plot)
    if json:
        import json as encoder

        documents = [one.to_dict() for one in plans]
        content = documents if is_list else documents[0]
        typer.echo(encoder.dumps(content, indent=2, allow_nan=False))
    else:
        for one in plans:
            if is_list and one.instance.name:
                typer.echo(f"{one.instance.name}:")
            typer.echo(one.table())
        if len(plans) > 1:
            typer.echo(of_list(plans))
    if plot is not None:
        typer.echo(f"wrote {plot}", err=json)
