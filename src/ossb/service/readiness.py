"""Whether the service can do its work now: what ``GET /readyz`` says, and why not.

``GET /healthz`` says that the process lives, and touches nothing that may hang: restarting it
would not bring a store back.
"""

import asyncio
from typing import Any

from ossb.errors import OssbError
from ossb.service.registry import Registry
from ossb.service.threads import Threads

SECONDS = 3.0  # within which the store has to answer


async def problems(registry: Registry, threads: Threads, aside: Threads, names: bool) -> list[str]:
    """What keeps the service from its work; empty where nothing does.

    Parameters
    ----------
    names
        Whether the caller may know what campaigns are called.
    """
    found = []
    try:
        async with asyncio.timeout(SECONDS):
            await aside.run(registry.storage.check_ready)
    except TimeoutError:
        found.append(f"the store did not answer within {SECONDS:g} seconds")
    except OssbError as error:
        found.append(str(error))
    damaged = sorted(registry.damaged)
    if damaged and names:
        found += [f"campaign {name!r}: {registry.damaged[name]}" for name in damaged]
    elif damaged:
        found.append(f"{len(damaged)} damaged campaign{'s' if len(damaged) > 1 else ''}")
    if threads.all_busy:
        found.append("all threads are at work")
    return found


def as_document(found: list[str]) -> dict[str, Any]:
    return {"status": "not ready" if found else "ready", "problems": found}
