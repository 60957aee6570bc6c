"""How fast and how reliable linear bounds are.

    python benchmarks/linear.py [--quick] [--part b]

Times are CPU times of the compiled kernels, called from Python; compare them as ratios of one run.
In part (b), ``K, d`` are the numbers of arms, drawn from the unit sphere, and of dimensions, and
``ours`` is a cold solve to a relative gap of 1e-6: work arrays are reused, no solution is.
``Clarabel`` is the time of its ``solve`` on the same program, its matrices made beforehand, over
ours; ``CVXPY`` the same with Clarabel called through it, which counts what it makes of the
program; ``-`` was not run.  ``difference`` is the largest of both, relative.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

from families.linear import FAMILIES, draw, recertified_gap, unit  # noqa: E402
from ossb.graves_lai.information.quadratic import quadratic  # noqa: E402
from ossb.graves_lai.linear import rates, solve, start  # noqa: E402
from ossb.graves_lai.program import symmetric, work_arrays  # noqa: E402
from ossb.graves_lai.program.generation import generate  # noqa: E402
from ossb.graves_lai.program.warm import COLD, WARM, bounds_held  # noqa: E402
from ossb.kernels import separate_kernel  # noqa: E402

GAP = 1e-6


def timed(function, *arguments):
    begun = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - begun


def cold(arms, best, gaps, gap=GAP):
    """Seconds of one cold compiled solve, and its solution."""
    gaps = gaps.astype(float)
    _, seconds = timed(generate.compiled, *posed(arms, best, gaps, gap))
    return seconds, solve(arms, best, gaps, gaps, gap, compiled=True)


def posed(arms, best, gaps, gap=GAP):
    """What a cold solve is called with."""
    n_arms, dimension = arms.shape
    arms = np.ascontiguousarray(arms)
    information = quadratic(arms, arms)
    information.is_free[best] = 1
    work = work_arrays(n_arms, n_arms, symmetric(dimension))
    information.margins[:] = work.plays.costs[:] = gaps / gaps.max()
    return information, -1, 0, 0, 0.5 * gap, np.inf, 0.0, work


def reliability(count):
    print(f"\n(a) {count} random instances a family, certified again in long double")
    print(f"{'family':28s} {'solved':>10s} {'largest gap':>12s} {'median µs':>10s} {'p99 µs':>9s}")
    whole = True
    for number, family in enumerate(FAMILIES):
        rng = np.random.default_rng(number)
        seconds, found = [], []
        for _ in range(count):
            arms, best, gaps = draw(family, rng)
            spent, solution = cold(arms, best, gaps)
            seconds.append(spent)
            found.append(recertified_gap(arms, best, gaps, solution))
        solved = int((np.array(found) <= GAP).sum())
        whole &= solved == count
        median, slow = np.percentile(np.array(seconds) * 1e6, [50, 99])
        print(
            f"{family:28s} {solved:5d}/{count:<4d} {max(found):12.1e} {median:10.0f} {slow:9.0f}",
            flush=True,
        )
    print("every instance solved" if whole else "SOME INSTANCES WERE NOT SOLVED")


def columns_and_rows(arms, best, gaps):
    keep = np.arange(len(arms)) != best
    complement = np.linalg.svd(arms[best][None])[2][1:]
    z = arms[keep] @ complement.T
    return z / np.sqrt(gaps[keep])[:, None], z / gaps[keep][:, None]


def with_cvxpy(arms, best, gaps):
    import cvxpy as cp

    a, b = columns_and_rows(arms, best, gaps)
    rank = a.shape[1]
    v = cp.Variable(len(a), nonneg=True)
    design = cp.reshape(np.einsum("xi,xj->ijx", a, a).reshape(-1, len(a)) @ v, (rank, rank), "C")
    constraints = [
        cp.bmat([[design, row[:, None]], [row[None, :], np.ones((1, 1))]]) >> 0 for row in b
    ]
    return 2 * cp.Problem(cp.Minimize(cp.sum(v)), constraints).solve(solver=cp.CLARABEL)


def raw_clarabel(arms, best, gaps):
    """Clarabel's own form: svec(H) as free variables, one (r + 1)-PSD cone an arm."""
    import clarabel
    from scipy import sparse

    a, b = columns_and_rows(arms, best, gaps)
    n, rank = a.shape
    pairs = [(i, j) for j in range(rank) for i in range(j + 1)]
    size = len(pairs)
    scale = np.array([1.0 if i == j else np.sqrt(2.0) for i, j in pairs])
    lifted = np.array([a[:, i] * a[:, j] for i, j in pairs]) * scale[:, None]
    equal = sparse.hstack([sparse.csc_matrix(lifted), -sparse.eye(size)])
    positive = sparse.hstack([-sparse.eye(n), sparse.csc_matrix((n, size))])
    block = (size + rank + 1, size)
    cone = sparse.vstack([-sparse.eye(size), sparse.csc_matrix((rank + 1, size))])
    assert cone.shape == block
    cones = sparse.hstack(
        [sparse.csc_matrix((n * block[0], n)), sparse.vstack([cone] * n)], format="csc"
    )
    matrix = sparse.vstack([equal, positive, cones], format="csc")
    constant = [np.concatenate([np.zeros(size), np.sqrt(2.0) * row, [1.0]]) for row in b]
    right = np.concatenate([np.zeros(size + n), *constant])
    kinds = [clarabel.ZeroConeT(size), clarabel.NonnegativeConeT(n)]
    kinds += [clarabel.PSDTriangleConeT(rank + 1)] * n
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cost = np.concatenate([np.ones(n), np.zeros(size)])
    quadratic = sparse.csc_matrix((n + size, n + size))
    solver = clarabel.DefaultSolver(quadratic, cost, matrix, right, kinds, settings)
    answer, seconds = timed(solver.solve)
    return 2 * answer.obj_val, seconds


