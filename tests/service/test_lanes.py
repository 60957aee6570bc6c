"""Who gets a thread."""

import asyncio
import threading

import httpx
import pytest

from ossb.service.lanes import Lanes
from ossb.service.threads import Threads
from service_calls import BODY

LONG = 60  # seconds that only what hangs takes


def test_one_name_leaves_threads_to_the_others():
    threads, gate = Threads(4), threading.Event()
    lanes = Lanes(threads, 2)

    async def use():
        busy = [asyncio.ensure_future(lanes.run("busy", gate.wait, LONG)) for _ in range(20)]
        assert await asyncio.wait_for(lanes.run("other", lambda x: x + 1, 6), LONG) == 7
        with pytest.raises(KeyError):
            await lanes.run("other", {}.__getitem__, "none")
        gate.set()
        assert await asyncio.gather(*busy) == [True] * 20

    asyncio.run(use())
    threads.shutdown()
    assert not lanes._at_work
    assert not lanes._waiting


def test_who_leaves_while_waiting_keeps_no_place():
    threads, gate = Threads(4), threading.Event()
    lanes = Lanes(threads, 1)

    async def use():
        first = asyncio.ensure_future(lanes.run("busy", gate.wait, LONG))
        gone = asyncio.ensure_future(lanes.run("busy", gate.wait, LONG))
        await asyncio.sleep(0)
        gone.cancel()
        gate.set()
        assert await first
        assert await asyncio.wait_for(lanes.run("busy", lambda: 7), LONG) == 7

    asyncio.run(use())
    threads.shutdown()
    assert not lanes._at_work
    assert not lanes._waiting


def test_a_busy_campaign_keeps_nobody_from_the_others(campaign):
    campaign.post("/v1/campaigns", {**BODY, "name": "second"})
    journal = campaign.service.registry.campaign("first")._journal
    held, done = threading.Event(), threading.Event()

    def hold():
        with journal.look():
            held.set()
            done.wait(LONG)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(LONG)

    async def use():
        transport = httpx.ASGITransport(campaign.service)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            calls = [client.post("/v1/campaigns/first/ask", json={}) for _ in range(100)]
            waiting = [asyncio.ensure_future(call) for call in calls]
            await asyncio.sleep(0.1)
            for path in ("/healthz", "/metrics", "/v1/campaigns/second"):
                answer = await asyncio.wait_for(client.get(path), LONG / 2)
                assert answer.status_code == 200
            asked = client.post("/v1/campaigns/second/ask", json={})
            assert (await asyncio.wait_for(asked, LONG / 2)).status_code == 200
            for query in ("?brief=true", ""):  # as it was last seen, or not at all
                listed = await asyncio.wait_for(client.get(f"/v1/campaigns{query}"), LONG / 2)
                first, second = listed.json()["campaigns"]
                assert (first["structure"], first["as_of"]) == ("busy", None)
                assert second["rounds"] == 0
            done.set()
            # those who could wait no longer were told so
            assert {answer.status_code for answer in await asyncio.gather(*waiting)} <= {200, 503}

    try:
        campaign.loop.run_until_complete(use())
    finally:
        done.set()
        holder.join()


def test_a_thread_is_at_work_until_it_ends_whoever_has_gone():
    threads, begun, gate = Threads(2), threading.Event(), threading.Event()
    lanes = Lanes(threads, 1)

    def work():
        begun.set()
        gate.wait(LONG)

    async def use():
        left = asyncio.ensure_future(lanes.run("busy", work))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        assert lanes._at_work == {"busy": 1}
        next_ = asyncio.ensure_future(lanes.run("busy", lambda: 7))
        await asyncio.sleep(0.01)
        assert not next_.done()
        assert await asyncio.wait_for(lanes.run("other", lambda: 8), LONG) == 8
        gate.set()
        assert await asyncio.wait_for(next_, LONG) == 7

    asyncio.run(use())
    threads.shutdown()
    assert not lanes._at_work


def test_one_token_leaves_threads_to_the_others():
    threads, gate = Threads(8), threading.Event()
    lanes = Lanes(threads, 8)

    async def use():
        flood = [
            asyncio.ensure_future(lanes.run(f"c{i}", gate.wait, LONG, token="greedy"))
            for i in range(40)
        ]
        for name in ("c0", "new"):
            found = lanes.run(name, lambda: 7, token="quiet")
            assert await asyncio.wait_for(found, LONG) == 7
        gate.set()
        assert all(await asyncio.gather(*flood))

    asyncio.run(use())
    threads.shutdown()
    assert not lanes._working
    assert not lanes._waiting_of


def test_not_more_calls_wait_than_may(monkeypatch):
    from ossb.service.answers import Refusal

    monkeypatch.setattr("ossb.service.lanes.MOST_WAITING", 2)
    monkeypatch.setattr("ossb.service.lanes.MOST_WAITING_OF_ONE", 3)
    threads, gate = Threads(2), threading.Event()
    lanes = Lanes(threads, 1)

    async def use():
        names = ["a", "a", "a", "a", "b", "b", "b"]
        calls = [
            asyncio.ensure_future(lanes.run(name, gate.wait, LONG, token="t")) for name in names
        ]
        await asyncio.sleep(0.01)
        gate.set()
        found = await asyncio.gather(*calls, return_exceptions=True)
        refused = [place for place, one in enumerate(found) if isinstance(one, Refusal)]
        assert refused == [3, 5, 6]
        assert found[3].status == 503

    asyncio.run(use())
    threads.shutdown()
    assert not lanes._waiting
    assert not lanes._waiting_of
