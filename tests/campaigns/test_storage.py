"""One contract for all stores."""

import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import wait

import pytest

from ossb.campaigns import Conflict, Corrupt, InUse, Unavailable, open_storage
from ossb.campaigns.events import GENESIS, chained
from ossb.campaigns.storage.writer import SHARE, Writer
from ossb.errors import InputError


def chain(count, name="a"):
    events, previous = [], GENESIS
    for number in range(1, count + 1):
        event = chained(previous, number, "told", 0.1 * number, {"name": name, "é": "☃"})
        events.append(event)
        previous = event.digest
    return events


def append(storage, name, events):
    """Append part of a chain."""
    first = events[0].number
    after = GENESIS if first == 1 else chain(first - 1, name)[-1].digest
    return storage.append(name, events, after)


def test_appended_events_are_read_back_as_they_were(storage):
    events = chain(5)
    append(storage, "a", events[:2]).result()
    append(storage, "a", events[2:]).result()
    assert list(storage.read("a")) == events
    assert storage.last("a") == 5


def test_reading_starts_and_ends_where_asked(storage):
    events = chain(6)
    append(storage, "a", events).result()
    assert list(storage.read("a", 4)) == events[4:]
    assert list(storage.read("a", 1, 3)) == events[1:3]
    assert list(storage.read("a", 6)) == []


def test_what_is_not_there_is_empty(storage):
    assert storage.names() == []
    assert list(storage.read("a")) == []
    assert storage.last("a") == 0
    assert storage.snapshot("a") is None


def test_names_stand_in_order_of_creation(storage):
    for name in ("b", "a", "ü; DROP TABLE events", "c"):
        append(storage, name, chain(1, name)).result()
    assert storage.names() == ["b", "a", "ü; DROP TABLE events", "c"]


@pytest.mark.parametrize("place", [0, 1, 3, 4])
def test_an_event_out_of_turn_is_a_conflict_and_leaves_no_trace(storage, place):
    events = chain(5)
    append(storage, "a", events[:2]).result()
    with pytest.raises(Conflict):
        append(storage, "a", [events[place]]).result()
    assert list(storage.read("a")) == events[:2]
    append(storage, "a", events[2:]).result()


def test_an_event_that_follows_another_one_of_the_same_number_is_a_conflict(storage):
    """Two servers made different events 2: only what follows the one on disk may follow."""
    first = chain(1)[0]
    ours, theirs = (chained(first.digest, 2, "told", 0.0, {"of": who}) for who in "ab")
    storage.append("a", [first]).result()
    storage.append("a", [ours], first.digest).result()
    third = chained(theirs.digest, 3, "told", 0.0, {})
    with pytest.raises(Conflict):
        storage.append("a", [third], theirs.digest).result()
    assert list(storage.read("a")) == [first, ours]


def test_a_conflict_does_not_create_a_campaign(storage):
    with pytest.raises(Conflict):
        append(storage, "a", chain(2)[1:]).result()
    assert storage.names() == []


def test_a_conflict_spares_its_neighbours_in_a_group(storage):
    events, others = chain(3), chain(3, "b")
    answers = [
        append(storage, "a", events[:1]),
        append(storage, "b", others[1:2]),
        append(storage, "a", events[1:2]),
        append(storage, "b", others[:1]),
    ]
    wait(answers)
    assert [type(answer.exception()) for answer in answers] == [
        type(None),
        Conflict,
        type(None),
        type(None),
    ]
    assert list(storage.read("a")) == events[:2]
    assert list(storage.read("b")) == others[:1]


