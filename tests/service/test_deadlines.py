"""Every call ends: in time, with its caller, or without what takes too long."""

import asyncio
import threading
import time

import httpx
import numpy as np
import pytest

from ossb import deadlines
from ossb.campaigns import Campaign, open_storage, rehearsal
from ossb.campaigns.player import Player
from ossb.campaigns.snapshots import fingerprint
from ossb.deadlines import OutOfTime, Stop
from ossb.graves_lai.linear.solution import solve as solve_linear
from ossb.graves_lai.linprog import solve_lp
from ossb.kernels import kernel
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


def test_interpreted_kernels_end_with_their_time():
    """At their calls, and only in the thread whose time is over."""

    @kernel
    def nothing() -> int:
        return 1

    def go_on():
        began = time.monotonic()
        while time.monotonic() < began + LONG:
            nothing()

    with deadlines.wanted(time.monotonic() + 0.05, lambda: False), pytest.raises(OutOfTime):
        go_on()
    gone = threading.Event()
    gone.set()
    with deadlines.wanted(time.monotonic() + LONG, gone.is_set), pytest.raises(OutOfTime):
        go_on()
    assert nothing() == 1


def test_a_fold_is_never_left_half(storage_url, monkeypatch):
    """Nor are means that were lent to a decision kept, whatever ends it."""
    with Campaign.open(storage_url, "c", instance=BODY["instance"], policy="hgl") as campaign:
        monkeypatch.setattr(deadlines, "urgent", True)
        monkeypatch.setattr(deadlines, "check", late)
        campaign.tell(ask_of(campaign, monkeypatch).id, 1.0)
        first = ask_of(campaign, monkeypatch)
        with pytest.raises(OutOfTime):
            campaign.ask()
        campaign.tell(first.id, 0.0)
        with campaign._journal.look() as state:
            before = fingerprint(state)
        again = Campaign(campaign._storage, "c")
        with again._journal.look() as state:
            assert fingerprint(state) == before


def late():
    raise OutOfTime("it is late")


def ask_of(campaign, monkeypatch):
    """A decision in time, among what is late."""
    with monkeypatch.context() as patch:
        patch.setattr(deadlines, "check", lambda: None)
        return campaign.ask()[0]


def test_compiled_loops_are_told_to_end():
    flags = [0, 0]

    def go_on():
        with deadlines.stopping([Stop(flags, 1, -1)]):
            while flags[1] == 0:  # as a loop that never looks at a clock
                time.sleep(0.01)

    with deadlines.wanted(time.monotonic() + 0.05, lambda: False), pytest.raises(OutOfTime):
        go_on()
    assert flags == [0, -1]
    with deadlines.stopping([Stop(flags, 0, 1)]):
        pass
    assert flags[0] == 0


def test_linear_programs_have_the_time_that_is_left():
    rng = np.random.default_rng(0)
    with deadlines.wanted(0.0, lambda: False), pytest.raises(OutOfTime):
        solve_lp(rng.uniform(1, 2, 50), rng.uniform(0, 1, (50, 50)), 1.0)
    assert solve_lp(rng.uniform(1, 2, 50), rng.uniform(0, 1, (50, 50)), 1.0).status == "optimal"


def test_a_solver_of_ours_that_is_stopped_says_nothing():
    rng = np.random.default_rng(0)
    arms = rng.normal(size=(60, 4))
    phi = rng.normal(size=4)
    means = arms @ phi
    gaps = means.max() - means
    best = int(means.argmax())
    with deadlines.wanted(0.0, lambda: False), pytest.raises(OutOfTime):
        solve_linear(arms, best, gaps, gaps, compiled=False)


SLOW = {
    **BODY,
    "name": "slow",
    "instance": {"structure": "classical", "sigma": 1.0, "n_arms": 64, "observation": "gaussian"},
    "policy": "thompson",
}


