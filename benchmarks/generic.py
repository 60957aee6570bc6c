"""The generic engine on small polytopes: cold, warm, and against cutting planes by CVXPY.

    python benchmarks/generic.py [--repeats N] [--quick]

Times are CPU time of this process in milliseconds, medians; compare ratios of one run.

A name has the number of arms and the observations; ``value`` is C(θ), certified to the relative
``gap``, and ``rounds`` the rounds of cutting planes that this took.  ``cold`` starts from nothing.
``kept`` and ``warm`` are of following an estimate whose entries move by a hundredth, a thousandth
or a hundred-thousandth of themselves: ``kept``, where the rates held are found to be good still,
within 1e-2, and ``warm``, where they are solved again, to 1e-3, from the cuts held.  ``nan``: this
did not come up.  ``CVXPY`` is plain cutting planes to 1e-6, one CVXPY program (Clarabel) for each
alternative and a fresh linear program each round, timed once; ``ratio`` is its time over ``cold``.

The second table has other general structures: a union of two polytopes, a finite list of
parameters and an oracle of the user's.  ``largest`` is the largest of all times there, the first
solve included; CVXPY has no form of them to compare with.
"""

import argparse
import statistics
import time

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

from ossb.graves_lai.generic.cutting import regions_of, solve
from ossb.graves_lai.generic.separation import Separation
from ossb.structures.base import bound
from ossb.structures.finite import Finite
from ossb.structures.oracle import Oracle
from ossb.structures.polytope import Polytope
from ossb.structures.union import Union


def concave(size, observation):
    """Means known to be concave in the arm."""
    grid = np.linspace(-1, 1, size)
    theta = 0.85 - 0.4 * (grid - 0.13) ** 2
    rows = np.zeros((size - 2, size))
    for k in range(size - 2):
        rows[k, k : k + 3] = 1, -2, 1
    return Polytope(A=rows, b=np.zeros(size - 2), theta=theta, observation=observation)


def slopes(size, observation):
    """Means of neighbouring arms known to differ by little."""
    theta = 0.5 + 0.3 * np.sin(np.linspace(0.3, 4.2, size))
    steps = np.eye(size)[:-1] - np.eye(size)[1:]
    rows = np.vstack([steps, -steps])
    return Polytope(A=rows, b=np.full(len(rows), 0.35), theta=theta, observation=observation)


def simplex(size, observation):
    """Means that are the entries of a probability vector."""
    theta = np.linspace(1, 3, size) / np.linspace(1, 3, size).sum()
    return Polytope(
        A=-np.eye(size),
        b=np.zeros(size),
        A_eq=np.ones((1, size)),
        b_eq=[1],
        theta=theta,
        observation=observation,
    )


def spent(action, repeats):
    times = []
    for _ in range(repeats):
        started = time.process_time()
        answer = action()
        times.append(1e3 * (time.process_time() - started))
    return answer, statistics.median(times)


def by_cvxpy(instance, gap=1e-6):
    """Plain cutting planes: one CVXPY program for each alternative, a fresh LP each round."""
    program = instance.program
    piece, others, n = program.pieces[0], program.others, program.theta.size
    gaps = program.gaps[others]
    x, weights = cp.Variable(n), cp.Parameter(n, nonneg=True)
    truth = program.truth
    if instance.observation == "gaussian":
        value = cp.sum(cp.multiply(weights, cp.square(x - truth))) / 2
    else:
        value = -cp.sum(cp.multiply(weights, cp.multiply(truth, cp.log(x))))
        value -= cp.sum(cp.multiply(weights, cp.multiply(1 - truth, cp.log(1 - x))))
    inside = [piece.matrix @ x <= piece.bounds, x[program.best] == truth[program.best]]
    if len(piece.equal_matrix):
        inside.append(piece.equal_matrix @ x == piece.equal_bounds)
    problems = [cp.Problem(cp.Minimize(value), [*inside, x[a] >= x[program.best]]) for a in others]
    rates, rows, upper = 1 / gaps, [], np.inf
    best = rates
    for _ in range(200):
        full = np.zeros(n)
        full[others] = rates
        found = []
        for problem in problems:
            weights.value = full
            problem.solve(solver=cp.CLARABEL)
            if x.value is not None:
                inner = (
                    np.clip(x.value, 1e-12, 1 - 1e-12)
                    if instance.observation != "gaussian"
                    else x.value
                )
                found.append(program.divergences(inner)[others])
        least = min(float(row @ rates) for row in found)
        rows += found
        if rates @ gaps / least < upper:
            upper, best = rates @ gaps / least, rates / least
        master = linprog(gaps, -np.array(rows), -np.ones(len(rows)))
        if upper - master.fun <= gap * upper:
            break
        rates = 0.1 * best + 0.9 * master.x
    return upper


