"""``ossb token``: who may call a service."""

import json as encoder
from typing import Annotated, Any

import typer

from ossb.cli.storage import PLACES, STORAGE, opened

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Tokens of a service.")

Where = Annotated[str, typer.Option(envvar="OSSB_STORAGE", help=PLACES)]
Token = Annotated[
    str | None, typer.Option(envvar="OSSB_TOKEN", help="An admin token, for http://….")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


Expires = Annotated[
    str | None,
    typer.Option(help="How long it is good for: 90d, 12h, 30m, 45s. For ever by default."),
]
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
CALLS = (("per_second", "a second"), ("per_day", "a day"))


def _seconds(text: str | None, field: str) -> float | None:
    """A length of time as it is written: a number with its unit."""
    from ossb.errors import InputError

    if text is None:
        return None
    try:
        return float(text[:-1]) * UNITS[text[-1]]
    except (IndexError, KeyError, ValueError):
        raise InputError(field, "be a length of time such as 90d, 12h, 30m or 45s", text) from None


def _tokens(store: Any) -> Any:
    from ossb.service.tokens import Tokens

    return Tokens(store)


@app.command()
def create(
    scope: Annotated[str, typer.Option(help="read, write or admin.")],
    campaign: Annotated[str | None, typer.Option(help="Only for this campaign.")] = None,
    expires: Expires = None,
    per_second: Annotated[
        float | None, typer.Option(help="Calls a second that it may make.")
    ] = None,
    per_day: Annotated[int | None, typer.Option(help="Calls a day that it may make.")] = None,
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Make a token and print it: the store keeps a hash of it only.

    Example: ossb token create --scope write --campaign prices --expires 90d
    """
    wanted = (("expires_in", _seconds(expires, "expires")),)
    given = (*wanted, ("per_second", per_second), ("per_day", per_day))
    limits = {key: value for key, value in given if value is not None}
    with opened(storage, token, make=True) as (store, client):
        if store is None:
            made = client.create_token(scope, campaign, **limits)
        else:
            made = _tokens(store).create(scope, campaign, **limits)
    if json:
        typer.echo(encoder.dumps({"token": made, "scope": scope, "campaign": campaign}))
    else:
        typer.echo(made)


@app.command()
def rotate(
    id: Annotated[str, typer.Argument(help="As `ossb token list` shows it.")],
    overlap: Annotated[
        str | None, typer.Option(help="For how long the one before is good beside it: 10m, 2d.")
    ] = None,
    expires: Expires = None,
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Make a token in the place of another and print it.

    It may do the same, and lasts as long as the one before, which ends.

    Example: ossb token rotate ID --overlap 1h
    """
    given = (
        ("overlap", _seconds(overlap, "overlap")),
        ("expires_in", _seconds(expires, "expires")),
    )
    limits = {key: value for key, value in given if value is not None}
    with opened(storage, token, make=False) as (store, client):
        if store is None:
            made = client.rotate_token(id, **limits)
        else:
            made = _tokens(store).rotate(id, **limits)
    typer.echo(encoder.dumps({"token": made}) if json else made)


@app.command("list")
def list_(storage: Where = STORAGE, token: Token = None, json: Json = False) -> None:
    """List the tokens that are good.

    What each may do, and the id to revoke it by.

    Example: ossb token list
    """
    with opened(storage, token, make=False) as (store, client):
        found = client.tokens() if store is None else _tokens(store).listed()
    if json:
        typer.echo(encoder.dumps(found, indent=2, ensure_ascii=False))
        return
    from datetime import UTC, datetime

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in ("id", "scope", "campaign", "created", "expires", "calls"):
        table.add_column(heading)
    for one in found:
        made, ends = (
            "never"
            if moment is None
            else datetime.fromtimestamp(moment, UTC).isoformat(" ", "seconds")
            for moment in (one["created"], one.get("expires"))
        )
        most = [f"{one[key]:g} {name}" for key, name in CALLS if one.get(key) is not None]
        limits = ", ".join(most) or "any"
        table.add_row(one["id"], one["scope"], Text(one["campaign"] or "all"), made, ends, limits)
    Console().print(table)


@app.command()
def revoke(
    id: Annotated[str, typer.Argument(help="As `ossb token list` shows it.")],
    storage: Where = STORAGE,
    token: Token = None,
) -> None:
    """Take a token back.

    At once where it is served, within seconds at other servers.

    Example: ossb token revoke ID
    """
    with opened(storage, token, make=False) as (store, client):
        if store is None:
            client.revoke_token(id)
        else:
            _tokens(store).revoke(id)
    typer.echo(f"token {id} is good no more")
