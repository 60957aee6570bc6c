"""Experiments: two processes against one, and the time a grid of 10⁴ cells takes to start."""

import argparse
import tempfile
import time

from ossb.experiments.cells import cells
from ossb.experiments.definition import parse
from ossb.experiments.ledger import Ledger
from ossb.experiments.run import run


def grid(horizon: int, trials: int, block: int):
    theta = [0.9, 0.8, 0.8, 0.7, 0.7, 0.6, 0.5, 0.5, 0.4, 0.3]
    return parse(
        {
            "name": "speed",
            "horizon": horizon,
            "trials": trials,
            "block": block,
            "policies": ["kl-ucb", "ucb1"],
            "instances": [{"structure": "classical", "observation": "bernoulli", "theta": theta}],
        }
    )


def seconds(experiment, workers: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        run(experiment, folder, workers=workers)
        return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    seconds(grid(10, 1, 1), 1)  # compiled before anything is timed
    experiment = grid(100_000, 20 if quick else 200, 5)
    one, two = seconds(experiment, 1), seconds(experiment, 2)
    print(f"one process  {one:7.2f} s\ntwo          {two:7.2f} s   {one / two:.2f} times as fast")
    large = grid(10, 5000, 1)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        all_cells = list(cells(large))
        ledger = Ledger(folder)
        ledger.open(large, all_cells)
        begun = time.perf_counter() - started
        for cell in all_cells:
            ledger.part(cell.key).touch()
        started = time.perf_counter()
        run(large, folder)
        resumed = time.perf_counter() - started
    print(f"{len(all_cells)} cells start in {begun:.2f} s, resume in {resumed:.2f} s")


if __name__ == "__main__":
    main()
