"""Lipschitz bandits: our simplex against HiGHS, in one run.

    python benchmarks/lipschitz.py [--quick]

``K`` Bernoulli arms on a line under a piecewise linear mean.  All times are medians of
processor time, in microseconds.
``build`` sets up the whole program, ``verify`` one moved column and both bounds of the held
solution.  ``cold`` solves the program from nothing.  ``warm 1e+03`` re-solves to optimality after
one mean moved by N(0, 1) · K / 2t, t = 1,000, from the basis before the move, in as many
``pivots``; HiGHS gets that basis too, and only its ``run`` is timed, on one thread.  ``ratio`` is
the time of HiGHS over ours to the left of it.  ``gap`` is the largest relative distance of our two
bounds, ``difference`` that of the two values.  ``compile`` is the first use of a kernel with an
empty cache, in a process of its own; ``--no-compile`` leaves it out.

A run with ``--quick`` has 10, 10, 3 and 1 instances of the four sizes, in place of 40, 40, 8 and 2.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import highspy
import numpy as np
import scipy.sparse

from ossb.families import Bernoulli, Family
from ossb.graves_lai.lipschitz import LipschitzMemory, rates, start
from ossb.graves_lai.lipschitz.memory import ARM, COSTS, LEADER, MATRIX, PIVOTS
from ossb.graves_lai.lipschitz.program import update
from ossb.graves_lai.lipschitz.tableau import cold
from ossb.kernels import kernel

FAMILY = Bernoulli()
TIMES = (1e3, 1e4, 1e5)
INSTANCES = {20: 40, 50: 40, 200: 8, 1000: 2}
QUICK = {20: 10, 50: 10, 200: 3, 1000: 1}
REPEATS = {20: 200, 50: 100, 200: 10, 1000: 2}

COMPILE = """
import time, numpy as np
from ossb.families import Bernoulli
from ossb.graves_lai.lipschitz import rates, start
from ossb.graves_lai.lipschitz.memory import blank
from ossb.graves_lai.lipschitz.repair import repair
from ossb.graves_lai.lipschitz.tableau import cold
import numba
numba.njit(lambda x: x + 1)(1.0)
line = np.abs(np.arange(4.0)[:, None] - np.arange(4.0)[None])
wall, cpu = time.perf_counter(), time.process_time()
{call}
print(time.perf_counter() - wall, time.process_time() - cpu)
"""
CALLS = {
    "rates": "rates.compiled(line, Bernoulli(), np.full(4, 0.5), 0.0, start(line), np.zeros(4))",
    "repair": "repair.compiled(blank(4), 0)",
    "cold": "cold.compiled(blank(4))",
}


@kernel
def repeat_build(
    distances: np.ndarray, family: Family, theta: np.ndarray, memory: LipschitzMemory, times: int
) -> None:
    for _ in range(times):
        memory.state[LEADER] = -1
        update(distances, family, theta, memory)


@kernel
def repeat_cold(memory: LipschitzMemory, times: int) -> None:
    for _ in range(times):
        cold(memory)


@kernel
def alternate(
    distances: np.ndarray,
    family: Family,
    estimates: np.ndarray,
    kappa: float,
    memory: LipschitzMemory,
    out: np.ndarray,
    times: int,
) -> float:
    worst = 0.0
    for i in range(times):
        worst = max(worst, rates(distances, family, estimates[i % 2], kappa, memory, out))
    return worst


def instance(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    points = np.linspace(0.0, 1.0, n)
    theta = np.interp(points, np.linspace(0.0, 1.0, 8), rng.uniform(0.15, 0.85, 8))
    constant = max(1.1 * np.abs(np.diff(theta)).max() * (n - 1), 1e-3)
    return theta, constant * np.abs(points[:, None] - points[None])


def moved(theta: np.ndarray, t: float, rng: np.random.Generator) -> np.ndarray:
    """One mean moved, the best arm the same."""
    while True:
        other = theta.copy()
        arm = int(rng.integers(theta.size))
        other[arm] = np.clip(other[arm] + rng.standard_normal() * 0.5 * theta.size / t, 0.02, 0.98)
        if np.argmax(other) == np.argmax(theta):
            return other


def highs(memory: LipschitzMemory) -> highspy.Highs:
    """The program that a memory holds, as a HiGHS model."""
    take = memory.active
    costs = memory.vectors[COSTS][take]
    table = scipy.sparse.csc_matrix((memory.squares[MATRIX] * memory.vectors[COSTS])[take][:, take])
    n = costs.size
    program = highspy.HighsLp()
    program.num_col_ = program.num_row_ = n
    program.col_cost_, program.col_lower_ = costs, np.zeros(n)
    program.row_lower_, program.row_upper_ = np.ones(n), np.full(n, np.inf)
    program.col_upper_ = np.full(n, np.inf)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = table.indptr, table.indices
    program.a_matrix_.value_ = table.data
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.passModel(program)
    return model


def microseconds(call, *arguments, times: int = 1) -> float:
    started = time.process_time()
    call(*arguments)
    return (time.process_time() - started) * 1e6 / times


def measure(n: int, instances: int, times: int) -> dict[str, float]:
    rng = np.random.default_rng(3)
    found: dict[str, list[float]] = {}
    run = alternate.compiled

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for _ in range(instances):
        theta, distances = instance(n, rng)
        memory, out = start(distances), np.zeros(n)
        rates.compiled(distances, FAMILY, theta, 0.0, memory, out)
        build = (distances, FAMILY, theta, memory, times)
        note("build", microseconds(repeat_build.compiled, *build, times=times))
        note("cold", microseconds(repeat_cold.compiled, memory, times, times=times))
        model = highs(memory)
        note("cold HiGHS", microseconds(model.run))
        value = float(memory.vectors[COSTS] @ out[memory.indices[ARM]])
        difference = abs(value / model.getInfo().objective_function_value - 1)
        note("difference", difference)
        basis = model.getBasis()
        for t in TIMES:
            estimates = np.array([moved(theta, t, rng), theta])
            pair = (distances, FAMILY, estimates)
            run(*pair, 0.0, memory, out, 2)
            pivots = memory.state[PIVOTS]
            spent = microseconds(run, *pair, 0.0, memory, out, 2 * times, times=2 * times)
            note(f"warm {t:.0e}", spent)
            note(f"pivots {t:.0e}", (memory.state[PIVOTS] - pivots) / (2 * times))
            note("gap", run(*pair, 0.0, memory, out, 2))
            note("verify", microseconds(run, *pair, 1.0, memory, out, 2 * times, times=2 * times))
            run(*pair, 0.0, memory, out, 1)
            again = highs(memory)
            again.setBasis(basis)
            note(f"warm HiGHS {t:.0e}", microseconds(again.run))
            run(*pair, 0.0, memory, out, 2)
    worst = {"gap", "difference"}
    return {k: max(v) if k in worst else float(np.median(v)) for k, v in found.items()}


def compile_seconds() -> None:
    print("\ncompile, cold cache: kernel, wall seconds, processor seconds")
    for name, call in CALLS.items():
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-c", COMPILE.format(call=call)],
                env={**os.environ, "NUMBA_CACHE_DIR": folder},
                capture_output=True,
                text=True,
                check=True,
            )
        wall, cpu = (float(word) for word in done.stdout.split())
        print(f"{name:>10} {wall:8.1f} {cpu:8.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-compile", action="store_true", help="leave the last table out")
    options = parser.parse_args()
    quick = options.quick
    measure(20, 1, 1)  # compiles
    header = ["K", "build", "cold", "HiGHS", "ratio", "verify"]
    for t in TIMES:
        header += [f"warm {t:.0e}", "HiGHS", "ratio", "pivots"]
    print("".join(f"{word:>11}" for word in [*header, "gap", "difference"]))
    for n, instances in (QUICK if quick else INSTANCES).items():
        row = measure(n, instances, REPEATS[n])
        cells = [row["build"], row["cold"], row["cold HiGHS"], row["cold HiGHS"] / row["cold"]]
        cells.append(row["verify"])
        for t in (f"{t:.0e}" for t in TIMES):
            cells += [row[f"warm {t}"], row[f"warm HiGHS {t}"]]
            cells += [row[f"warm HiGHS {t}"] / row[f"warm {t}"], row[f"pivots {t}"]]
        text = "".join(f"{cell:11.1f}" for cell in cells)
        print(f"{n:11d}{text}{row['gap']:11.0e}{row['difference']:11.0e}", flush=True)
    if not options.no_compile:
        compile_seconds()


if __name__ == "__main__":
    main()
