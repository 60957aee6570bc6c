"""One request, as routes see it."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from ossb import garbage
from ossb.campaigns.origin import Origin, acting, user
from ossb.deadlines import OutOfTime
from ossb.errors import InputError
from ossb.service import strict, tasks
from ossb.service.answers import RETRY_AFTER, Refusal
from ossb.service.tokens import Grant

BODY = 64 * 1024
BATCH = 1024 * 1024
QUICK = 0.05  # seconds in which nearly all is done, and nobody looks whether the caller has gone
PARTING = 0.5  # seconds after the end in which work may still say by itself that it is over
SHORT = 8 * 1024  # bytes of a body that is read at once, within a third of a millisecond
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
    seconds
        How long it may take.
    id
        Of the request: in its answer, in the log, and in the events that it makes.
    """

    def __init__(
        self,
        request: Request,
        name: str,
        grant: Grant,
        service: Any,
        seconds: float,
        id: str = "",
    ) -> None:
        self.request, self.name, self.grant = request, name, grant
        self.service, self.id = service, id
        self._seconds = seconds
        self._until: float | None = None
        self._held = 0  # bytes of the body

    async def work(self, make: Callable[..., T], *arguments: Any) -> T:
        """Do something that may take its time, off the event loop.

        The time of a call begins with its first work.  Work ends with the call: when its time is
        over, or its caller has gone.
        """
        return await self.wait_for(self.run(self.name, make, *arguments))

    async def change(self, make: Callable[..., T]) -> T:
        """Change the campaign after whatever was to change it before, off the event loop."""
        return await self.wait_for(self.run(self.name, make, in_line=True))

    def run(
        self, lane: str, make: Callable[..., T], *arguments: Any, in_line: bool = False
    ) -> Coroutine[Any, Any, T]:
        """Work as a coroutine, in the lane of a campaign or of whatever else is named."""
        by = f"token:{self.grant.id}" if self.grant.id else user()
        act = (acting, Origin(by, self.id), make, *arguments)
        running: Coroutine[Any, Any, T] = self.service.lanes.run(
            lane, *act, until=self.until, token=self.grant.id, in_line=in_line
        )
        return running

    @property
    def until(self) -> float:
        """When the time of the call is over, by the monotonic clock."""
        if self._until is None:
            self._until = time.monotonic() + self._seconds
        return self._until

    @contextmanager
    def leaving(self, share: float) -> Iterator[None]:
        """Do something in the time of the call but for a share, which is left for what is after."""
        end = self.until
        self._until = end - share * self._seconds
        try:
            yield
        finally:
            self._until = end

    async def wait_for(self, answering: Coroutine[Any, Any, T]) -> T:
        """Wait for an answer as long as the call has time and its caller is there."""
        until = self.until
        working = asyncio.ensure_future(answering)
        leaving: asyncio.Future[None] | None = None
        gone = False
        try:
            await asyncio.wait((working,), timeout=QUICK)
            if not working.done():
                leaving = asyncio.ensure_future(self._left())
                late = max(until + PARTING - time.monotonic(), 0.0)
                await asyncio.wait(
                    (working, leaving), timeout=late, return_when=asyncio.FIRST_COMPLETED
                )
                gone = leaving.done()
            if working.done():
                answer: T = working.result()
                return answer
        finally:
            if not working.done() or leaving is not None:
                await tasks.end(working, *(() if leaving is None else (leaving,)))
        if gone:
            raise Refusal(400, "gone", "the caller has gone")
        raise OutOfTime(f"this took longer than {self._seconds:g} seconds")

    def renew(self) -> None:
        """Begin the time of the call anew, where it goes on for as long as its caller likes."""
        self._until = None

    async def _left(self) -> None:
        """Return once the caller has gone."""
        while (await self.request.receive())["type"] != "http.disconnect":
            pass

    def end(self) -> None:
        """Let go of what was held for the call."""
        self.service.room.give(self.grant.id, self._held)
        self._held = 0

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
                    if not self.service.room.take(self.grant.id, len(chunk)):
                        message = "too much is on its way already"
                        again = {"Retry-After": RETRY_AFTER, "Connection": "close"}
                        raise Refusal(503, "busy", message, None, again)
                    self._held += len(chunk)
                    chunks.append(chunk)
        except TimeoutError:
            message = f"the body did not come within {BODY_SECONDS:g} seconds"
            raise Refusal(408, "too_slow", message, "body", {"Connection": "close"}) from None
        except ClientDisconnect:
            raise Refusal(400, "gone", "the caller has gone", "body") from None
        return b"".join(chunks)

    async def json(self, most: int = BODY) -> dict[str, Any]:
        """The JSON object of the body; none at all is an empty one."""
        return await self.read(await self.body(most), decoded)

    async def read(self, body: bytes, make: Callable[[bytes], T]) -> T:
        """What a body says: long ones are read off the event loop, those of all callers in turn."""
        if len(body) <= SHORT:
            return make(body)
        reading = self.service.readers.run(
            self.name, _read, make, body, until=self.until, token=self.grant.id
        )
        return await self.wait_for(reading)


def _read(make: Callable[[bytes], T], body: bytes) -> T:
    with garbage.kept():  # a body is a hundred thousand numbers
        return make(body)


def decoded(body: bytes) -> dict[str, Any]:
    """The JSON object of a body; none at all is an empty one."""
    return strict.decode(body) if body else {}


def too_large(most: int) -> Refusal:
    message = f"`body` must have at most {most} bytes"
    return Refusal(413, "too_large", message, "body", {"Connection": "close"})
