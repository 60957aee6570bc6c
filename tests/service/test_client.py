"""The client: what it retries, and what it does not."""

import http.server
import json
import threading

import numpy as np
import pytest

from ossb.client import Client, Decision, ServiceError, Unreachable
from ossb.errors import InputError

DECISIONS = {"decisions": [{"id": "0-a", "arm": 1, "arm_name": "b", "phase": "explore"}]}


class Scripted:
    """A server that answers as it was told, and keeps what it was asked."""

    def __init__(self):
        self.script, self.calls = [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                length = int(self.headers.get("content-length", 0))
                body = self.rfile.read(length)
                outer.calls.append((self.command, self.path, dict(self.headers), body))
                answer = outer.script.pop(0)
                if answer is None:  # the answer is lost
                    self.close_connection = True
                    return
                status, content, headers = answer
                content = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answers(self, *answers):
        self.script.extend(
            answer if answer is None or len(answer) == 3 else (*answer, {}) for answer in answers
        )


@pytest.fixture
def scripted():
    found = Scripted()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def client(scripted):
    pauses = []
    with Client(scripted.url, "secret", patience=60, sleep=pauses.append) as found:
        found.pauses = pauses
        yield found


def test_ask_repeats_under_one_key(scripted, client):
    error = {"error": {"code": "unavailable", "message": "later", "field": None}}
    scripted.answers(None, (503, error, {"Retry-After": "2"}), (200, DECISIONS))
    found = client.ask("a b/é", 1, lease_seconds=9, available=(0, 1))
    assert found == [Decision("0-a", 1, "b", "explore")]
    assert {call[1] for call in scripted.calls} == {"/v1/campaigns/a%20b%2F%C3%A9/ask"}
    assert len({call[2]["Idempotency-Key"] for call in scripted.calls}) == 1
    assert scripted.calls[0][2]["Authorization"] == "Bearer secret"
    assert json.loads(scripted.calls[0][3]) == {"n": 1, "lease_seconds": 9, "available": [0, 1]}
    assert client.pauses[1] == 2.0


def test_two_asks_have_two_keys(scripted, client):
    scripted.answers((200, DECISIONS), (200, DECISIONS))
    client.ask("a")
    client.ask("a")
    keys = [call[2]["Idempotency-Key"] for call in scripted.calls]
    assert keys[0] != keys[1]


def test_every_call(scripted, client):
    results = {"results": [{"id": "0-a", "status": "recorded"}]}
    scripted.answers(
        (201, {"name": "a"}),
        (200, {"campaigns": [{"name": "a"}]}),
        (200, {"name": "a"}),
        (200, results),
        (200, results),
        (200, results),
        (200, {"closed": True}),
        (200, DECISIONS),
        (201, {"token": "t"}),
    )
    assert client.create("a", {"structure": "classical", "sigma": 1.0}, "hgl", 3) == {"name": "a"}
    assert client.campaigns() == [{"name": "a"}]
    assert client.campaign("a") == {"name": "a"}
    assert client.tell("a", "0-a", 1) == "recorded"
    assert client.tell_many("a", [("0-a", 1)]) == ["recorded"]
    assert client.void("a", "0-a") == "recorded"  # what this server says to everything
    client.close_campaign("a")
    assert client.history("a", 5, 10) == DECISIONS["decisions"]
    assert client.create_token("write", "a") == "t"
    assert [call[1] for call in scripted.calls][-2:] == [
        "/v1/campaigns/a/decisions?start=5&limit=10",
        "/v1/tokens",
    ]


def test_refusals_are_not_repeated(scripted, client):
    error = {"error": {"code": "told", "message": "was told", "field": "observation"}}
    scripted.answers((409, error), (502, b"", {}), (404, b"<html>", {}))
    with pytest.raises(ServiceError, match="was told") as caught:
        client.tell("a", "0-a", 1)
    assert (caught.value.status, caught.value.field) == (409, "observation")
    with pytest.raises(ServiceError) as caught:
        client.campaigns()
    assert caught.value.code == "not_json"
    assert len(scripted.calls) == 3


def test_it_gives_up_in_the_end(scripted):
    scripted.server.shutdown()
    scripted.server.server_close()
    with Client(scripted.url, patience=0.2) as client, pytest.raises(Unreachable, match="refused"):
        client.campaigns()


def test_bad_addresses():
    for url in ("127.0.0.1:80", "ftp://x", "http://"):
        with pytest.raises(InputError):
            Client(url)


def test_the_client_loads_nothing_heavy():
    import subprocess
    import sys

    program = "import sys, ossb.client; print({'numpy', 'msgspec', 'starlette'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout.strip() == "set()"


def test_a_token_is_asked_for_once(scripted, client):
    """A second attempt would leave a live token behind that nobody has seen."""
    scripted.answers(None)
    with pytest.raises(Unreachable):
        client.create_token("admin")
    assert len(scripted.calls) == 1


def test_a_token_taken_back_twice_is_taken_back(scripted, client):
    error = {"error": {"code": "bad_input", "message": "`id` must be …", "field": "id"}}
    scripted.answers(None, (400, error))
    client.revoke_token("abc")  # the first attempt did it, though its answer was lost
    scripted.answers((400, error))
    with pytest.raises(ServiceError, match="id"):
        client.revoke_token("abc")


@pytest.mark.parametrize("value", [float("nan"), [0.0, float("inf")], object()])
def test_what_is_no_observation_is_said_so_at_once(scripted, client, value):
    with pytest.raises(InputError, match=r"`observation(\[1\])?` must be"):
        client.tell("a", "0-a", value)
    assert scripted.calls == []


def test_numbers_of_numpy_are_numbers(scripted, client):
    results = {"results": [{"id": "0-a", "status": "recorded"}]}
    scripted.answers((200, results), (200, results))
    client.tell("a", "0-a", np.int64(1))
    client.tell("a", "0-a", np.array([0.0, 1.0]))
    sent = [json.loads(call[3])["observation"] for call in scripted.calls]
    assert sent == [1, [0.0, 1.0]]
