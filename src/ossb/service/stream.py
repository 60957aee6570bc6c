"""A campaign's journal as server-sent events.

The number of an event is its id, so a browser that lost the connection, or the server, goes on
where it was.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import msgspec
from starlette.responses import Response, StreamingResponse

from ossb.campaigns import Campaign
from ossb.campaigns.brought import rows_in
from ossb.campaigns.events import Event
from ossb.errors import InputError, OssbError
from ossb.service.answers import Refusal
from ossb.service.call import Call
from ossb.tally import PHASES

MOST_STREAMS = 200
MOST_OF_ONE = 50  # of one token: the others are for others
MOST_OF_CAMPAIGN = 100
AT_ONCE, AT_FIRST = 500, 16  # events read at a time, at most and of a new stream
LARGE = 30_000  # characters of events, of some thousand decisions, that end a read
QUIET = 10.0  # seconds after which a sign of life is sent
POLL = 0.5  # seconds between looks at a store that others write to
OF_MEMORY = ("memory", "whole", "repeat", "aside", "among", "rng")
INTERNAL = (*OF_MEMORY, "format", "means", "expires", "key")


async def events(call: Call) -> Response:
    """All events after ``Last-Event-ID`` (or ``?after=``), then those to come."""
    service = call.service
    last = call.header("last-event-id")
    after = call.query("after").get("after", "0")
    start = _number(after, "after") if last is None else _number(last, "Last-Event-ID")
    campaign = await call.work(service.registry.campaign, call.name)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    if call.request.method == "HEAD":
        head = Response(None, 200, headers, "text/event-stream")
        del head.headers["content-length"]  # a stream has none
        return head
    for streams, most, whose in (
        (service.metrics.streams, MOST_STREAMS, "there are"),
        (service.streams_of["token", call.grant.id], MOST_OF_ONE, "this token has"),
        (service.streams_of["campaign", call.name], MOST_OF_CAMPAIGN, "this campaign has"),
    ):
        if streams >= most:
            message = f"{whose} {most} event streams already"
            raise Refusal(503, "busy", message, None, {"Retry-After": "5"})
    stream = _stream(call, campaign, start)
    return StreamingResponse(stream, headers=headers, media_type="text/event-stream")


async def _stream(call: Call, campaign: Campaign, after: int) -> AsyncIterator[bytes]:
    service, shared = call.service, call.service.registry.storage.shared
    service.metrics.streams += 1
    own = ("token", call.grant.id), ("campaign", call.name)
    service.streams_of.update(own)
    quiet = 0.0
    reader = Reader(campaign, after)
    try:
        yield b"retry: 1000\n\n"
        while not service.stopping:
            news = service.registry.news(call.name)
            call.renew()
            try:
                async with service.registry.turn(call.name, "events"):
                    found = await call.work(reader.read)
                await service.look_for_tokens()
            except OssbError:  # the caller comes back, and is told then
                return
            if not service.tokens.holds(call.grant):  # the token was revoked meanwhile
                return
            if found:
                quiet = 0.0
                yield found
                continue
            pause = POLL if shared else QUIET
            pause = max(min(pause, service.tokens.left(call.grant)), 0.0)
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), pause)
            quiet += pause
            if quiet >= QUIET:
                quiet = 0.0
                yield b": here\n\n"
    finally:
        service.metrics.streams -= 1
        service.streams_of -= Counter(own)  # and what is none is not kept


class Reader:
    """Reads a campaign's events after one of them, piece by piece.

    An event may hold thousands of decisions: a piece is limited by its size, and no more events
    are fetched than will do for it, by the size of those before.
    """

    def __init__(self, campaign: Campaign, after: int) -> None:
        self._campaign, self._after = campaign, after
        self._most = AT_FIRST

    def read(self) -> bytes:
        """The next events as they are sent, nothing if there are none; not on the event loop.

        A campaign's lock may be held by a policy that thinks.
        """
        found: list[Event] = []
        size = 0
        for event in self._campaign.events(self._after, self._after + self._most):
            found.append(event)
            size += len(event.body)
            if size >= LARGE:
                break
        if not found:
            return b""
        named = zip(found, self._campaign.ids_in(found), strict=True)
        written = b"".join(_written(event, ids) for event, ids in named)
        self._after, self._most = found[-1].number, min(AT_ONCE, 2 * len(found))
        return written


def _written(event: Event, ids: list[str]) -> bytes:
    content: dict[str, Any] = {k: v for k, v in event.content.items() if k not in INTERNAL}
    if event.kind == "offered":
        content["features"] = rows_in(content).tolist()
    if event.kind in ("asked", "offered"):
        content["decisions"] = [
            {"id": id_, "position": arm, "phase": PHASES[phase]}
            for id_, (arm, phase) in zip(ids, content["decisions"], strict=True)
        ]
    if event.kind == "told":
        content["tells"] = [
            {"id": id_, "observation": value}
            for id_, (_, value) in zip(ids, content["tells"], strict=True)
        ]
    if event.kind == "voided":
        (content["id"],) = ids
        del content["number"]
    if event.kind == "expired":
        content["ids"] = ids
        del content["numbers"]
    data = {"number": event.number, "kind": event.kind, "time": event.time, **content}
    text = msgspec.json.encode(data)
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.number, event.kind.encode(), text)


def _number(value: str, field: str) -> int:
    if not value.isascii() or not value.isdigit() or len(value) > 15:
        raise InputError(field, "be the number of an event", value)
    return int(value)
