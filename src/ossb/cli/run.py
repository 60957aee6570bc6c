"""``ossb run``: an experiment, or what is missing of it."""

from typing import Annotated

import typer

from ossb.cli.completing import experiment_names


def run(
    experiment: Annotated[
        str,
        typer.Argument(
            help="TOML file, or the name of a bundled one.", autocompletion=experiment_names
        ),
    ],
    overrides: Annotated[
        list[str] | None, typer.Argument(help="key=value pairs that replace keys of the file.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of the results. [results/NAME]")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes; 0 takes all cores.")] = 0,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask cluster.")
    ] = None,
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Play only the I-th of N parts of the grid.")
    ] = "1/1",
) -> None:
    """Run an experiment. The same command again goes on where it stopped.

    Example: ossb run figure1 trials=20 --out results/quick
    """
    from ossb.cli.run_progress import play
    from ossb.experiments.definition import read
    from ossb.extras import need

    need("polars", "experiment")  # first, since its extra brings the others too
    need("matplotlib", "figures")  # before hours of play, not after
    found = read(experiment, overrides or ())
    folder = out or found.output or f"results/{found.name}"
    play(found, folder, workers, scheduler, _shard(shard))
    if shard != "1/1":
        typer.echo(f"shard {shard} of {found.name} is in {folder}")
        return
    from ossb.cli.report import standing_report, write_report

    said = standing_report(folder)
    if said is None:
        write_report(folder)
        return
    typer.echo(f"{said}\n")
    typer.echo(f"nothing was missing: tables and figures in {folder} are as they were", err=True)


def _shard(text: str) -> tuple[int, int]:
    from ossb.errors import InputError

    place, slash, of = text.partition("/")
    if not (slash and place.isdigit() and of.isdigit()):
        raise InputError("shard", "be written I/N", text)
    return int(place), int(of)
