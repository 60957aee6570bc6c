"""Processes that are killed, and a network that loses and repeats."""

import os
import subprocess
import sys
import time

import service_faults
from ossb.client import Client
from reliability_lines import Line, exactly_once, no_postgresql, on_postgresql
from service_process import SCRIPT, Server, free_port


def servers(folder, counts):
    row = service_faults.kill_servers(folder, counts["kills"], 16)
    held, text = exactly_once(row)
    slowest = row["recovery_seconds"]
    return held and slowest < 3, f"{text}, slowest recovery {slowest} s"


def clients(folder, counts):
    row = service_faults.kill_clients(folder, counts["kills"])
    return exactly_once(row, "pending", "expired")


def network(folder, counts):
    row = service_faults.bad_network(folder, counts["tells"], 8)
    held, text = exactly_once(row, "dropped", "refused", "doubled", "repeated")
    return held and row["tells"] >= counts["tells"], text


def postgresql(folder, counts):
    row = on_postgresql(
        lambda server: service_faults.kill_postgresql(
            folder, server, server.url, counts["kills"], 8
        )
    )
    held, text = exactly_once(row)
    return held, f"{text}; {row['refused']} of {row['kills']} times 503 with Retry-After"


def several(folder, counts):
    return exactly_once(
        on_postgresql(
            lambda server: service_faults.several_servers(folder, server.url, counts["kills"], 8)
        )
    )


def second_server(folder, counts):
    """A second server on a store in use ends with exit code 4; commands go to the first."""
    storage = f"sqlite:///{folder / 'campaigns.db'}"
    server = Server(storage, folder / "log").start()
    slowest, codes = 0.0, set()
    try:
        for _ in range(counts["tries"]):
            started = time.monotonic()
            command = [SCRIPT, "serve", "--storage", storage, "--port", str(free_port())]
            codes.add(subprocess.run(command, capture_output=True, check=False).returncode)
            slowest = max(slowest, time.monotonic() - started)
        command = [SCRIPT, "campaign", "list", "--json", "--storage", storage]
        beside = subprocess.run(command, capture_output=True, check=False)
    finally:
        server.stop()
    held = codes == {4} and slowest < 1 and beside.returncode == 0
    return held, f"exit codes {sorted(codes)} within {slowest:.2f} s; a command beside it is served"


def busy(folder, counts):
    """Kills and refusals while as many processes as there are cores do nothing but compute."""
    storage = f"sqlite:///{folder / 'campaigns.db'}"
    others = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())
    ]
    server = Server(storage, folder / "log")
    refusal = recovery = 0.0
    codes = set()
    try:
        server.start()
        service_faults.create(server.url)
        with Client(server.url) as client:
            for _ in range(counts["kills"]):
                started = time.monotonic()
                command = [SCRIPT, "serve", "--storage", storage, "--port", str(free_port())]
                codes.add(subprocess.run(command, capture_output=True, check=False).returncode)
                refusal = max(refusal, time.monotonic() - started)
                server.kill()
                started = time.monotonic()
                server.start()
                client.ask(service_faults.NAME)
                recovery = max(recovery, time.monotonic() - started)
    finally:
        server.stop()
        for other in others:
            other.kill()
            other.wait()
    return codes == {4} and refusal < 1 and recovery < 3, (
        f"{len(others)} processes beside: exit codes {sorted(codes)} within {refusal:.2f} s; "
        f"first answer within {recovery:.2f} s of the start"
    )


LINES = [
    Line(
        "kill-servers",
        "kill −9 the server {kills} times under 16 clients",
        "0 lost, 0 twice, 0 invented; recovery < 3 s",
        {"kills": 200},
        servers,
    ),
    Line(
        "kill-clients",
        "kill −9 clients between ask and tell, {kills} times",
        "asked = told + pending + expired, to the unit",
        {"kills": 1000},
        clients,
        least=5,
    ),
    Line(
        "network",
        "answers dropped, requests doubled, reordered, delayed over {tells} tells",
        "exactly once",
        {"tells": 10_000},
        network,
        least=100,
    ),
    Line(
        "kill-postgresql",
        "PostgreSQL killed {kills} times",
        "0 lost; 503 with Retry-After, no crash",
        {"kills": 50},
        postgresql,
        needs=no_postgresql,
    ),
    Line(
        "several",
        "two servers on one PostgreSQL, one of them killed, {kills} times",
        "0 lost, 0 twice, 0 invented",
        {"kills": 50},
        several,
        needs=no_postgresql,
    ),
    Line(
        "second",
        "a second server on a SQLite store in use, {tries} times",
        "exit code 4 within a second; commands talk to the first",
        {"tries": 10},
        second_server,
    ),
    Line(
        "busy",
        "the same, and kill −9, {kills} times on a machine all of whose cores are busy",
        "a second server refused within a second; an ask answered within 3 s of a start",
        {"kills": 20},
        busy,
        least=2,
    ),
]
