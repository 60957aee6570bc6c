"""Experiments: two processes against one, and the time a grid of 10⁴ cells takes to start.

What two processes can gain depends on the machine: virtual cores may be two threads of one.  So
two programs that know nothing of one another, each with half of the trials, are timed as well.
"""

import argparse
import subprocess
import sys
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


def apart(trials: int) -> float:
    """Seconds of the slower of two programs that share nothing but the machine."""
    command = [sys.executable, __file__, "--alone", str(trials)]
    programs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    return max(float(program.communicate()[0]) for program in programs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--alone", type=int, metavar="TRIALS", help=argparse.SUPPRESS)
    options = parser.parse_args()
    quick = options.quick
    if options.alone:
        seconds(grid(10, 1, 1), 1)
        print(seconds(grid(100_000, options.alone, 5), 1))
        return
    seconds(grid(10, 1, 1), 1)  # compiled before anything is timed
    trials = 40 if quick else 400
    experiment = grid(100_000, trials, 5)
    one, two, free = seconds(experiment, 1), seconds(experiment, 2), apart(trials // 2)
    print(f"one process       {one:7.2f} s")
    print(f"two               {two:7.2f} s   {one / two:.2f} times as fast")
    print(f"two programs      {free:7.2f} s   {one / free:.2f} times: all that the machine has")
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
