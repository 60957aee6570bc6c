"""Bounds as users call them, beside the kernels and CVXPY.

    python benchmarks/bounds.py [--quick]

All rows are of linear instances of 81 unit arms in 3 dimensions, certified to a relative gap of
1e-6, proofs checked.  `µs` are the microseconds that one instance takes by the clock, `a second`
how many that makes, and `cpu` its processor time on all cores; `CVXPY` is the time of the same
program through CVXPY with Clarabel, whose value is not certified, over `µs`.

The kernels are called in this process: `solve` is the solver's alone, `solve and prove` all that
`ossb.bounds` has compiled.  Every other row is of a process of its own, whose numba cache holds
compiled code.  `ossb.bound, first 200` begins interpreted, and counts the loading of that code;
`again` are 200 more.  `ossb.bounds` counts it too, but for `again`, the median of five;
`made of arrays` and `made of lists` count the making of the instances.  `ossb bound FILE` is the
whole command on a JSON list, from start to end, and `each further one` what an instance adds to
it, by comparison with a list of a tenth.
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

from families.linear import unit  # noqa: E402
from linear import posed, with_cvxpy  # noqa: E402
from ossb.graves_lai.linear.answer import PROVED, STATUS, answer_all, answers, desk  # noqa: E402
from ossb.graves_lai.program.generation import generate  # noqa: E402

GAP = 1e-6
SHAPE = (81, 3)


def drawn(count, seed=0):
    rng = np.random.default_rng(seed)
    pairs = [unit(rng, *SHAPE) for _ in range(count)]
    return np.array([arms for arms, _ in pairs]), np.array([phi for _, phi in pairs])


def clocks():
    return np.array([time.perf_counter(), time.process_time()])


def by_cvxpy(count):
    """Median seconds of CVXPY, and its values."""
    seconds, values = [], []
    for arms, phi in zip(*drawn(count), strict=True):
        means = arms @ phi
        best = int(np.argmax(means))
        begun = time.perf_counter()
        values.append(with_cvxpy(arms, best, means[best] - means))
        seconds.append(time.perf_counter() - begun)
    return float(np.median(seconds)), values


def kernels(count):
    """Seconds of one instance in the compiled kernels."""
    arms, phi = drawn(count)
    memory, proof = desk(*SHAPE)
    out, sigma = answers(count, *SHAPE), np.ones(count)
    answer_all.compiled(arms[:1], phi[:1], sigma[:1], GAP, memory, proof, out)
    tries = []
    for _ in range(5):
        begun = clocks()
        answer_all.compiled(arms, phi, sigma, GAP, memory, proof, out)
        tries.append((clocks() - begun) / count)
    whole = np.median(tries, axis=0)
    assert (out.size[:, STATUS] == PROVED).all()
    solve = np.zeros(2)
    for one, parameter in zip(arms, phi, strict=True):
        means = one @ parameter
        best = int(np.argmax(means))
        given = posed(one, best, means[best] - means)
        generate.compiled(*given)  # touches the work arrays
        begun = clocks()
        generate.compiled(*given)
        solve += (clocks() - begun) / count
    return solve, whole, out.bounds[:, 1]


def in_a_loop(count):
    import ossb

    instances = [ossb.Linear(arms=arms, phi=phi) for arms, phi in zip(*drawn(400), strict=True)]
    taken = []
    for part in (instances[:200], instances[200:]):
        begun = clocks()
        for instance in part:
            ossb.bound(instance, GAP)
        taken.append((clocks() - begun) / 200)
    return {"ossb.bound, first 200": taken[0], "ossb.bound, again": taken[1]}


def in_a_list(count, made):
    import ossb

    arms, phi = drawn(count)
    if made == "made of lists":
        arms, phi = arms.tolist(), phi.tolist()
    instances = []
    if not made:
        instances = [ossb.Linear(arms=a, phi=p) for a, p in zip(arms, phi, strict=True)]
    begun = clocks()
    if made:
        instances = [ossb.Linear(arms=a, phi=p) for a, p in zip(arms, phi, strict=True)]
    found = ossb.bounds(instances, GAP)
    taken = (clocks() - begun) / count
    assert all(answer.gap <= GAP for answer in found)
    row = f"ossb.bounds of {count}" + (f", {made}" if made else "")
    taken = {row: taken}
    if not made:
        tries = []
        for _ in range(5):
            begun = clocks()
            ossb.bounds(instances, GAP)
            tries.append((clocks() - begun) / count)
        taken[f"ossb.bounds of {count}, again"] = np.median(tries, axis=0)
    return taken


PARTS = {
    "loop": in_a_loop,
    "list": lambda count: in_a_list(count, ""),
    "arrays": lambda count: in_a_list(count, "made of arrays"),
    "lists": lambda count: in_a_list(count, "made of lists"),
}


def in_a_process(part, count):
    """What a part prints, from a process of its own."""
    command = [sys.executable, __file__, "--part", part, "--count", str(count)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name: np.array(taken) for name, taken in json.loads(run.stdout).items()}


def command_line(count):
    """Seconds, by the clock and of processors, that the command takes for a list."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "instances.json")
        entries = [
            {"structure": "linear", "arms": arms.tolist(), "phi": phi.tolist()}
            for arms, phi in zip(*drawn(count), strict=True)
        ]
        with open(path, "w") as file:
            json.dump(entries, file)
        before = os.times()
        begun = time.perf_counter()
        command = [sys.executable, "-m", "ossb", "bound", path, "--json"]
        run = subprocess.run(command, capture_output=True, check=True)
        seconds, after = time.perf_counter() - begun, os.times()
    assert len(json.loads(run.stdout)) == count
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    return np.array([seconds, spent])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="500 instances in place of 5,000")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        taken = PARTS[options.part](options.count)
        print(json.dumps({name: seconds.tolist() for name, seconds in taken.items()}))
        return
    count = 500 if options.quick else 5000
    solve, whole, values = kernels(200)
    general, others = by_cvxpy(3 if options.quick else 8)
    difference = max(abs(theirs / ours - 1) for theirs, ours in zip(others, values, strict=False))
    rows = {"kernel: solve": solve, "kernel: solve and prove": whole}
    for part in PARTS:
        rows |= in_a_process(part, count)
    few, many = command_line(count // 10), command_line(count)
    rows[f"ossb bound FILE of {count}"] = many / count
    rows["ossb bound FILE, each further one"] = (many - few) / (count - count // 10)
    print(f"{'81 × 3':38s} {'µs':>8s} {'cpu':>8s} {'a second':>9s} {'CVXPY':>9s}")
    for name, (clock, spent) in rows.items():
        print(
            f"{name:38s} {clock * 1e6:8.0f} {spent * 1e6:8.0f} {1 / clock:9.0f} "
            f"{general / clock:7.0f} ×"
        )
    print(f"CVXPY: {general * 1e3:.0f} ms, its values within {difference:.1e} of ours")


if __name__ == "__main__":
    main()
