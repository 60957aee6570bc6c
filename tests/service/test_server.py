"""Running the service: addresses, logs, what is strict, and what is counted."""

import io
import json
import logging

import pytest

from ossb.campaigns import open_storage
from ossb.errors import InputError
from ossb.service import logs, strict
from ossb.service.app import Service
from ossb.service.metrics import Metrics
from ossb.service.server import is_loopback, serve
from service_calls import BODY


def test_loopback():
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "localhost", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.1.2", "example.org", "")))


def test_strangers_are_served_with_tokens_only(storage_url):
    store = open_storage(storage_url)
    with pytest.raises(InputError, match="token"):
        serve(store, "0.0.0.0", 18095)
    store.close()


def test_a_port_that_is_taken(storage_url):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        store = open_storage(storage_url)
        with pytest.raises(InputError, match="port"):
            serve(store, "127.0.0.1", port)
        store.close()


def test_logs_are_json_lines(monkeypatch):
    target = io.StringIO()
    monkeypatch.setattr("sys.stderr", target)
    logs.set_up("info")
    logs.say(logging.INFO, "request", path="/é\n", status=200)
    logs.say(logging.DEBUG, "not shown")
    try:
        raise ValueError("why")
    except ValueError:
        logs.LOG.exception("failed")
    first, second = map(json.loads, target.getvalue().splitlines())
    assert (first["message"], first["path"], first["status"]) == ("request", "/é\n", 200)
    assert "ValueError: why" in second["trace"]
    logs.set_up("warning")


def test_metrics():
    metrics = Metrics()
    metrics.observe("GET", "/healthz", 200, 0.003)
    metrics.observe("GET", "/healthz", 200, 99.0)
    text = metrics.text(2)
    assert 'ossb_request_seconds_bucket{route="/healthz",le="0.005"} 1\n' in text
    assert 'ossb_request_seconds_bucket{route="/healthz",le="+Inf"} 2\n' in text
    assert "ossb_campaigns 2\n" in text


def test_depth_is_counted_outside_of_texts():
    deep = b'{"a": "' + b"[" * 50 + b'\\"", "b": [1]}'
    assert strict.decode(deep)["b"] == [1]
    with pytest.raises(InputError, match="nested"):
        strict.decode(b"[" * 9 + b"]" * 9)
    eight = b'{"a":' + b"[" * 7 + b"]" * 7 + b', "b": [[]]}'
    assert "a" in strict.decode(eight)


def test_a_damaged_store_is_not_served(campaign, monkeypatch):
    from ossb.campaigns import Corrupt

    def damaged(name):
        raise Corrupt("event 7 is not what was written")

    monkeypatch.setattr(campaign.service.registry, "campaign", damaged)
    answer = campaign.get("/v1/campaigns/first/decisions")
    assert answer.status_code == 500
    assert answer.json()["error"] == {
        "code": "corrupt",
        "message": "event 7 is not what was written",
        "field": None,
    }


def test_a_damaged_campaign_keeps_nobody_from_the_others(campaign, tmp_path):
    import sqlite3

    from service_calls import BODY, Local

    campaign.post("/v1/campaigns", {**BODY, "name": "second"})
    campaign.post("/v1/campaigns/first/ask", {})
    campaign.service.close()
    with sqlite3.connect(tmp_path / "campaigns.db") as store:
        store.execute("UPDATE events SET time = 1 WHERE campaign = 'first' AND number = 2")
    store.close()
    again = Local(Service(open_storage(f"sqlite:///{tmp_path / 'campaigns.db'}")))
    first, second = again.get("/v1/campaigns").json()["campaigns"]
    assert "event 2" in first["error"]
    assert second["structure"] == "classical"
    refused = again.post("/v1/campaigns/first/ask", {})
    assert refused.status_code == 500
    assert "event 2" in refused.json()["error"]["message"]
    assert again.post("/v1/campaigns/second/ask", {}).status_code == 200
    again.close()


def test_campaigns_are_opened_ahead(campaign):
    campaign.service.registry._open.clear()
    campaign.service.warm()
    campaign.service._threads.shutdown()
    assert list(campaign.service.registry._open) == ["first"]


def test_summaries_in_the_making_take_one_thread(campaign, monkeypatch):
    import asyncio
    import threading

    import httpx

    at_once, most, lock = [0], [0], threading.Lock()
    gate = threading.Event()

    def slow(name, *confidence):
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        gate.wait(20)
        with lock:
            at_once[0] -= 1
        return {}

    monkeypatch.setattr(campaign.service.registry, "document", slow)

    async def use():
        transport = httpx.ASGITransport(campaign.service)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            looks = [asyncio.ensure_future(client.get("/v1/campaigns/first")) for _ in range(100)]
            asked = await client.post("/v1/campaigns/first/ask", json={})
            assert asked.status_code == 200
            gate.set()
            await asyncio.gather(*looks)

    campaign.loop.run_until_complete(use())
    assert most[0] == 1


def test_names_of_strangers_leave_no_trace(campaign):
    for i in range(20):
        assert campaign.get(f"/v1/campaigns/none-{i}").status_code == 404
        assert campaign.post(f"/v1/campaigns/none-{i}/ask", {}).status_code == 404
        refused = {**BODY, "name": f"none-{i}", "policy": {"name": "ucb1", "speed": i}}
        assert campaign.post("/v1/campaigns", refused).status_code == 400
    registry = campaign.service.registry
    kept = (*registry._opening, *registry._turns, *registry._open, *registry._pages)
    assert not [name for name in kept if "none" in name]


def test_too_many_streams(campaign, monkeypatch):
    monkeypatch.setattr("ossb.service.stream.MOST_STREAMS", 0)
    answer = campaign.get("/v1/campaigns/first/events")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")


def test_streams_of_one_campaign_leave_some_to_others(campaign, monkeypatch):
    monkeypatch.setattr("ossb.service.stream.MOST_OF_CAMPAIGN", 0)
    answer = campaign.get("/v1/campaigns/first/events")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
    assert "this campaign has" in answer.json()["error"]["message"]
    assert not campaign.service.streams_of


def test_a_body_that_comes_too_slowly(campaign, monkeypatch):
    import asyncio

    monkeypatch.setattr("ossb.service.call.BODY_SECONDS", 0.05)
    sent = []

    async def receive():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/campaigns/first/ask",
        "headers": [(b"host", b"127.0.0.1")],
        "query_string": b"",
    }
    campaign.loop.run_until_complete(campaign.service(scope, receive, send))
    assert sent[0]["status"] == 408
