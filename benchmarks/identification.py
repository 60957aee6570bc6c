"""Tests that end: reference values, rounds of each policy, errors, costs of a round.

python benchmarks/identification.py [TRIALS]

Tables, each beside what it is to be compared with: T*(θ) of published instances; the cells of a
grid over structures, mean rounds of every policy over the least of them; the rounds of `top-two`
where δ is small over T* ln(1/δ); errors of instances with ties and near ties; microseconds a round.
"""

import math
import sys

import numpy as np

import ossb

DELTA, FAR = 0.05, 1_000_000
GARIVIER = [([0.5, 0.45, 0.43, 0.4], 989.8), ([0.3, 0.21, 0.2, 0.19, 0.18], 326.6)]
BERNOULLI = {"observation": "bernoulli"}


def arms_of(n_arms, dimension, seed=0):
    """Unit arms, and a parameter."""
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(n_arms, dimension))
    return arms / np.linalg.norm(arms, axis=1)[:, None], np.r_[1.0, 0.3, 0.2, np.zeros(9)][
        :dimension
    ]


def cells():
    """A small grid over structures."""
    yield "classical, 3", ossb.Classical(theta=[0.5, 0.6, 0.7], **BERNOULLI)
    yield "classical, 10", ossb.Classical(theta=np.linspace(0.3, 0.75, 10), **BERNOULLI)
    yield "gaussian, 5", ossb.Classical(theta=[1.0, 0.6, 0.5, 0.5, 0.0])
    arms, phi = arms_of(20, 3)
    yield "linear, 20 x 3", ossb.Linear(arms=arms, phi=phi, sigma=0.5)
    three = [[1.0, 0.0], [0.0, 1.0], [0.95, 0.31]]
    yield "linear, one in the way", ossb.Linear(arms=three, phi=[1.0, 0.1], sigma=0.3)
    yield "unimodal, 9", ossb.Unimodal(theta=0.7 - 0.08 * np.abs(np.arange(9) - 4), **BERNOULLI)
    points = np.linspace(0.0, 1.0, 8)
    theta = 0.7 - 0.5 * np.abs(points - 0.4)
    keys = {"points": points, "lipschitz_constant": 0.6}
    yield "lipschitz, 8", ossb.Lipschitz(theta=theta, **keys, **BERNOULLI)
    upper = np.triu([[0.5, 0.6, 0.65, 0.7], [0, 0.5, 0.6, 0.6], [0, 0, 0.5, 0.6], [0, 0, 0, 0.5]])
    table = np.where(upper > 0.0, upper, 1.0 - upper.T)
    yield "duels, 4 items", ossb.Dueling(preferences=table)
    rows = [[0.1, 0.5, 0.3], [0.5, 0.3, 0.1], [0.4, 0.3, 0.5], [0.3, 0.4, 0.2]]
    yield "finite, 4 parameters", ossb.Finite(parameters=rows, theta=rows[0], **BERNOULLI)
    keys = {"link": "logistic", **BERNOULLI}
    yield "logistic, 20 x 3", ossb.GeneralizedLinear(arms=arms, phi=1.5 * phi, **keys)
    sets = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
    keys = {"arms": sets, "phi": [0.5, 0.2, 0.8, 0.4], "feedback": "semi_bandit"}
    yield "sets of items", ossb.Combinatorial(**keys, sigma=0.5)


PLAYED = (
    "top-two",
    "track-and-stop",
    "frank-wolfe",
    "game",
    "kl-lucb",
    "lingape",
    "successive-elimination",
    "uniform",
)


def fitting(instance, names):
    """Those that fit."""
    for name in names:
        try:
            ossb.policy(name, instance)
        except ossb.InputError:
            continue
        yield name


def reference_values():
    print(f"\n{'T*(θ) of Bernoulli arms':44} {'here':>10} {'published':>10}")
    for theta, published in GARIVIER:
        found = ossb.bound(ossb.Classical(theta=theta, **BERNOULLI), cost="samples").value
        print(f"{theta!s:44} {found:10.1f} {published:10.1f}")


def grid(trials):
    print(f"\nmean rounds to δ = {DELTA} over the least mean of the cell, {trials} trials")
    print(f"{'':24} " + " ".join(f"{name[:11]:>11}" for name in PLAYED) + "   least")
    for label, instance in cells():
        names = list(fitting(instance, PLAYED))
        result = ossb.simulate(instance, names, horizon=FAR, trials=trials, seed=1, until=DELTA)
        means = {one.policy: one.stops.rounds.mean() for one in result.policies}
        least = min(means.values())
        row = [f"{means[n] / least:11.2f}" if n in means else " " * 11 for n in PLAYED]
        print(f"{label:24} " + " ".join(row) + f" {least:7.0f}", flush=True)


def small_delta(trials):
    print(f"\n`top-two`, δ = 1e-6, {trials} trials: mean rounds over T* ln(1/δ)")
    for label, instance in cells():
        time = ossb.bound(instance, cost="samples").value
        found = ossb.simulate(instance, "top-two", horizon=FAR, trials=trials, seed=2, until=1e-6)
        mean = found["top-two"].stops.rounds.mean()
        print(f"{label:24} {mean / (time * math.log(1e6)):6.3f}", flush=True)


def rounds_cost():
    print("\nmicroseconds of a round, compiled")
    arms, phi = arms_of(81, 3)
    for label, instance in (
        ("classical, K = 10", ossb.Classical(theta=np.linspace(0.3, 0.75, 10), **BERNOULLI)),
        ("linear, K = 81, d = 3", ossb.Linear(arms=arms, phi=phi)),
    ):
        for name in fitting(instance, PLAYED[:5]):
            found = ossb.simulate(instance, name, horizon=20_000, trials=3, seed=3)[name]
            print(f"{label:24} {name:16} {found.seconds / 60_000 * 1e6:8.2f}", flush=True)


def speed(trials):
    print(f"\nrounds of `top-two` to δ = {DELTA}, {trials} trials")
    ten = np.linspace(0.3, 0.75, 10)
    for label, theta in (("(.5, .6, .7)", [0.5, 0.6, 0.7]), ("ten, .3 to .75", ten)):
        instance = ossb.Classical(theta=theta, **BERNOULLI)
        found = ossb.simulate(instance, "top-two", horizon=FAR, trials=trials, seed=0, until=DELTA)
        stops = found["top-two"].stops.to_dict()
        row = f"median {stops['median']:8.0f}  mean {stops['mean']:8.0f}"
        print(f"{label:24} {row}  errors {stops['errors']:.4f}", flush=True)


def errors(trials):
    """Near ties, as in the tests, and what of them is wrong."""
    print(f"\nerrors at δ = 0.1, {trials} trials")
    for label, instance in cells():
        found = ossb.simulate(instance, "top-two", horizon=FAR, trials=trials, seed=5, until=0.1)
        print(f"{label:24} {found['top-two'].stops.to_dict()['errors']:.4f}", flush=True)


def main():
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    reference_values()
    speed(3 * trials)
    rounds_cost()
    grid(trials)
    small_delta(max(trials // 2, 10))
    errors(3 * trials)


if __name__ == "__main__":
    main()
