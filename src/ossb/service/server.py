"""Running the service: limits on callers, a graceful end."""

import asyncio
import gc
import ipaddress
import logging
import resource
import signal
import socket
import sys
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ossb.campaigns import Storage
from ossb.errors import InputError
from ossb.service import logs
from ossb.service.app import LIMITS, CallLimits, Service
from ossb.service.connections import Connections

HEADER_SECONDS = 10.0  # within which a request's head has to come
HEADER_BYTES = 64 * 1024
IDLE_SECONDS = 30  # between two requests of a connection
CONNECTIONS = 2000
FILES = 500  # that may be open besides
TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"Connection: close\r\nContent-Length: 0\r\n\r\n"
)
TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\n"
    b"Connection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
)
SWITCH = 0.001  # seconds after which a busy thread lets another go: many calls are quicker
GRACE = 6  # seconds that requests have to end in once the server goes; ten in all


class Protocol(HttpToolsProtocol):
    """Closes connections on which no request comes, or comes too slowly, or has no end."""

    _watch: asyncio.TimerHandle | None = None
    _head = 0  # bytes of a request's head so far

    def __init__(self, *arguments: Any, all_of: Connections | None = None, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._all = Connections(CONNECTIONS) if all_of is None else all_of

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self._all.enter(self, transport.abort):
            self._start_watch()
        else:
            transport.write(TOO_MANY)
            transport.close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._watch is not None:
            self._head += len(data)
            if self._head > HEADER_BYTES and not self.transport.is_closing():
                self.transport.write(TOO_LONG)
                self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._watch is None:
            self._start_watch()

    def on_headers_complete(self) -> None:
        self._end_watch()
        self._head = 0
        scope: Any = self.scope
        scope["ossb.known"] = self._know
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        self._all.rest(self)
        super().on_response_complete()

    def _know(self) -> None:
        self._all.know(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_watch()
        self._all.leave(self)
        super().connection_lost(exc)

    def _start_watch(self) -> None:
        self._watch = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _end_watch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _give_up(self) -> None:
        self._watch = None
        if not self.transport.is_closing():
            self.transport.close()


class Server(uvicorn.Server):
    """Ends the event streams first: they would keep it waiting."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service
        self.interrupted = False  # from the keyboard, rather than asked to end

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.interrupted = self.interrupted or sig == signal.SIGINT
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.stop()
        await super().shutdown(sockets)
        await self._service.end()


def serve(
    store: Storage,
    host: str,
    port: int,
    log_level: str = "info",
    limits: CallLimits = LIMITS,
) -> None:
    """Serve a store until a signal comes, then end gracefully.

    ``KeyboardInterrupt`` afterwards where the signal came from the keyboard.
    ``InputError`` if the address is not this machine's own and there is no token.
    """
    logs.set_up(log_level)
    _allow_connections()
    sys.setswitchinterval(SWITCH)
    local = is_loopback(host)
    service = Service(store, local, limits)
    try:
        if not local and not service.tokens:
            must = "be 127.0.0.1 while there is no token: make one with `ossb token create`"
            raise InputError("host", must, host)
        protocol: Any = partial(Protocol, all_of=Connections(_most_connections()))
        config = uvicorn.Config(
            service,
            http=protocol,
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # who calls is not for the caller to say
            server_header=False,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=GRACE,
            lifespan="off",
        )
        # uvicorn raises SIGTERM again once it has ended, which must not end us before the store
        signal.signal(signal.SIGTERM, lambda *_: None)
        with _listening(host, port) as listening:
            announce = getattr(store, "announce", None)
            if announce is not None:
                announce(_own_url(host, port))
            service.warm()
            gc.freeze()  # what is loaded stays: all would wait while it is looked through
            logs.say(logging.INFO, "serving", url=_own_url(host, port))
            server = Server(config, service)
            server.run([listening])
            if server.interrupted:
                raise KeyboardInterrupt
    finally:
        service.close()


def _own_url(host: str, port: int) -> str:
    """Where programs of this machine reach the service."""
    try:
        address = ipaddress.ip_address(host)
        if address.is_unspecified:
            host = "127.0.0.1" if address.version == 4 else "::1"
    except ValueError:
        pass
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _allow_connections() -> None:
    """Raise this process's limit on open files, where it may be: a connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + FILES
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _most_connections() -> int:
    """How many connections this process may have open, with some files beside."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        CONNECTIONS if soft == resource.RLIM_INFINITY else max(16, min(CONNECTIONS, soft - FILES))
    )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise InputError("port", f"be free to listen on: {error}", f"{host}:{port}") from None
    listening.listen(2048)
    return listening