def ratios(quick):
    print("\n(b) cold against general solvers on the same instances (medians; memory at hand)")
    print(f"{'K, d':>10s} {'ours µs':>9s} {'Clarabel':>12s} {'CVXPY':>12s} {'difference':>12s}")
    plan = [(20, 2, 10, True), (81, 3, 8, True), (100, 5, 5, True), (300, 10, 2, False)]
    for n_arms, dimension, count, general in plan:
        rng = np.random.default_rng(n_arms)
        ours, raw, whole, difference = [], [], [], []
        for _ in range(2 if quick else count):
            arms, phi = unit(rng, n_arms, dimension)
            means = arms @ phi
            best = int(np.argmax(means))
            gaps = means[best] - means
            given = posed(arms, best, gaps)
            generate.compiled(*given)  # touches the work arrays
            for _ in range(5):  # each from nothing: work arrays are reused, no solution is
                _, seconds = timed(generate.compiled, *given)
                ours.append(seconds)
            _, solution = cold(arms, best, gaps)
            value, seconds = raw_clarabel(arms, best, gaps)
            raw.append(seconds)
            difference.append(abs(value / solution.upper - 1))
            if general:
                value, seconds = timed(with_cvxpy, arms, best, gaps)
                whole.append(seconds)
                difference.append(abs(value / solution.upper - 1))
        mine = np.median(ours)
        other = f"{np.median(whole) / mine:10.0f} ×" if general else "-"
        print(
            f"{n_arms:6d}, {dimension:2d} {mine * 1e6:9.0f} {np.median(raw) / mine:10.0f} × "
            f"{other:>12s} {max(difference):12.1e}",
            flush=True,
        )


@separate_kernel
def repeat_verify(times, leader, memory):
    total = 0.0
    for _ in range(times):
        total += bounds_held(memory.information, leader, memory.held)[2]
    return total


def warm(quick):
    print("\n(c) after a relative change of φ, the best arm unchanged")
    print(f"{'K, d':>10s} {'change':>8s} {'verify µs':>10s} {'Newton µs':>10s} {'cold µs':>9s} "
          f"{'ratio':>7s} {'accepted':>9s}")  # fmt: skip
    for n_arms, dimension in ((81, 3), (100, 5), (300, 10)):
        for change in (1e-2, 1e-3, 1e-4):
            rng = np.random.default_rng(n_arms)
            fast, slow, tried, accepted, passes = [], [], 0, 0, 0.0
            while tried < (20 if quick else 200):
                arms, phi = unit(rng, n_arms, dimension)
                moved = phi + change * np.linalg.norm(phi) * rng.normal(size=dimension)
                before, after = arms @ phi, arms @ moved
                best = int(np.argmax(before))
                if int(np.argmax(after)) != best:
                    continue
                tried += 1
                memory, out = start(arms, most=1), np.empty(n_arms)
                _, seconds = timed(rates.compiled, before, before, best, 0.0, memory, out)
                slow.append(seconds)
                _, seconds = timed(rates.compiled, after, after, best, 0.0, memory, out)
                counts = memory.held.counts
                if counts[WARM] == 0 and counts[COLD] == 1:
                    accepted += 1
                    fast.append(seconds)
            repeat_verify.compiled(10, best, memory)
            _, passes = timed(repeat_verify.compiled, 100_000, best, memory)
            quickest = np.median(fast) * 1e6 if fast else np.nan
            print(
                f"{n_arms:6d}, {dimension:2d} {change:8.0e} {passes * 10:10.3f} {quickest:10.1f} "
                f"{np.median(slow) * 1e6:9.1f} {quickest / np.median(slow) / 1e6:7.3f} "
                f"{accepted / tried:9.2f}",
                flush=True,
            )


