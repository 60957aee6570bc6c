"""The table of all lines that were ever run, and the page of the documentation that shows it."""

import json
import os
import platform
from datetime import UTC, datetime

HEAD = """# What was promised of campaigns, and found

Written by `python benchmarks/reliability.py --page docs/reliability-table.md`, which runs the lines
(`--only` some of them) and takes the others from the runs before. Every number is from a run of the
command, on the day and with the counts that its row names; lines that were not run yet say so.
[The service](service.md#what-is-promised-and-shown) says what the lines are about.

"""
WORDS = {True: "yes", False: "**no**", None: "not run"}


def today():
    return datetime.now(UTC).strftime("%Y-%m-%d")


def machine():
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}"
    )


def stored(folder, lines):
    """The rows kept in a folder, in the order of the lines."""
    rows = []
    for line in lines:
        file = folder / f"{line.key}.json"
        if not file.exists():
            continue
        row = json.loads(file.read_text(encoding="utf-8"))
        written = datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%d")
        rows.append({"when": written, "machine": machine(), **row, "full": line.counts})
    return rows


def table(rows):
    """Rows as Markdown, with the machines they were run on."""
    machines = sorted({row["machine"] for row in rows})
    lines = [
        *(f"{name}." for name in machines),
        "",
        "| line | what | promised | found | held | seconds | run | counts |",
        "|---|---|---|---|---|---|---|---|",
        *(_written(row) for row in rows),
    ]
    return "\n".join(lines) + "\n"


def page(folder, lines):
    """The page: what is kept in a folder, and which lines were never run."""
    rows = stored(folder, lines)
    absent = [line for line in lines if line.key not in {row["key"] for row in rows}]
    missing = [f"- `{line.key}`: {_shown(line, line.counts)}" for line in absent]
    rest = "\nNot run yet:\n\n" + "\n".join(missing) + "\n" if missing else ""
    return HEAD + table(rows) + rest


def _shown(line, counts):
    return line.what.format(**{name: f"{count:,}" for name, count in counts.items()})


def _written(row):
    cells = (row["key"], row["what"], row["promised"], row["found"].replace("|", "/"))
    counts = "full" if row["counts"] == row["full"] else "fewer"
    held, seconds = WORDS[row["held"]], f"{row['seconds']:g}"
    return f"| {' | '.join(cells)} | {held} | {seconds} | {row['when']} | {counts} |"
