"""The service: finds the route, the caller's scope and the answer, and writes what it did down."""

import asyncio
import logging
import math
import re
import secrets
import time
from collections import Counter
from contextlib import suppress
from itertools import count
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from ossb.campaigns import Storage
from ossb.campaigns.journal import NoCampaign
from ossb.errors import OssbError
from ossb.service import page
from ossb.service.answers import Refusal, ending, refusal
from ossb.service.call import Call
from ossb.service.imports import Imports
from ossb.service.lanes import Lanes
from ossb.service.lists import Lists
from ossb.service.logs import LOG, say
from ossb.service.metrics import Metrics
from ossb.service.quotas import Quotas
from ossb.service.readiness import problems
from ossb.service.registry import Registry
from ossb.service.room import Room
from ossb.service.routes import OF_CAMPAIGN, PLAIN, Route, ask
from ossb.service.threads import Threads
from ossb.service.tokens import Grant, Tokens

LOOPBACK = re.compile(r"(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d{1,5})?", re.ASCII)
THREADS, PER_CAMPAIGN = 64, 16
# each holds a connection, and a PostgreSQL server has a hundred
THREADS_SHARED = 24
PARTING = 1.0  # seconds that work has to end in once nobody waits for it
REFRESH = 2.0  # seconds between looks for tokens that another server made or revoked
SESSION_REFRESH = 0.2  # the same where somebody comes with a session that is not known
WHOLE = "errors=raised"  # how a client asks for errors as campaigns raise them
REQUEST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)  # an id that a caller may give
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with none a browser's own form has no origin to name
    "X-Frame-Options": "DENY",
}
_IDS = count(secrets.randbits(64))  # of requests: no two servers' are alike
_HEADERS = [(key.lower().encode(), value.encode()) for key, value in HEADERS.items()]


class CallLimits(NamedTuple):
    """Seconds after which a call is answered 503, whatever it works on; and how many may come."""

    ask: float = 2.0
    call: float = 10.0
    per_second: float | None = None  # calls of each token that has no such limit of its own


LIMITS = CallLimits()


