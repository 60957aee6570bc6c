"""Certificates forged at random and by a search: ``python benchmarks/forgeries.py``.

For every structure, family, cost of plays and question, as far as structures take them, right
certificates with numbers changed, dropped, doubled and swapped (``--mutations``), and two searches
that keep what proves more (``--steps`` each).  "above" and "below" are how far, relative to C, the
largest proved lower side was above C and the least proved upper side below it: none may be
positive.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import forging


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=1_000)
    parser.add_argument("--steps", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("cases", nargs="*", default=list(forging.EVERY))
    chosen = parser.parse_args()
    print("| case | tried | accepted | above | below | false | seconds |")
    print("|---|---|---|---|---|---|---|")
    tried = false = 0
    for name in chosen.cases:
        begun = time.perf_counter()
        rng = np.random.default_rng(chosen.seed)
        tally = forging.attack(name, chosen.mutations, rng)
        forging.climb(name, chosen.steps, rng, tally)
        tried, false = tried + tally.tried, false + len(tally.false)
        print(
            f"| {name} | {tally.tried} | {tally.accepted} | {tally.above:.1e} | "
            f"{tally.below:.1e} | {len(tally.false)} | {time.perf_counter() - begun:.0f} |",
            flush=True,
        )
    print(f"\n{tried} forgeries, {false} false claims that pass")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
