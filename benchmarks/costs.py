"""T*(θ) beside C(θ).

    python benchmarks/costs.py

`bound(cost="samples")` and `bound()` of the same instances, cold, solvers compiled, proofs
included: milliseconds of CPU time, the median of 15 instances of a kind.  `ratio` is the former
over the latter.  A test may move the mean of the best arm too, and every arm beside its
neighbours can bind: where regret has a closed form, on unimodal and Lipschitz arms, it is a
program that takes as long as on others.
"""

import statistics
import time

import numpy as np

import ossb

TRIALS = 15


def instances(rng):
    theta = np.sort(rng.uniform(0.1, 0.9, 10))[::-1]
    yield "classical, K = 10", ossb.Classical(theta=theta, observation="bernoulli")
    yield "unimodal, K = 10", ossb.Unimodal(theta=np.sort(theta), observation="bernoulli")
    points = np.linspace(0.0, 1.0, 20)
    means = 0.8 - np.abs(points - rng.uniform(0.2, 0.8)) * rng.uniform(0.3, 0.7)
    keys = {"points": points, "lipschitz_constant": 1.0, "observation": "bernoulli"}
    yield "lipschitz, K = 20", ossb.Lipschitz(theta=means, **keys)
    table = rng.uniform(0.5, 1.0, (6, 6))
    upper = np.triu(table, 1)
    yield (
        "dueling, 6 items",
        ossb.Dueling(preferences=upper + np.tril(1.0 - table.T, -1) + np.eye(6) / 2),
    )
    rows = rng.uniform(0.1, 0.9, (12, 6))
    yield "finite, 12 parameters", ossb.Finite(parameters=rows, theta=rows[0])
    for n_arms, size in ((20, 2), (81, 3), (100, 5)):
        arms = rng.normal(size=(n_arms, size))
        arms /= np.linalg.norm(arms, axis=1)[:, None]
        phi = rng.normal(size=size)
        yield f"linear, {n_arms} x {size}", ossb.Linear(arms=arms, phi=phi)
        keys = {"link": "logistic", "observation": "bernoulli"}
        yield f"logistic, {n_arms} x {size}", ossb.GeneralizedLinear(arms=arms, phi=phi, **keys)
    sets = np.unique(rng.random((40, 8)) < 0.4, axis=0).astype(float)
    phi = rng.uniform(0.1, 0.9, 8)
    for family in ("gaussian", "bernoulli"):
        keys = {"feedback": "semi_bandit", "observation": family}
        yield f"semi-bandit, {family}", ossb.Combinatorial(arms=sets, phi=phi, **keys)
    yield "polytope, 6", ossb.Polytope(A=np.zeros((0, 6)), b=[], theta=rng.uniform(0.1, 0.9, 6))


def seconds(instance, cost):
    started = time.process_time()
    ossb.bound(instance, cost=cost)
    return time.process_time() - started


def main():
    found = {}
    for trial in range(-3, TRIALS):  # the first ones load, or compile, what the others run
        for name, instance in instances(np.random.default_rng(trial + 3)):
            if instance.known:
                times = [seconds(instance, cost) for cost in ("regret", "samples")]
                if trial >= 0:
                    found.setdefault(name, []).append(times)
    print(f"{'instance':24} {'C(θ) ms':>9} {'T*(θ) ms':>9} {'ratio':>6}")
    for name, rows in found.items():
        regret, samples = (statistics.median(column) * 1e3 for column in zip(*rows, strict=True))
        ratio = statistics.median(samples / regret for regret, samples in rows)
        print(f"{name:24} {regret:9.2f} {samples:9.2f} {ratio:6.2f}")


if __name__ == "__main__":
    main()