class Service:
    """An ASGI application over one store.

    Parameters
    ----------
    local
        Whether only this machine can reach it: without any token it is open then, to callers
        that name this machine.
    limits
        Seconds that calls have.
    """

    def __init__(self, storage: Storage, local: bool = True, limits: CallLimits = LIMITS) -> None:
        self.registry = Registry(storage, limits.ask)
        self.tokens = Tokens(storage)
        self.imports = Imports()
        self.lists = Lists()
        self.quotas, self.room = Quotas(), Room()
        self.streams_of: Counter[tuple[str, str]] = Counter()  # by token and by campaign
        self.metrics = Metrics()
        self.stopping = False
        self._local = local
        self._limits = limits
        self._looked = time.monotonic()
        self._threads = Threads(THREADS_SHARED if storage.shared else THREADS)
        self.lanes = Lanes(self._threads, PER_CAMPAIGN)
        self._reading = Threads(1)  # several would only take turns at the interpreter
        self.readers = Lanes(self._reading, 1)  # for long bodies
        self.aside = Threads(1)  # for what must not wait for any campaign
        self._later = Threads(1)  # for documents that took longer than their calls had

    def work_out(self, name: str, delta: float | None, epsilon: float | None) -> None:
        """Work a campaign's document out aside, once, for whoever wants it next."""
        if not self.stopping and self.registry.begin_later(name):
            self._later.start(
                lambda: self.registry.work_out(name, delta, epsilon, lambda: self.stopping)
            )

    def warm(self) -> None:
        """Open the campaigns aside, so that the first to ask for one need not wait."""

        def open_all() -> None:
            with suppress(OssbError):  # whoever asks for a damaged one is told
                for name in self.registry.names():
                    if not self.stopping:
                        with suppress(OssbError):
                            self.registry.campaign(name)

        self._threads.begin()
        self._threads.start(open_all)

    def stop(self) -> None:
        """End the event streams: the server goes."""
        self.stopping = True
        self.registry.wake_all()

    async def end(self) -> None:
        """End what goes on in the event loop that no caller waits for, before the loop ends."""
        self.stop()
        await self.lists.end()

    def close(self) -> None:
        """Let the threads and the store go; what is still worked on then is answered to nobody."""
        self.stopping = True
        until = time.monotonic() + PARTING  # for all together
        for threads in (self._threads, self._reading, self.aside, self._later):
            threads.shutdown(max(until - time.monotonic(), 0.0))
        self.registry.storage.close()

    async def problems(self, request: Request) -> list[str]:
        """What keeps the service from its work, for ``/readyz``."""
        if not self.tokens.ever and self._local:
            names = LOOPBACK.fullmatch(request.headers.get("host", "")) is not None
        else:
            grant = page.grant_of(request, self.tokens)
            names = grant is not None and grant.campaign is None
        return await problems(self.registry, self._threads, self.aside, names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"this serves http, not {scope['type']}")
        await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        method, status, label = scope["method"], 500, "unknown"
        request = Request(scope, receive)
        id_, who = request_id(request), [""]
        self.metrics.running += 1

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                nonlocal status
                status = message["status"]
                own = (b"x-request-id", id_.encode())
                message["headers"] = [*message["headers"], *_HEADERS, own]
            await send(message)

        try:
            try:
                label, route, name = _find(scope)
                response = await self._answer(request, route, name, id_, who)
            except OssbError as error:
                response = refusal(error, request.headers.get("prefer") == WHOLE)
                if response.status_code >= 500 and response.status_code != 503:
                    fields = {"path": scope["path"], "reason": str(error), "request": id_}
                    # whose code it was, where a policy failed
                    LOG.error("failed", extra={"fields": fields}, exc_info=error.__cause__)
            except asyncio.CancelledError:
                if not self.stopping:
                    raise
                # the server goes, and does not wait for what takes long
                response = refusal(ending())
            except Exception:
                LOG.exception("failed", extra={"fields": {"path": scope["path"], "request": id_}})
                response = refusal(Refusal(500, "failed", "the server failed; its log says why"))
            await response(scope, receive, sending)
        finally:
            self.metrics.running -= 1
            seconds = time.perf_counter() - started
            known = method if method in ("GET", "HEAD", "POST") else "other"
            self.metrics.observe(known, label, status, seconds)
            if LOG.isEnabledFor(logging.INFO):
                say(
                    logging.INFO,
                    "request",
                    method=known,
                    path=scope["path"][:300],
                    status=status,
                    milliseconds=round(seconds * 1e3, 2),
                    request=id_,
                    token=who[0],
                )

    async def _answer(
        self, request: Request, route: Route, name: str, id_: str, who: list[str]
    ) -> Response:
        grant = await self._grant(request, route)
        who[0] = grant.id
        if route.scope is not None:
            known = request.scope.get("ossb.known")
            if known is not None:  # a connection that has shown who it is
                known()
            self._check_quota(grant)
            if not grant.covers(route.scope):
                message = f"this needs a token of scope {route.scope}"
                raise Refusal(403, "forbidden", message, "Authorization")
            if name:
                self.check_campaign(grant, name)
            elif request.url.path == "/metrics":
                self.check_campaign(grant, "")
        seconds = self._limits.ask if route.handler is ask else self._limits.call
        call = Call(request, name, grant, self, seconds, id_)
        try:
            return await route.handler(call)
        except NoCampaign as error:
            if grant.campaign is None:
                raise
            raise NoCampaign(error.name) from None  # which others there are is not for this token
        finally:
            call.end()

    async def _grant(self, request: Request, route: Route) -> Grant:
        """What the caller may do; a refusal where a token is needed and none is good."""
        self._check_origin(request)
        if route.scope is None:  # nor does it wait for the store
            return Grant("read")
        await self.look_for_tokens()
        if not self.tokens.ever and self._local:
            if not LOOPBACK.fullmatch(request.headers.get("host", "")):
                message = "without tokens this service answers to its own machine only"
                raise Refusal(403, "forbidden", message, "Host")
            return Grant("admin")
        grant = page.grant_of(request, self.tokens)
        if grant is None and page.session_of(request) is not None:
            await self.look_for_tokens(SESSION_REFRESH)  # another server may have let him in
            grant = page.grant_of(request, self.tokens)
        if grant is None:
            none = page.token_of(request) is None and page.session_of(request) is None
            message = "a token is needed" if none else "the token is not known, or good no more"
            headers = {"WWW-Authenticate": "Bearer"}
            raise Refusal(401, "unauthorized", message, "Authorization", headers)
        return grant

    def _check_quota(self, grant: Grant) -> None:
        own = self.tokens.limits_of(grant)
        per_second = own.per_second if own.per_second is not None else self._limits.per_second
        over = self.quotas.spend(grant.id, per_second, own.per_day, time.time())
        if over is not None:
            often, wait = over
            message = f"this token has made as many calls {often} as it may"
            headers = {"Retry-After": str(math.ceil(wait))}
            raise Refusal(429, "too_many", message, "Authorization", headers)

    async def look_for_tokens(self, patience: float = REFRESH) -> None:
        """See which tokens other servers made or revoked, where there may be others."""
        if self.registry.storage.shared and time.monotonic() - self._looked > patience:
            self._looked = time.monotonic()
            await self.aside.run(self.tokens.refresh)

    def check_campaign(self, grant: Grant, name: str) -> None:
        """Refuse what is not of the one campaign that a token is for."""
        if grant.campaign is not None and grant.campaign != name:
            message = "the token is for another campaign"
            raise Refusal(403, "forbidden", message, "Authorization")

    @staticmethod
    def _check_origin(request: Request) -> None:
        """Other sites' pages may not call from a visitor's browser."""
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
            raise Refusal(403, "forbidden", "the call comes from another site's page", "Origin")


