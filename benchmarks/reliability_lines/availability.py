"""Availability: greedy neighbours, servers that end, stores that hang or vanish, callers gone."""

import asyncio
import http.client
import itertools
import json
import os
import signal
import socket
import sqlite3
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from reliability_lines import Line, described, no_postgresql, on_postgresql

QUICK = {"structure": "classical", "observation": "bernoulli", "n_arms": 5}
BUDGET, SLACK = 2.0, 1.0  # seconds of an ask, and by how much it may be late


def request(port, method, path, body=None, timeout=30.0):
    """One call on a connection of its own: the status, the content and the seconds it took."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    started = time.perf_counter()
    try:
        connection.request(method, path, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, content, time.perf_counter() - started
    finally:
        connection.close()


async def asks(port, name, until, waits, n=1, statuses=None):
    """Asks one after another, and how long each took."""
    import load

    body = json.dumps({"n": n, "lease_seconds": 0.001}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < until:
        try:
            status, _, seconds = await load.call(reader, writer, f"/v1/campaigns/{name}/ask", body)
        except (OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        waits.append(seconds)
        if statuses is not None:
            statuses.append(int(status))
        if status != b"200":
            await asyncio.sleep(0.05)
    writer.close()


async def gets(port, path, until, waits):
    while time.perf_counter() < until:
        found = await asyncio.to_thread(request, port, "GET", path)
        waits.append(found[2])
        await asyncio.sleep(0.1)


def greedy(folder, counts):
    """Asks of one campaign alone, and while another is flooded; lists and liveness meanwhile."""
    import load
    from ossb.client import Client
    from service_process import Server

    server = Server(f"sqlite:///{folder / 'campaigns.db'}", folder / "log").start()
    seconds, p99 = counts["seconds"], {}
    try:
        with Client(server.url) as client:
            client.create("greedy", QUICK, "ossb")
            client.create("quiet", QUICK, "ossb")

        async def both(flood):
            until = time.perf_counter() + seconds
            own, lists, alive, statuses = [], [], [], []
            running = [asks(server.port, "quiet", until, own, statuses=statuses) for _ in range(2)]
            if flood:
                running += [gets(server.port, "/v1/campaigns", until, lists)]
                running += [gets(server.port, "/healthz", until, alive)]
                running += [
                    asks(server.port, "greedy", until, [], 10_000) for _ in range(counts["callers"])
                ]
            await asyncio.gather(*running)
            return own, lists, alive, [status for status in statuses if status != 200]

        asyncio.run(both(False))  # warm
        own, *_ = asyncio.run(both(False))
        p99["alone"] = load.milliseconds(own, "p99")
        beside, lists, alive, refused = asyncio.run(both(True))
        p99["beside"] = load.milliseconds(beside, "p99")
    finally:
        code = server.stop()
    slowest = max(lists), max(alive)
    held = p99["beside"] <= 3 * p99["alone"] and max(slowest) < 1 and not refused and not code
    return held, (
        f"p99 {p99['alone']} ms alone ({len(own)} asks), {p99['beside']} ms beside the flood "
        f"({len(beside)} asks, {len(refused)} refused); slowest list {slowest[0]:.2f} s, "
        f"/healthz {slowest[1]:.2f} s"
    )


PRICES = {
    "structure": "linear",
    "sigma": 1.0,
    "arms": [[(7 * i + 3 * j * i + j) % 19 - 9 for j in range(8)] for i in range(60)],
}
DIFFERENCES = {f"d{i}": [1 + (i * j) % 5 for j in range(8)] for i in range(200)}
TOLD = 10_000  # tells that contrasts rest on


def _ways():
    """What a neighbour may flood with besides plain asks: method, path and body by number."""
    rows = [[(i * (j + 3)) % 17 / 8 - 1 for j in range(8)] for i in range(10_000)]
    polytope = {
        "structure": "polytope",
        "observation": "gaussian",
        "sigma": 1.0,
        "A": [[1 if j == i else -1 if j == i + 1 else 0 for j in range(60)] for i in range(59)],
        "b": [0.1] * 59,
    }
    own = "/v1/campaigns/prices"
    contrasts = json.dumps({"contrasts": DIFFERENCES})
    few = json.dumps({"n": 100, "lease_seconds": 0.001, "features": rows[:3000]})
    many = json.dumps({"lease_seconds": 0.001, "features": rows})
    return {
        "contrasts": lambda i: ("POST", f"{own}/contrasts", contrasts),
        "100 decisions on 3,000 rows": lambda i: ("POST", f"{own}/ask", few),
        "10,000 rows": lambda i: ("POST", f"{own}/ask", many),
        "documents": lambda i: ("GET", f"{own}?delta={0.01 + 1e-5 * i}", ""),
        "switches": lambda i: (
            "POST",
            f"{own}/switch",
            json.dumps({"policy": ("hgl", "ossb")[i % 2]}),
        ),
        "creations": lambda i: (
            "POST",
            "/v1/campaigns",
            json.dumps({"name": f"p{i}", "instance": polytope, "policy": "hgl"}),
        ),
    }


async def _send(port, method, path, body):
    """One call on a connection of its own, answered or not."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        await reader.read()
    finally:
        writer.close()


