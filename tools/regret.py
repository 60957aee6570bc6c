"""Play the regret grid, and write its page.

    python tools/regret.py [PART ...] [--share 0.1] [--long-share 0.1] [--workers 2]

Without parts, all of them.  What is missing is played into ``results/regret``; the same command
again goes on where it stopped, and a larger share adds trials.
"""

import argparse
from pathlib import Path

from ossb.experiments.grid import long_part, part, part_names
from ossb.experiments.run import run

ROOT = Path(__file__).resolve().parents[1]


def play(names: list[str], folder: Path, share: float, long_share: float, workers: int) -> None:
    for name in names:
        print(f"{name}: {share:g} of the trials", flush=True)
        run(part(name, share), folder / name, workers=workers)
    for name in names if long_share > 0 else ():
        longer = long_part(name, long_share)
        if longer is not None:
            print(f"{name}: {long_share:g} of the longer trials", flush=True)
            run(longer, folder / f"{name}-long", workers=workers)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="parts of the grid; all")
    parser.add_argument("--share", type=float, default=1.0, help="of the trials")
    parser.add_argument("--long-share", type=float, default=1.0, help="of the longer ones; may be 0")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "regret")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    parser.add_argument("--workers", type=int, default=1)
    chosen = parser.parse_args(arguments)
    play(chosen.parts or part_names(), chosen.results, chosen.share, chosen.long_share, chosen.workers)


if __name__ == "__main__":
    main()
