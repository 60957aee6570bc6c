"""Regret of ``hgl`` where a visitor pays a price or nothing, beside rivals on a line.

    python benchmarks/prices.py [--quick] [--trials 200] [--rounds 10000]

Prices 1, …, n on a line with one peak, divided by the highest; a share of visitors buys, which
falls as exp(−price / fall).  Observations are declared `bounded`, as in the guide on prices; so
policies take a price p that few pay for as noisy as ones and zeros of the same mean, which it is
not: its variance is p times as large.  `as 0 and 1` has the same means with observations that are
as noisy as that.  Mean regret of `hgl` ± its standard error, the worst run, and for the others mean
regret over that of `hgl`, on the same draws ± the error of the paired ratio.
"""

import argparse

import numpy as np

from families.sales import Sales
from ossb.policies import policy
from ossb.simulation.environment import environment_of
from ossb.simulation.simulate import run
from ossb.structures.unimodal import Unimodal

RIVALS = ("imed-ub", "osub", "imed", "kl-ucb")
CASES = {  # number of prices, share that buys at none, fall
    "15 prices, 47 to 4 % buy": (15, 0.5, 6.0),
    "15 prices, 4 to 0.4 % buy": (15, 0.05, 6.0),
    "15 prices, 0.8 to 0.1 % buy": (15, 0.01, 6.0),
    "8 prices, 5 to 2.4 % buy": (8, 0.055, 10.0),
    "10 prices, 25 to 1 % buy": (10, 0.35, 3.0),
}


def means_and_prices(n, top, fall):
    prices = np.arange(1, n + 1)
    return prices / n * top * np.exp(-prices / fall), prices / n


def regrets(record, environment, rounds, trials, key):
    """Regret of every trial; trial k of all policies sees the same draws, round by round."""
    marks = np.array([rounds])
    streams = [[np.random.default_rng([key, k, who]) for who in (1, 2)] for k in range(trials)]
    return np.array([run(record, environment, marks, *two).curve[-1] for two in streams])


def row(title, key, rounds, trials, as_ones):
    means, prices = means_and_prices(*CASES[title])
    instance = Unimodal(theta=means.tolist(), observation="bounded")
    if as_ones:
        environment = environment_of(Unimodal(theta=means.tolist(), observation="bernoulli"))
    else:
        environment = environment_of(instance)._replace(family=Sales(means, prices))
    own = regrets(policy("hgl", instance), environment, rounds, trials, key)
    told = f"{title + (', as 0 and 1' if as_ones else ''):41}"
    told += f"{own.mean():6.3g} ± {own.std() / np.sqrt(trials):<5.2g}{own.max():>7.4g}"
    for name in RIVALS:
        other = regrets(policy(name, instance), environment, rounds, trials, key)
        ratio = other.mean() / own.mean()
        error = (other - ratio * own).std() / np.sqrt(trials) / own.mean()
        told += f"{ratio:7.2f} ± {error:.2f}"
    print(told, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rounds and trials")
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--trials", type=int, default=200)
    said = parser.parse_args()
    rounds, trials = (1_000, 10) if said.quick else (said.rounds, said.trials)
    print(f"{rounds} rounds, {trials} trials")
    print(f"{'':41}{'hgl':>6}{'':7}{'worst':>5}" + "".join(f"{name:>14}" for name in RIVALS))
    for key, title in enumerate(CASES):
        for as_ones in (False, True):
            row(title, key, rounds, trials, as_ones)


if __name__ == "__main__":
    main()