def scale(quick):
    print("\n(d) unit arms, d = 10: seconds of one cold solve and its growth exponent")
    previous = None
    for n_arms in (10**3, 10**4, 10**5) if quick else (10**3, 10**4, 10**5, 10**6):
        rng = np.random.default_rng(n_arms)
        seconds = []
        for _ in range(3):
            arms, phi = unit(rng, n_arms, 10)
            means = arms @ phi
            best = int(np.argmax(means))
            spent, solution = cold(arms, best, means[best] - means)
            seconds.append(spent)
            assert solution.status == "certified"
        middle = float(np.median(seconds))
        growth = "" if previous is None else f"  exponent {np.log10(middle / previous):.2f}"
        print(f"K = {n_arms:8d}: {middle:8.4f} s{growth}", flush=True)
        previous = middle


COMPILE = """
import time, numpy as np
from ossb.graves_lai.linear import rates, start
arms = np.random.default_rng(0).normal(size=(81, 3))
means = arms @ np.ones(3)
memory, out = start(arms), np.empty(81)
begun = time.perf_counter(), time.process_time()
rates.compiled(means, means, int(means.argmax()), 0.0, memory, out)
print(f"{time.perf_counter() - begun[0]:.1f} s ({time.process_time() - begun[1]:.1f} s of CPU)")
"""

FIRST = """
import time
begun = time.perf_counter()
import numpy as np
from ossb.graves_lai.linear import solve
arms = np.random.default_rng(0).normal(size=(81, 3))
means = arms @ np.ones(3)
best = int(means.argmax())
loaded = time.perf_counter()
gaps = means[best] - means
assert solve(arms, best, gaps, gaps).status == "certified"
print(f"{time.perf_counter() - loaded:.3f} s, and {loaded - begun:.3f} s to import")
"""


def first_use():
    print("\n(e) first use, in a fresh process with an empty cache")
    for name, code in (("rates, compiled cold", COMPILE), ("one 81 × 3 bound", FIRST)):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            run = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True
            )
        print(f"{name:22s} {run.stdout.strip() or run.stderr.strip()[-200:]}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "instance.json")
        arms, phi = unit(np.random.default_rng(0), 81, 3)
        with open(path, "w") as file:
            json.dump({"structure": "linear", "arms": arms.tolist(), "phi": phi.tolist()}, file)
        environment = {
            **os.environ, "NUMBA_CACHE_DIR": folder, "PYTHONPYCACHEPREFIX": f"{folder}/bytes"
        }  # fmt: skip
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for name in ("`ossb bound`, first", "`ossb bound`, again"):
            command = [sys.executable, "-m", "ossb", "bound", path, "--json"]
            begun = time.perf_counter()
            subprocess.run(command, env=environment, capture_output=True, check=True)
            print(f"{name:22s} {time.perf_counter() - begun:.3f} s, the process included")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few instances")
    parser.add_argument("--part", choices="abcde", help="only one table")
    options = parser.parse_args()
    arms, best, gaps = draw("unit arms 81x3", np.random.default_rng(0))
    solve(arms, best, gaps, gaps, compiled=True)
    parts = {
        "a": lambda: reliability(20 if options.quick else 500),
        "b": lambda: ratios(options.quick),
        "c": lambda: warm(options.quick),
        "d": lambda: scale(options.quick),
        "e": first_use,
    }
    for name, part in parts.items():
        if options.part in (None, name):
            part()


if __name__ == "__main__":
    main()
