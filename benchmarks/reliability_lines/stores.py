"""Stores under fault: damaged logs and files, disks that fail or are full."""

import tempfile
from pathlib import Path

from reliability_lines import Line, exactly_once, no_compiler


def in_memory(run):
    """Run something in a folder without a disk behind it: what is read matters, not what lasts."""
    shared = Path("/dev/shm")
    where = shared if shared.is_dir() else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        return run(Path(folder))


def damaged_log(folder, counts):
    import store_faults

    places, prefixes = in_memory(lambda inside: store_faults.damage_log(inside, counts["places"]))
    return True, f"{places:,} places, always a prefix; {prefixes} different ones"


def flipped_file(folder, counts):
    import store_faults

    found, harmless, named = in_memory(
        lambda inside: store_faults.flip_file(inside, counts["flips"])
    )
    return found > 0, (
        f"{found:,} found, {named:,} of them in an event, which was named; "
        f"{harmless:,} in what no event needs"
    )


def failing_disk(folder, counts):
    import failing_disk as disk

    held, text = True, []
    for name, options in (
        ("", {"most": counts["calls"], "main": counts["checkpoints"]}),
        ("killed after it: ", {"most": counts["kills"], "kill_every": 3}),
    ):
        inside = folder / f"{len(text)}"
        inside.mkdir()
        row = disk.fail_each(inside, **options)
        good, found = exactly_once(row, "failures", "refused")
        held = held and good and row["failures"] == row["orders"]
        text.append(f"{name}{found}, back within {row['slowest']:.2f} s")
    return held, "; ".join(text)


def full_disk(folder, counts):
    import failing_disk as disk
    import store_faults

    row = disk.fill(folder, counts["times"])
    held, text = exactly_once(row, "refused")
    process = store_faults.run_aside("fill_disk", folder / "limited.db")
    output, _ = process.communicate()
    return held and process.returncode == 0, (
        f"{text}, back within {row['slowest']:.2f} s; by a limit on files: {output.strip()}"
    )


def failing_statement(folder, counts):
    import store_faults

    tried = refused = 0
    for after in (False, True):
        nth, reached = 0, True
        while reached:
            nth += 1
            reached, count = store_faults.fail_statement(folder, nth, after, counts["steps"])
            tried, refused = tried + reached, refused + count
    return refused >= tried > 0, f"{tried} statements, before and after each; nothing lost"


LINES = [
    Line(
        "log",
        "the write-ahead log cut or flipped at {places} places",
        "always a clean prefix of commits",
        {"places": 10_000},
        damaged_log,
        least=50,
    ),
    Line(
        "file",
        "bits flipped in the main file, {flips} times",
        "found and the first bad event named, or all events as written",
        {"flips": 10_000},
        flipped_file,
        least=100,
    ),
    Line(
        "disk",
        "the n-th write or fsync fails, each n to {calls}, to {checkpoints} in checkpoints",
        "never a 2xx for lost data; 503, then recovers alone",
        {"calls": 120, "checkpoints": 12, "kills": 30},
        failing_disk,
        needs=no_compiler,
    ),
    Line(
        "full",
        "disk full, then freed, {times} times",
        "never a 2xx for lost data; 503, then recovers alone",
        {"times": 20},
        full_disk,
        needs=no_compiler,
    ),
    Line(
        "statements",
        "the n-th statement of SQLite fails, for each n of {steps} asks and tells",
        "nothing acknowledged is lost",
        {"steps": 12},
        failing_statement,
    ),
]
