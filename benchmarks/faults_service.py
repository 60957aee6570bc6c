"""Every fault of the service at its full count, and the table of what became of it.

python benchmarks/faults_service.py [--quick] [--out results/faults-service.md]
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import postgresql_server
import service_faults

FULL = {"servers": 200, "clients": 1000, "tells": 10_000, "several": 50, "postgresql": 50}
QUICK = {"servers": 5, "clients": 10, "tells": 200, "several": 2, "postgresql": 2}


def faults(counts):
    """Each fault: its name, and what runs it in a folder."""
    yield (
        f"kill −9 the server {counts['servers']} times under 16 clients",
        lambda folder: service_faults.kill_servers(folder, counts["servers"], 16),
    )
    yield (
        f"kill −9 clients {counts['clients']} times",
        lambda folder: service_faults.kill_clients(folder, counts["clients"]),
    )
    yield (
        f"a network that drops, doubles, delays and repeats, {counts['tells']} tells",
        lambda folder: service_faults.bad_network(folder, counts["tells"], 8),
    )
    if postgresql_server.binaries() is None:
        print(f"skipped: {postgresql_server.ABSENT}", file=sys.stderr)
        return
    yield (
        f"two servers on PostgreSQL, one killed {counts['several']} times",
        lambda folder: on_postgresql(
            lambda server: service_faults.several_servers(folder, server.url, counts["several"], 8)
        ),
    )
    yield (
        f"PostgreSQL killed {counts['postgresql']} times",
        lambda folder: on_postgresql(
            lambda server: service_faults.kill_postgresql(
                folder, server, server.url, counts["postgresql"], 8
            )
        ),
    )


def on_postgresql(run):
    server = postgresql_server.Server()
    try:
        server.start()
        return run(server)
    finally:
        server.stop()


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--out")
    given = options.parse_args()
    lines = [
        "| fault | asks | tells | lost | twice | invented | unaccounted | more | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    bad = 0
    for name, run in faults(QUICK if given.quick else FULL):
        folder = Path(tempfile.mkdtemp(prefix="ossb-faults-"))
        started = time.monotonic()
        row = run(folder)
        main_keys = ("asks", "tells", "lost", "twice", "invented", "unaccounted")
        bad += sum(row[key] for key in main_keys[2:])
        more = ", ".join(f"{k} {v}" for k, v in row.items() if k not in main_keys)
        cells = [name, *(row[key] for key in main_keys), more, f"{time.monotonic() - started:.0f}"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
        print(lines[-1], flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    if given.out:
        Path(given.out).parent.mkdir(parents=True, exist_ok=True)
        Path(given.out).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
