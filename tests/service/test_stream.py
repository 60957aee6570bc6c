"""A campaign's journal as server-sent events: how it is read."""

import asyncio
import http.client
import json
import threading

import pytest

from ossb.campaigns import Campaign
from ossb.campaigns.ledger import Decisions
from ossb.client import Client
from ossb.service import stream
from ossb.service.stream import Reader
from service_calls import INSTANCE
from service_process import Server

LONG = 60  # seconds that only what hangs takes


@pytest.fixture
def journal(storage_url):
    """A campaign without a service."""
    with Campaign.open(storage_url, "first", instance=INSTANCE, policy="ucb1") as found:
        yield found


async def listen(service, got, method="GET", query=b""):
    """Hand what a stream sends to ``got``, until that says that it is enough."""
    enough = asyncio.Event()
    scope = {
        "type": "http",
        "method": method,
        "path": "/v1/campaigns/first/events",
        "headers": [(b"host", b"127.0.0.1")],
        "query_string": query,
    }

    async def receive():
        await enough.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        if got(message):
            enough.set()

    await asyncio.wait_for(service(scope, receive, send), LONG)


def pieces(reader):
    """The events of each read, until there are no more."""
    while written := reader.read():
        lines = written.decode().splitlines()
        yield [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def test_a_read_is_limited_by_size(journal):
    for _ in range(3):
        decisions = journal.ask(10_000)
        journal.tell_many([(decision.id, 1) for decision in decisions])
    read = list(pieces(Reader(journal, 0)))
    assert [event["number"] for piece in read for event in piece] == list(range(1, 8))
    for piece in read:
        assert sum("decisions" in event or "tells" in event for event in piece) <= 1
    decided = [one["id"] for piece in read for event in piece for one in event.get("decisions", ())]
    told = [one["id"] for piece in read for event in piece for one in event.get("tells", ())]
    assert decided == told == [entry["id"] for entry in journal.history()]


def test_no_more_is_fetched_than_is_sent(journal, monkeypatch):
    monkeypatch.setattr(stream, "LARGE", 1)
    for _ in range(40):
        journal.ask()
    fetched, whole = [], journal.events

    def events(after, until):
        fetched.append(until - after)
        return whole(after, until)

    monkeypatch.setattr(journal, "events", events)
    assert [len(piece) for piece in pieces(Reader(journal, 0))] == [1] * 41
    assert fetched[1:] == [2] * 41


def test_small_events_are_read_many_at_once(journal, monkeypatch):
    monkeypatch.setattr(stream, "AT_ONCE", 50)
    for _ in range(200):
        journal.ask()
    assert [len(piece) for piece in pieces(Reader(journal, 0))] == [16, 32, 50, 50, 50, 3]


def test_nobody_waits_while_ids_are_worked_out(journal, monkeypatch):
    journal.ask(3)
    kept, hashed = Decisions.id_of, []

    def id_of(decisions, number):
        looking = threading.Thread(target=lambda: journal.number, daemon=True)
        looking.start()
        looking.join(LONG)
        hashed.append(not looking.is_alive())
        return kept(decisions, number)

    reader = Reader(journal, 1)
    monkeypatch.setattr(Decisions, "id_of", id_of)
    assert reader.read()
    assert hashed == [True] * 3


def test_the_streams_of_a_campaign_take_turns(campaign, monkeypatch):
    reading, most, whole = [], [], Reader.read

    def read(reader):
        reading.append(reader)
        most.append(len(reading))
        try:
            return whole(reader)
        finally:
            reading.remove(reader)

    monkeypatch.setattr(Reader, "read", read)

    async def use():
        def got(message):
            return b"created" in message.get("body", b"")

        await asyncio.gather(*(listen(campaign.service, got) for _ in range(30)))

    campaign.loop.run_until_complete(use())
    assert len(most) >= 30
    assert max(most) == 1


def test_what_happens_between_a_look_and_the_waiting_is_not_missed(campaign, monkeypatch):
    monkeypatch.setattr(stream, "QUIET", 1e6)
    registry, whole, empty = campaign.service.registry, Reader.read, []

    def read(reader):
        found = whole(reader)
        if not found and not empty:
            empty.append(reader)
            registry.campaign("first").ask()
            campaign.loop.call_soon_threadsafe(registry.changed, "first")
        return found

    monkeypatch.setattr(Reader, "read", read)

    def got(message):
        return b"event: asked" in message.get("body", b"")

    campaign.loop.run_until_complete(listen(campaign.service, got))
    assert empty


def test_the_head_of_a_stream_has_an_end(campaign):
    sent = []
    campaign.loop.run_until_complete(listen(campaign.service, sent.append, method="HEAD"))
    assert b"".join(message.get("body", b"") for message in sent) == b""
    headers = dict(sent[0]["headers"])
    assert sent[0]["status"] == 200
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert b"content-length" not in headers


def test_a_connection_goes_on_after_the_head_of_a_stream(tmp_path, storage_url):
    server = Server(storage_url, tmp_path / "log").start()
    try:
        with Client(server.url) as client:
            client.create("first", INSTANCE, "ucb1")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LONG)
        for method, path in (("HEAD", "/v1/campaigns/first/events"), ("GET", "/metrics")):
            connection.request(method, path)
            answer = connection.getresponse()
            content = answer.read()
            assert answer.status == 200
        assert b"ossb_event_streams 0\n" in content
        connection.close()
    finally:
        assert server.stop() == 0
