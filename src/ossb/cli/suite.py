"""``ossb suite``: a policy beside the frozen rows of named instances."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ossb.cli.completing import policy_names
from ossb.words import rounded

if TYPE_CHECKING:
    from ossb.suite.definition import SuiteInstance

app = typer.Typer(no_args_is_help=True, help="Score a policy on named instances, beside others.")
VERSION = typer.Option("--version", metavar="N", help="Of the suite; the newest by default.")


@app.command("list")
def list_instances(
    version: Annotated[int | None, VERSION] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the instances of the suite.

    Example: ossb suite list
    """
    from ossb.suite.definition import NEWEST, suite
    from ossb.suite.frozen import frozen

    found = suite(version or NEWEST)
    rows = frozen(found.version)
    entries: list[dict[str, Any]] = [
        {
            "name": one.name,
            "half": one.half,
            "structure": one.instance.kind,
            "observation": one.instance.observation,
            "arms": one.arms,
            "horizon": one.horizon,
            "bound": rows.bounds[one.name],
            "best": rows.of(one.name)[0].policy,
        }
        for one in found.instances
    ]
    if json:
        _print({"version": found.version, "trials": found.trials, "instances": entries})
        return
    width = max(len(entry["name"]) for entry in entries)
    for entry in entries:
        about = f"{entry['structure']}, {entry['observation']}, {entry['arms']} arms"
        typer.echo(
            f"{entry['name']:{width}}  {entry['half']:8}  {entry['horizon']:>6,} rounds  "
            f"C(θ) = {entry['bound']:<8.4g}  {about}"
        )


@app.command()
def show(
    instance: Annotated[
        str | None, typer.Argument(help="One instance; without it, the standing of all policies.")
    ] = None,
    version: Annotated[int | None, VERSION] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show the frozen rows: the standing, or one instance with what it is.

    Example: ossb suite show end-of-optimism
    """
    from ossb.suite.definition import NEWEST, suite
    from ossb.suite.frozen import frozen
    from ossb.suite.older import older
    from ossb.suite.standing import of_instance, standing, standing_text

    found = suite(version or NEWEST)
    rows = frozen(found.version)
    before = older(found, rows, instance)
    if instance is None:
        scores = standing(found, rows)
        if json:
            count = {"rows": len(rows.lines), "of_older_code": len(before)}
            _print({"made": rows.made, **count, "standing": [one.to_dict() for one in scores]})
            return
        typer.echo(standing_text(scores))
        if before:
            typer.echo(f"\n{len(before)} of {len(rows.lines)} rows are of older code")
        return
    one = found.named(instance)
    entries = of_instance(found, rows, one.name)
    if json:
        _print(
            {
                "name": one.name,
                "half": one.half,
                "horizon": one.horizon,
                "instance": one.instance.to_dict(),
                "bound": rows.bounds[one.name],
                "rows": [
                    {
                        "policy": policy,
                        "digest": digest,
                        "of_older_code": policy in {line.policy for line in before},
                        **entry.to_dict(),
                    }
                    for policy, digest, entry in entries
                ],
            }
        )
        return
    width = max(len(policy) for policy, _, _ in entries)
    typer.echo(f"{one.name}: {one.half}, {one.instance.kind}, {one.horizon:,} rounds")
    for policy, digest, entry in entries:
        since = " (older code)" if policy in {line.policy for line in before} else ""
        typer.echo(
            f"{policy:{width}}  {rounded(entry.mean):>10} ± {rounded(entry.sem, 2):<8}"
            f"  95 % {rounded(entry.p95):<10}  worst {rounded(entry.worst):<10}"
            f"  {entry.microseconds:8.3g} µs  {digest}{since}"
        )


@app.command()
def run(
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY",
            help="module:Class, or a name of ossb policies; with parameters NAME:key=value,…",
            autocompletion=policy_names,
        ),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An instance, or a structure; may be given again."),
    ] = None,
    share: Annotated[float, typer.Option(help="Share of the trials, for a quick look.")] = 1.0,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder. [results/suite-N/POLICY]")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes; 0 takes all cores.")] = 0,
    version: Annotated[int | None, VERSION] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Play a policy on the suite and score it beside the frozen rows.

    The same command again goes on where it stopped. Writes card.md and row.json.

    Example: ossb suite run mine:Policy --share 0.1
    """
    from pathlib import Path

    from ossb.cli.run_progress import play
    from ossb.errors import InputError
    from ossb.files import replacing
    from ossb.suite import card
    from ossb.suite.definition import NEWEST, suite, trials_of
    from ossb.suite.frozen import frozen
    from ossb.suite.lines import played, refusals
    from ossb.suite.score import score

    found = suite(version or NEWEST)
    rows = frozen(found.version)
    trials = trials_of(found, share)
    chosen = _chosen(list(found.instances), only)
    refused = refusals(chosen, policy)
    left = [(one, (policy,)) for one in chosen if one.name not in refused]
    if not left:
        raise InputError("policy", f"fit an instance: {next(iter(refused.values()))}")
    for name, why in refused.items():
        typer.echo(f"not played: {name} ({why})", err=True)
    folder = Path(out or f"results/suite-{found.version}/{_file_name(policy)}")
    lines = played(
        found, left, trials, folder, lambda experiment, at: play(experiment, at, workers)
    )
    scored = score(found, rows, lines)
    document = {"version": found.version, "trials": trials, "not_played": refused}
    document |= {**scored.to_dict(), "rows": [line.to_dict() for line in lines]}
    for name, content in (
        ("card.md", card.markdown(found, rows, scored, refused)),
        ("row.json", _text(document)),
    ):
        with replacing(folder / name) as aside:
            aside.write_text(content + "\n", encoding="utf-8")
    typer.echo(_text(document) if json else card.text(found, scored, refused))
    for name in ("card.md", "row.json"):
        typer.echo(f"wrote {folder / name}", err=True)


def _chosen(instances: "list[SuiteInstance]", only: list[str] | None) -> "list[SuiteInstance]":
    """The instances of these names or structures; all without any."""
    from ossb.fields import choice

    if not only:
        return instances
    kinds = sorted({one.instance.kind for one in instances})
    words = dict.fromkeys([*kinds, *(one.name for one in instances)])
    for name in only:
        choice(name, "only", words)
    return [one for one in instances if one.name in only or one.instance.kind in only]


def _file_name(policy: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in policy)


def _print(content: Any) -> None:
    typer.echo(_text(content))


def _text(content: Any) -> str:
    import json as encoder

    return encoder.dumps(content, indent=2, ensure_ascii=False)
