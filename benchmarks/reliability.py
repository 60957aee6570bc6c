"""Every line of the reliability table, at its full counts, and the table of what was found.

    python benchmarks/reliability.py                 # all of it
    python benchmarks/reliability.py --quick         # a fiftieth of each count
    python benchmarks/reliability.py --only log,disk --share 10
    python benchmarks/reliability.py --resume        # leave out lines that stand already
    python benchmarks/reliability.py --only log --page docs/reliability-table.md

Each line is kept in a file of its own, so a run that was stopped goes on with --resume. The table
is written after each line, and holds those of earlier runs too; runs at a share of the counts are
kept apart. The exit code is 1 if a line of this run did not hold.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from reliability_lines import (
    availability,
    callers,
    growth,
    loads,
    long_campaign,
    processes,
    stores,
)
from reliability_lines.table import machine, page, stored, table, today

LINES = [
    *loads.LINES,
    *long_campaign.LINES,
    *processes.LINES,
    *stores.LINES,
    *callers.LINES,
    *availability.LINES,
    *growth.LINES,
]


def counts_of(line, share):
    """The line's counts, or a share of them."""
    return {
        key: full if share == 1 else min(full, max(line.least, full // share))
        for key, full in line.counts.items()
    }


def run(line, counts):
    """Run a line in a folder of its own; whatever it raises is what was found."""
    missing = line.needs()
    if missing:
        return {"held": None, "found": f"not run: {missing}", "seconds": 0}
    folder = Path(tempfile.mkdtemp(prefix=f"ossb-{line.key}-"))
    started = time.monotonic()
    try:
        held, found = line.run(folder, counts)
    except Exception as error:
        traceback.print_exc()
        held, found = False, f"{type(error).__name__}: {str(error)[:300]}"
    seconds = round(time.monotonic() - started, 1)
    shutil.rmtree(folder, ignore_errors=True)
    return {"held": bool(held), "found": found, "seconds": seconds}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="the same as --share 50")
    parser.add_argument("--share", type=int, default=1, help="run one n-th of the counts")
    parser.add_argument("--only", help="lines, separated by commas")
    parser.add_argument("--resume", action="store_true", help="leave out lines that are done")
    parser.add_argument("--list", action="store_true", help="print the lines' names")
    parser.add_argument("--out", help="folder of the results (results/reliability)")
    parser.add_argument("--page", help="write the page of the documentation to this file")
    given = parser.parse_args()
    known = {line.key: line for line in LINES}
    if given.list:
        print("\n".join(known))
        return 0
    wanted = given.only.split(",") if given.only else list(known)
    unknown = [key for key in wanted if key not in known]
    if unknown:
        parser.error(f"no line {unknown[0]!r}; there are {', '.join(known)}")
    share = 50 if given.quick else given.share
    apart = "" if share == 1 else f"-share-{share}"
    out = Path(given.out or f"results/reliability{apart}")
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for key in wanted:
        line, file = known[key], out / f"{key}.json"
        counts = counts_of(line, share)
        shown = {name: f"{count:,}" for name, count in counts.items()}
        row = {"key": key, "what": line.what.format(**shown), "promised": line.promised}
        kept = json.loads(file.read_text()) if given.resume and file.exists() else None
        if kept is not None and kept["counts"] == counts and kept["held"]:
            rows.append(kept)
        else:
            made = {"when": today(), "machine": machine(), "counts": counts}
            rows.append({**row, **run(line, counts), **made})
            file.write_text(json.dumps(rows[-1], indent=2, ensure_ascii=False) + "\n")
        whole = {one["key"]: one for one in stored(out, LINES)}
        print(table([whole[key]]).splitlines()[-1], flush=True)
        (out / "table.md").write_text(table(list(whole.values())), encoding="utf-8")
        if given.page:
            Path(given.page).write_text(page(out, LINES), encoding="utf-8")
    print(f"\n{table([whole[row['key']] for row in rows])}")
    return int(any(row["held"] is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
