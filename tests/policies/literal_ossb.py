"""Algorithm 1 of Combes, Magureanu and Proutiere (2017), written out as printed.

Plain Python and numpy, with its own estimates and with rates from the solvers for one-off
bounds: what ``ossb-paper`` is compared with, round by round.
"""

import math

import numpy as np
from scipy.optimize import isotonic_regression

from ossb.graves_lai.linear import solve

EXPLOIT, ESTIMATE, EXPLORE = 0, 1, 2


def trace(instance, horizon, noise, *, epsilon, gamma=0.0, projected=False, sweep=True):
    """(arm, phase) of every round, the values drawn from ``noise`` as the simulator draws them."""
    n_arms = instance.n_arms
    plays, sums, not_exploited, rounds = np.zeros(n_arms), np.zeros(n_arms), 0, []
    for t in range(1, horizon + 1):
        if sweep and t <= n_arms:
            arm, phase = t - 1, ESTIMATE
            not_exploited += 1
        else:
            means = np.where(plays > 0, sums / np.maximum(plays, 1), 0.0)
            estimate, leader = estimated(instance, plays, means, projected)
            rates = rates_at(instance, estimate, leader)
            wanted = [x for x in range(n_arms) if rates[x] > 0]
            if all(plays[x] >= rates[x] * (1 + gamma) * math.log(t) for x in wanted):
                arm, phase = leader, EXPLOIT
            else:
                not_exploited += 1
                least = min(range(n_arms), key=lambda x: plays[x])
                if plays[least] <= epsilon * not_exploited:
                    arm, phase = least, ESTIMATE
                else:
                    arm, phase = min(wanted, key=lambda x: plays[x] / rates[x]), EXPLORE
        rounds.append((arm, phase))
        plays[arm] += 1
        sums[arm] += instance.family.sample(instance.components[arm], noise)
    return rounds


def estimated(instance, plays, means, projected):
    """m(t) and its best arm."""
    if not projected or instance.kind == "classical":
        return means, int(np.argmax(means))
    if instance.kind == "linear":
        arms = instance.arms
        gram = (arms.T * plays) @ arms
        fitted = arms @ np.linalg.solve(gram, arms.T @ (plays * means))
        return fitted, int(np.argmax(fitted))
    best, least = None, math.inf
    for peak in range(len(means)):  # rising up to the peak, falling after it
        rise = isotonic_regression(means[: peak + 1], weights=plays[: peak + 1]).x
        rest = means[peak + 1 :]
        fall = (
            isotonic_regression(rest, weights=plays[peak + 1 :], increasing=False).x
            if rest.size
            else rest
        )
        fitted = np.concatenate([rise, fall])
        cost = (plays * (means - fitted) ** 2).sum()
        if cost < least - 1e-12:
            best, least = fitted, cost
    top = np.flatnonzero(best >= best.max() - 1e-12)
    return best, int(top[np.argmax(means[top])])


def rates_at(instance, estimate, leader):
    """c(x, m(t)), 0 at the leader."""
    rates, top = np.zeros(len(estimate)), estimate[leader]
    if instance.kind == "linear":
        gaps = np.maximum(top - estimate, 1e-8 * (top - estimate.min()))
        gaps[leader] = 1.0
        found = solve(instance.arms, leader, gaps, gaps, gap=1e-6, compiled=False)
        return np.where(np.arange(len(estimate)) == leader, 0.0, found.rates) * instance.sigma**2
    if top >= instance.family.highest():
        return rates
    near = range(len(estimate)) if instance.kind == "classical" else instance.neighbours[leader]
    for x in near:
        if x != leader:
            rates[x] = 1 / max(instance.family.kl(estimate[x], top), 1e-24)
    return rates
