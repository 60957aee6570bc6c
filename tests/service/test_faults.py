"""Real processes, killed for real; a small count of each fault (more: benchmarks)."""

import contextlib
import http.client
import json
import subprocess
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import postgresql_server
import service_faults
import service_strain
from ossb.campaigns import Campaign, open_storage
from ossb.client import Client
from service_process import SCRIPT, Server


def assert_exactly_once(row):
    assert {key: row[key] for key in ("lost", "twice", "invented", "unaccounted")} == {
        "lost": 0,
        "twice": 0,
        "invented": 0,
        "unaccounted": 0,
    }, row
    assert row["exit_code"] == 0


def test_the_comparison_finds_what_is_wrong(tmp_path):
    storage = f"sqlite:///{tmp_path / 'campaigns.db'}"
    with Campaign.open(storage, service_faults.NAME, instance=service_faults.INSTANCE) as campaign:
        first, second, third = campaign.ask(3)
        campaign.tell_many([(first.id, 1), (second.id, 0)])
    honest = SimpleNamespace(
        asked=[first.id, second.id, third.id], told={first.id: 1.0, second.id: 0.0}
    )
    clean = service_faults.compare(storage, [honest])
    assert clean["lost"] == clean["twice"] == clean["invented"] == 0
    for key, asked, told in (
        ("lost", honest.asked, {**honest.told, third.id: 1.0}),
        ("lost", honest.asked, {**honest.told, first.id: 0.0}),
        ("lost", [*honest.asked, "7-x"], honest.told),
        ("invented", honest.asked, {first.id: 1.0}),
        ("invented", honest.asked[:2], honest.told),
        ("twice", [*honest.asked, first.id], honest.told),
    ):
        wrong = service_faults.compare(storage, [SimpleNamespace(asked=asked, told=told)])
        assert wrong[key] > 0, key


def test_killed_servers(tmp_path):
    row = service_faults.kill_servers(tmp_path, kills=3, clients=4)
    assert_exactly_once(row)
    assert row["tells"] > 20


def test_killed_clients(tmp_path):
    row = service_faults.kill_clients(tmp_path, kills=6)
    assert_exactly_once(row)
    assert row["asks"] >= row["tells"] > 0


def test_a_bad_network(tmp_path):
    row = service_faults.bad_network(tmp_path, tells=120, clients=4)
    assert_exactly_once(row)
    assert row["tells"] == 120  # a multiple of the clients
    assert min(row[key] for key in ("dropped", "refused", "doubled", "repeated")) > 0


def test_a_second_server_is_refused_and_the_command_line_served(tmp_path):
    storage = f"sqlite:///{tmp_path / 'campaigns.db'}"
    server = Server(storage, tmp_path / "log").start()
    second = subprocess.run(
        [SCRIPT, "serve", "--port", "18099", "--storage", storage],
        capture_output=True,
        text=True,
        check=False,
    )
    assert second.returncode == 4
    assert "is in use by another process" in second.stderr
    for where in (server.url, storage):  # by the lock's file the second finds the service too
        beside = subprocess.run(
            [SCRIPT, "campaign", "list", "--json", "--storage", where],
            capture_output=True,
            text=True,
            check=True,
        )
        assert beside.stdout == "[]\n"
    assert server.stop() == 0


def test_callers_that_strain(tmp_path):
    row = service_strain.strain(tmp_path, idle=60, slow=5, body=10_000_000, depth=100_000)
    assert {row["announced"], row["chunked"], row["deep"]} <= {"413", "cut"}
    assert row["deep_and_short"] == "400"
    assert row["cut_off"] == 65
    assert row["served"] == row["asked"]
    assert row["growth"] < 2
    assert row["exit_code"] == 0


def test_a_head_without_end(tmp_path):
    server = Server(f"sqlite:///{tmp_path / 'campaigns.db'}", tmp_path / "log").start()
    head = b"GET / HTTP/1.1\r\nX-Long: " + b"x" * 70_000
    assert service_strain.status_of(server, head) == "431"
    assert server.stop() == 0