async def _flooding(port, make, numbers, until):
    while time.perf_counter() < until:
        with suppress(OSError):
            await _send(port, *make(next(numbers)))
        await asyncio.sleep(0.01)


def greedy_routes(folder, counts):
    """Asks of one campaign alone, and while a neighbour floods each of the other routes."""
    import load
    from ossb.client import Client
    from service_process import Server

    server = Server(f"sqlite:///{folder / 'campaigns.db'}", folder / "log").start()
    seconds, numbers, found, slowest = counts["seconds"], itertools.count(1), {}, [0.0, 0.0]
    try:
        with Client(server.url) as client:
            client.create("quiet", QUICK, "hgl")
            client.create("prices", PRICES, "uniform")
            for _ in range(TOLD // 1000):
                asked = [decision for _ in range(2) for decision in client.ask("prices", 500)]
                client.tell_many(
                    "prices", [(decision.id, i % 2) for i, decision in enumerate(asked)]
                )
            client.switch("prices", "hgl")

        async def both(make):
            until = time.perf_counter() + seconds
            own, lists, alive = [], [], []
            running = [asks(server.port, "quiet", until, own) for _ in range(2)]
            running += [gets(server.port, "/v1/campaigns?brief=true", until, lists)]
            running += [gets(server.port, "/healthz", until, alive)]
            if make is not None:
                running += [
                    _flooding(server.port, make, numbers, until) for _ in range(counts["callers"])
                ]
            await asyncio.gather(*running)
            return own, max(lists), max(alive)

        asyncio.run(both(None))  # warm
        for way, make in _ways().items():
            alone, *_ = asyncio.run(both(None))
            beside, *worst = asyncio.run(both(make))
            slowest = [max(pair) for pair in zip(slowest, worst, strict=True)]
            found[way] = load.milliseconds(alone, "p99"), load.milliseconds(beside, "p99")
    finally:
        code = server.stop()
    held = all(beside <= 3 * alone for alone, beside in found.values())
    shown = ", ".join(f"{way} {one[0]:.0f} and {one[1]:.0f} ms" for way, one in found.items())
    return held and max(slowest) < 1 and not code, (
        f"p99 alone and beside: {shown}; slowest list {slowest[0]:.2f} s, "
        f"/healthz {slowest[1]:.2f} s"
    )


def sigterm(folder, counts):
    """SIGTERM in the middle of solves: ends in time, says nothing odd, lets the lock go."""
    from ossb.client import Client
    from service_process import Server

    storage = f"sqlite:///{folder / 'campaigns.db'}"
    points = [[0.37 * i % 1.0, 0.71 * i % 1.0] for i in range(60)]
    heavy = {
        "structure": "polytope",
        "observation": "gaussian",
        "sigma": 1.0,
        "A": [
            [1.0 if j == i else -1.0 if j == i + 1 else 0.0 for j in range(60)] for i in range(59)
        ],
        "b": [0.1 + p[0] for p in points[:59]],
    }
    slowest, codes, odd = 0.0, set(), 0
    for i in range(counts["times"]):
        server = Server(storage, folder / f"log{i}").start()
        with Client(server.url) as client:
            client.create("busy", QUICK, "ossb")
        create = {"name": f"h{i}", "instance": heavy, "policy": {"name": "ossb"}}
        calls = [("/v1/campaigns", create), *[("/v1/campaigns/busy/ask", {"n": 10_000})] * 6]
        held = [_begun(server.port, path, body) for path, body in calls]
        time.sleep(0.1 + 0.15 * (i % 6))
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        codes.add(server.process.wait(60))
        slowest = max(slowest, time.monotonic() - started)
        for connection in held:
            connection.close()
        odd += "Traceback" in Path(server.log).read_text()
        _write_alone(folder / "campaigns.db")
    held = slowest < 10 and codes == {0} and not odd
    return held, (
        f"ended within {slowest:.1f} s, exit codes {sorted(codes)}, {odd} tracebacks; "
        "the lock was free at once each time"
    )


def _begun(port, path, body):
    """A call whose answer nobody reads."""
    content = json.dumps(body).encode()
    connection = socket.create_connection(("127.0.0.1", port))
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(content)}\r\n\r\n"
    connection.sendall(head.encode() + content)
    return connection


