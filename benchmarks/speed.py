"""CPU time of a round after compilation: ``python benchmarks/speed.py [--quick] [--only NAME]``.

Process time divided by rounds, least of three runs, less what a run of 50 rounds takes; each figure
is that of the loop with its environment, tally and policy.  The last column is the first call, with
compilation where the combination was not yet on disk.
"""

import argparse
import time
from itertools import combinations

import numpy as np

import ossb

RNG = np.random.default_rng(7)


def sphere(n_arms, dimension):
    arms = RNG.normal(size=(n_arms, dimension))
    return arms / np.linalg.norm(arms, axis=1)[:, None]


def instances():
    rng = np.random.default_rng(7)
    linear = ossb.Linear(arms=sphere(81, 3), phi=rng.uniform(0.2, 0.4, 3))
    places = np.linspace(0, 1, 20)
    return {
        "classical K=10": ossb.Classical(observation="bernoulli", theta=np.linspace(0.1, 0.6, 10)),
        "unimodal K=20": ossb.Unimodal(
            observation="bernoulli", theta=0.8 - 0.05 * np.abs(np.arange(20) - 8.3)
        ),
        "linear K=81, d=3": linear,
        "contexts 20 x 20, d=10": ossb.Linear(
            contexts=[{"arms": sphere(20, 10)} for _ in range(20)], phi=rng.normal(size=10)
        ),
        "lipschitz K=20": ossb.Lipschitz(
            observation="bernoulli",
            theta=0.7 - np.abs(places - 0.42),
            points=places[:, None],
            lipschitz_constant=1.0,
        ),
        "dueling 6 items": ossb.Dueling(
            preferences=[[0.5 + 0.06 * (j - i) for j in range(6)] for i in range(6)]
        ),
        "m-sets (6, 3)": ossb.Combinatorial(
            feedback="semi_bandit",
            arms=[[int(i in chosen) for i in range(6)] for chosen in combinations(range(6), 3)],
            phi=[0.9, 0.8, 0.7, 0.5, 0.4, 0.3],
        ),
        "logistic K=30, d=3": ossb.GeneralizedLinear(
            arms=sphere(30, 3),
            phi=[0.8, 0.6, 1.0],
            link="logistic",
            observation="bernoulli",
            observes="reward",
        ),
    }


PROJECTED = {"estimate": "projected", "epsilon": 0.0}
CASES = [
    # instance, policy, parameters, rounds, largest CPU µs a round that is aimed at
    ("classical K=10", "ossb-paper", {}, 10**6, 0.25),
    ("classical K=10", "ossb", {}, 10**6, 0.25),
    ("classical K=10", "hgl", {}, 10**6, 0.25),
    ("classical K=10", "kl-ucb", {}, 10**6, 1.5),
    ("classical K=10", "thompson", {}, 10**6, None),
    ("classical K=10", "ucb1", {}, 10**6, None),
    ("unimodal K=20", "ossb-paper", {}, 10**6, 0.2),
    ("unimodal K=20", "ossb", {}, 10**6, 0.2),
    ("unimodal K=20", "hgl", {}, 10**6, 0.2),
    ("linear K=81, d=3", "ossb-paper", PROJECTED | {"kappa": 0.0}, 10**5, 5.0),
    ("linear K=81, d=3", "ossb-paper", PROJECTED | {"kappa": 1e-2}, 10**5, 1.5),
    ("linear K=81, d=3", "ossb", {}, 10**5, 3.0),
    ("linear K=81, d=3", "hgl", {}, 10**5, 2.0),
    ("linear K=81, d=3", "linear-thompson", {}, 10**5, 1.0),
    ("linear K=81, d=3", "glm-ucb", {}, 10**5, 1.0),
    ("linear K=81, d=3", "oful", {}, 10**5, None),
    ("linear K=81, d=3", "end-of-optimism", {}, 10**5, None),
    ("contexts 20 x 20, d=10", "hgl", {}, 10**5, 5.0),
    ("contexts 20 x 20, d=10", "lin-ucb", {}, 10**5, 5.0),
    ("contexts 20 x 20, d=10", "linear-thompson", {}, 10**5, 5.0),
    ("lipschitz K=20", "ossb-paper", {}, 3 * 10**4, 10.0),
    ("lipschitz K=20", "ossb", {}, 3 * 10**4, 10.0),
    ("lipschitz K=20", "hgl", {}, 10**5, 10.0),
    ("dueling 6 items", "ossb-paper", {}, 3 * 10**5, 1.0),
    ("dueling 6 items", "ossb", {}, 3 * 10**5, 1.0),
    ("dueling 6 items", "hgl", {}, 3 * 10**5, 1.0),
    ("m-sets (6, 3)", "ossb-paper", {}, 3 * 10**4, 10.0),
    ("m-sets (6, 3)", "ossb", {}, 3 * 10**4, 10.0),
    ("m-sets (6, 3)", "hgl", {}, 10**5, 10.0),
    ("logistic K=30, d=3", "ossb", {}, 3000, None),
    ("logistic K=30, d=3", "hgl", {}, 3 * 10**4, None),
    ("logistic K=30, d=3", "glm-ucb", {}, 3 * 10**4, None),
]


def spent(instance, policy, parameters, horizon, seed):
    begun = time.process_time()
    ossb.simulate(
        instance, [{"name": policy, **parameters}], horizon=horizon, trials=1, seed=seed, workers=1
    )
    return time.process_time() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    options = parser.parse_args()
    found = instances()
    print(f"{'instance':22s} {'policy':44s} {'CPU µs':>8s} {'aim':>6s} {'compiled in s':>14s}")
    for name, policy, parameters, rounds, aim in CASES:
        shown = " ".join([policy, *(f"{k}={v}" for k, v in parameters.items())])
        if options.only not in f"{name} {shown}":
            continue
        horizon = rounds // 10 if options.quick else rounds
        compiled = spent(found[name], policy, parameters, 50, 0)
        fixed = min(spent(found[name], policy, parameters, 50, seed) for seed in (1, 2, 3))
        best = min(spent(found[name], policy, parameters, horizon, seed) for seed in (1, 2, 3))
        target = "" if aim is None else f"{aim:6.2f}"
        cost = (best - fixed) / (horizon - 50) * 1e6
        print(f"{name:22s} {shown:44s} {cost:8.3f} {target:>6s} {compiled:14.1f}", flush=True)


if __name__ == "__main__":
    main()
