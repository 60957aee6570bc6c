"""Play the frozen rows of a version of ossb-suite, and write them and the page of the standing.

    python tools/suite.py [--share S]

Rows go to ``src/ossb/suite/frozen-1.json``, the page to ``docs/suite.md``.  What is played is kept
in ``results/suite-1``; the same command again plays what is missing.
"""

import argparse
import platform
from datetime import date
from importlib.metadata import version as installed
from pathlib import Path

import ossb
from ossb.cli.run_progress import play
from ossb.suite.definition import NEWEST, suite, trials_of
from ossb.suite.frozen import Frozen, written
from ossb.suite.lines import played, refusals
from suite_page import page

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("numpy", "numba", "highspy")


def freeze(version: int, share: float, folder: Path, workers: int) -> Frozen:
    """All rows of a version, by the code as it is."""
    found = suite(version)
    chosen = [
        (one, tuple(policy for policy in one.policies if not refusals([one], policy)))
        for one in found.instances
    ]
    lines = played(
        found,
        chosen,
        trials_of(found, share),
        folder,
        lambda experiment, place: play(experiment, place, workers),
    )
    bounds = {one.name: float(f"{ossb.bound(one.instance).value:.6g}") for one in found.instances}
    order = [one.name for one in found.instances]
    lines.sort(key=lambda line: order.index(line.instance))
    made = {
        "on": date.today().isoformat(),
        "with": {
            "python": platform.python_version(),
            **{name: installed(name) for name in ("ossb", *PACKAGES)},
        },
    }
    return Frozen(made, bounds, tuple(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--version", type=int, default=NEWEST)
    parser.add_argument("--share", type=float, default=1.0, help="of the trials, for a try")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0 takes all cores")
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--out", type=Path, default=ROOT / "src" / "ossb" / "suite")
    chosen = parser.parse_args()
    folder = chosen.results / f"suite-{chosen.version}" / "frozen"
    rows = freeze(chosen.version, chosen.share, folder, chosen.workers)
    target = chosen.out / f"frozen-{chosen.version}.json"
    target.write_text(written(rows), "utf-8")
    print(f"wrote {target}, {target.stat().st_size / 1000:.0f} kB", flush=True)
    if chosen.share == 1.0:
        described = ROOT / "docs" / "suite.md"
        described.write_text(page(suite(chosen.version), rows), "utf-8")
        print(f"wrote {described}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
