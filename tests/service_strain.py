"""Callers that strain a service: idle, slow, endless and deep ones, and how much memory it takes.

Returns a row; ``served`` has to be as often as it was asked, ``growth`` below 2.
"""

import http.client
import resource
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

from service_process import Server

HEAD = b"POST /v1/campaigns HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def memory(server, field="VmRSS"):
    """Kilobytes of a server's memory now, or with ``VmHWM`` at most so far."""
    for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    raise RuntimeError(f"no {field}")


def healthy(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    finally:
        connection.close()


def status_of(server, *parts):
    """Send the parts of a request for as long as they are taken; the status of the answer."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        with suppress(OSError):
            for part in parts:
                connection.sendall(part)
        with suppress(OSError):
            return connection.recv(100)[9:12].decode()
        return "cut"  # it closed on us while we were sending


def strain(folder, idle, slow, body, depth):
    """Idle and slow connections, a body of so many bytes, JSON nested so deep, all at once.

    Parameters
    ----------
    idle, slow
        Connections that say nothing, and that send a byte of a request now and then.
    body
        Bytes of a body: announced, and sent in chunks without saying how many.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    server = Server(f"sqlite:///{folder / 'campaigns.db'}", folder / "log").start()
    try:
        row = _strained(server, idle, slow, body, depth)
    finally:
        code = server.stop()
    return {**row, "exit_code": code}


def _strained(server, idle, slow, body, depth):
    address = ("127.0.0.1", server.port)
    for _ in range(20):
        healthy(server)
    before = memory(server)
    quiet = [socket.create_connection(address) for _ in range(idle)]
    dripping = [socket.create_connection(address) for _ in range(slow)]
    stopping = threading.Event()

    def drip():
        while not stopping.wait(0.5):
            for connection in dripping:
                with suppress(OSError):
                    connection.send(b"x")

    for connection in dripping:
        connection.send(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
    dropper = threading.Thread(target=drip)
    dropper.start()
    served = asked = 0
    announced = status_of(
        server, HEAD + b"Content-Length: %d\r\n\r\n" % body, *[b" " * 65536] * (body // 65536)
    )
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    chunked = status_of(
        server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * (body // 65536)
    )
    nested = b"[" * depth + b"]" * depth
    length = b"Content-Length: %d\r\n\r\n" % len(nested)
    deep = status_of(server, HEAD + length, nested)
    brief = b"[" * 30_000 + b"]" * 30_000  # short enough for a body
    length = b"Content-Length: %d\r\n\r\n" % len(brief)
    deep_and_short = status_of(server, HEAD + length, brief)
    started = time.monotonic()
    while time.monotonic() - started < 12:  # longer than a request's head may take
        asked += 1
        served += healthy(server)
        time.sleep(0.05)
    peak = memory(server, "VmHWM")
    cut = sum(_closed(connection) for connection in [*quiet, *dripping])
    stopping.set()
    dropper.join()
    for connection in [*quiet, *dripping]:
        connection.close()
    return {
        "announced": announced,
        "chunked": chunked,
        "deep": deep,
        "deep_and_short": deep_and_short,
        "asked": asked,
        "served": served,
        "cut_off": cut,
        "connections": idle + slow,
        "megabytes": round(before / 1024),
        "growth": round(peak / before, 2),
    }


def _closed(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
