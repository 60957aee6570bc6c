"""Play the regret grid, and write its page.

    python tools/regret.py [PART ...] [--share 0.1] [--long-share 0.1] [--workers 2]

Without parts, all of them.  What is missing is played into ``results/regret``; the same command
again goes on where it stopped, and a larger share adds trials.  The page, ``docs/regret.md``, is
of all that is there, with its counts.
"""

import argparse
from pathlib import Path

import regret_page
from ossb.experiments.grid import long_part, part, part_names
from ossb.experiments.ratios import grid_cells, scores
from ossb.experiments.results import Results
from ossb.experiments.run import run

ROOT = Path(__file__).resolve().parents[1]
DRAWN_DPI = 120
COLOURS = 64


def play(names: list[str], folder: Path, share: float, long_share: float, workers: int) -> None:
    """What is missing of the parts, then of their longer runs."""
    if share > 0:
        for name in names:
            print(f"{name}: {share:g} of the trials", flush=True)
            run(part(name, share), folder / name, workers=workers)
    if long_share > 0:
        for name in names:
            longer = long_part(name, long_share)
            if longer is not None:
                print(f"{name}: {long_share:g} of the longer trials", flush=True)
                run(longer, folder / f"{name}-long", workers=workers)


def played(folder: Path) -> list[Results]:
    """All that is there, whether or not it was asked for now."""
    there = []
    for name in [f"{name}{end}" for end in ("", "-long") for name in part_names()]:
        if (folder / name / "experiment.json").exists():
            results = Results(folder / name)
            finished = results.ledger.finished()
            if any(cell["part"] in finished for cell in results.ledger.index()):
                there.append(results)
    return there


def write(folder: Path, docs: Path) -> None:
    """The page and its picture."""
    from io import BytesIO

    from PIL import Image

    from ossb.figures.canvas import paper_style
    from ossb.figures.heat_map import draw_ratios

    cells = [cell for cell in grid_cells(played(folder)) if regret_page.HGL in cell.regrets]
    order = [score.policy for score in scores(cells, regret_page.HGL)]
    drawn = BytesIO()
    with paper_style():
        draw_ratios(cells, order).savefig(drawn, format="png", dpi=DRAWN_DPI)
    picture = Image.open(drawn).convert("RGB")
    few = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    docs.mkdir(parents=True, exist_ok=True)
    few.save(docs / "regret.png", optimize=True)
    (docs / "regret.md").write_text(regret_page.page(cells), "utf-8")
    print(f"wrote {docs / 'regret.md'}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="parts of the grid; all")
    parser.add_argument("--share", type=float, default=1.0, help="of the trials; 0 for none")
    parser.add_argument("--long-share", type=float, default=1.0, help="of the longer ones")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "regret")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    parser.add_argument("--workers", type=int, default=1)
    said = parser.parse_args(arguments)
    play(said.parts or part_names(), said.results, said.share, said.long_share, said.workers)
    write(said.results, said.docs)


if __name__ == "__main__":
    main()
