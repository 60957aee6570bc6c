"""Switches of policies and new arms over HTTP: as careful as a creation, and beside asks."""

import threading
import time

import pytest

from ossb import deadlines
from ossb.campaigns import open_storage
from ossb.campaigns.player import Player
from ossb.service.app import CallLimits, Service
from service_calls import BODY, Local

LONG = 60


@pytest.fixture
def local(storage_url):
    local = Local(Service(open_storage(storage_url), limits=CallLimits(0.3, 5.0)))
    local.post("/v1/campaigns", BODY)
    yield local
    local.close()


def switch(local, policy):
    return local.post("/v1/campaigns/first/switch", {"policy": policy})


def test_a_switch_is_an_event_of_who_asked_for_it_and_its_repeat_is_none(local):
    for _ in range(2):
        answer = switch(local, {"name": "top-two", "delta": 0.1})
        assert answer.status_code == 200
        assert answer.json()["policy"] == {"name": "top-two", "delta": 0.1}
    assert local.get("/v1/campaigns/first").json()["events"] == 2
    assert local.post("/v1/campaigns/first/ask", {}).status_code == 200
    assert local.post("/v1/campaigns/none/switch", {"policy": "hgl"}).status_code == 404


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ("best", "policy"),
        ({"name": "top-two", "delta": 2}, "policy.delta"),
        ({"name": "hgl", "speed": 1}, "policy.speed"),
        ({"delta": 0.1}, "policy.name"),
        (7, "policy"),
    ],
)
def test_what_is_wrong_is_named_as_when_a_campaign_is_created(local, policy, field):
    answer = switch(local, policy)
    assert answer.status_code == 400
    created = local.post("/v1/campaigns", {**BODY, "name": "second", "policy": policy}).json()
    if policy != 7:  # one is said to be no text, the other to be no table
        assert answer.json()["error"] == created["error"]
    assert answer.json()["error"]["field"] == field
    assert local.get("/v1/campaigns/first").json()["events"] == 1


def by_switching(local):
    return switch(local, "top-two")


def by_growing(local):
    return local.post("/v1/campaigns/first/arms", {"arm": {}})


@pytest.mark.parametrize(("change", "field"), [(by_switching, "policy"), (by_growing, "arm")])
def test_what_would_make_asks_take_too_long_is_refused(local, monkeypatch, change, field):
    """And asks under way wait for no trial of it."""
    select, began, asked = Player.select, threading.Event(), []

    def slowly(self, tally, *given):
        if self._name == "top-two" or tally.plays.size > 3:
            began.set()
            while True:
                time.sleep(0.01)
                deadlines.check()
        return select(self, tally, *given)

    monkeypatch.setattr(Player, "select", slowly)
    monkeypatch.setattr(Player, "compile_beside", lambda self: None)
    monkeypatch.setattr(Player, "take_compiled", lambda self: False)
    campaign = local.service.registry.campaign("first")

    def beside():
        began.wait(LONG)
        asked.append(campaign.ask()[0].id)

    asking = threading.Thread(target=beside)
    asking.start()
    error = change(local).json()["error"]
    asking.join()
    assert len(asked) == 1
    assert error["field"] == field
    assert "within 0.3 s" in error["message"]
    found = local.get("/v1/campaigns/first").json()
    assert (found["policy"]["name"], len(found["plays"]), found["events"]) == ("ucb1", 3, 2)


@pytest.mark.parametrize("change", [by_switching, by_growing])
def test_the_policy_that_was_tried_is_the_one_that_plays(local, monkeypatch, change):
    """It may have been compiled for the trial: asks must not begin slowly after it."""
    from ossb.campaigns import arms

    tried, rehearse = [], arms.rehearse

    def kept(event, player, seconds):
        tried.append((player, seconds))
        rehearse(event, player, seconds)

    monkeypatch.setattr(arms, "rehearse", kept)
    assert change(local).status_code in (200, 201)
    ((player, seconds),) = tried
    assert seconds == 0.3
    players = local.service.registry.campaign("first")._players
    assert players._known[frozenset(), repr(dict(player._chosen))] is player
    assert local.post("/v1/campaigns/first/ask", {}).status_code == 200
    assert list(players._known.values())[-1] is player


def test_what_was_tried_on_a_campaign_that_moved_meanwhile_is_tried_again(local, monkeypatch):
    from ossb.campaigns import arms

    tried, rehearse = [], arms.rehearse
    campaign = local.service.registry.campaign("first")

    def moving(event, player, seconds):
        tried.append((event.content["policy"]["name"], player.instance.unit_count()))
        rehearse(event, player, seconds)
        if len(tried) == 1:
            monkeypatch.setattr(arms, "rehearse", rehearse)
            campaign.add_arm()
            monkeypatch.setattr(arms, "rehearse", moving)

    monkeypatch.setattr(arms, "rehearse", moving)
    assert switch(local, "hgl").status_code == 200
    assert tried == [("hgl", 3), ("hgl", 4)]
    found = local.get("/v1/campaigns/first").json()
    assert (found["policy"]["name"], len(found["plays"])) == ("hgl", 4)
    assert campaign.check() == 3


def test_a_store_that_hangs_keeps_nobody_else_waiting(local, monkeypatch):
    """A campaign is opened off the event loop, where a switch is the first to want it."""
    threads = []
    registry = local.service.registry
    found = registry.campaign

    def named(name):
        threads.append(threading.current_thread())
        return found(name)

    monkeypatch.setattr(registry, "campaign", named)
    assert switch(local, "hgl").status_code == 200
    assert threads
    assert threading.main_thread() not in threads


def test_lists_and_documents_are_one_work_at_the_confidence_of_the_campaign(local, monkeypatch):
    """Also where they have no time for it."""
    from ossb.campaigns.document import unjudged
    from ossb.service import registry

    done, worked_out = [], registry.document_of

    def once(moment, delta, epsilon):
        done.append(moment.digest)
        return worked_out(moment, delta, epsilon)

    monkeypatch.setattr(registry, "document_of", once)
    policy = {"name": "identify", "delta": 0.2, "epsilon": 0.1}
    made = local.post("/v1/campaigns", {**BODY, "name": "own", "policy": policy}).json()
    shown = local.get("/v1/campaigns/own").json()
    listed = next(c for c in local.get("/v1/campaigns").json()["campaigns"] if c["name"] == "own")
    late = unjudged(local.service.registry.campaign("own"), None)
    for found in (made, shown, listed, late):
        assert (found["stop"]["delta"], found["stop"]["epsilon"]) == (0.2, 0.1)
    assert len(done) == len(set(done))
