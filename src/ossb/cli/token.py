"""``ossb token``: who may call a service."""

from typing import Annotated

import typer

from ossb.cli.storage import STORAGE, is_service

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Tokens of a service.")


@app.callback()
def tokens() -> None:
    """Tokens of a service."""


@app.command()
def create(
    scope: Annotated[str, typer.Option(help="read, write or admin.")],
    campaign: Annotated[str | None, typer.Option(help="Only for this campaign.")] = None,
    storage: Annotated[
        str, typer.Option(envvar="OSSB_STORAGE", help="sqlite:///FILE, postgresql://… or http://…")
    ] = STORAGE,
    token: Annotated[
        str | None, typer.Option(envvar="OSSB_TOKEN", help="An admin token, for http://….")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Make a token and print it: the store keeps a hash of it only."""
    if is_service(storage):
        from ossb.client import Client

        with Client(storage, token) as client:
            made = client.create_token(scope, campaign)
    else:
        from ossb.campaigns import open_storage
        from ossb.service.tokens import Tokens

        store = open_storage(storage)
        try:
            made = Tokens(store).create(scope, campaign)
        finally:
            store.close()
    if json:
        import json as encoder

        typer.echo(encoder.dumps({"token": made, "scope": scope, "campaign": campaign}))
    else:
        typer.echo(made)
