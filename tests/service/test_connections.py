"""Connections of strangers shut nobody out."""

import http.client
import socket

import pytest

from ossb.client import Client
from ossb.service.connections import Connections
from service_process import Server


def closing(connections, names):
    closed = []
    entered = [connections.enter(name, lambda name=name: closed.append(name)) for name in names]
    return closed, entered


def test_the_oldest_stranger_goes_first_and_known_ones_last():
    all_of = Connections(3)
    closed, entered = closing(all_of, "abc")
    assert entered == [True] * 3
    all_of.know("a")
    all_of.know("b")
    all_of.rest("b")
    for name in "de":
        assert all_of.enter(name, lambda name=name: closed.append(name))
    assert closed == ["c", "d"]
    all_of.know("e")
    assert all_of.enter("f", lambda: closed.append("f"))
    assert closed == ["c", "d", "b"]  # known, and idle
    all_of.know("f")
    assert not all_of.enter("g", lambda: None)  # all are being answered
    assert len(all_of) == 3
    for name in "aefgxyz":
        all_of.leave(name)
    assert len(all_of) == 0


@pytest.mark.parametrize("said", [b"", b"GET /v1/campaigns HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "])
def test_a_flood_of_connections_that_say_nothing(tmp_path, said):
    limited = ["bash", "-c", 'ulimit -n 560; exec "$@"', "bash"]  # room for sixty
    server = Server(f"sqlite:///{tmp_path / 'c.db'}", tmp_path / "log", before=limited).start()
    idle = []
    try:
        with Client(server.url, patience=5) as client:
            token = client.create_token("admin")
        kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        headers = {"Authorization": f"Bearer {token}"}

        def ask(connection):
            connection.request("GET", "/v1/campaigns", headers=headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status

        assert ask(kept) == 200
        held = kept.sock
        for _ in range(200):
            idle.append(socket.create_connection(("127.0.0.1", server.port)))
            idle[-1].sendall(said)
        for _ in range(20):
            new = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            assert ask(new) == 200
            new.close()
        assert ask(kept) == 200
        assert kept.sock is held  # who was known has kept his connection
        kept.close()
    finally:
        for connection in idle:
            connection.close()
        assert server.stop() == 0