def request_id(request: Request) -> str:
    """The caller's id of a request where it may stand in logs and events, else one of ours."""
    given = request.headers.get("x-request-id", "")
    return given if REQUEST.fullmatch(given) else f"{next(_IDS) % 2**64:016x}"


def _find(scope: Scope) -> tuple[str, Route, str]:
    """The route of a request with its label, and the campaign's name."""
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    raw = scope.get("raw_path") or scope["path"].encode()
    parts = raw.partition(b"?")[0].split(b"/")
    if parts[:3] == [b"", b"v1", b"campaigns"] and 4 <= len(parts) <= 5 and parts[3]:
        rest = parts[4].decode("latin-1") if len(parts) == 5 else ""
        name = _name(parts[3])
        label = "/v1/campaigns/{name}" + (f"/{rest}" if rest else "")
        return _chosen(OF_CAMPAIGN, method, rest, label, name)
    if parts[:2] == [b"", b"campaigns"] and len(parts) == 3 and parts[2]:
        return _chosen(page.ROUTES, method, "/campaigns/{name}", "/campaigns/{name}", "")
    path = raw.partition(b"?")[0].decode("latin-1")
    table = page.ROUTES if any(known == path for _, known in page.ROUTES) else PLAIN
    return _chosen(table, method, path, path, "")


def _chosen(
    table: dict[tuple[str, str], Route], method: str, key: str, label: str, name: str
) -> tuple[str, Route, str]:
    found = table.get((method, key))
    if found is not None:
        return label, found, name
    allowed = [known for known, path in table if path == key]
    if allowed:
        message = f"`method` must be {' or '.join(allowed)}"
        headers = {"Allow": ", ".join(allowed)}
        raise Refusal(405, "bad_method", message, "method", headers)
    raise Refusal(404, "unknown_path", "there is nothing at this path", "path")


def _name(part: bytes) -> str:
    try:
        return unquote_to_bytes(part).decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal(404, "unknown_campaign", "`name` must be UTF-8", "name") from None
