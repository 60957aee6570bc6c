"""Generalised linear bounds: time, certificates, a reference, and what compiling costs.

    python benchmarks/glm.py [--quick]

Times are of compiled code on one core; the reference is a cutting-plane method that describes
each alternative to CVXPY and lets Clarabel solve it, with HiGHS over the rates.  Ratios are
between medians of one run.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

from ossb.graves_lai.glm import certificate
from ossb.graves_lai.glm.solution import solve
from ossb.graves_lai.information.indices import indices
from ossb.graves_lai.information.links import LOG, LOGISTIC
from ossb.graves_lai.program import held, work_arrays
from ossb.graves_lai.program.warm import follow

GAP = 1e-6
SIZES = ((10, 2), (30, 3), (100, 3), (100, 5), (1000, 3))

COMPILING = """
import sys, time
import numpy as np
from ossb.graves_lai.glm.solution import solve
from ossb.graves_lai.information.indices import indices
from ossb.graves_lai.program import held, work_arrays
from ossb.graves_lai.program.warm import follow
rng = np.random.default_rng(0)
arms = rng.standard_normal((30, 3))
index = arms @ np.array([1.0, 0.2, -0.3])
best = int(np.argmax(index))
costs = 1 / (1 + np.exp(-index[best])) - 1 / (1 + np.exp(-index))
started = time.perf_counter()
if sys.argv[1] == "rates":
    information, memory = indices(0, arms, proofs=True), held(work_arrays(30, 30, 6))
    information.pose(0, index, 1.0, best, memory.work.plays)
    follow.compiled(information, best, 1e-2, memory, np.zeros(30))
else:
    solve(arms, index, best, costs, 0, compiled=sys.argv[1] == "compiled")
