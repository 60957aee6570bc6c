"""Tasks of the event loop: who made one ends it, also where the server goes."""

import asyncio
import gc
import logging
import threading

import pytest

from ossb.errors import OssbError
from ossb.service import tasks
from ossb.service.lists import Lists

LONG = 60


def test_what_is_ended_has_ended_however_it_does():
    async def use():
        async def stubborn():
            try:
                await asyncio.sleep(LONG)
            finally:
                await asyncio.sleep(0)
                raise ValueError("on its way out")

        async def done():
            return 1

        made = [asyncio.ensure_future(work) for work in (stubborn(), asyncio.sleep(LONG), done())]
        await asyncio.sleep(0)
        await tasks.end(*made)
        return [task.done() for task in made], asyncio.all_tasks()

    ended, left = asyncio.run(use())
    assert ended == [True] * 3
    assert len(left) == 1  # this one


def test_lists_leave_no_look_behind(caplog):
    """One that took too long for its list goes on, but not for longer than there is a server."""
    begun, ended = [], []

    async def look(name):
        begun.append(name)
        try:
            await asyncio.sleep(LONG)
        finally:
            ended.append(name)

    lists = Lists()
    loop = asyncio.new_event_loop()
    found = loop.run_until_complete(lists.of("kind", ["a", "b"], look, {}))
    assert [entry["as_of"] for entry in found] == [None, None]
    assert (sorted(begun), ended) == (["a", "b"], [])
    loop.run_until_complete(lists.end())
    assert sorted(ended) == ["a", "b"]
    with pytest.raises(OssbError, match="ending"):
        loop.run_until_complete(lists.of("kind", ["a"], look, {}))
    assert not asyncio.all_tasks(loop)
    loop.close()
    with caplog.at_level(logging.ERROR, "asyncio"):
        gc.collect()
    assert not caplog.records


def test_an_answer_leaves_no_task_behind(campaign, monkeypatch):
    """Neither of the work, nor of the look at whether its caller has gone."""
    gate = threading.Event()
    monkeypatch.setattr("ossb.service.call.QUICK", 0.0)
    assert campaign.post("/v1/campaigns/first/ask", {}).status_code == 200
    assert not asyncio.all_tasks(campaign.loop)
    monkeypatch.setattr(campaign.service.registry, "campaign", lambda name: gate.wait(LONG))
    monkeypatch.setattr(campaign.service, "_limits", campaign.service._limits._replace(ask=0.1))
    answer = campaign.post("/v1/campaigns/first/ask", {})
    gate.set()
    assert answer.status_code == 503
    assert not asyncio.all_tasks(campaign.loop)
