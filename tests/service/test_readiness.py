"""``/healthz`` says that the process lives; ``/readyz`` that it can do its work."""

import asyncio
import os
import threading

import httpx
import pytest

from ossb.campaigns import open_storage
from ossb.service.app import Service
from service_calls import BODY, Local


def test_ready(campaign):
    answer = campaign.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ready", "problems": []}


def test_a_store_that_is_gone(campaign, tmp_path):
    os.rename(tmp_path / "campaigns.db", tmp_path / "aside.db")
    answer = campaign.get("/readyz")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert "is gone" in answer.json()["problems"][0]
    assert campaign.get("/healthz").status_code == 200
    refused = campaign.post("/v1/campaigns/first/ask", {})
    assert refused.status_code == 503
    assert refused.headers["Retry-After"]
    os.rename(tmp_path / "aside.db", tmp_path / "campaigns.db")
    assert campaign.get("/readyz").status_code == 200


def test_a_full_disk(campaign, monkeypatch):
    monkeypatch.setattr("ossb.campaigns.storage.sqlite.ROOM", 2**80)
    assert "full" in campaign.get("/readyz").json()["problems"][0]


@pytest.fixture
def damaged(tmp_path, storage_url):
    import sqlite3

    local = Local(Service(open_storage(storage_url)))
    local.post("/v1/campaigns", BODY)
    local.close()
    with sqlite3.connect(tmp_path / "campaigns.db") as connection:
        connection.execute("UPDATE events SET body = replace(body, 'first', 'frist')")
    local = Local(Service(open_storage(storage_url)))
    yield local
    local.close()


def test_a_damaged_campaign_is_named_to_those_who_may_know(damaged):
    assert damaged.get("/v1/campaigns/first").status_code == 500
    (problem,) = damaged.get("/readyz").json()["problems"]
    assert "campaign 'first'" in problem
    token = damaged.post("/v1/tokens", {"scope": "read"}).json()["token"]
    (problem,) = damaged.get("/readyz").json()["problems"]
    assert problem == "1 damaged campaign"
    (problem,) = damaged.get("/readyz", token=token).json()["problems"]
    assert "campaign 'first'" in problem


def test_threads_that_are_all_at_work(campaign):
    release = threading.Event()
    threads = campaign.service._threads

    async def use():
        busy = [asyncio.ensure_future(threads.run(release.wait)) for _ in threads._threads]
        await asyncio.sleep(0)
        transport = httpx.ASGITransport(campaign.service)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            answer = await client.get("/readyz")
        release.set()
        await asyncio.gather(*busy)
        return answer

    answer = campaign.loop.run_until_complete(use())
    assert answer.status_code == 503
    assert answer.json()["problems"] == ["all threads are at work"]
