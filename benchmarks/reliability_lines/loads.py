"""Load: how many, how fast, and how long a campaign may grow."""

import asyncio
import time

from reliability_lines import Line, no_postgresql, on_postgresql

CONNECTIONS = 32
READY = 300.0  # seconds within which a slow policy has to be compiled


def pairs(storage, folder, counts):
    """Ask-and-tell pairs of an index policy."""
    import load
    from ossb.client import Client
    from service_process import Server

    server = Server(storage, folder / "log").start()
    try:
        with Client(server.url) as client:
            client.create("load", load.CLASSICAL, "ucb1")
        seconds = counts["seconds"]
        asyncio.run(load.load(server.port, "load", CONNECTIONS, max(1, seconds / 5)))
        row = asyncio.run(load.load(server.port, "load", CONNECTIONS, seconds))
    finally:
        server.stop()
    held = row["pairs_per_second"] >= 1000 and row["tell_p99_ms"] < 100 and not row["errors"]
    return held, (
        f"{row['pairs_per_second']:.0f} pairs/s, tell p99 {row['tell_p99_ms']} ms, "
        f"{row['errors']} errors; client {row['client_share_of_a_core']:.0%} of a core"
    )


def pairs_sqlite(folder, counts):
    return pairs(f"sqlite:///{folder / 'load.db'}", folder, counts)


def pairs_postgresql(folder, counts):
    return on_postgresql(lambda server: pairs(server.url, folder, counts))


def ask_of_a_solver(folder, counts):
    """``ossb`` on linear K = 81, and an answer that needs the event loop only, meanwhile."""
    import load
    from ossb.client import Client
    from service_process import Server

    server = Server(f"sqlite:///{folder / 'load.db'}", folder / "log").start()
    try:
        with Client(server.url) as client:
            client.create("load", load.linear(), "ossb")
        started = time.monotonic()
        while time.monotonic() - started < READY:
            if asyncio.run(load.load(server.port, "load", 2, 2.0))["ask_p99_ms"] < 25:
                break
        ready = time.monotonic() - started

        async def both():
            until = time.perf_counter() + counts["seconds"]
            running = load.load(server.port, "load", 2, counts["seconds"])
            return await asyncio.gather(running, probe(server.port, until))

        row, waits = asyncio.run(both())
    finally:
        server.stop()
    loop = load.milliseconds(waits, "p99")
    held = row["ask_p50_ms"] < 5 and row["ask_p99_ms"] < 50 and loop < 50 and not row["errors"]
    return held, (
        f"ask p50 {row['ask_p50_ms']} ms, p99 {row['ask_p99_ms']} ms over {row['pairs']} asks, "
        f"ready after {ready:.0f} s; the event loop answered others within {loop} ms (p99)"
    )


async def probe(port, until):
    """How long calls take that nothing but the event loop answers."""
    waits = []
    while time.perf_counter() < until:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        started = time.perf_counter()
        writer.write(b"GET /page/icon.svg HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        await reader.read()
        waits.append(time.perf_counter() - started)
        writer.close()
        await asyncio.sleep(0.01)
    return waits


def many_clients(folder, counts):
    """Each of many clients makes its pairs on one campaign; each tell counts once."""
    import load
    import service_faults
    from ossb.campaigns import Campaign
    from ossb.client import Client
    from service_process import Server

    storage = f"sqlite:///{folder / 'load.db'}"
    server = Server(storage, folder / "log").start()
    try:
        with Client(server.url) as client:
            client.create("load", service_faults.INSTANCE, "ucb1")
        total = counts["clients"] * counts["pairs"]

        async def all_of_them():
            done = {"ask": [], "tell": [], "pairs": 0, "errors": 0}
            own = [{**done, "ask": [], "tell": []} for _ in range(counts["clients"])]
            await asyncio.gather(
                *(load.connection(server.port, "load", 1e18, counts["pairs"], one) for one in own)
            )
            return sum(one["errors"] for one in own)

        started = time.monotonic()
        errors = asyncio.run(all_of_them())
        seconds = time.monotonic() - started
    finally:
        server.stop()
    with Campaign.open(storage, "load") as campaign:
        stands = campaign.describe()
        campaign.check()
    told, rounds = stands["decisions"]["told"], stands["rounds"]
    held = told == rounds == sum(stands["plays"]) == total and not errors
    return held, f"{rounds:,} tells counted, {total - told} lost, {errors} errors, {seconds:.0f} s"


LINES = [
    Line(
        "load",
        "ask + tell pairs, durable, 32 connections, index policy, {seconds} s",
        "≥ 1,000 pairs/s, tell p99 < 100 ms, no errors",
        {"seconds": 20},
        pairs_sqlite,
        least=3,
    ),
    Line(
        "load-postgresql",
        "the same on PostgreSQL, 32 connections, {seconds} s",
        "≥ 1,000 pairs/s, tell p99 < 100 ms, no errors",
        {"seconds": 20},
        pairs_postgresql,
        least=3,
        needs=no_postgresql,
    ),
    Line(
        "ask-ossb",
        "`ossb` policy, linear K = 81, ask, 2 connections, {seconds} s",
        "p50 < 5 ms, p99 < 50 ms; a solve never blocks the event loop",
        {"seconds": 20},
        ask_of_a_solver,
        least=3,
    ),
    Line(
        "clients",
        "{clients} clients × {pairs} pairs on one campaign",
        "each tell exactly once",
        {"clients": 100, "pairs": 1000},
        many_clients,
        least=10,
    ),
]