def _write_alone(path):
    """Open a store as its only writer; ``InUse`` if the lock is held."""
    from ossb.campaigns import open_storage

    open_storage(f"sqlite:///{path}").close()


def hanging_postgresql(folder, counts):
    """PostgreSQL stopped with SIGSTOP under callers: 503 in time, and all goes on after it."""
    import service_faults
    from service_process import Server

    def run(database):
        server = Server(database.url, folder / "log").start()
        service_faults.create(server.url)
        name = service_faults.NAME
        slowest = alive = 0.0
        refused = otherwise = 0
        acknowledged = []
        for _ in range(counts["times"]):
            status, content, _ = request(server.port, "POST", f"/v1/campaigns/{name}/ask", {})
            acknowledged += [status == 200 and json.loads(content)["decisions"][0]["id"]]
            database.pause()
            try:
                for method, path, body in (
                    ("POST", f"/v1/campaigns/{name}/ask", {}),
                    ("POST", f"/v1/campaigns/{name}/ask", {"n": 3}),
                    ("GET", f"/v1/campaigns/{name}", None),
                ):
                    status, _, seconds = request(server.port, method, path, body)
                    refused += status == 503
                    otherwise += status not in (503, 200) or (status == 200 and method == "POST")
                    slowest = max(slowest, seconds - (0 if method == "POST" else 8.0))
                alive = max(alive, request(server.port, "GET", "/healthz")[2])
                otherwise += request(server.port, "GET", "/readyz")[0] != 503
            finally:
                database.resume()
            until = time.monotonic() + 20
            while request(server.port, "POST", f"/v1/campaigns/{name}/ask", {})[0] != 200:
                if time.monotonic() > until:
                    raise RuntimeError("it did not go on")
                time.sleep(0.1)
        found = _ids(server.port, name)
        lost = sum(id_ is False or id_ not in found for id_ in acknowledged)
        connections = _connections_of(database)
        code = server.stop()
        held = not otherwise and not lost and not code and alive < 1
        held = held and slowest < BUDGET + SLACK + 1 and connections <= 27
        return held, (
            f"{refused} calls answered 503, {otherwise} otherwise, {lost} acknowledged ones lost; "
            f"slowest ask {slowest:.1f} s, /healthz {alive:.2f} s; {connections} connections of 27"
        )

    return on_postgresql(run)


def _ids(port, name):
    path = f"/v1/campaigns/{name}/decisions?limit=1000"
    return {one["id"] for one in json.loads(request(port, "GET", path)[1])["decisions"]}


def _connections_of(database):
    import psycopg

    query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    with psycopg.connect(database.url) as connection:
        return connection.execute(query).fetchone()[0] - 1


def vanished(folder, counts):
    """The SQLite file deleted, replaced, hard-linked, or held by another, under the server."""
    from ossb.campaigns import Campaign
    from ossb.client import Client
    from service_process import Server

    path = folder / "campaigns.db"
    ask = "/v1/campaigns/quick/ask"
    doings = {"deleted": _delete, "replaced": _replace, "linked": _link, "locked": _hold}
    refused, acknowledged, slowest, lost = 0, 0, 0.0, 0
    for _ in range(counts["times"]):
        for name, do in doings.items():
            for old in folder.glob("campaigns.db*"):
                old.unlink()
            server = Server(f"sqlite:///{path}", folder / "log").start()
            with Client(server.url) as client:
                client.create("quick", QUICK, "ucb1")
                before = client.ask("quick", 3)
            undo = do(path)
            for _ in range(3):
                status, _, seconds = request(server.port, "POST", ask, {})
                refused += status == 503
                acknowledged += status != 503
                slowest = max(slowest, seconds)
            acknowledged += request(server.port, "GET", "/readyz")[0] != 503 and name != "locked"
            undo()
            status, content, _ = request(server.port, "POST", ask, {})
            wanted = [decision.id for decision in before]
            if status == 200:  # put back, it goes on
                wanted += [json.loads(content)["decisions"][0]["id"]]
            lost += status != 200
            server.stop()
            with Campaign.open(f"sqlite:///{path}", "quick") as campaign:
                campaign.check()
                lost += not {*wanted} <= {one["id"] for one in campaign.history()}
    held = not acknowledged and not lost and slowest < BUDGET + SLACK
    return held, (
        f"{len(doings)} ways × {counts['times']}: {refused} asks answered 503, {acknowledged} "
        f"otherwise, slowest {slowest:.1f} s; put back, all went on and {lost} were lost"
    )


