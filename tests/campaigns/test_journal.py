"""Journals: snapshots, damage, failures, several servers, and the written format."""

import json
import sqlite3
import threading
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from ossb.campaigns import Campaign, Conflict, Corrupt, Unavailable, open_storage
from ossb.campaigns import journal as journal_module
from ossb.campaigns.arrays import packed
from ossb.campaigns.events import FORMATS, GENESIS, KINDS, Event, chained, digest
from ossb.campaigns.journal import Journal
from ossb.campaigns.snapshots import Unusable, fingerprint, load, to_bytes
from ossb.campaigns.state import State
from ossb.campaigns.storage.memory import MemoryStorage
from ossb.errors import InputError, OssbError

BERNOULLI = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}
JOURNALS = Path(__file__).parent / "journals"


def opened(storage, clock, **options):
    options = {"instance": BERNOULLI, "policy": "hgl", **options}
    return Campaign.open(storage, "c", clock=clock, **options)


def play(campaign, rounds):
    for i in range(rounds):
        (decision,) = campaign.ask(key=f"k{campaign.number}")
        campaign.tell(decision.id, i % 2)


def print_of(campaign):
    with campaign._journal.look() as state:
        return fingerprint(state)


def again(campaign):
    return Campaign(campaign._storage, campaign.name, campaign._clock)


# snapshots


def test_a_restart_from_a_snapshot_is_the_fold_of_all(storage, clock, monkeypatch):
    monkeypatch.setattr(journal_module, "SNAPSHOT_EVERY", 10)
    campaign = opened(storage, clock)
    campaign.ask(2, lease=5)
    play(campaign, 8)
    campaign.add_arm()
    campaign.retire_arm(0)
    play(campaign, 8)
    campaign._journal.settle()
    number, _ = storage.snapshot("c")
    assert 20 <= number < campaign.number
    monkeypatch.setattr(type(storage), "snapshot", lambda self, name: None)
    whole = print_of(again(campaign))
    monkeypatch.undo()
    assert print_of(again(campaign)) == whole == print_of(campaign)


def test_a_long_tail_is_kept_at_the_restart(clock, monkeypatch):
    storage = MemoryStorage()
    campaign = opened(storage, clock)
    play(campaign, 20)
    assert storage.snapshot("c") is None
    monkeypatch.setattr(journal_module, "SNAPSHOT_EVERY", 10)
    again(campaign)
    assert storage.snapshot("c")[0] == 41


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b[:50] + b"x" + b[51:], lambda b: b""]
)
def test_a_damaged_snapshot_is_left_aside(clock, monkeypatch, damage):
    monkeypatch.setattr(journal_module, "SNAPSHOT_EVERY", 10)
    storage = MemoryStorage()
    campaign = opened(storage, clock)
    play(campaign, 10)
    number, content = storage.snapshot("c")
    storage._snapshots["c"] = (number, damage(content))
    assert print_of(again(campaign)) == print_of(campaign)


def test_a_snapshot_of_another_version_is_left_aside(clock, monkeypatch):
    storage = MemoryStorage()
    campaign = opened(storage, clock)
    play(campaign, 3)
    with campaign._journal.look() as state:
        monkeypatch.setattr("ossb.campaigns.snapshots.VERSION", 99)
        content = to_bytes(state)
        monkeypatch.undo()
    with pytest.raises(Unusable, match="version 99"):
        load(State(next(storage.read("c"))), content)
    storage.keep_snapshot("c", 7, content)
    assert print_of(again(campaign)) == print_of(campaign)


def test_a_snapshot_that_cannot_be_kept_is_no_failure(clock, monkeypatch):
    class Forgetful(MemoryStorage):
        def keep_snapshot(self, name, number, content):
            raise Unavailable("no room")

    monkeypatch.setattr(journal_module, "SNAPSHOT_EVERY", 5)
    campaign = opened(Forgetful(), clock)
    play(campaign, 10)
    assert print_of(again(campaign)) == print_of(campaign)


# damage


def store_with(tmp_path, clock, rounds=20):
    path = tmp_path / "c.db"
    with Campaign.open(f"sqlite:///{path}", "c", instance=BERNOULLI, clock=clock) as campaign:
        play(campaign, rounds)
    return path


