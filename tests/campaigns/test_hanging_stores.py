"""Stores that hang, vanish or are held by another: an error soon, and nothing acknowledged."""

import os
import shutil
import sqlite3
import threading
import time

import pytest

import ossb
from ossb.campaigns import Unavailable, open_storage
from ossb.campaigns.events import GENESIS, chained
from ossb.errors import InputError

INSTANCE = ossb.Classical(observation="bernoulli", n_arms=2)


def first_event():
    return chained(GENESIS, 1, "told", 0.0, {})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "campaigns.db"


@pytest.fixture
def store(path):
    opened = open_storage(f"sqlite:///{path}")
    yield opened
    opened.close()


def delete(path):
    path.unlink()


def replace(path):
    shutil.copy(path, path.with_name("copy.db"))
    os.replace(path.with_name("copy.db"), path)


def link(path):
    os.link(path, path.with_name("second.db"))


def delete_log(path):
    path.with_name(path.name + "-wal").unlink()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (delete, "is gone"),
        (replace, "was replaced"),
        (link, "a second name"),
        (delete_log, "is gone"),
    ],
)
def test_a_file_that_is_not_what_it_was_takes_no_events(store, path, spoil, reason):
    store.append("a", [first_event()]).result()
    second = chained(first_event().digest, 2, "told", 0.0, {})
    spoil(path)
    with pytest.raises(Unavailable, match=reason):
        store.append("a", [second], first_event().digest).result()
    with pytest.raises(Unavailable, match=reason):
        store.check_ready()


def test_a_file_that_is_put_back_goes_on(store, path):
    store.append("a", [first_event()]).result()
    link(path)
    second = chained(first_event().digest, 2, "told", 0.0, {})
    with pytest.raises(Unavailable):
        store.append("a", [second], first_event().digest).result()
    path.with_name("second.db").unlink()
    store.append("a", [second], first_event().digest).result()
    assert store.last("a") == 2


def test_a_thread_that_comes_later_does_not_read_another_file(store, path):
    store.append("a", [first_event()]).result()
    replace(path)
    failures = []

    def look():
        try:
            store.names()
        except Unavailable as error:
            failures.append(str(error))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert len(failures) == 1


def test_a_file_with_two_names_is_not_opened(path):
    open_storage(f"sqlite:///{path}").close()
    link(path)
    with pytest.raises(InputError, match="have one name"):
        open_storage(f"sqlite:///{path}")


def test_an_ask_whose_file_is_gone_is_not_acknowledged(path):
    with ossb.Campaign.open(f"sqlite:///{path}", "c", instance=INSTANCE) as campaign:
        campaign.tell(campaign.ask()[0].id, 1)
        aside = path.with_name("aside.db")
        path.rename(aside)
        with pytest.raises(Unavailable):
            campaign.ask()
        aside.rename(path)
        campaign.tell(campaign.ask()[0].id, 0)
        assert campaign.describe()["rounds"] == 2


def test_another_program_that_holds_the_file_is_an_error_soon(store, path):
    foreign = sqlite3.connect(path, isolation_level=None)
    foreign.execute("BEGIN IMMEDIATE")
    (patience,) = store._connection().execute("PRAGMA busy_timeout").fetchone()
    assert patience <= 2000  # milliseconds: what an ask has in all
    with pytest.raises(Unavailable, match="locked"):
        store.append("a", [first_event()]).result(60)
    foreign.execute("ROLLBACK")
    foreign.close()
    store.append("a", [first_event()]).result()


def test_a_full_disk_is_not_ready(store, monkeypatch):
    store.check_ready()
    monkeypatch.setattr("ossb.campaigns.storage.sqlite.ROOM", 2**80)
    with pytest.raises(Unavailable, match="full"):
        store.check_ready()


def test_a_postgresql_that_hangs_is_an_error_soon(postgresql, database):
    store = open_storage(database)
    try:
        store.append("a", [first_event()]).result()
        second = chained(first_event().digest, 2, "told", 0.0, {})
        postgresql.pause()
        try:
            for attempt in (
                lambda: store.append("a", [second], first_event().digest).result(60),
                lambda: store.last("a"),
                store.check_ready,  # by now it has to connect anew
            ):
                with pytest.raises(Unavailable):
                    attempt()
        finally:
            postgresql.resume()
        for _ in range(20):  # what was sent may still be written: the store says
            try:
                assert store.last("a") in (1, 2)
                break
            except Unavailable:
                time.sleep(0.2)
        store.check_ready()
    finally:
        store.close()


def test_a_row_that_another_holds_is_an_error_soon(database):
    import psycopg

    store = open_storage(database)
    store.append("a", [first_event()]).result()
    second = chained(first_event().digest, 2, "told", 0.0, {})
    with psycopg.connect(database) as foreign:
        foreign.execute("SELECT * FROM ossb_campaigns FOR UPDATE")
        with pytest.raises(Unavailable):
            store.append("a", [second], first_event().digest).result(60)
    store.append("a", [second], first_event().digest).result()
    store.close()


def test_new_files_are_for_their_owner_alone(store, path):
    store.append("a", [first_event()]).result()
    for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + ".lock")):
        assert name.stat().st_mode & 0o077 == 0
