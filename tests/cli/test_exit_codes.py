"""Exit codes of what is nobody's typing error."""

import json
import signal
import sqlite3

import pytest

from ossb.campaigns import open_storage
from ossb.campaigns.events import chained
from service_process import Server, free_port

INSTANCE = 'structure = "classical"\nobservation = "bernoulli"\nn_arms = 3\n'


def test_a_service_out_of_reach(ossb, monkeypatch):
    monkeypatch.setattr("ossb.client.FIRST_PAUSE", 1e6)  # longer than the client's patience
    assert ossb("campaign", "list", "--storage", f"http://127.0.0.1:{free_port()}") == 2
    assert ossb.err.startswith("ossb: `storage` must be in reach: the service at 127.0.0.1:")


def test_a_database_out_of_reach(ossb):
    pytest.importorskip("psycopg")
    url = f"postgresql://user:secret@127.0.0.1:{free_port()}/none"
    for command in (("campaign", "list"), ("serve",)):
        assert ossb(*command, "--storage", url) == 2
        assert "`storage` must be in reach" in ossb.err
        assert "secret" not in ossb.err


def test_a_damaged_store(ossb, tmp_path):
    store, path = tmp_path / "store.db", tmp_path / "instance.toml"
    path.write_text(INSTANCE)
    storage = ("--storage", f"sqlite:///{store}")
    assert ossb("campaign", "create", "first", path, *storage) == 0
    with sqlite3.connect(store) as damaged:
        damaged.execute("UPDATE events SET body = replace(body, 'hgl', 'lgh')")
    damaged.close()
    assert ossb("campaign", "show", "first", *storage) == 2
    assert "`storage` must be what was written to it" in ossb.err
    assert ossb("campaign", "list", *storage) == 2
    assert "campaign 'first' cannot be shown" in ossb.err


def test_a_campaign_of_a_newer_version(ossb, tmp_path):
    path, url = tmp_path / "instance.toml", f"sqlite:///{tmp_path / 'store.db'}"
    path.write_text(INSTANCE)
    for name in ("newer", "other"):
        assert ossb("campaign", "create", name, path, "--storage", url) == 0
    store = open_storage(url)
    (created,) = store.read("newer")
    store.append("newer", [chained(created.digest, 2, "paused", 1e9, {})], created.digest).result()
    store.close()
    for command in (("show", "newer"), ("ask", "newer"), ("list",), ("list", "--json")):
        assert ossb("campaign", *command, "--storage", url) == 2
        (line,) = ossb.err.splitlines()
        assert "event 2 of campaign 'newer' was written by a newer version of ossb" in line
        assert line.endswith("got paused")
    failed, shown = json.loads(ossb.out)
    assert (failed["name"], shown["name"], shown["structure"]) == ("newer", "other", "classical")


@pytest.mark.parametrize("shell", ["in front", "behind"])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_server_that_ends(tmp_path, sent, code, shell):
    """Programs that scripts put behind with ``&`` start with the keyboard's signal ignored."""
    before = signal.getsignal(signal.SIGINT)
    if shell == "behind":
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # handed on to what is started
    try:
        server = Server(f"sqlite:///{tmp_path / 'store.db'}", tmp_path / "log").start()
    finally:
        signal.signal(signal.SIGINT, before)
    server.process.send_signal(sent)
    assert server.process.wait(60) == code
    log = (tmp_path / "log").read_text()
    assert log == ("ossb: interrupted\n" if code else "")
