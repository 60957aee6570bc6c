"""``ossb campaign``: ask, act, tell, from the command line."""

import json as encoder
from typing import Annotated, Any

import typer

from ossb.cli.completing import policy_names
from ossb.cli.json_argument import typed
from ossb.cli.storage import PLACES, STORAGE, campaign, created, decisions, listed
from ossb.words import counted

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Campaigns: ask for an arm, act, tell."
)

Name = Annotated[str, typer.Argument(help="The campaign.")]
ENDS = ("low", "high")
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Where = Annotated[str, typer.Option(envvar="OSSB_STORAGE", help=PLACES)]
Token = Annotated[str | None, typer.Option(envvar="OSSB_TOKEN", help="For http://….")]


def _print(content: Any) -> None:
    typer.echo(encoder.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


@app.command()
def create(
    name: Name,
    instance: Annotated[str, typer.Argument(help="Instance file, TOML or JSON; - for stdin.")],
    policy: Annotated[
        str, typer.Option(help="NAME[:key=value,...]", autocompletion=policy_names)
    ] = "hgl",
    seed: Annotated[int, typer.Option(help="Of the policy's random stream.")] = 0,
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Create a campaign. One with the same definition may be there already.

    Example: ossb campaign create prices instance.toml --policy hgl
    """
    from ossb.errors import InputError
    from ossb.instances import load

    found, is_list = load(instance)
    if is_list:
        raise InputError("instance", "be one instance, not a list")
    made = created(storage, token, name, found[0].to_dict(), _policy(policy), seed)
    if json:
        _print(made)
    else:
        from ossb.cli.campaign_tables import size

        typer.echo(f"campaign {name}: {made['instance']['structure']}, {size(made)}, {policy}")


@app.command("list")
def list_(storage: Where = STORAGE, token: Token = None, json: Json = False) -> None:
    """List the campaigns.

    Example: ossb campaign list --storage sqlite:///ossb.db
    """
    found = listed(storage, token)
    if json:
        _print(found)
    else:
        _show_list(found)
    failed = [entry for entry in found if "error" in entry]
    for entry in failed:
        said = " ".join(entry["error"].split())
        typer.echo(f"ossb: campaign {entry['name']!r} cannot be shown: {said}", err=True)
    if failed:
        raise typer.Exit(2)


def _show_list(found: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in ("campaign", "structure", "policy", "rounds", "pending", "leader", "state"):
        table.add_column(heading)
    for entry in found:
        table.add_row(
            Text(entry["name"]),
            entry["structure"],
            entry["policy"]["name"],
            f"{entry['rounds']:,}",
            f"{entry['pending']:,}",
            "" if entry["leader"] is None else str(entry["leader"]),
            "closed" if entry["closed"] else "open",
        )
    Console().print(table)


@app.command()
def show(
    name: Name,
    delta: Annotated[
        float | None,
        typer.Option(
            help="Say whether to stop at confidence 1 - delta; by itself that of a policy that is "
            "to end, else 0.05."
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="How much worse than the best is good enough; by itself as the policy has it, "
            "else 0."
        ),
    ] = None,
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Show where a campaign stands.

    Example: ossb campaign show prices --delta 0.01 --json
    """
    with campaign(storage, token, name) as found:
        stands = found.document(delta, epsilon)
    if json:
        _print(stands)
        return
    from rich.console import Console
    from rich.text import Text

    from ossb.cli.campaign_tables import tables

    console = Console()
    console.print(Text(_headline(stands)), soft_wrap=True)
    for table in tables(stands):
        console.print(table)
    console.print(Text(_stop(stands)), soft_wrap=True)


@app.command()
def ask(
    name: Name,
    n: Annotated[int, typer.Option("-n", help="How many decisions.")] = 1,
    lease: Annotated[
        float | None, typer.Option(help="Seconds for which they count as being played.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Asking again with it returns the same decisions.")
    ] = None,
    available: Annotated[
        str | None,
        typer.Option(
            help="Arms (items, where arms are made of them) to choose from: 0,2,3; with --context "
            "by names too."
        ),
    ] = None,
    context: Annotated[
        str | None, typer.Option(help="Who asks, by name or number, where there are contexts.")
    ] = None,
    features: Annotated[
        str | None, typer.Option(help="Rows to choose from, as JSON: [[1, 0.5], [0, 2]].")
    ] = None,
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Ask for the next decisions.

    Example: ossb campaign ask prices -n 3 --lease 600 --available 0,2
    """
    given = (
        ("lease", lease),
        ("key", key),
        ("available", _numbers(available) if context is None else _named(available)),
        ("context", context),
        ("features", _json(features, "features")),
    )
    options: dict[str, Any] = {k: v for k, v in given if v is not None}
    with campaign(storage, token, name) as found:
        asked = [decision._asdict() for decision in found.ask(n, **options)]
    if json:
        _print({"decisions": asked})
    else:
        for entry in asked:
            typer.echo(f"{entry['id']}  arm {entry['arm_name']}  {entry['phase']}")


@app.command(context_settings={"ignore_unknown_options": True})
def tell(
    name: Name,
    id: Annotated[str, typer.Argument(help="The decision.")],
    observation: Annotated[str, typer.Argument(help="A number, or a list such as [0, 1].")],
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Tell what a decision showed.

    Example: ossb campaign tell prices DECISION 1
    """
    from ossb.errors import InputError

    try:
        value = typed(observation)
    except ValueError:
        raise InputError("observation", "be a number or a list of numbers", observation) from None
    with campaign(storage, token, name) as found:
        status = found.tell(id, value)
    if json:
        _print({"results": [{"id": id, "status": status}]})
    else:
        typer.echo(status)


@app.command()
def void(
    name: Name,
    id: Annotated[str, typer.Argument(help="The decision.")],
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Take a wrong tell back.

    Example: ossb campaign void prices DECISION
    """
    with campaign(storage, token, name) as found:
        status = found.void(id)
    _said({"id": id, "status": status}, status, json)


@app.command()
def close(name: Name, storage: Where = STORAGE, token: Token = None, json: Json = False) -> None:
    """Take no more asks, for good; late tells still count.

    Example: ossb campaign close prices
    """
    with campaign(storage, token, name) as found:
        found.close()
    _said({"name": name, "status": "closed"}, "closed", json)


@app.command("add-arm")
def add_arm(
    name: Name,
    arm: Annotated[str, typer.Argument(help='A JSON object, such as {"features": [1, 0]}.')] = "{}",
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Add an arm (an item, for dueling); what was learnt is kept.

    Example: ossb campaign add-arm prices '{"name": "15.99"}'
    """
    from ossb.errors import InputError

    try:
        brought = typed(arm)
    except ValueError:
        brought = None
    if not isinstance(brought, dict):
        raise InputError("arm", "be a JSON object", arm)
    with campaign(storage, token, name) as found:
        number = found.add_arm(brought)
    _said({"arm": number}, f"arm {number} of campaign {name}", json)


@app.command("add-context")
def add_context(
    name: Name,
    context: Annotated[str, typer.Argument(help='A JSON object, such as {"arms": [[1, 0]]}.')],
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Add a context, or a segment; what was learnt is kept.

    Example: ossb campaign add-context prices '{"name": "tv", "n_arms": 3}'
    """
    from ossb.errors import InputError

    brought = _json(context, "context")
    if not isinstance(brought, dict):
        raise InputError("context", "be a JSON object", context)
    with campaign(storage, token, name) as found:
        number = found.add_context(brought)
    _said({"context": number}, f"context {number} of campaign {name}", json)


@app.command("retire-arm")
def retire_arm(
    name: Name,
    arm: Annotated[
        int, typer.Argument(help="Its number (an item's, where arms are made of them).")
    ],
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Play an arm, or an item, no more. What it showed is kept.

    Example: ossb campaign retire-arm prices 3
    """
    with campaign(storage, token, name) as found:
        found.retire_arm(arm)
    said = f"arm {arm} of campaign {name} is played no more"
    _said({"arm": arm, "status": "retired"}, said, json)


@app.command("contrasts")
def contrasts(
    name: Name,
    named: Annotated[
        str, typer.Argument(metavar="CONTRASTS", help='As JSON: {"news over sport": [1, -1]}.')
    ],
    delta: Annotated[
        float | None, typer.Option(help="Probability with which any of them may ever be wrong.")
    ] = None,
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Say what is sure of differences of features.

    All of them are right together, at all times.

    Example: ossb campaign contrasts prices '{"first over second": [1,-1]}'
    """
    with campaign(storage, token, name) as found:
        answer = found.contrasts(_json(named, "contrasts"), delta)
    if json:
        _print({"contrasts": answer})
        return
    for called, sure in answer.items():
        ends = " to ".join("?" if sure[end] is None else f"{sure[end]:.4g}" for end in ENDS)
        said = "sure of its sign" if sure["met"] else sure.get("reason", "not sure of its sign")
        typer.echo(f"{called}  {ends}  {said}")


@app.command("switch")
def switch(
    name: Name,
    policy: Annotated[str, typer.Argument(metavar="POLICY", help="NAME[:key=value,…]")],
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Play by another policy from here on. What was learnt is kept.

    Example: ossb campaign switch prices top-two:delta=0.05
    """
    with campaign(storage, token, name) as found:
        chosen = found.switch(_policy(policy))
    said = f"campaign {name} is played by {chosen['name']} from here on"
    _said({"policy": chosen, "status": "switched"}, said, json)


@app.command("import")
def import_(
    name: Name,
    file: Annotated[
        str, typer.Argument(help="CSV or Parquet, columns arm and observation; - for stdin.")
    ],
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Take in data from before the campaign, all rows or none.

    The same file again, with nothing in between, counts once.

    Example: ossb campaign import prices before.csv
    """
    import hashlib
    from pathlib import Path

    from ossb.campaigns import read_rows

    rows = read_rows(file)
    content = hashlib.sha256(repr(rows).encode("utf-8", "backslashreplace")).hexdigest()
    shown = "".join(c if c.isprintable() else "?" for c in Path(file).name)
    with campaign(storage, token, name) as found:
        taken = found.import_rows(rows, f"{shown} {content[:16]}", once=True)
    said = f"{counted(taken, 'row')} taken in by campaign {name}"
    if taken < len(rows):
        said += f": it took in the {counted(len(rows), 'row')} of this file just before"
    _said({"rows": taken}, said, json)


@app.command()
def export(
    name: Name,
    out: Annotated[
        str, typer.Option(help="FILE.csv, FILE.parquet or FILE.jsonl; - writes JSON lines.")
    ] = "-",
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Write all decisions with what was told.

    With --json the one document is what was written where, or all decisions.

    Example: ossb campaign export prices --out prices.csv
    """
    from ossb.cli.exporting import write

    with campaign(storage, token, name) as found:
        if json and out == "-":
            _print({"decisions": list(decisions(found))})
            return
        count = write(decisions(found), out)
    if json:
        _print({"file": out, "rows": count})
    else:
        typer.echo(counted(count, "decision"), err=True)


def _said(content: dict[str, Any], words: str, json: bool) -> None:
    if json:
        _print(content)
    else:
        typer.echo(words)


def _json(text: str | None, field: str) -> Any:
    """JSON behind an option."""
    from ossb.cli.json_argument import typed
    from ossb.errors import InputError

    if text is None:
        return None
    try:
        return typed(text)
    except ValueError:
        raise InputError(field, "be JSON", text) from None


def _numbers(text: str | None) -> list[int] | None:
    """Numbers as they are written: ``0,2,3``."""
    from ossb.errors import InputError

    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError("available", "be numbers of arms, such as 0,2,3", text) from None


def _named(text: str | None) -> list[str] | None:
    """Arms of a context as they are written, by numbers or names: ``0,sport``."""
    return None if text is None else text.split(",")


def _policy(text: str) -> dict[str, Any]:
    """A policy as it is written: ``NAME[:key=value,...]``."""
    from ossb.errors import InputError

    name, _, rest = text.partition(":")
    chosen: dict[str, Any] = {"name": name}
    for item in filter(None, rest.split(",")):
        key, equals, value = item.partition("=")
        if not equals and rest.isidentifier():
            must = "be NAME[:key=value,...]: a campaign outlives its process, so that a policy of "
            raise InputError("policy", f"{must}yours is found by its entry point", text)
        if not equals or key in chosen:
            raise InputError("policy", "be NAME[:key=value,...]", text)
        try:
            chosen[key] = typed(value)
        except ValueError:
            chosen[key] = value
    return chosen


def _headline(found: dict[str, Any]) -> str:
    state = "closed" if found["closed"] else "open"
    kind = found["instance"]["structure"]
    counts = f"{found['rounds']:,} told, {found['pending']:,} pending"
    return f"{found['name']}: {kind}, {found['policy']['name']}, {counts}, {state}"


def _stop(found: dict[str, Any]) -> str:
    stop = found["stop"]
    if "sentence" in stop:
        return str(stop["sentence"])
    return str(stop.get("reason", "no stopping rule"))
