"""Semi-bandit bounds: success, time, a reference, scale, warm rates and what compiling costs.

    python benchmarks/semi_bandit.py [--quick] [--part sizes]

Times are CPU time of one core, compilation excluded.  A solve counts as a success if both of
its bounds, recomputed in long double from the arms alone, are within 1e-6.  The reference is
CVXPY with Clarabel, on the program rescaled by the known optimum: the plain model is wrong by
percents on the larger sizes.  Ratios are between medians of one run.

A row is of sets of ``m`` out of ``d`` items, their means ``uniform`` in [0, 1], or such that the
last item in the best set is but 1e-4 better than the next (``tie1e-4``).  ``median`` and ``p99``
are microseconds of a cold solve of ours, ``CVXPY ms`` milliseconds of the reference, of which
three instances are timed, and ``differs`` the median relative distance of its value.  A run with
``--quick`` has 20 instances in each row in place of 500, and no reference for the 495 arms of the
last size.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time

import cvxpy as cp
import numpy as np

from ossb.arm_sets import MSets, Paths
from ossb.families import family_named
from ossb.graves_lai.program.warm import LEADER, NOBODY
from ossb.graves_lai.semi_bandit.bernoulli_items import BernoulliItems
from ossb.graves_lai.semi_bandit.detours import solve_paths
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.matroid import solve_matroid
from ossb.graves_lai.semi_bandit.rates import rates, start
from ossb.graves_lai.semi_bandit.solve import solve

GAP = 1e-6
SIZES = ((6, 3), (10, 3), (12, 4))
COMPILING = """
import time
import numpy as np
from ossb.graves_lai.semi_bandit.bernoulli_items import BernoulliItems
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.rates import rates, start
memory = start(np.eye(4), {items}(1.0))
phi = np.array([0.1, 0.6, 0.3, 0.2])
started = time.process_time()
rates.compiled(phi, 0.0, memory, np.empty(4))
print(time.process_time() - started)
"""


def m_sets(n_items, size):
    sets = itertools.combinations(range(n_items), size)
    return np.array([np.isin(np.arange(n_items), chosen) for chosen in sets], dtype=float)


def item_means(rng, n_items, size, tie):
    phi = rng.uniform(0, 1, n_items)
    if tie:
        order = np.argsort(-phi)
        phi[order[size]] = phi[order[size - 1]] - 1e-4
    return phi


def certified(arms, phi, solution):
    """Whether both bounds, by definition and in long double, are within the gap."""
    arms, phi = arms.astype(np.longdouble), phi.astype(np.longdouble)
    best = int(np.argmax(arms @ phi))
    gaps = arms[best] @ phi - arms @ phi
    eta = solution.rates.astype(np.longdouble)
    member = arms * (arms[best] == 0)
    weights = eta @ arms
    inverse = np.where(weights > 0, 1 / np.where(weights > 0, weights, 1), np.inf)
    spread = (np.where(member > 0, inverse, 0)).sum(axis=1)
    others = spread > 0
    upper = (eta @ gaps) * (2 * spread[others] / gaps[others] ** 2).max()
    confusing = solution.confusing.astype(np.longdouble)
    pull = solution.weights @ ((confusing - phi) ** 2 / 2)
    lower = solution.weights.sum() / (arms[gaps > 0] @ pull / gaps[gaps > 0]).max()
    return bool(upper - lower <= GAP * upper)


def reference(arms, phi, value):
    """CPU seconds of CVXPY with Clarabel, and its relative distance from ``value``."""
    rewards = arms @ phi
    best = int(np.argmax(rewards))
    gaps = rewards[best] - rewards
    outside = arms[best] == 0
    started = time.process_time()
    eta = cp.Variable(len(arms), nonneg=True)
    weights = arms.T @ eta
    constraints = [
        cp.sum(cp.inv_pos(weights[np.flatnonzero((arm > 0) & outside)])) <= value * gap**2 / 2
        for arm, gap in zip(arms, gaps, strict=True)
        if gap > 0
    ]
    problem = cp.Problem(cp.Minimize(gaps @ eta), constraints)
    problem.solve(solver="CLARABEL")
    return time.process_time() - started, abs(problem.value - 1.0)


def cold_microseconds(phi, memory, out):
    memory.held.sizes[LEADER] = NOBODY
    started = time.process_time_ns()
    rates.compiled(phi, 0.0, memory, out)
    return (time.process_time_ns() - started) / 1e3


def table_of_sizes(quick):
    print("m-sets, listed: certified to 1e-6, cold solve in microseconds, against CVXPY")
    print(f"{'d,m':>6} {'arms':>5} {'means':>7} {'success':>9} {'median':>8} {'p99':>8}", end="")
    print(f" {'CVXPY ms':>9} {'ratio':>7} {'differs':>8}")
    for n_items, size in SIZES:
        arms = m_sets(n_items, size)
        for tie in (False, True):
            rng = np.random.default_rng(0)
            memory, out = start(arms, GaussianItems()), np.empty(len(arms))
            cold_microseconds(item_means(rng, n_items, size, tie), memory, out)
            n_trials, success, times, slow = 20 if quick else 500, 0, [], []
            for k in range(n_trials):
                phi = item_means(rng, n_items, size, tie)
                times.append(cold_microseconds(phi, memory, out))
                solution = solve(arms, phi, GAP, compiled=True)
                success += certified(arms, phi, solution)
                if k < (3 if len(arms) < 300 else 1) and not (quick and len(arms) > 300):
                    slow.append(reference(arms, phi, solution.upper))
            median, late = np.median(times), np.quantile(times, 0.99)
            means = "tie1e-4" if tie else "uniform"
            print(f"{n_items:>3},{size:<2} {len(arms):>5} {means:>7}", end="")
            print(f" {success:>4}/{n_trials:<4} {median:>8.0f} {late:>8.0f}", end="")
            if slow:
                seconds, error = np.median(slow, axis=0)
                ratio = 1e6 * seconds / median
                print(f" {1e3 * seconds:>9.0f} {ratio:>7.0f} {error:>8.0e}", end="")
            print(flush=True)


def table_of_warm_rates(quick):
    print("\nwarm rates on the 120 3-sets of 10 items, microseconds a call (median)")
    arms = m_sets(10, 3)
    print(f"{'items':>9} {'change':>8} {'kappa=0':>9} {'1e-3':>9} {'1e-2':>9}")
    for items, change in itertools.product((GaussianItems(), BernoulliItems()), (1e-2, 1e-3, 1e-4)):
        row = []
        for kappa in (0.0, 1e-3, 1e-2):
            rng = np.random.default_rng(1)
            phi, memory, out, times = (
                rng.uniform(0.1, 0.9, 10),
                start(arms, items),
                np.empty(120),
                [],
            )
            for _ in range(50 if quick else 500):
                phi = np.clip(phi + change * rng.normal(size=10), 0.02, 0.98)
                started = time.process_time_ns()
                rates.compiled(phi, kappa, memory, out)
                times.append((time.process_time_ns() - started) / 1e3)
            row.append(np.median(times))
        values = " ".join(f"{value:>9.1f}" for value in row)
        print(f"{type(items).__name__[:-5]:>9} {change:>8.0e} {values}", flush=True)


def grid_paths(side):
    edges = []
    for row, column in itertools.product(range(side), repeat=2):
        node = row * side + column
        edges += [(node, node + 1)] if column + 1 < side else []
        edges += [(node, node + side)] if row + 1 < side else []
    return Paths(edges, 0, side * side - 1)


def table_of_scale(quick):
    print("\narm sets that are not listed: CPU seconds")
    phi = np.random.default_rng(0).uniform(0, 1, 100)
    started = time.process_time()
    answer = solve_matroid(MSets(100, 10), phi, family_named("gaussian", 1.0))
    seconds = time.process_time() - started
    print(f"m-sets d=100 m=10: {seconds:.3f} s, value {answer.upper:.6g}, gap {answer.gap:.1e}")
    for side in (10,) if quick else (10, 20, 30):
        paths = grid_paths(side)
        times, wall, gaps = [], [], []
        for seed, sign in itertools.product(range(3), (1.0, -1.0)):  # longest and shortest paths
            phi = sign * np.random.default_rng(seed).uniform(0, 1, paths.n_items)
            started, clock = time.process_time(), time.perf_counter()
            answer = solve_paths(paths, phi)
            times.append(time.process_time() - started)
            wall.append(time.perf_counter() - clock)
            gaps.append(answer.gap if answer.status == "certified" else np.inf)
        print(
            f"paths of a {side} x {side} grid ({paths.n_items} edges), {len(times)} instances: ",
            end="",
        )
        print(f"{min(times):.2f} to {max(times):.2f} s, wall clock ", end="")
        print(f"{min(wall):.2f} to {max(wall):.2f} s, largest gap {max(gaps):.1e}", flush=True)


def table_of_compiling(quick):
    print("\ncompiling `rates` cold, CPU seconds")
    for items in ("GaussianItems",) if quick else ("GaussianItems", "BernoulliItems"):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            command = [sys.executable, "-c", COMPILING.format(items=items)]
            done = subprocess.run(command, env=environment, capture_output=True, check=True)
        print(f"{items}: {float(done.stdout):.1f}", flush=True)


PARTS = {
    "sizes": table_of_sizes,
    "warm": table_of_warm_rates,
    "scale": table_of_scale,
    "compiling": table_of_compiling,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--part", choices=PARTS, help="only one table")
    options = parser.parse_args()
    for name, table in PARTS.items():
        if options.part in (None, name):
            table(options.quick)


if __name__ == "__main__":
    main()