print(time.perf_counter() - started, "numba" in sys.modules)
"""


def posed(rng, n_arms, dimension, link):
    """A random instance: unit arms and a standard normal parameter."""
    arms = rng.standard_normal((n_arms, dimension))
    arms /= np.linalg.norm(arms, axis=1)[:, None]
    index = arms @ rng.standard_normal(dimension)
    best = int(np.argmax(index))
    costs = np.abs(certificate.changes(link, np.full(n_arms, index[best]), index - index[best]))
    return arms, index, best, costs, link


def recertified(problem, answer):
    """The relative gap, with both bounds recomputed in numpy."""
    arms, index, best, costs, link = problem
    others = np.delete(np.arange(len(arms)), best)
    directions = dict(zip(answer.open_arms.tolist(), answer.most_confusing, strict=True))
    proved = certificate.information(link, arms, index, best, answer.rates, directions)
    heaviest = certificate.heaviest(
        link, arms, index, costs, others, answer.directions, answer.weights
    )
    if not proved > 0:
        return np.inf
    upper = answer.rates @ costs / proved
    return 1 - answer.weights.sum() / heaviest / upper


def cold(count):
    """Cold solves: median and worst time, and how many were certified."""
    print(f"cold solves, certified to {GAP:g}, {count} instances each")
    print(
        f"{'link':>9} {'K':>5} {'d':>2} {'median ms':>10} {'p90':>8} {'max':>8} {'certified':>10}"
    )
    for link, name in ((LOGISTIC, "logistic"), (LOG, "log")):
        for n_arms, dimension in SIZES:
            rng = np.random.default_rng([n_arms, dimension])
            seconds, right = [], 0
            for _ in range(count):
                problem = posed(rng, n_arms, dimension, link)
                started = time.perf_counter()
                answer = solve(*problem, GAP, compiled=True)
                seconds.append(time.perf_counter() - started)
                right += recertified(problem, answer) <= 1.01 * GAP
            middle, high, top = 1e3 * np.quantile(seconds, [0.5, 0.9, 1.0])
            row = f"{name:>9} {n_arms:>5} {dimension:>2} {middle:>10.3f} {high:>8.3f} {top:>8.3f}"
            print(f"{row} {right:>6}/{count}")


def cutting_planes(problem, rounds=60):
    """C(θ) of a logistic instance by CVXPY with Clarabel for each alternative, and HiGHS."""
    arms, index, best, costs, _ = problem
    others = np.delete(np.arange(len(arms)), best)
    rates, delta = cp.Parameter(others.size, nonneg=True), cp.Variable(arms.shape[1])
    margin, row = cp.Parameter(), cp.Parameter(arms.shape[1])
    u = index[others]
    means = certificate.means(LOGISTIC, u)[0]
    shift = arms[others] @ delta
    each = cp.logistic(u + shift) - np.logaddexp(0, u) - cp.multiply(means, shift)
    program = cp.Problem(
        cp.Minimize(rates @ each), [arms[best] @ delta == 0, row @ delta == margin]
    )
    centre, rows, upper, lower = 1 / costs[others], [], np.inf, 0.0
    for _ in range(rounds):
        rates.value = centre / centre.max()
        first = len(rows)
        for arm in others:
            row.value, margin.value = arms[arm], index[best] - index[arm]
            try:
                program.solve(solver=cp.CLARABEL)
            except cp.error.SolverError:  # far alternatives defeat it; they are rarely binding
                continue
            rows.append(certificate.divergences(LOGISTIC, u, arms[others] @ delta.value))
        information = min(one @ centre for one in rows[first:])
        cost = costs[others] @ centre / information
        if cost < upper:
            upper, inside = cost, centre / information
        answer = linprog(costs[others], A_ub=-np.array(rows), b_ub=-np.ones(len(rows)))
        lower = max(lower, answer.fun)
        if upper - lower <= 1e-4 * upper:
            break
        centre = 0.5 * (answer.x + inside)
    return lower, upper


def ratio(count):
    """Against CVXPY, which is stopped at a gap of 10⁻⁴: it would not get to 10⁻⁶ in minutes."""
    rng = np.random.default_rng(1)
    ours, theirs, off = [], [], []
    for _ in range(count):
        problem = posed(rng, 30, 3, LOGISTIC)
        started = time.perf_counter()
        answer = solve(*problem, GAP, compiled=True)
        ours.append(time.perf_counter() - started)
        started = time.perf_counter()
        lower, upper = cutting_planes(problem)
        theirs.append(time.perf_counter() - started)
        off.append(abs(0.5 * (lower + upper) / answer.upper - 1))
    print(
        f"\nlogistic 30 × 3: ours {1e3 * np.median(ours):.2f} ms to 1e-6, CVXPY cutting planes "
        f"{np.median(theirs):.1f} s, ratio {np.median(theirs) / np.median(ours):.0f}; "
        f"its values are off by up to {max(off):.0e}"
    )


def warm_use(rounds):
    """Verify, re-solve and cold solve along estimates that settle."""
    rng = np.random.default_rng(2)
    arms, _, _, _, _ = posed(rng, 30, 3, LOGISTIC)
    phi = rng.standard_normal(3)
    print("\nlogistic 30 × 3, estimates within a relative change of their last")
    print(f"{'change':>8} {'kappa':>6} {'median µs':>10} {'kept':>6}")
    for change in (1e-2, 1e-3, 1e-4):
        for kappa in (0.0, 1e-2):
            information = indices(LOGISTIC, arms, proofs=True)
            memory, out = held(work_arrays(30, 30, 6)), np.zeros(30)
            seconds, kept = [], 0
            for _ in range(rounds):
                index = arms @ (phi * (1 + change * rng.standard_normal(3)))
                leader = int(np.argmax(index))
                information.pose(LOGISTIC, index, 1.0, leader, memory.work.plays)
                started = time.perf_counter()
                gap = follow.compiled(information, leader, kappa, memory, out)
                seconds.append(time.perf_counter() - started)
                kept += gap > GAP
            share = kept / rounds
            print(f"{change:>8g} {kappa:>6g} {1e6 * np.median(seconds[1:]):>10.1f} {share:>6.2f}")


def compiling():
    """Seconds to the first answer of a fresh process with an empty cache."""
    print("\nfirst answer of a fresh process, empty cache, 30 × 3")
    for way in ("interpreted", "compiled", "rates"):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            call = [sys.executable, "-c", COMPILING, way]
            done = subprocess.run(call, env=environment, capture_output=True, text=True, check=True)
        seconds, loaded = done.stdout.split()
        print(f"{way:>12}: {float(seconds):.2f} s, numba imported: {loaded}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few instances, no reference")
    quick = parser.parse_args().quick
    warnings.filterwarnings("ignore", "Solution may be inaccurate")
    solve(*posed(np.random.default_rng(0), 30, 3, LOGISTIC), compiled=True)
    cold(5 if quick else 50)
    if not quick:
        ratio(3)
    warm_use(50 if quick else 1000)
    compiling()


if __name__ == "__main__":
    main()
