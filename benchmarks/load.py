"""Ask-and-tell pairs against a running service: how many a second, and how long they take.

    python benchmarks/load.py [--quick] [--connections 32] [--seconds 10] [--policy ucb1]
                              [--linear] [--pairs 100000] [--postgresql]

The client writes prepared requests on plain sockets and reads answers by their length, so that
it takes a small part of a core; that part is printed.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import postgresql_server
from ossb.client import Client
from service_process import Server

CLASSICAL = {"structure": "classical", "observation": "bernoulli", "n_arms": 5}


def linear(n_arms=81, dimension=4):
    """Arms on a grid of {−1, 0, 1}^4: K = 81."""
    digits = range(dimension)
    arms = [[float(k // 3**d % 3 - 1) + 0.01 * d for d in digits] for k in range(n_arms)]
    return {"structure": "linear", "observation": "gaussian", "sigma": 1.0, "arms": arms}


async def call(reader, writer, path, body):
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
    started = time.perf_counter()
    writer.write(head.encode() + body)
    lines = await reader.readuntil(b"\r\n\r\n")
    at = lines.lower().index(b"content-length:") + 15
    length = int(lines[at : lines.index(b"\r", at)])
    answer = await reader.readexactly(length)
    return lines[9:12], answer, time.perf_counter() - started


async def connection(port, name, until, most, done):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    ask, tell = f"/v1/campaigns/{name}/ask", f"/v1/campaigns/{name}/tell"
    while time.perf_counter() < until and done["pairs"] < most:
        status, answer, asked = await call(reader, writer, ask, b"{}")
        if status != b"200":
            done["errors"] += 1
            continue
        start = answer.index(b'"id":"') + 6
        id_ = answer[start : answer.index(b'"', start)].decode()
        body = f'{{"id": "{id_}", "observation": {len(done["ask"]) % 2}}}'.encode()
        status, _, told = await call(reader, writer, tell, body)
        done["ask"].append(asked)
        done["tell"].append(told)
        done["pairs"] += 1
        done["errors"] += status != b"200"
    writer.close()


async def load(port, name, connections, seconds, most=10**9):
    done = {"ask": [], "tell": [], "pairs": 0, "errors": 0}
    started, cpu = time.perf_counter(), time.process_time()
    until = started + seconds
    tasks = [connection(port, name, until, most, done) for _ in range(connections)]
    await asyncio.gather(*tasks)
    wall = time.perf_counter() - started
    return {
        "pairs": done["pairs"],
        "pairs_per_second": round(done["pairs"] / wall, 1),
        "errors": done["errors"],
        **{
            f"{kind}_{q}_ms": milliseconds(done[kind], q)
            for kind in ("ask", "tell")
            for q in ("p50", "p99")
        },
        "client_share_of_a_core": round((time.process_time() - cpu) / wall, 2),
    }


def milliseconds(times, quantile):
    ordered = sorted(times) or [0.0]
    share = int(quantile[1:]) / 100
    return round(1e3 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2)


def server_seconds(server):
    """CPU time of the server so far."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--connections", type=int, default=32)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--policy", default="ucb1")
    options.add_argument("--linear", action="store_true", help="linear, K = 81")
    options.add_argument("--pairs", type=int, default=10**9, help="stop after so many")
    options.add_argument("--postgresql", action="store_true", help="on a server of our own")
    given = options.parse_args()
    seconds = min(given.seconds, 3.0) if given.quick else given.seconds
    if given.postgresql:
        database = postgresql_server.Server()
        database.start()
        try:
            measure(given, database.url, seconds)
        finally:
            database.stop()
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure(given, f"sqlite:///{folder}/load.db", seconds)


def measure(given, storage, seconds):
    """One run, and one line of figures."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(storage, Path(folder) / "log").start()
        try:
            with Client(server.url) as client:
                client.create("load", linear() if given.linear else CLASSICAL, given.policy)
                warm = asyncio.run(load(server.port, "load", given.connections, seconds / 5))
                cpu = server_seconds(server)
                row = asyncio.run(
                    load(server.port, "load", given.connections, seconds, given.pairs)
                )
                cpu = server_seconds(server) - cpu
                row["server_ms_per_pair"] = round(1e3 * cpu / max(row["pairs"], 1), 3)
                told = client.campaign("load")["rounds"]
                row["counted_otherwise_than_once"] = told - warm["pairs"] - row["pairs"]
            print(json.dumps({"policy": given.policy, "connections": given.connections, **row}))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
