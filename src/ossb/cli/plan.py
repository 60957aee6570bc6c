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
    top: Annotated[
        int | None, typer.Option(metavar="M", help="Find the M best arms, not the best one alone.")
    ] = None,
    above: Annotated[
        float | None,
        typer.Option(metavar="LEVEL", help="Find the arms whose means exceed LEVEL."),
    ] = None,
    gap: Annotated[
        float,
        typer.Option(help="Smallest gap that matters, where numbers are ranges, [low, high]."),
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

    Of several files, or a list in one, the median and the worst come last. Numbers of a parameter
    may be ranges, theta = [[0.2, 0.3], [0.25, 0.4]]: beliefs are then drawn from them.

    Example: ossb plan instance.toml --delta 0.05 --per-day 2000
    """
    from ossb.errors import InputError
    from ossb.fields import number
    from ossb.figures.canvas import check_format
    from ossb.graves_lai.answers import answer_of
    from ossb.instances import content_of, instances_in
    from ossb.simulation.beliefs import beliefs_of, has_ranges
    from ossb.simulation.planning import plan as think
    from ossb.simulation.plans import Plans

    if plot is not None:
        check_format(plot)
    if number(gap, "gap") < 0.0:
        raise InputError("gap", "be non-negative", gap)
    believed: list[Any] = []
    is_list, drawn = len(instance) > 1, False
    for path in instance:
        content = content_of(path)
        if has_ranges(content):
            found, several = beliefs_of(content, gap, seed), True
            drawn = len(instance) == 1
        else:
            found, several = instances_in(content)
        believed += found
        is_list = is_list or several
    if gap and not drawn:
        raise InputError("gap", "be used with a file of ranges, theta = [[0.2, 0.3], …]")
    test, asked = (delta, epsilon, per_day, simulate, seed), answer_of(top, above)
    plans = Plans([think(one, *test, answer=asked) for one in believed], drawn)
    if plot is not None:
        from ossb.figures.frontier import draw_frontier

        draw_frontier([plans.median, plans.worst] if drawn else plans.found, plot)
    if json:
        import json as encoder

        documents = plans.to_dict()
        content = documents if is_list else documents[0]
        typer.echo(encoder.dumps(content, indent=2, allow_nan=False))
    else:
        typer.echo(plans.table() if is_list else plans.found[0].table())
    if plot is not None:
        typer.echo(f"wrote {plot}", err=json)