def _delete(path):
    return _moved(path, lambda name: None)


def _replace(path):
    def put(name):
        Path(name).write_bytes(b"")

    return _moved(path, put)


def _moved(path, put):
    """Each of the store's files away, and back again."""
    names = [path, Path(f"{path}-wal"), Path(f"{path}-shm")]
    for name in names:
        if name.exists():
            name.rename(f"{name}.aside")
            put(name)

    def back():
        for name in names:
            if Path(f"{name}.aside").exists():
                os.replace(f"{name}.aside", name)

    return back


def _link(path):
    other = path.with_name("second.db")
    os.link(path, other)
    return other.unlink


def _hold(path):
    foreign = sqlite3.connect(path, isolation_level=None)
    foreign.execute("BEGIN IMMEDIATE")

    def end():
        foreign.execute("ROLLBACK")
        foreign.close()

    return end


def backup(folder, counts):
    """Backups under load, each restored: equal to a prefix of commits; cut copies are told."""
    import shutil

    import service_faults
    from ossb.campaigns import open_storage
    from service_process import SCRIPT, Server

    path = folder / "campaigns.db"
    server = Server(f"sqlite:///{path}", folder / "log").start()
    service_faults.create(server.url)
    workers = [service_faults.Worker([server.url], f"{i}") for i in range(8)]
    for worker in workers:
        worker.start()
    copies, told = [], 0
    for i in range(counts["copies"]):
        time.sleep(0.3)
        copies.append(folder / f"copy{i}.db")
        done = max(len(worker.told) for worker in workers)
        _ossb(SCRIPT, "backup", copies[-1], f"sqlite:///{path}")
        plain = folder / f"plain{i}.db"
        shutil.copy(path, plain)  # without its log
        told += _ossb(SCRIPT, "check", None, f"sqlite:///{plain}") == 1
    service_faults._finish(workers)
    code = server.stop()
    row = service_faults.compare(f"sqlite:///{path}", workers)
    whole = open_storage(f"sqlite:///{path}", read_only=True)
    events = list(whole.read(service_faults.NAME))
    whole.close()
    equal, sizes = 0, []
    for copy in copies:
        if _ossb(SCRIPT, "check", None, f"sqlite:///{copy}") != 0:
            continue
        restored = open_storage(f"sqlite:///{copy}", read_only=True)
        kept = list(restored.read(service_faults.NAME))
        restored.close()
        equal += kept == events[: len(kept)]
        sizes.append(len(kept))
    modes = {oct(copy.stat().st_mode & 0o777) for copy in copies}
    again = Server(f"sqlite:///{copies[-1]}", folder / "log2").start()
    served = request(again.port, "POST", f"/v1/campaigns/{service_faults.NAME}/ask", {})[0]
    again.stop()
    bad = row["lost"] + row["twice"] + row["invented"] + code
    held = equal == told == len(copies) and not bad and served == 200 and sizes == sorted(sizes)
    held = held and sizes[-1] > done > 0
    return held, (
        f"{equal} of {len(copies)} backups equal to a prefix ({sizes[0]} to {sizes[-1]} events of "
        f"{len(events)}), {told} of {len(copies)} plain copies told to be cut; the last one "
        f"served; modes {', '.join(sorted(modes))}; {row['tells']} tells meanwhile, {bad} lost"
    )


def _ossb(script, what, file, storage):
    given = [] if file is None else [str(file)]
    command = [script, "storage", what, *given, "--storage", storage]
    return subprocess.run(command, capture_output=True, check=False).returncode


