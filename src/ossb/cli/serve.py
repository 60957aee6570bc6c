"""``ossb serve``: campaigns over HTTP."""

from typing import Annotated

import typer

from ossb.cli.storage import STORAGE, STORES, check_store


def serve(
    storage: Annotated[str, typer.Option(envvar="OSSB_STORAGE", help=STORES)] = STORAGE,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8090,
    ask_seconds: Annotated[
        float, typer.Option(help="Seconds within which an ask is answered, or refused.", min=0.1)
    ] = 2.0,
    call_seconds: Annotated[
        float, typer.Option(help="The same for every other call.", min=0.1)
    ] = 10.0,
    calls_per_second: Annotated[
        float | None,
        typer.Option(help="Calls a second of each token without such a limit of its own.", min=0.1),
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Serve campaigns over HTTP, with a live page.

    On any address but this machine's own it needs a token: ossb token create --scope admin

    Example: ossb serve --storage sqlite:///ossb.db --port 8090
    """
    check_store(storage, STORES)
    _refuse_if_served(storage)
    from importlib.util import find_spec

    from ossb.library_threads import take_one_each

    take_one_each()
    from ossb.extras import missing
    from ossb.fields import choice

    choice(log_level, "log-level", ("debug", "info", "warning", "error"))
    for package in ("httptools", "starlette", "uvicorn"):
        if find_spec(package) is None:
            raise missing(package, "ossb serve")
    from ossb.campaigns import open_storage

    store = open_storage(storage)
    try:
        from ossb.service.app import CallLimits
        from ossb.service.server import serve as run

        limits = CallLimits(ask_seconds, call_seconds, calls_per_second)
        run(store, host, port, log_level, limits)
    except KeyboardInterrupt:
        store.close()
        _leave(130)
        raise
    finally:
        store.close()
    _leave(0)


def _leave(code: int) -> None:
    """End at once where a thread is in the middle of a solve.

    The interpreter would take apart what compiled code still works on, which may end in a crash;
    all that was acknowledged is on disk, and the store is let go of.
    """
    import os
    import sys
    import threading

    if any(thread.name.startswith("ossb-request") for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _refuse_if_served(storage: str) -> None:
    """Say at once that a store is in use, before anything that takes time to load."""
    import fcntl
    import os

    from ossb.errors import InUse
    from ossb.locks import lock_of

    path = storage.removeprefix("sqlite:///")
    try:
        handle = os.open(lock_of(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # a new store, or none in a file
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        raise InUse(f"{path} is in use by another process") from None
    finally:
        os.close(handle)
