"""Stores under fault, and the restart of a long campaign: the full counts, one table.

python benchmarks/faults.py [--quick]
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import postgresql_server
import store_faults
from ossb.campaigns import Campaign, open_storage
from ossb.campaigns import journal as journal_module
from ossb.campaigns.events import chained
from ossb.campaigns.ledger import PENDING
from ossb.campaigns.snapshots import to_bytes
from ossb.campaigns.state import State

TELLS = 1_000_000


def long_journal(path, tells, group=1):
    """Write the journal of a campaign directly: an ask and a tell each, or in groups."""
    store = open_storage(f"sqlite:///{path}")
    campaign = Campaign.open(
        store, "c", instance=store_faults.INSTANCE, policy="ucb1", clock=lambda: 1e9
    )
    with campaign._journal.look() as state:
        waiting, after, kept = [], state.digest, 0
        first = state.digest
        for number in range(0, tells, group):
            arms = [(number + i) % 3 for i in range(group)]
            asked = {"expires": 2e9, "decisions": [[arm, 0] for arm in arms]}
            told = {"tells": [[number + i, float(i % 2)] for i in range(group)]}
            for kind, content in (("asked", asked), ("told", told)):
                event = chained(state.digest, state.number + 1, kind, 1e9, content)
                state.fold(event)
                waiting.append(event)
            if len(waiting) >= 20_000:
                store.append("c", waiting, first).result()
                waiting, first = [], state.digest
            every = max(journal_module.SNAPSHOT_EVERY, state.number // 16)
            if state.number - kept >= every and not waiting:
                kept = state.number
                store.keep_snapshot("c", kept, to_bytes(state))
        if waiting:
            store.append("c", waiting, first).result()
        assert not (state.decisions.status == PENDING).any()
        assert after != state.digest
        events = state.number
    store.close()
    return events


def restart(path):
    """Run in a process of its own: seconds and megabytes until the campaign answers."""
    started = time.perf_counter()
    store = open_storage(f"sqlite:///{path}")
    campaign = Campaign(store, "c")
    (decision,) = campaign.ask()
    seconds = time.perf_counter() - started
    assert isinstance(campaign._journal._state, State)
    campaign.tell(decision.id, 1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds:.2f} s, {memory:.0f} MB", end="")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--restart", metavar="FILE")
    options = parser.parse_args()
    if options.restart:
        restart(options.restart)
        return
    scale = 50 if options.quick else 1
    rows = []

    def row(what, promised, found):
        rows.append((what, promised, found))
        print(f"| {what} | {promised} | {found} |", flush=True)

    print("| fault | promised | found |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places, prefixes = store_faults.damage_log(folder, 10_000 // scale)
        row(
            f"write-ahead log cut or flipped at {places} places",
            "a clean prefix of the commits",
            f"always; {prefixes} different prefixes",
        )
    with tempfile.TemporaryDirectory() as name:
        found, harmless = store_faults.flip_file(Path(name), 10_000 // scale)
        row(
            f"bits flipped in the main file, {found + harmless} times",
            "found, or all events as written",
            f"{found} found, {harmless} in what no event needs",
        )
    with tempfile.TemporaryDirectory() as name:
        refused, tried = 0, 0
        for after in (False, True):
            fail_at, reached = 0, True
            while reached:
                fail_at += 1
                reached, count = store_faults.fail_statement(Path(name), fail_at, after)
                tried, refused = tried + reached, refused + count
        row(f"the n-th write fails, for {tried} n", "nothing acknowledged is lost", "nothing lost")
    with tempfile.TemporaryDirectory() as name:
        process = store_faults.run_aside("fill_disk", Path(name) / "full.db")
        output, _ = process.communicate()
        assert process.returncode == 0
        row("disk full, then freed, 3 times", "nothing lost, recovers alone", output.strip())
    with tempfile.TemporaryDirectory() as name:
        kills = 200 // scale
        acknowledged, slowest = store_faults.kill_loops(Path(name), kills)
        row(
            f"kill -9 in ask-and-tell loops, {kills} times",
            "0 lost, recovery < 3 s",
            f"0 of {acknowledged} lost, slowest recovery {slowest:.2f} s",
        )
    if postgresql_server.binaries() is None:
        row("PostgreSQL killed", "0 lost", postgresql_server.ABSENT)
    else:
        kills = max(2, 50 // scale)
        server = postgresql_server.Server()
        server.start()
        try:
            acknowledged, refused = store_faults.kill_postgresql(server, server.url, kills)
        finally:
            server.stop()
        row(
            f"PostgreSQL killed {kills} times",
            "0 lost, refused meanwhile",
            f"0 of {acknowledged} lost, {refused} refused",
        )
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "long.db"
        tells = TELLS // scale
        events = long_journal(path, tells)
        answer = subprocess.run(
            [sys.executable, __file__, "--restart", str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        row(
            f"restart of a campaign with {tells:,} tells ({events:,} events)",
            "< 5 s, < 300 MB",
            answer.stdout,
        )


if __name__ == "__main__":
    main()