def abandoned(folder, counts):
    """Calls whose callers leave at once: no work is left, and nothing counts twice."""
    import load
    from ossb.client import Client
    from service_process import Server

    server = Server(f"sqlite:///{folder / 'campaigns.db'}", folder / "log").start()
    try:
        with Client(server.url) as client:
            client.create("left", QUICK, "ossb")
            client.create("other", QUICK, "ossb")
        bodies = [("POST", "ask", {"n": 10_000}), ("GET", "", None), ("POST", "ask", {"n": 5000})]
        for i in range(counts["calls"]):
            method, rest, body = bodies[i % len(bodies)]
            path = "/v1/campaigns/left" + (f"/{rest}" if rest else "")
            if method == "POST":
                connection = _begun(server.port, path, body)
            else:
                connection = socket.create_connection(("127.0.0.1", server.port))
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            connection.close()
        time.sleep(BUDGET + SLACK)
        cpu = load.server_seconds(server)
        time.sleep(2.0)
        cpu = load.server_seconds(server) - cpu
        metrics = request(server.port, "GET", "/metrics")[1].decode()
        running = int(metrics.rsplit("ossb_requests_running ", 1)[1].split()[0]) - 1
        quick = request(server.port, "POST", "/v1/campaigns/other/ask", {})
        own = request(server.port, "POST", "/v1/campaigns/left/ask", {})
        with Client(server.url) as client:
            pending = client.campaign("left")["pending"]
    finally:
        code = server.stop()
    held = running == 0 and cpu < 0.2 and quick[0] == own[0] == 200 and quick[2] < 1 and not code
    return held, (
        f"{counts['calls']:,} callers left; {BUDGET + SLACK:g} s later {running} calls are "
        f"running and {cpu / 2:.1%} of a core is busy; {pending:,} decisions were made for them"
    )


def schemathesis(folder, counts):
    """A schema-driven adversary against a real server; with it every answer is as described."""
    from ossb.client import Client
    from service_process import Server

    server = Server(f"sqlite:///{folder / 'campaigns.db'}", folder / "log").start()
    try:
        with Client(server.url) as client:
            ids = []
            for name, instance in described.INSTANCES.items():
                client.create(name, instance, "hgl", 1)
                where = {"context": 0} if {"contexts", "segments"} & instance.keys() else {}
                ids += [decision.id for decision in client.ask(name, 5, **where)]
            token = client.create_token("admin")
        found = described.attack(server.url, token, counts["cases"], folder, ids)
        crashed = server.process.poll() is not None
        traces = Path(server.log).read_text().count("Traceback")
    finally:
        code = server.stop()
    held = not found["failures"] and found["cases"] >= counts["cases"] and not code
    return held and not crashed and not traces, (
        f"{found['cases']:,} cases on {found['operations']} operations, {len(found['failures'])} "
        f"findings, {traces} tracebacks" + "".join(f"; {one}" for one in found["failures"][:5])
    )


LINES = [
    Line(
        "greedy",
        "one campaign flooded by {callers} callers with `n` = 10,000, {seconds} s",
        "p99 of another campaign's asks ≤ 3 × its p99 alone; lists and `/healthz` < 1 s",
        {"callers": 64, "seconds": 20},
        greedy,
        least=3,
    ),
    Line(
        "greedy-routes",
        "the same where {callers} callers flood it by each of the other routes, {seconds} s each",
        "p99 of another campaign's asks ≤ 3 × its p99 alone; lists and `/healthz` < 1 s",
        {"callers": 32, "seconds": 10},
        greedy_routes,
        least=2,
    ),
    Line(
        "sigterm",
        "SIGTERM in the middle of solves and long asks, {times} times",
        "ends within 10 s, no traceback, the lock is free at once",
        {"times": 20},
        sigterm,
    ),
    Line(
        "hanging-postgresql",
        "PostgreSQL stopped with SIGSTOP, {times} times",
        "503 within the budget, nothing acknowledged is lost, `/healthz` stays quick",
        {"times": 10},
        hanging_postgresql,
        needs=no_postgresql,
    ),
    Line(
        "vanished",
        "the SQLite file deleted, replaced, hard-linked or locked under the server, {times} times",
        "503 within the budget, nothing acknowledged; put back, it goes on",
        {"times": 10},
        vanished,
    ),
    Line(
        "backup",
        "backups of a store under load, {copies} times, each restored",
        "equal to a prefix of commits; a plain copy without the log is told",
        {"copies": 10},
        backup,
    ),
    Line(
        "abandoned",
        "{calls} calls abandoned by their callers",
        "no work is left behind",
        {"calls": 1000},
        abandoned,
        least=20,
    ),
    Line(
        "schemathesis",
        "{cases} generated cases over the OpenAPI document, against a running server",
        "no 5xx, every answer as described, nothing found",
        {"cases": 3000},
        schemathesis,
        least=60,
        needs=described.missing,
    ),
]
