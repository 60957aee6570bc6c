"""Play the regret grid, and write its page.

    python tools/regret.py [PART ...] [--share 0.1] [--long-share 0.1] [--variants-share 0.1]
        [--workers 2] [--policy NAME] [--kept FILE] [--docs FOLDER]

Without parts, all of them.  What is missing is played into ``results/regret``; the same command
again goes on where it stopped, and a larger share adds trials.  A row for each policy in each cell
is kept in ``docs/regret.csv``, in the place of one with no more trials: machines and days may share
the grid, each playing parts of it.  The pages, ``docs/regret.md`` and
one for each structure, are of all these rows, with their
counts.

``--policy``, as often as wanted, plays policies beside ``hgl`` alone: ours by name, or your own as
``module:Class``, set beside the rows of the others that are kept.  Write to a folder of your own:

    python tools/regret.py classical --policy mine:Mine --docs mine

After a change of ``hgl`` itself, ``--changed`` compares kept rows of others with its new trials,
as if on other noise, wherever it was played in the results given:

    python tools/regret.py linear --policy hgl --results results/new --changed

After a change of another policy's rule, ``--anew`` puts what is played of it in the place of what
is kept, of more trials too:

    python tools/regret.py linear --policy glm-ucb --results results/new --anew glm-ucb
"""

import argparse
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import regret_page
from few_colours import saved
from ossb.cli.run_progress import play as watched
from ossb.errors import InputError, OssbError
from ossb.experiments.results import Results
from regret_grid.costs import round_costs
from regret_grid.grid import (
    DEFAULT,
    beside_default,
    long_part,
    part,
    part_names,
    variant_labels,
    variants_part,
)
from regret_grid.played import PlayedCell, played_cells, standings
from regret_grid.ratios import grid_cells, scores
from regret_grid.standings import (
    Standing,
    beside_changed,
    merged,
    read_standings,
    write_standings,
)

ROOT = Path(__file__).resolve().parents[1]
DRAWN_DPI = 140  # sharp at twice the size
COLOURS = 64
TABLE = "regret.csv"
LONG, VARIANTS = "-long", "-variants"  # what folders of other runs of a part end in
BESIDE = "-beside-"


def play(
    names: list[str],
    folder: Path,
    share: float,
    long_share: float,
    variants_share: float,
    policies: list[str],
    workers: int,
) -> None:
    """What is missing of the parts, then of their longer runs and of variants of the default.

    With ``policies``, of these and of the default alone, in folders of their own.
    """
    beside = BESIDE + re.sub(r"[^\w.=-]+", "_", "+".join(policies)) if policies else ""
    for end, made, of_trials in (
        ("", part, share),
        (LONG, long_part, long_share),
        (VARIANTS, variants_part, variants_share),
    ):
        for name in names if of_trials > 0 else ():
            experiment = made(name, of_trials)
            if experiment is not None and policies:
                experiment = beside_default(experiment, policies)
                if experiment is None:
                    print(f"{name}{end}: no such policy fits", flush=True)
            if experiment is not None:
                print(f"{name}{end}: {of_trials:g} of the trials", flush=True)
                watched(experiment, folder / f"{name}{end}{beside}", workers)


def played(folder: Path, *ends: str) -> list[Results]:
    """All that is there, whether or not it was asked for now."""
    there = []
    for name in [f"{name}{end}" for end in ends for name in part_names()]:
        for place in [folder / name, *sorted(folder.glob(f"{name}{BESIDE}*"))]:
            if not (place / "experiment.json").exists():
                continue
            results = Results(place)
            finished = results.ledger.finished()
            if any(cell["part"] in finished for cell in results.ledger.index()):
                there.append(results)
    return there


def standings_of(folder: Path) -> list[Standing]:
    """A row for each policy, and each variant of the default, in each cell that is there."""
    parts = played(folder, "", LONG)
    cells = played_cells(parts)
    own = {
        (cell.group, cell.horizon): cell.regrets[DEFAULT]
        for cell in cells
        if DEFAULT in cell.regrets
    }
    variants = [
        PlayedCell(*spot, {DEFAULT: own[spot], **cell.regrets})
        for cell in played_cells(played(folder, VARIANTS))
        if (spot := (cell.group, cell.horizon)) in own
    ]
    rows = standings(variants, DEFAULT, {})
    found = standings(cells, DEFAULT, round_costs(parts)) + [
        row for row in rows if row.policy != DEFAULT
    ]
    today = date.today().isoformat()
    return [replace(row, played=today) for row in found]


def write(rows: list[Standing], docs: Path) -> None:
    """The table of all rows, the page and its picture."""
    from ossb.figures.canvas import paper_style
    from regret_grid.heat_map import draw_ratios

    docs.mkdir(parents=True, exist_ok=True)
    write_standings(rows, docs / TABLE)
    rows = read_standings(docs / TABLE)  # the page is of what is kept, digit for digit
    others = [row for row in rows if not row.policy.startswith(f"{DEFAULT}:")]
    cells = grid_cells(others, DEFAULT)
    beside = [row for row in rows if row.policy in (DEFAULT, *variant_labels())]
    variants = [cell for cell in grid_cells(beside, DEFAULT) if len(cell.standings) > 1]
    order = [score.policy for score in scores(cells, DEFAULT)]
    with paper_style():
        saved(draw_ratios(cells, order), docs / "regret.png", DRAWN_DPI, COLOURS)
    (docs / regret_page.FOLDER).mkdir(exist_ok=True)
    for name, text in regret_page.pages(cells, variants).items():
        (docs / name).write_text(text, "utf-8")
    print(f"wrote {docs / 'regret.md'}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="parts of the grid; all")
    parser.add_argument("--share", type=float, default=1.0, help="of the trials; 0 for none")
    parser.add_argument("--long-share", type=float, default=1.0, help="of the longer ones")
    parser.add_argument("--variants-share", type=float, default=1.0, help="of hgl's variants")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "regret")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="where to write")
    parser.add_argument("--kept", type=Path, default=ROOT / "docs" / TABLE, help="rows to add to")
    parser.add_argument("--afresh", action="store_true", help="leave out the rows that are kept")
    parser.add_argument("--policy", action="append", default=[], help="play this, and hgl, alone")
    parser.add_argument("--anew", action="append", default=[], help="its rule is not as it was")
    parser.add_argument("--changed", action="store_true", help="hgl is not as it was")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0 takes all cores")
    said = parser.parse_args(arguments)
    shares = said.share, said.long_share, 0.0 if said.policy else said.variants_share
    rows = read_standings(said.kept) if said.kept.exists() and not said.afresh else []
    play(said.parts or part_names(), said.results, *shares, said.policy, said.workers)
    now = standings_of(said.results)
    rows = merged(beside_changed(rows, now, DEFAULT) if said.changed else rows, now, said.anew)
    if not rows:
        raise InputError("results", "hold finished cells", str(said.results))
    write(rows, said.docs)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except OssbError as error:
        raise SystemExit(f"error: {error}") from None