def test_event_streams_have_no_gap_when_the_server_is_killed(tmp_path):
    storage = f"sqlite:///{tmp_path / 'campaigns.db'}"
    server = Server(storage, tmp_path / "log").start()
    worker = service_faults.Worker([server.url], "stream")
    service_faults.create(server.url)
    worker.start()
    seen = []
    for _ in range(3):
        seen += service_faults.listen(server.port, seen[-1]["number"] if seen else 0, 40)
        server.kill()
        server.start()
    seen += service_faults.listen(server.port, seen[-1]["number"], 20)
    worker.stopping.set()
    worker.join(60)
    assert worker.failure is None
    assert server.stop() == 0
    with Campaign.open(storage, service_faults.NAME) as campaign:
        events = list(campaign.events())[: len(seen)]
    assert [event["number"] for event in seen] == list(range(1, len(seen) + 1))
    assert [event["kind"] for event in seen] == [event.kind for event in events]
    asked = [d["id"] for event in seen if event["kind"] == "asked" for d in event["decisions"]]
    told = [t["id"] for event in seen if event["kind"] == "told" for t in event["tells"]]
    assert len(asked) >= len(told) > 40
    assert asked[: len(told)] == told  # one worker: told in the order asked


@pytest.fixture
def database():
    if postgresql_server.binaries() is None:
        pytest.skip(postgresql_server.ABSENT)
    server = postgresql_server.Server()
    server.start()
    yield server
    server.stop()


def test_two_servers_on_one_postgresql(tmp_path, database):
    row = service_faults.several_servers(tmp_path, database.url, kills=2, clients=4)
    assert_exactly_once(row)
    assert row["tells"] > 5


def test_postgresql_is_killed(tmp_path, database):
    row = service_faults.kill_postgresql(tmp_path, database, database.url, kills=2, clients=3)
    assert_exactly_once(row)
    assert not row["crashed"]
    assert row["refused"] == 2  # with Retry-After


def test_what_is_under_way_when_the_server_ends_is_answered(tmp_path):
    """SIGTERM in the middle of a long ask: it is answered, it is on disk, and the exit is clean."""
    store = f"sqlite:///{tmp_path / 'store.db'}"
    server = Server(store, tmp_path / "log", options=("--ask-seconds", "60")).start()
    arms = np.random.default_rng(0).normal(size=(81, 3)).round(3).tolist()
    instance = {"structure": "linear", "sigma": 1.0, "arms": arms}
    answers = []

    def ask():
        with Client(server.url, patience=0.1) as client:
            answers.append(client.ask("long", 60))

    with Client(server.url) as client:
        client.create("long", instance, {"name": "hgl"})
    caller = threading.Thread(target=ask)
    caller.start()
    time.sleep(0.3)  # long enough to be under way, and too short to be done
    begun = not answers
    assert server.stop() == 0
    caller.join(60)
    assert begun
    assert len(answers[0]) == 60
    with Campaign.open(store, "long") as campaign:
        assert campaign.describe()["pending"] == 60


def test_the_server_ends_in_the_middle_of_a_long_solve(tmp_path):
    """SIGTERM while a call works on something that takes minutes: a clean end, the lock free."""
    store = f"sqlite:///{tmp_path / 'store.db'}"
    server = Server(store, tmp_path / "log").start()
    points = np.linspace(0, 1, 1000).tolist()
    instance = {"structure": "lipschitz", "observation": "bernoulli", "points": points}
    body = {"name": "slow", "instance": {**instance, "lipschitz_constant": 1.0}, "policy": "hgl"}

    def create():
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("POST", "/v1/campaigns", json.dumps(body))
            connection.getresponse().read()

    caller = threading.Thread(target=create)
    caller.start()
    time.sleep(0.5)
    assert server.stop() == 0
    open_storage(store).close()
    caller.join(60)
    assert "Traceback" not in (tmp_path / "log").read_text()
