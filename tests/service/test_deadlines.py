"""Every call ends: in time, with its caller, or without what takes too long."""

import asyncio
import threading
import time

import httpx
import pytest

from ossb import deadlines
from ossb.campaigns import open_storage
from ossb.deadlines import OutOfTime
from ossb.service.app import CallLimits, Service
from ossb.service.lanes import Lanes
from ossb.service.threads import Threads
from service_calls import BODY, Local

LONG = 60  # seconds that only what hangs takes


@pytest.fixture
def hurried(storage_url):
    """A service whose calls have no time at all."""
    local = Local(Service(open_storage(storage_url), limits=CallLimits(0.2, 0.4)))
    local.post("/v1/campaigns", BODY)
    yield local
    local.close()


def test_nobody_checks_where_nobody_waits():
    deadlines.check()
    with deadlines.wanted(time.monotonic() + LONG, lambda: False):
        deadlines.check()
        with (
            pytest.raises(OutOfTime, match="has gone"),
            deadlines.wanted(time.monotonic() + LONG, lambda: True),
        ):
            deadlines.check()
        deadlines.check()
    with pytest.raises(OutOfTime, match="not enough time"), deadlines.wanted(0.0, lambda: False):
        deadlines.check()


def test_an_ask_for_too_much_ends_in_time_and_leaves_nothing(hurried, monkeypatch):
    first = hurried.post("/v1/campaigns/first/ask", {}).json()["decisions"][0]["id"]
    slow = hurried.service.registry.campaign("first")._players
    player = next(iter(slow._known.values()))
    step = player.select

    def select(*arguments):
        time.sleep(0.02)
        return step(*arguments)

    monkeypatch.setattr(player, "select", select)
    answer = hurried.post("/v1/campaigns/first/ask", {"n": 5000})
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "late"
    assert answer.headers["Retry-After"]
    found = hurried.get("/v1/campaigns/first").json()
    assert found["pending"] == 1
    monkeypatch.setattr(player, "select", step)
    second = hurried.post("/v1/campaigns/first/ask", {}).json()["decisions"][0]["id"]
    assert [id_.split("-")[0] for id_ in (first, second)] == ["0", "1"]


def test_rates_that_take_too_long_are_left_out_and_it_says_so(hurried, monkeypatch):
    gate = threading.Event()
    monkeypatch.setattr(hurried.service.registry, "summary", lambda *_: gate.wait(LONG))
    found = hurried.get("/v1/campaigns/first")
    gate.set()
    assert found.status_code == 200
    assert "takes longer" in found.json()["rates"]["reason"]
    assert found.json()["stop"]["met"] is False
    assert found.json()["plays"] == [0, 0, 0]


def test_work_that_nobody_waits_for_is_not_begun_or_ended():
    threads = Threads(1)
    lanes, begun, ended = Lanes(threads, 1), [], threading.Event()

    def work(number):
        begun.append(number)
        try:
            while True:
                time.sleep(0.001)
                deadlines.check()
        except OutOfTime:
            ended.set()
            raise

    async def use():
        calls = [asyncio.ensure_future(lanes.run("a", work, k)) for k in range(1000)]
        while not begun:
            await asyncio.sleep(0.001)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert await asyncio.wait_for(lanes.run("b", lambda: 7), LONG) == 7

    asyncio.run(use())
    threads.shutdown()
    assert ended.is_set()
    assert begun == [0]


def test_callers_that_leave_take_their_work_with_them(campaign, monkeypatch):
    journal = campaign.service.registry.campaign("first")._journal
    asked = campaign.get("/v1/campaigns/first").json()["pending"]

    async def use():
        async def leave():
            sent = [{"type": "http.request", "body": b'{"n": 2}'}, {"type": "http.disconnect"}]
            scope = {
                "type": "http",
                "method": "POST",
                "path": "/v1/campaigns/first/ask",
                "query_string": b"",
                "headers": [(b"host", b"127.0.0.1:8090")],
            }
            statuses = []

            async def receive():
                return sent.pop(0)

            async def send(message):
                statuses.append(message.get("status"))

            await campaign.service(scope, receive, send)
            return statuses[0]

        with journal._lock:  # all of them have to wait
            left = await asyncio.gather(*(leave() for _ in range(50)))
        assert set(left) == {400}
        transport = httpx.ASGITransport(campaign.service)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return (await client.get("/v1/campaigns/first")).json()["pending"]

    assert campaign.loop.run_until_complete(use()) - asked == 0
    assert not campaign.service.lanes._waiting


def test_one_token_leaves_streams_to_the_others(campaign, monkeypatch):
    monkeypatch.setattr("ossb.service.stream.MOST_OF_ONE", 0)
    answer = campaign.get("/v1/campaigns/first/events")
    assert answer.status_code == 503
    assert "this token has" in answer.json()["error"]["message"]


@pytest.mark.parametrize("busy", [1, 3])
def test_names_that_flood_leave_a_thread_to_one_that_comes_new(busy):
    threads, gate = Threads(16), threading.Event()
    lanes = Lanes(threads, 8)

    async def use():
        floods = [
            asyncio.ensure_future(lanes.run(f"busy {name}", gate.wait, LONG))
            for name in range(busy)
            for _ in range(100)
        ]
        assert await asyncio.wait_for(lanes.run("new", lambda: 7), LONG) == 7
        gate.set()
        assert all(await asyncio.gather(*floods))

    asyncio.run(use())
    threads.shutdown()
    assert not lanes._at_work
