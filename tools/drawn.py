"""Play the drawn half and the held-out half of the regret grid.

    python tools/drawn.py [PART ...] [--share 0.2] [--workers 2]

Without parts, all of them.  What is missing is played into ``results/drawn``; the same command
again goes on where it stopped.  A row for each policy on each family goes into a table of
comma-separated text, in the place of those of the same family, and a table for each half to
standard output; ``--page docs/regret/drawn.md`` writes the page.
"""

import argparse
from pathlib import Path

from ossb.cli.run_progress import play
from ossb.errors import OssbError
from ossb.experiments.results import Results
from regret_grid.drawn import HALVES, drawn_names, drawn_part
from regret_grid.drawn_table import Row, merged, page, read_rows, rows_of, summary, write_rows

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="parts of the grid; all")
    parser.add_argument("--share", type=float, default=1.0, help="of the trials; may be above 1")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "drawn")
    parser.add_argument("--table", type=Path, default=ROOT / "docs" / "regret-drawn.csv")
    parser.add_argument("--page", type=Path, help="where to write the page of all rows")
    parser.add_argument("--policy", action="append", default=[], help="play these alone")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0 takes all cores")
    said = parser.parse_args(arguments)
    rows: list[Row] = []
    for name in said.parts or drawn_names():
        experiment = drawn_part(name, said.share, said.policy)
        print(f"{name}: {experiment.trials} trials of each instance", flush=True)
        play(experiment, said.results / name, said.workers)
        rows += rows_of(Results(said.results / name))
    kept = read_rows(said.table) if said.table.exists() else []
    rows = merged(kept, rows)
    write_rows(rows, said.table)
    rows = read_rows(said.table)  # the page is of what is kept, digit for digit
    if said.page:
        said.page.write_text(page(rows), "utf-8")
    for half in HALVES:
        print(f"\n{half}\n\n{summary(rows, half)}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except OssbError as error:
        raise SystemExit(f"error: {error}") from None
