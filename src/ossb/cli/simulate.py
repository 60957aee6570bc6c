"""``ossb simulate``: policies on an instance."""

from typing import Annotated

import typer

from ossb.cli.completing import policy_names


def simulate(
    instance: Annotated[
        str, typer.Argument(help="Instance file, TOML or JSON; - reads standard input.")
    ],
    policy: Annotated[
        list[str],
        typer.Option(
            metavar="NAME[:key=value,…]",
            help="A policy; for several, --policy hgl --policy ucb1.",
            autocompletion=policy_names,
        ),
    ],
    horizon: Annotated[int, typer.Option(help="Rounds of each trial.")],
    trials: Annotated[int, typer.Option(help="Independent trials.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
    workers: Annotated[int, typer.Option(help="Trials at a time.")] = 1,
    batch: Annotated[int, typer.Option(help="Tell observations in batches of this many.")] = 1,
    delay: Annotated[int, typer.Option(help="Rounds before an observation is known.")] = 0,
    until: Annotated[
        float | None,
        typer.Option(
            metavar="DELTA",
            help="End each trial once its leader is best, sure to 1 − DELTA.",
        ),
    ] = None,
    epsilon: Annotated[
        float, typer.Option(help="How much worse than the best arm is good enough for that.")
    ] = 0.0,
    top: Annotated[
        int | None, typer.Option(metavar="M", help="End once the M best arms are known.")
    ] = None,
    above: Annotated[
        float | None,
        typer.Option(metavar="LEVEL", help="End once the arms of means above LEVEL are known."),
    ] = None,
    interpreted: Annotated[
        bool, typer.Option("--interpreted", help="Run the loop without compiling it.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the regret (.png, .pdf or .svg by the name)."),
    ] = None,
) -> None:
    """Play policies and compare their regret with the lower bound.

    Example: ossb simulate instance.toml --policy hgl --horizon 10000

    With an end: ossb simulate instance.toml --policy top-two --horizon 100000 --until 0.05

    Of the three best arms: … --until 0.05 --top 3
    """
    from ossb.cli.progress import RoundProgress
    from ossb.errors import InputError
    from ossb.figures.canvas import check_format
    from ossb.graves_lai.answers import answer_of
    from ossb.instances import load
    from ossb.simulation import simulate as play

    if plot is not None:
        check_format(plot)

    instances, _ = load(instance)
    if len(instances) != 1:
        raise InputError("instance", "be one instance", f"{len(instances)} of them")
    with RoundProgress(max(1, horizon * trials * len(policy))) as progress:
        result = play(
            instances[0],
            policy,
            horizon,
            trials,
            seed,
            workers=workers,
            batch=batch,
            delay=delay,
            until=until,
            epsilon=epsilon,
            answer=answer_of(top, above),
            compiled=not interpreted,
            progress=progress,
            announce=progress.say,
        )
    if plot is not None:
        from ossb.figures import draw_regret

        draw_regret(result, plot)
    if json:
        import json as encoder

        typer.echo(encoder.dumps(result.to_dict(), indent=2, allow_nan=False))
    else:
        typer.echo(result.table())
        if apart := result.context_table():
            typer.echo(f"\nmean regret by context\n{apart}")
    if plot is not None:
        typer.echo(f"wrote {plot}", err=json)