def change(path, statement):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statement", "event"),
    [
        ("UPDATE events SET body = body || ' ' WHERE number = 7", 7),
        ("UPDATE events SET time = time + 1 WHERE number = 9", 9),
        ("UPDATE events SET kind = 'voided' WHERE number = 5", 5),
        ("UPDATE events SET digest = upper(digest) WHERE number = 1", 1),
        ("UPDATE events SET body = x'ff00' WHERE number = 4", 4),
        ("DELETE FROM events WHERE number = 12", 12),
        ("DELETE FROM events WHERE number > 30", 31),
        ("DELETE FROM events WHERE number = 1", 1),
        ("DELETE FROM events", 1),
    ],
)
def test_the_first_bad_event_is_named(tmp_path, clock, statement, event):
    path = store_with(tmp_path, clock)
    change(path, statement)
    with pytest.raises(Corrupt, match=rf"\bevent {event}\b"):
        Campaign.open(f"sqlite:///{path}", "c")


def test_events_before_the_snapshot_are_checked_too(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(journal_module, "SNAPSHOT_EVERY", 10)
    path = store_with(tmp_path, clock)
    change(path, "UPDATE events SET body = body || ' ' WHERE number = 3")
    with pytest.raises(Corrupt, match=r"\bevent 3\b"):
        Campaign.open(f"sqlite:///{path}", "c")


def test_many_events_before_the_snapshot_are_checked_aside(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(journal_module, "SNAPSHOT_EVERY", 10)
    monkeypatch.setattr(journal_module, "CHECKED_AT_ONCE", 5)
    path = store_with(tmp_path, clock)
    with Campaign.open(f"sqlite:///{path}", "c") as campaign:
        for thread in threading.enumerate():
            if thread.name == "ossb-check":
                thread.join()
        campaign.ask()
    change(path, "UPDATE events SET body = body || ' ' WHERE number = 3")
    with Campaign.open(f"sqlite:///{path}", "c") as campaign:
        for thread in threading.enumerate():
            if thread.name == "ossb-check":
                thread.join()
        for call in (campaign.ask, campaign.best, campaign.check):
            with pytest.raises(Corrupt, match=r"\bevent 3\b"):
                call()


def test_an_honest_snapshot_of_another_journal_is_damage(clock):
    one, other = MemoryStorage(), MemoryStorage()
    play(opened(one, clock), 5)
    play(opened(other, clock, seed=1), 5)
    campaign = Campaign(other, "c")
    with campaign._journal.look() as state:
        one.keep_snapshot("c", state.number, to_bytes(state))
    with pytest.raises(Corrupt, match="event 11"):
        Campaign(one, "c")


# failures


class Flaky(MemoryStorage):
    """Refuses when told to."""

    def __init__(self):
        super().__init__()
        self.failing = False
        self.unreadable = False

    def append(self, name, events, after=GENESIS):
        if self.failing:
            answer = Future()
            answer.set_exception(Unavailable("the disk is full"))
            return answer
        return super().append(name, events, after)

    def read(self, name, after=0, until=2**62):
        if self.unreadable:
            raise Unavailable("the disk is gone")
        return super().read(name, after, until)


def test_what_the_store_refused_never_was(clock):
    storage = Flaky()
    campaign = opened(storage, clock)
    play(campaign, 4)
    (decision,) = campaign.ask()
    before = print_of(campaign)
    storage.failing = True
    for call in (
        lambda: campaign.ask(2),
        lambda: campaign.tell(decision.id, 1),
        campaign.add_arm,
        lambda: campaign.retire_arm(0),
        campaign.close,
        lambda: campaign.import_rows([(0, 1)]),
    ):
        with pytest.raises(Unavailable):
            call()
        assert print_of(campaign) == before
    storage.failing = False
    assert campaign.tell(decision.id, 1) == "recorded"
    assert print_of(again(campaign)) == print_of(campaign)


def test_a_store_that_cannot_even_be_read_is_tried_again(clock):
    storage = Flaky()
    campaign = opened(storage, clock)
    (decision,) = campaign.ask()
    before = print_of(campaign)
    storage.failing = storage.unreadable = True
    with pytest.raises(Unavailable, match="full"):
        campaign.tell(decision.id, 1)
    with pytest.raises(Unavailable, match="gone"):
        campaign.best()
    with pytest.raises(Unavailable, match="gone"):
        campaign.tell(decision.id, 1)
    storage.failing = storage.unreadable = False
    assert print_of(campaign) == before
    assert campaign.tell(decision.id, 1) == "recorded"


def test_a_policy_that_fails_leaves_no_trace(clock, monkeypatch):
    campaign = opened(MemoryStorage(), clock)
    play(campaign, 4)
    before = print_of(campaign)
    steps = []
    select = type(campaign._players.of(campaign._journal._state, frozenset())).select

    def fail_at_the_third(self, *arguments):
        steps.append(1)
        if len(steps) == 3:
            raise ZeroDivisionError
        return select(self, *arguments)

    monkeypatch.setattr("ossb.campaigns.player.Player.select", fail_at_the_third)
    with pytest.raises(ZeroDivisionError):
        campaign.ask(5)
    assert print_of(campaign) == before
    campaign.ask(5)
    assert print_of(again(campaign)) == print_of(campaign)


def test_a_replay_awaits_the_first_ones_commit(clock):
    class Slow(MemoryStorage):
        held = None

        def append(self, name, events, after=GENESIS):
            answer = super().append(name, events, after)
            if self.held is None:
                return answer
            self.held.append(Future())
            return self.held[-1]

    storage = Slow()
    campaign = opened(storage, clock)
    (decision,) = campaign.ask()
    storage.held = []
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(campaign.tell(decision.id, 1)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    threads[0].join(0.2)
    assert answers == []
    assert len(storage.held) == 1
    storage.held[0].set_result(None)
    for thread in threads:
        thread.join()
    assert sorted(answers) == ["recorded", "same"]


def test_a_campaign_that_others_keep_changing_gives_up(clock, monkeypatch):
    class Contended(MemoryStorage):
        contended = False

        def append(self, name, events, after=GENESIS):
            if not self.contended:
                return super().append(name, events, after)
            answer = Future()
            answer.set_exception(Conflict("moved on"))
            return answer

    monkeypatch.setattr(journal_module, "ATTEMPTS", 3)
    storage = Contended()
    campaign = opened(storage, clock)
    storage.contended = True
    with pytest.raises(Unavailable, match="others keep changing it"):
        campaign.ask()


# several servers


def test_two_servers_on_one_database_tell_one_story(database, clock, monkeypatch):
    monkeypatch.setattr(journal_module, "BASE_EVERY", 5)
    stores = [open_storage(database), open_storage(database)]
    servers = [opened(store, clock) for store in stores]
    told = []

    def work(server):
        for _ in range(20):
            (decision,) = server.ask()
            told.append(decision.id)
            servers[len(told) % 2].tell(decision.id, 1)

    threads = [threading.Thread(target=work, args=(servers[i % 2],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(told)) == 80
    assert print_of(servers[0]) == print_of(servers[1]) == print_of(again(servers[0]))
    assert servers[0].describe()["rounds"] == 80
    assert servers[1].check() == 161
    for store in stores:
        store.close()


def rounds(campaign, count):
    for i in range(count):
        (decision,) = campaign.ask()
        campaign.tell(decision.id, i % 2)


def test_a_server_long_alone_sees_what_another_did(database, clock, monkeypatch):
    monkeypatch.setattr(journal_module, "LONELY", 5)
    monkeypatch.setattr(journal_module, "LOOK_EVERY", 1e9)  # never again, but for a reason
    stores = [open_storage(database), open_storage(database)]
    one, other = (opened(store, clock) for store in stores)
    rounds(one, 6)
    looks = []
    read = stores[0].read
    monkeypatch.setattr(stores[0], "read", lambda *at: looks.append(at) or read(*at))
    rounds(one, 3)
    assert looks == []  # alone for long: no look before an event
    (early,) = one.ask()
    assert one.tell(early.id, 1) == "recorded"
    other.void(early.id)
    assert one.tell(early.id, 1) == "recorded"  # not `same`, as the old state would have it
    rounds(one, 6)
    (theirs,) = other.ask()
    assert one.tell(theirs.id, 0) == "recorded"  # a decision that it had not heard of
    rounds(one, 6)
    (last,) = other.ask(key="theirs")
    assert one.ask(key="theirs") == [last]
    rounds(one, 6)
    other.close()
    with pytest.raises(OssbError, match="is closed"):
        one.ask()
    assert print_of(one) == print_of(other) == print_of(again(other))
    for store in stores:
        store.close()


def test_two_servers_create_one_campaign(database, clock):
    stores = [open_storage(database), open_storage(database)]
    one, other = (opened(store, clock) for store in stores)
    assert one.number == other.number == 1
    with pytest.raises(Conflict, match="another seed"):
        opened(stores[1], clock, seed=2)
    for store in stores:
        store.close()


# the format


def test_hashes_chain_every_field():
    event = chained(GENESIS, 1, "created", 0.5, {"a": [1.0, "é"]})
    assert event.body == '{"a":[1.0,"é"]}'
    assert event.digest == digest(GENESIS, 1, "created", 0.5, event.body)
    assert event.content == {"a": [1.0, "é"]}
    others = [
        digest(event.digest, 1, "created", 0.5, event.body),
        digest(GENESIS, 2, "created", 0.5, event.body),
        digest(GENESIS, 1, "asked", 0.5, event.body),
        digest(GENESIS, 1, "created", 0.25, event.body),
        digest(GENESIS, 1, "created", 0.5, "{}"),
    ]
    assert len({event.digest, *others}) == 6


def test_every_kind_of_event_is_folded():
    assert all(hasattr(State, f"_{kind}") for kind in KINDS if kind != "created")


def test_a_journal_of_another_format_is_refused(clock):
    storage = MemoryStorage()
    opened(storage, clock)
    content = {**next(storage.read("c")).content, "format": FORMATS[-1] + 1}
    storage.append("d", [chained(GENESIS, 1, "created", 0.0, content)])
    with pytest.raises(InputError, match="`format` must be 1 or 2 or 3"):
        Campaign(storage, "d")


@pytest.mark.parametrize("kind", ["paused", "observe"])
def test_a_kind_of_event_of_a_newer_version_is_named(clock, kind):
    storage = MemoryStorage()
    opened(storage, clock)
    last = list(storage.read("c"))[-1]
    storage.append("c", [chained(last.digest, last.number + 1, kind, 0.0, {})], last.digest)
    said = f"event {last.number + 1} of campaign 'c' was written by a newer version.* got {kind}"
    with pytest.raises(InputError, match=said):
        Campaign(storage, "c")


def test_a_memory_of_another_shape_is_begun_anew(clock):
    """A later version may remember other things: the journal does not depend on them."""
    storage = MemoryStorage()
    opened(storage, clock)
    content = {
        **next(storage.read("c")).content,
        "memory": packed([np.zeros(2)]),
    }
    storage.append("d", [chained(GENESIS, 1, "created", 0.0, {**content, "name": "d"})])
    campaign = Campaign(storage, "d", clock)
    play(campaign, 5)
    events = list(campaign.events())
    assert "whole" in events[1].content
    assert "whole" not in events[3].content
    assert print_of(again(campaign)) == print_of(campaign)


@pytest.mark.parametrize("path", sorted(JOURNALS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_journals_of_every_version_still_fold_to_what_they_were(path, clock):
    """One file for each version of the format, from the first on; see ``docs/journal.md``."""
    *lines, expected = path.read_text().splitlines()
    storage = MemoryStorage()
    events = [Event(**json.loads(line)) for line in lines]
    storage.append("first", events).result()
    campaign = Campaign(storage, "first", clock)
    absent = {"switched", "offered"}  # which came later: ``test_deciding``, ``test_features``
    if events[0].content["format"] == 2:
        absent.add("arm_added")  # no items come later
    assert {event.kind for event in events} == set(KINDS) - absent
    expected = json.loads(expected)
    assert print_of(campaign) == expected["fingerprint"]
    described = campaign.describe()
    for key in ("plays", "means", "rounds", "phases", "pending", "decisions", "retired"):
        assert described[key] == expected[key]


def test_a_journal_is_readable_without_this_package(clock):
    """Counts and means by hand, from the events alone."""
    storage = MemoryStorage()
    campaign = opened(storage, clock)
    play(campaign, 30)
    arms, values = [], {}
    for event in storage.read("c"):
        body = json.loads(event.body)
        if event.kind == "asked":
            arms += [arm for arm, _ in body["decisions"]]
        elif event.kind == "told":
            for number, value in body["tells"]:
                values.setdefault(arms[number], []).append(value)
    described = campaign.describe()
    assert described["plays"] == [len(values.get(arm, ())) for arm in range(3)]
    np.testing.assert_allclose(described["means"], [np.mean(values[arm]) for arm in range(3)])


def test_a_journal_is_opened_by_name_only(clock):
    storage = MemoryStorage()
    opened(storage, clock)
    assert Journal(storage, "c").check() == 1
