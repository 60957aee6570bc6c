"""The solvers inside bounds and rounds of general structures, against libraries called directly.

    python benchmarks/interior_point.py [--quick]

Times are CPU times of this process, in microseconds; compare ratios of one run.  The programs are
those that were met on the way to a bound, or in rounds of a policy from the first on, taken down
as they were called for; names have the number of arms and the observations.

``calls`` is how many batches of programs were met, and ``ours µs`` the mean time of one, compiled,
with what is proved of the solutions.  ``cold``, ``warm`` and ``whole`` are Clarabel's time over
ours, on the same programs to the same relative gap, by matrices that were made beforehand and
scaled by the known values: ``cold`` has a solver for each program, ``warm`` one that was made
before and is given new numbers, and ``whole`` one for all of a batch, side by side.  Making the
matrices and proving anything is not counted.  ``missed`` is how many programs of a thousand it did
not bring to the gap.  ``user`` is the whole bound, or the whole round, with the best of the three
in the place of ours, over what it takes now.

In the second table, of the small linear programs in rounds of `ossb`, ``ours µs`` is the mean time
of a solve after new rows, ``HiGHS`` the time of that library over it, warm from the last basis,
and ``user`` a round with it in the place of ours over a round as it is.

In what users call, both libraries are within a factor of three of ours.  Ours stay nevertheless:
bounds and rounds of other than normal observations would take about twice as long, and Clarabel
does not bring every program to the gap.  With it in the place of ours, 11 of 141 random and
reference instances, all of which have a certificate to 1e-6, were left without (2026-11-19).
"""

import argparse
import os
import time
from typing import Any, ClassVar

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import clarabel  # noqa: E402
import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402

from generic import concave, slopes  # noqa: E402
from ossb.families import Bernoulli, Gaussian  # noqa: E402
from ossb.graves_lai.generic import cutting, separation  # noqa: E402
from ossb.graves_lai.generic.divergence import divergence_of  # noqa: E402
from ossb.graves_lai.generic.minimise import compile_kernel, minimise  # noqa: E402
from ossb.graves_lai.generic.small_master import SmallMaster  # noqa: E402
from ossb.graves_lai.linprog import Master  # noqa: E402
from ossb.models import region_programs  # noqa: E402
from ossb.simulation.simulate import (  # noqa: E402
    chosen_of,
    environment_of,
    noise_stream,
    policy_stream,
    run,
)
from ossb.structures.base import bound  # noqa: E402

ROUNDS = 120
GAUSSIAN, BERNOULLI = (divergence_of(family).kind for family in (Gaussian(), Bernoulli()))


def upper(matrix):
    """Its upper triangle with every entry named, so that numbers may change to and from 0."""
    n = matrix.shape[0]
    rows = np.concatenate([np.arange(j + 1) for j in range(n)])
    columns = np.repeat(np.arange(n), np.arange(1, n + 1))
    ends = np.concatenate([[0], np.cumsum(np.arange(1, n + 1))])
    return sparse.csc_matrix((matrix[rows, columns], rows, ends), shape=matrix.shape)


def quadratic_program(batch, weights, a):
    """Normal observations."""
    moves, load = batch.slopes[a], weights * batch.divergence.precision
    room = np.ascontiguousarray(batch.room[a])
    return (
        upper(moves.T @ (load[:, None] * moves) + batch.anchor[a]),
        moves.T @ (load * batch.start[a]),
        sparse.csc_matrix(batch.rows[a]),
        room,
        [clarabel.NonnegativeConeT(room.size)],
    )


def exponential_program(batch, weights, a):
    """Others: −t ≤ ln(mean), by a cone for each mean, and one for each 1 − mean of a binary one."""
    moves, mean = batch.slopes[a], batch.theta + batch.start[a]
    linear, load = weights @ moves, weights * batch.theta
    if batch.divergence.kind == BERNOULLI:
        linear = np.zeros(moves.shape[1])
        load = np.concatenate([load, weights * (1.0 - batch.theta)])
        moves, mean = np.vstack([moves, -moves]), np.concatenate([mean, 1.0 - mean])
    n, cones, m = moves.shape[1], mean.size, batch.room.shape[1]
    table, right = np.zeros((m + 3 * cones, n + cones)), np.zeros(m + 3 * cones)
    table[:m, :n], right[:m] = batch.rows[a], batch.room[a]
    first = m + 3 * np.arange(cones)
    table[first, n + np.arange(cones)] = 1.0
    right[first + 1] = 1.0
    table[first + 2, :n], right[first + 2] = -moves, mean
    anchor = np.zeros((n + cones, n + cones))
    anchor[:n, :n] = np.triu(batch.anchor[a])
    kinds = [clarabel.NonnegativeConeT(m), *[clarabel.ExponentialConeT()] * cones]
    costs = np.concatenate([linear, load])
    return sparse.csc_matrix(anchor), costs, sparse.csc_matrix(table), right, kinds


def side_by_side(programs):
    squares, costs, tables, rights, kinds = zip(*programs, strict=True)
    return (
        sparse.block_diag(squares, format="csc"),
        np.concatenate(costs),
        sparse.block_diag(tables, format="csc"),
        np.concatenate(rights),
        [cone for some in kinds for cone in some],
    )


def settings(tolerance):
    chosen = clarabel.DefaultSettings()
    chosen.verbose = chosen.presolve_enable = False
    chosen.max_threads = 1
    chosen.tol_gap_abs = chosen.tol_gap_rel = tolerance  # values are scaled to one
    chosen.tol_feas = min(chosen.tol_feas, tolerance)
    return chosen