def test_appends_from_many_threads_all_arrive(storage):
    def work(name):
        for event in chain(40, name):
            append(storage, name, [event]).result()

    threads = [threading.Thread(target=work, args=(f"c{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        assert list(storage.read(f"c{i}")) == chain(40, f"c{i}")


def test_one_of_two_at_the_same_number_wins(storage):
    first = chain(1)
    answers = [append(storage, "a", first) for _ in range(8)]
    wait(answers)
    assert sum(answer.exception() is None for answer in answers) == 1
    assert list(storage.read("a")) == first


def test_the_newest_snapshot_is_kept(storage):
    append(storage, "a", chain(3)).result()
    storage.keep_snapshot("a", 2, b"two\0\xff")
    assert storage.snapshot("a") == (2, b"two\0\xff")
    storage.keep_snapshot("a", 3, b"three")
    storage.keep_snapshot("a", 1, b"late")
    assert storage.snapshot("a") == (3, b"three")


def test_a_closed_store_refuses(storage):
    append(storage, "a", chain(1)).result()
    storage.close()
    storage.close()
    with pytest.raises(Unavailable):
        append(storage, "a", chain(2)[1:]).result()


def test_a_file_is_found_again(tmp_path):
    url = f"sqlite:///{tmp_path / 'deep' / 'er' / 'campaigns.db'}"
    store = open_storage(url)
    append(store, "a", chain(3)).result()
    store.close()
    store = open_storage(url)
    assert list(store.read("a")) == chain(3)
    store.close()


def test_two_servers_on_one_database_see_one_order(database):
    one, other = open_storage(database), open_storage(database)
    events = chain(4)
    append(one, "a", events[:2]).result()
    assert list(other.read("a")) == events[:2]
    append(other, "a", events[2:3]).result()
    with pytest.raises(Conflict):
        append(one, "a", events[2:3]).result()
    append(one, "a", events[3:]).result()
    assert list(other.read("a")) == events
    one.close()
    other.close()


def test_postgresql_that_went_away_is_unavailable_until_it_is_back(postgresql, database):
    store = open_storage(database)
    events = chain(3)
    append(store, "a", events[:1]).result()
    postgresql.kill()
    with pytest.raises(Unavailable):
        append(store, "a", events[1:2]).result()
    with pytest.raises(Unavailable):
        list(store.read("a"))
    with pytest.raises(Unavailable):
        store.keep_snapshot("a", 1, b"")
    with pytest.raises(Unavailable):
        open_storage(database)
    postgresql.start()
    append(store, "a", events[1:2]).result()
    assert list(store.read("a")) == events[:2]
    store.close()


def test_a_second_process_is_refused(tmp_path):
    path = tmp_path / "campaigns.db"
    store = open_storage(f"sqlite:///{path}")
    program = (
        "from ossb.campaigns.storage import open_storage, InUse\n"
        f"try: open_storage('sqlite:///{path}')\n"
        "except InUse as error: print(error)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "is in use by another process" in answer.stdout
    with pytest.raises(InUse):
        open_storage(f"sqlite:///{path}")
    store.close()
    open_storage(f"sqlite:///{path}").close()


def test_an_event_that_comes_while_the_end_is_read_is_no_damage(tmp_path, monkeypatch):
    """A reader that takes it for damage reads every event of every campaign."""
    store = open_storage(f"sqlite:///{tmp_path / 'campaigns.db'}")
    events = chain(2)
    append(store, "a", events[:1]).result()
    usual, seen = store._rows, []

    def rows(query, values=()):
        found = usual(query, values)
        if not seen:
            seen.append(query)
            append(store, "a", events[1:]).result()  # just after the first look
        return found

    monkeypatch.setattr(store, "_rows", rows)
    monkeypatch.setattr(store, "_salvaged", lambda *_: pytest.fail("everything is read"))
    found = list(store.read("a", 1))
    assert found in ([], events[1:])
    assert list(store.read("a", 1)) == events[1:]
    store.close()


def test_a_link_has_the_lock_of_what_it_points_at(tmp_path):
    path, link = tmp_path / "campaigns.db", tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(path)
    for first, second in ((path, link), (link, path)):
        store = open_storage(f"sqlite:///{first}")
        with pytest.raises(InUse):
            open_storage(f"sqlite:///{second}")
        store.close()


def test_a_link_that_is_moved_does_not_move_an_open_store(tmp_path):
    path, link = tmp_path / "campaigns.db", tmp_path / "link.db"
    link.symlink_to(path)
    store = open_storage(f"sqlite:///{link}")
    link.unlink()
    link.symlink_to(tmp_path / "other.db")
    append(store, "a", chain(2)).result()  # by a thread of its own, whose connection is new
    store.close()
    again = open_storage(f"sqlite:///{path}")
    assert list(again.read("a")) == chain(2)
    again.close()


@pytest.mark.parametrize("url", ["", "campaigns.db", "sqlite:///", "mysql://x", "sqlite://x"])
def test_other_urls_are_refused(url):
    with pytest.raises(InputError, match="storage"):
        open_storage(url)


def test_a_file_that_is_no_store_is_refused(tmp_path):
    path = tmp_path / "text.db"
    path.write_text("not a database, but long enough to be looked at " * 40)
    with pytest.raises(InputError, match="be a SQLite store"):
        open_storage(f"sqlite:///{path}")


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can be written"):
        open_storage(f"sqlite:///{tmp_path / 'file' / 'campaigns.db'}")


def test_a_store_of_another_format_is_refused(tmp_path, database):
    path = tmp_path / "campaigns.db"
    open_storage(f"sqlite:///{path}").close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE format SET version = 99")
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match="have format 1, got 99"):
        open_storage(f"sqlite:///{path}")

    import psycopg

    open_storage(database).close()
    with psycopg.connect(database) as server:
        server.execute("UPDATE ossb_format SET version = 99")
    with pytest.raises(InputError, match="have format 1, got 99"):
        open_storage(database)


def test_a_table_that_is_gone_is_damage(tmp_path):
    path = tmp_path / "campaigns.db"
    store = open_storage(f"sqlite:///{path}")
    append(store, "a", chain(1)).result()
    other = sqlite3.connect(path)
    other.execute("DROP TABLE events")
    other.commit()
    other.close()
    with pytest.raises(Corrupt):
        list(store.read("a"))
    store.close()


def test_a_writer_outlives_what_goes_wrong_in_a_commit():
    calls = []

    def commit(group):
        calls.append(len(group))
        if len(calls) == 1:
            raise MemoryError("no room")
        return {}

    writer = Writer(commit)
    with pytest.raises(Unavailable, match="no room"):
        writer.append("a", chain(1), GENESIS).result(10)
    writer.append("a", chain(1), GENESIS).result(10)
    writer.close()
    writer.close()


def test_a_flood_of_one_campaign_has_its_share_of_a_commit():
    """What others append goes into the next one, and each campaign's events keep their order."""
    gate, groups = threading.Event(), []

    def commit(group):
        groups.append([request.name for request in group])
        gate.wait(10)
        return {}

    large = [chain(1)[0]._replace(body="x" * SHARE)]
    writer = Writer(commit)
    writer.append("first", chain(1), GENESIS)
    while not groups:
        time.sleep(0.001)
    waiting = [writer.append("flood", large, GENESIS) for _ in range(3)]
    waiting += [writer.append("flood", chain(1), GENESIS), writer.append("quiet", large, GENESIS)]
    waiting += [writer.append("small", chain(1), GENESIS) for _ in range(2)]
    gate.set()
    writer.close()
    assert all(append.done() for append in waiting)
    assert groups == [
        ["first"],
        ["flood", "quiet", "small", "small"],
        ["flood"],
        ["flood"],
        ["flood"],
    ]


def test_a_writer_lingers_for_company_and_only_then():
    groups, go = [], threading.Event()

    def commit(group):
        groups.append(len(group))
        go.wait(10)
        return {}

    def append_to(writer, number):
        return writer.append(f"c{number}", chain(1), GENESIS)

    writer = Writer(commit, linger=0.2)
    waiting = [append_to(writer, 0)]
    while not groups:
        time.sleep(0.001)
    waiting += [append_to(writer, number) for number in (1, 2)]
    go.set()
    wait(waiting)  # one alone, then two that came meanwhile
    late = [append_to(writer, 3)]
    time.sleep(0.02)
    late.append(append_to(writer, 4))
    wait(late)
    assert groups == [1, 2, 2]
    writer.close()
