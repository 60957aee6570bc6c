"""One request, as routes see it."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from ossb.errors import InputError
from ossb.service import strict
from ossb.service.answers import Refusal
from ossb.service.tokens import Grant

BODY = 64 * 1024
BATCH = 1024 * 1024
BODY_SECONDS = 15.0  # within which a body has to arrive

T = TypeVar("T")


class Call:
    """A request with what is known about it.

    Parameters
    ----------
    name
        The campaign of the path; empty where there is none.
    grant
        What the caller may do.
    """

    def __init__(
        self, request: Request, name: str, grant: Grant, run: Callable[..., Any], service: Any
    ) -> None:
        self.request, self.name, self.grant = request, name, grant
        self.service = service
        self._run = run

    async def work(self, make: Callable[..., T], *arguments: Any) -> T:
        """Do something that may take its time, off the event loop."""
        answer: T = await self._run(self.name, make, *arguments)
        return answer

    def header(self, name: str) -> str | None:
        return self.request.headers.get(name)

    def query(self, *known: str) -> dict[str, str]:
        """The query's values; an unknown or repeated one is an error."""
        found: dict[str, str] = {}
        text = self.request.scope.get("query_string", b"").decode("latin-1")
        for key, value in parse_qsl(text, keep_blank_values=True):
            if key not in known:
                names = ", ".join(known) or "none"
                raise InputError(key[:60], f"not be given: the parameters are {names}")
            if key in found:
                raise InputError(key, "be given once")
            found[key] = value
        return found

    async def body(self, most: int = BODY) -> bytes:
        """The body, if it is not too long and comes in time."""
        length = self.header("content-length")
        if length is not None and length.isdigit() and int(length) > most:
            raise too_large(most)
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for chunk in self.request.stream():
                    size += len(chunk)
                    if size > most:
                        raise too_large(most)
                    chunks.append(chunk)
        except TimeoutError:
            message = f"the body did not come within {BODY_SECONDS:g} seconds"
            raise Refusal(408, "too_slow", message, "body", {"Connection": "close"}) from None
        except ClientDisconnect:
            raise Refusal(400, "gone", "the caller has gone", "body") from None
        return b"".join(chunks)

    async def json(self, most: int = BODY) -> dict[str, Any]:
        """The JSON object of the body; none at all is an empty one."""
        body = await self.body(most)
        return strict.decode(body) if body else {}


def too_large(most: int) -> Refusal:
    message = f"`body` must have at most {most} bytes"
    return Refusal(413, "too_large", message, "body", {"Connection": "close"})
