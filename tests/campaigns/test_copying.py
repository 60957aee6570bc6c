"""Copies of stores: whole and of one moment, or said not to be."""

import shutil
import sqlite3
import threading

import pytest

import ossb
from ossb.campaigns import Conflict, Corrupt, Unavailable, open_storage
from ossb.campaigns.storage.copying import check_store, copy_store

INSTANCE = ossb.Classical(observation="bernoulli", n_arms=2)


def filled(store, name, rounds):
    campaign = ossb.Campaign.open(store, name, instance=INSTANCE, policy="ucb1")
    for k in range(rounds):
        campaign.tell(campaign.ask()[0].id, k % 2)
    return campaign


def contents(store):
    return {name: list(store.read(name)) for name in store.names()}


def test_a_copy_is_the_same_and_goes_on(storage, tmp_path):
    filled(storage, "a", 3)
    filled(storage, "b", 700)  # more than one commit
    target = open_storage(f"sqlite:///{tmp_path / 'copy.db'}")
    assert copy_store(storage, target) == 7 + 1401
    assert contents(target) == contents(storage)
    filled(storage, "a", 2)
    assert copy_store(storage, target) == 4
    assert contents(target) == contents(storage)
    assert ossb.Campaign(target, "a").describe()["rounds"] == 5
    target.close()


def test_back_into_each_kind_of_store(storage, tmp_path):
    source = open_storage(f"sqlite:///{tmp_path / 'source.db'}")
    filled(source, "a", 3)
    copy_store(source, storage)
    assert contents(storage) == contents(source)
    source.close()


def test_another_history_is_not_overwritten(storage, tmp_path):
    target = open_storage(f"sqlite:///{tmp_path / 'copy.db'}")
    filled(storage, "a", 1)
    filled(target, "a", 2)
    before = contents(target)
    with pytest.raises(Conflict, match="another history"):
        copy_store(storage, target)
    assert contents(target) == before
    target.close()


def test_a_copy_under_way_is_of_one_moment(tmp_path):
    path = tmp_path / "campaigns.db"
    store = open_storage(f"sqlite:///{path}")
    campaign, stopping = filled(store, "a", 50), threading.Event()

    def go_on():
        while not stopping.is_set():
            campaign.tell(campaign.ask()[0].id, 1)

    working = threading.Thread(target=go_on)
    working.start()
    try:
        for k in range(5):
            reading = open_storage(f"sqlite:///{path}", read_only=True)
            target = open_storage(f"sqlite:///{tmp_path / f'copy{k}.db'}")
            copy_store(reading, target)
            copied = list(target.read("a"))
            assert copied == list(store.read("a", 0, len(copied)))
            assert [one.problem for one in check_store(target)] == [None]
            target.check_whole()
            target.close()
            reading.close()
    finally:
        stopping.set()
        working.join()
        store.close()


def test_a_plain_copy_of_a_store_in_use_is_told(tmp_path):
    path, plain = tmp_path / "campaigns.db", tmp_path / "plain.db"
    store = open_storage(f"sqlite:///{path}")
    campaign = filled(store, "a", 20)
    campaign.check()
    shutil.copy(path, plain)
    store.close()
    for _ in range(2):  # to open it does not make it whole
        copied = open_storage(f"sqlite:///{plain}")
        with pytest.raises(Corrupt, match="plain copy of one that was in use"):
            copied.check_whole()
        filled(copied, "b", 1)
        with pytest.raises(Corrupt, match="plain copy"):
            ossb.Campaign(copied, "b").check()
        copied.close()
    looked_at = open_storage(f"sqlite:///{plain}", read_only=True)
    with pytest.raises(Corrupt, match="plain copy"):
        looked_at.check_whole()
    looked_at.close()


def test_a_store_that_was_closed_may_be_copied_plainly(tmp_path):
    path, plain = tmp_path / "campaigns.db", tmp_path / "plain.db"
    for _ in range(2):
        store = open_storage(f"sqlite:///{path}")
        filled(store, "a", 5).check()
        store.close()
    shutil.copy(path, plain)
    store = open_storage(f"sqlite:///{plain}")
    store.check_whole()
    assert ossb.Campaign(store, "a").check() == 21
    store.close()


def test_a_store_whose_log_came_along_is_whole(tmp_path):
    """As after kill −9: the log is there, and read on opening."""
    path, copied = tmp_path / "campaigns.db", tmp_path / "copied.db"
    store = open_storage(f"sqlite:///{path}")
    filled(store, "a", 5)
    for tail in ("", "-wal"):
        shutil.copy(f"{path}{tail}", f"{copied}{tail}")
    store.close()
    store = open_storage(f"sqlite:///{copied}")
    store.check_whole()
    assert ossb.Campaign(store, "a").check() == 11
    store.close()


def test_damage_is_found_and_not_copied(tmp_path):
    path = tmp_path / "campaigns.db"
    store = open_storage(f"sqlite:///{path}")
    filled(store, "a", 5)
    filled(store, "b", 5)
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE events SET time = 1.0 WHERE campaign = 'b' AND number = 4")
    store = open_storage(f"sqlite:///{path}", read_only=True)
    found = {one.name: (one.events, one.problem) for one in check_store(store)}
    assert found == {"a": (11, None), "b": (3, "event 4 is not what was written")}
    target = open_storage(f"sqlite:///{tmp_path / 'copy.db'}")
    with pytest.raises(Corrupt, match="'b' is damaged: event 4"):
        copy_store(store, target)
    target.close()
    store.close()


def test_a_store_opened_to_look_takes_nothing(tmp_path):
    path = tmp_path / "campaigns.db"
    store = open_storage(f"sqlite:///{path}")
    filled(store, "a", 2)
    looking = open_storage(f"sqlite:///{path}", read_only=True)  # beside the one that writes
    campaign = ossb.Campaign(looking, "a")
    assert campaign.describe()["rounds"] == 2
    with pytest.raises(Unavailable, match="to look only"):
        campaign.ask()
    looking.close()
    store.close()
    folder = tmp_path / "read_only"
    folder.mkdir()
    shutil.copy(path, folder)
    looking = open_storage(f"sqlite:///{folder / path.name}", read_only=True)
    assert ossb.Campaign(looking, "a").describe()["rounds"] == 2
    looking.close()


def test_what_is_dropped_is_gone(storage):
    filled(storage, "a", 2)
    filled(storage, "b", 2)
    storage.drop(["a"])
    assert storage.names() == ["b"]
    assert list(storage.read("a")) == []
    assert ossb.Campaign(storage, "b").check() == 5