def two_slopes(size, observation):
    """Means that rise to a known arm and fall from it, or the other way round: a union."""
    grid = np.linspace(0, 1, size)
    steps = np.eye(size)[:-1] - np.eye(size)[1:]
    half = size // 2
    up_down = np.vstack([steps[:half], -steps[half:]])
    pieces = [{"A": up_down, "b": np.zeros(size - 1)}, {"A": -up_down, "b": np.zeros(size - 1)}]
    theta = 0.8 - 0.9 * (grid - grid[half]) ** 2
    return Union(pieces=pieces, theta=theta, observation=observation)


def many_points(size, observation):
    rng = np.random.default_rng(0)
    parameters = rng.uniform(0.1, 0.9, (200, size))
    parameters[0, 0] = 0.95
    parameters[1:60, 0] = 0.95
    return Finite(parameters=parameters, theta=parameters[0], observation=observation)


def asked_for(size, observation):
    """Arms that know nothing of one another, through an oracle of the user's."""
    theta = np.linspace(0.2, 0.8, size)

    def nearest(theta, rates):
        best = int(np.argmax(theta))
        gaps = theta[best] - theta
        costs = np.where(gaps > 0, rates * gaps**2, np.inf)
        other = np.array(theta)
        other[int(np.argmin(costs))] = theta[best]
        return other

    return Oracle(oracle=nearest, theta=theta, exact=True, observation=observation)


def others(repeats):
    """Re-solves of the other general structures, at estimates that move."""
    print(f"\n{'instance':28}{'kept':>8}{'warm':>8}{'largest':>9}")
    for make, size, observation in (
        (two_slopes, 7, "gaussian"),
        (two_slopes, 7, "bernoulli"),
        (many_points, 8, "bernoulli"),
        (asked_for, 6, "gaussian"),
    ):
        instance = make(size, observation)
        rng = np.random.default_rng(0)
        times: dict[bool, list[float]] = {True: [], False: []}
        follower = instance.follow()
        for step in (1e-2, 1e-3, 1e-5):
            for _ in range(max(2, repeats)):
                theta = instance.theta * (1 + step * rng.normal(size=size))
                if isinstance(instance, Finite):
                    theta = instance.parameters[int(rng.integers(0, 60))]
                held, taken = spent(lambda: follower.rates(theta), 1)  # noqa: B023
                times[bool(getattr(held, "kept", False))].append(taken)
        kept, again = (statistics.median(times[key] or [np.nan]) for key in (True, False))
        largest = max(times[True] + times[False])
        name = f"{make.__name__} {size} {observation}"
        print(f"{name:28}{kept:8.1f}{again:8.1f}{largest:9.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one repeat")
    options = parser.parse_args()
    repeats = 1 if options.quick else options.repeats
    print(
        f"{'instance':28}{'value':>10}{'gap':>9}{'rounds':>7}{'cold':>8}{'kept':>8}"
        f"{'warm':>8}{'CVXPY':>9}{'ratio':>7}"
    )
    for make, size, observation in (
        (concave, 7, "gaussian"),
        (concave, 7, "bernoulli"),
        (slopes, 8, "gaussian"),
        (slopes, 8, "bernoulli"),
        (simplex, 6, "gaussian"),
        (concave, 10, "bernoulli"),
    ):
        instance = make(size, observation)
        bound(instance)
        answer, cold = spent(lambda: bound(instance), repeats)  # noqa: B023
        regions, empty = regions_of(instance.program)
        rounds = solve(instance.program, Separation(instance.program, regions), empty, 1e-6).rounds
        rng = np.random.default_rng(0)
        warm: dict[bool, list[float]] = {True: [], False: []}
        for step in (1e-2, 1e-3, 1e-5):
            follower = instance.follow(kappa=1e-2, gap=1e-3)
            follower.rates(instance.theta)
            for _ in range(repeats):
                theta = instance.theta * (1 + step * rng.normal(size=size))
                held, taken = spent(lambda: follower.rates(theta), 1)  # noqa: B023
                warm[held.kept].append(taken)
        value, slow = spent(lambda: by_cvxpy(instance), 1)  # noqa: B023
        assert abs(value / answer.value - 1) < 1e-4, (value, answer.value)
        kept, again = (statistics.median(warm[key] or [np.nan]) for key in (True, False))
        print(
            f"{make.__name__ + ' ' + str(size) + ' ' + observation:28}{answer.value:10.4f}"
            f"{answer.gap:9.1e}{rounds:7d}{cold:8.1f}{kept:8.1f}{again:8.1f}{slow:9.0f}"
            f"{slow / cold:7.0f}"
        )
    others(repeats)


if __name__ == "__main__":
    main()
