"""Tasks of the event loop, each of which somebody owns and ends: none is left to the collector."""

import asyncio
from typing import Any


async def end(*tasks: "asyncio.Future[Any]") -> None:
    """Cancel tasks, and wait until they have ended, however they do."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # looked at: nobody waits for it any more