def test_a_policy_that_is_nearly_too_slow_is_compiled_before_it_is_entered(monkeypatch):
    trials, compiled = [0.7, 0.1], []
    monkeypatch.setattr(rehearsal, "_trial", lambda *given: trials.pop(0))
    monkeypatch.setattr(rehearsal, "_compile", lambda *given: not compiled.append(given))
    rehearsal.refuse_slow(None, None, 1.0)
    assert len(compiled) == 1
    assert trials == []
    trials = [0.3]
    rehearsal.refuse_slow(None, None, 1.0)
    assert len(compiled) == 1


def test_a_campaign_whose_asks_take_too_long_is_refused(hurried, monkeypatch):
    """With what an ask took, and how many arms would fit; nothing is entered."""
    select = Player.select

    def by_arms(self, tally, *others):
        began = time.monotonic()
        while time.monotonic() < began + 0.01 * tally.plays.size:
            deadlines.check()
        return select(self, tally, *others)

    monkeypatch.setattr(Player, "select", by_arms)
    monkeypatch.setattr("ossb.campaigns.rehearsal.choose", lambda *given: None)
    monkeypatch.setattr(Player, "compile_beside", lambda self: None)
    monkeypatch.setattr(Player, "take_compiled", lambda self: False)
    answer = hurried.post("/v1/campaigns", SLOW)
    if answer.status_code == 503:  # a busy machine: nothing was refused, and nothing entered
        assert hurried.get("/v1/campaigns/slow").status_code == 404
        return
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["field"] == "instance"
    assert "within 0.2 s" in error["message"]
    assert "of its 64 would fit" in error["message"] or "less would fit" in error["message"]
    assert hurried.get("/v1/campaigns/slow").status_code == 404


def test_what_a_call_had_no_time_for_is_worked_out_once(storage_url, monkeypatch):
    """For who looks next; the answer meanwhile says that it is left out."""
    local = Local(Service(open_storage(storage_url), limits=CallLimits(2.0, 0.4)))
    local.post("/v1/campaigns", BODY)
    local.post("/v1/campaigns/first/ask", {})  # another state than was shown
    done = []
    from ossb.service import registry

    document_of = registry.document_of

    def slowly(moment, delta, epsilon):
        if threading.current_thread().name.startswith("ossb-request") and not done:
            began = time.monotonic()
            while time.monotonic() < began + 1.0:
                deadlines.check()
        done.append(moment.digest)
        return document_of(moment, delta, epsilon)

    monkeypatch.setattr(registry, "document_of", slowly)
    first = local.get("/v1/campaigns/first").json()
    assert "takes longer" in first["rates"]["reason"]
    until = time.monotonic() + LONG
    while not done and time.monotonic() < until:
        time.sleep(0.02)
    while local.service.registry._later and time.monotonic() < until:
        time.sleep(0.02)
    second = local.get("/v1/campaigns/first").json()
    assert "takes longer" not in str(second["rates"].get("reason"))
    assert len(done) == 1
    local.close()


def test_a_document_without_what_takes_long_comes_within_the_same_budget(storage_url, monkeypatch):
    """That of the call, however long each of its parts would like to work; a creation's too."""
    from ossb.service import registry, routes

    seconds, whole, without = 1.0, [], []
    local = Local(Service(open_storage(storage_url), limits=CallLimits(2.0, seconds)))

    def slowly(*given):
        whole.append(deadlines.left())
        while True:
            time.sleep(0.005)
            deadlines.check()

    unjudged = routes.unjudged

    def last(*given):
        without.append(deadlines.left())
        return unjudged(*given)

    monkeypatch.setattr(registry, "document_of", slowly)
    monkeypatch.setattr(routes, "unjudged", last)
    for answer in (local.post("/v1/campaigns", BODY), local.get("/v1/campaigns/first")):
        assert answer.status_code in (200, 201)
        assert "takes longer" in answer.json()["rates"]["reason"]
    local.close()
    assert all(left <= 0.75 * seconds for left in whole if left < 10 * seconds)  # not those aside
    assert len(without) == 2
    assert all(0.0 < left <= 0.26 * seconds for left in without)


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
    monkeypatch.setattr(hurried.service.registry, "document", lambda *_: gate.wait(LONG))
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
