"""``ossb serve``: campaigns over HTTP."""

from typing import Annotated

import typer

from ossb.cli.storage import STORAGE


def serve(
    storage: Annotated[
        str, typer.Option(envvar="OSSB_STORAGE", help="sqlite:///FILE or postgresql://…")
    ] = STORAGE,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8090,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Serve campaigns over HTTP, with a live page, until a signal comes.

    On any address but this machine's own it needs a token: ossb token create --scope admin
    """
    from importlib.util import find_spec

    from ossb.errors import InputError
    from ossb.fields import choice

    choice(log_level, "log-level", ("debug", "info", "warning", "error"))
    for package in ("httptools", "starlette", "uvicorn"):
        if find_spec(package) is None:
            must = f"have {package} installed: pip install ossb[service]"
            raise InputError("ossb serve", must)
    from ossb.campaigns import open_storage

    store = open_storage(storage)  # first of all: a store in use is said at once
    try:
        from ossb.service.server import serve as run

        run(store, host, port, log_level)
    finally:
        store.close()
