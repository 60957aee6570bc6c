"""Play the regret grid, and write its page.

    python tools/regret.py [PART ...] [--share 0.1] [--long-share 0.1] [--variants-share 0.1]
        [--workers 2]

Without parts, all of them.  What is missing is played into ``results/regret``; the same command
again goes on where it stopped, and a larger share adds trials.  The page, ``docs/regret.md``, is
of all that is there, with its counts.
"""

import argparse
from pathlib import Path

import regret_page
from ossb.cli.playing import play as watched
from ossb.experiments.costs import round_costs
from ossb.experiments.grid import DEFAULT, long_part, part, part_names, variants_part
from ossb.experiments.ratios import GridCell, grid_cells, scores
from ossb.experiments.results import Results

ROOT = Path(__file__).resolve().parents[1]
DRAWN_DPI = 120
COLOURS = 64
LONG, VARIANTS = "-long", "-variants"  # what folders of other runs of a part end in


def play(
    names: list[str],
    folder: Path,
    share: float,
    long_share: float,
    variants_share: float,
    workers: int,
) -> None:
    """What is missing of the parts, then of their longer runs and of variants of the default."""
    for end, made, of_trials in (
        ("", part, share),
        (LONG, long_part, long_share),
        (VARIANTS, variants_part, variants_share),
    ):
        for name in names if of_trials > 0 else ():
            experiment = made(name, of_trials)
            if experiment is not None:
                print(f"{name}{end}: {of_trials:g} of the trials", flush=True)
                watched(experiment, folder / f"{name}{end}", workers)


def played(folder: Path, *ends: str) -> list[Results]:
    """All that is there, whether or not it was asked for now."""
    there = []
    for name in [f"{name}{end}" for end in ends for name in part_names()]:
        if (folder / name / "experiment.json").exists():
            results = Results(folder / name)
            finished = results.ledger.finished()
            if any(cell["part"] in finished for cell in results.ledger.index()):
                there.append(results)
    return there


def with_default(variants: list[GridCell], cells: list[GridCell]) -> list[GridCell]:
    """Cells of variants, with the default's own regrets in them."""
    own = {(cell.group, cell.horizon): cell.regrets[DEFAULT] for cell in cells}
    return [
        GridCell(cell.group, cell.horizon, {**cell.regrets, DEFAULT: own[cell.group, cell.horizon]})
        for cell in variants
        if (cell.group, cell.horizon) in own
    ]


def write(folder: Path, docs: Path) -> None:
    """The page and its picture."""
    from io import BytesIO

    from PIL import Image

    from ossb.figures.canvas import paper_style
    from ossb.figures.heat_map import draw_ratios

    parts = played(folder, "", LONG)
    cells = [cell for cell in grid_cells(parts) if DEFAULT in cell.regrets]
    variants = with_default(grid_cells(played(folder, VARIANTS)), cells)
    order = [score.policy for score in scores(cells, DEFAULT)]
    drawn = BytesIO()
    with paper_style():
        draw_ratios(cells, order).savefig(drawn, format="png", dpi=DRAWN_DPI)
    picture = Image.open(drawn).convert("RGB")
    few = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    docs.mkdir(parents=True, exist_ok=True)
    few.save(docs / "regret.png", optimize=True)
    (docs / "regret.md").write_text(regret_page.page(cells, round_costs(parts), variants), "utf-8")
    print(f"wrote {docs / 'regret.md'}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="parts of the grid; all")
    parser.add_argument("--share", type=float, default=1.0, help="of the trials; 0 for none")
    parser.add_argument("--long-share", type=float, default=1.0, help="of the longer ones")
    parser.add_argument("--variants-share", type=float, default=1.0, help="of hgl's variants")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "regret")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0 takes all cores")
    said = parser.parse_args(arguments)
    shares = said.share, said.long_share, said.variants_share
    play(said.parts or part_names(), said.results, *shares, said.workers)
    write(said.results, said.docs)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