class Times:
    """CPU seconds by name, and how much of what was counted."""

    def __init__(self):
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}

    def of(self, name, action):
        begun = time.process_time()
        answer = action()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - begun
        self.counts[name] = self.counts.get(name, 0) + 1
        return answer

    def mean(self, name):
        return self.seconds[name] / self.counts[name] if name in self.counts else np.nan


def by_clarabel(met, times, held):
    """Solve one batch in its three ways; how many programs it did not bring to the gap."""
    batch, weights, tolerance, values = met
    make = quadratic_program if batch.divergence.kind == GAUSSIAN else exponential_program
    programs = [make(batch, weights[a] / max(v, 1e-300), a) for a, v in enumerate(values)]
    chosen = settings(tolerance)

    def cold():
        return [clarabel.DefaultSolver(*program, chosen).solve() for program in programs]

    answers = times.of("cold", cold)
    joined = side_by_side(programs)
    times.of("whole", lambda: clarabel.DefaultSolver(*joined, chosen).solve())
    pattern = b"".join(table.indices.tobytes() for _, _, table, _, _ in programs)
    if pattern in held:

        def warm():
            for solver, (square, costs, table, right, _) in zip(
                held[pattern], programs, strict=True
            ):
                solver.update(P=square.data, q=costs, A=table.data, b=right, settings=chosen)
                solver.solve()

        times.of("warm", warm)
    else:
        held[pattern] = [clarabel.DefaultSolver(*one, chosen) for one in programs]
    return sum(answer.status != clarabel.SolverStatus.Solved for answer in answers)


def taken_down(action):
    """The batches that an action solves."""
    met = []

    def taking_down(batch, weights, tolerance, proving=True):
        outcome = minimise(batch, weights, tolerance, proving)
        met.append((batch, np.array(weights), tolerance, outcome.value, proving))
        return outcome

    separation.minimise = region_programs.minimise = taking_down
    try:
        action()
    finally:
        separation.minimise = region_programs.minimise = minimise
    return met


def a_bound(instance):
    return lambda: bound(instance)


def some_rounds(instance, name, count):
    environment, [chosen] = environment_of(instance), chosen_of([name])

    def rounds():
        streams = policy_stream(0, "", name, 0), noise_stream(0, "", 0)
        record = chosen.made(instance)
        run(record, environment, np.array([1, count]), *streams, compiled=False, name=name)

    return rounds


def compare(title, action):
    """One line of the first table."""
    action()  # compiled code is loaded
    whole = Times()
    whole.of("now", action)
    met = taken_down(action)
    times, held, missed, programs = Times(), {}, 0, 0
    for batch, weights, tolerance, values, proving in met:
        arguments = batch, weights, tolerance, proving
        times.of("ours", lambda: minimise(*arguments))  # noqa: B023
        missed += by_clarabel((batch, weights, tolerance, values), times, held)
        programs += len(values)
    ours = times.mean("ours")
    ratios = [times.mean(way) / ours for way in ("cold", "warm", "whole")]
    now, spent = whole.seconds["now"], times.seconds["ours"]
    user = 1.0 + (np.nanmin(ratios) - 1.0) * spent / now
    shown = "".join(f"{ratio:7.1f}" for ratio in ratios)
    shown += f"{1e3 * missed / programs:8.0f}{user:7.1f}"
    print(f"{title:30}{len(met):7d}{1e6 * ours:10.0f}{shown}", flush=True)


class Recorded(SmallMaster):
    """Takes down the rows that it is given, and when it is solved."""

    logs: ClassVar[list[list[Any]]] = []

    def __init__(self, size):
        super().__init__(size)
        self.logs.append([size])

    def add_rows(self, matrix, lower):
        self.logs[-1].append((matrix.copy(), np.array(lower)))
        super().add_rows(matrix, lower)

    def solve(self):
        self.logs[-1].append(None)
        return super().solve()


def masters(title, action):
    """One line of the second table."""
    Recorded.logs = []
    cutting.SmallMaster = Recorded
    try:
        action()
    finally:
        cutting.SmallMaster = SmallMaster
    logs, times = Recorded.logs, Times()
    times.of("round", action)
    cutting.SmallMaster = lambda size: Master(np.ones(size))
    try:
        times.of("round with HiGHS", action)
    finally:
        cutting.SmallMaster = SmallMaster
    for size, *steps in logs:
        for name, master in (("ours", SmallMaster(size)), ("HiGHS", Master(np.ones(size)))):
            for step in steps:
                if step is not None:
                    master.add_rows(*step)
                else:
                    times.of(name, master.solve)
    ours = times.mean("ours")
    ratio = times.mean("HiGHS") / ours
    user = times.mean("round with HiGHS") / times.mean("round")
    print(
        f"{title:30}{times.counts['ours']:7d}{1e6 * ours:10.0f}{ratio:7.1f}{user:7.1f}", flush=True
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    options = parser.parse_args()
    count = 40 if options.quick else ROUNDS
    compile_kernel()
    print(
        f"{'programs of':30}{'calls':>7}{'ours µs':>10}{'cold':>7}{'warm':>7}{'whole':>7}"
        f"{'missed':>8}{'user':>7}"
    )
    for size in (3, 10, 20, 60):
        for observation in ("gaussian", "bernoulli"):
            make = concave if size < 40 else slopes
            compare(f"bound {size} {observation}", a_bound(make(size, observation)))
    for policy in ("ossb", "hgl"):
        for observation in ("gaussian", "bernoulli"):
            action = some_rounds(concave(10, observation), policy, count)
            compare(f"{policy} 10 {observation}", action)
    print(f"\n{'masters of':30}{'calls':>7}{'ours µs':>10}{'HiGHS':>7}{'user':>7}")
    for size in (5, 10, 20):
        masters(f"ossb {size} gaussian", some_rounds(concave(size, "gaussian"), "ossb", count))


if __name__ == "__main__":
    main()
