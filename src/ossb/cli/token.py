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


def _tokens(store: Any) -> Any:
    from ossb.service.tokens import Tokens

    return Tokens(store)


@app.command()
def create(
    scope: Annotated[str, typer.Option(help="read, write or admin.")],
    campaign: Annotated[str | None, typer.Option(help="Only for this campaign.")] = None,
    storage: Where = STORAGE,
    token: Token = None,
    json: Json = False,
) -> None:
    """Make a token and print it: the store keeps a hash of it only.

    Example: ossb token create --scope write --campaign prices
    """
    with opened(storage, token, make=True) as (store, client):
        if store is None:
            made = client.create_token(scope, campaign)
        else:
            made = _tokens(store).create(scope, campaign)
    if json:
        typer.echo(encoder.dumps({"token": made, "scope": scope, "campaign": campaign}))
    else:
        typer.echo(made)


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
    for heading in ("id", "scope", "campaign", "created"):
        table.add_column(heading)
    for one in found:
        made = datetime.fromtimestamp(one["created"], UTC).isoformat(" ", "seconds")
        table.add_row(one["id"], one["scope"], Text(one["campaign"] or "all"), made)
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
