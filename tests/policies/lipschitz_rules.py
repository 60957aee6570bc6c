"""OSLB and CKL-UCB written out, with indices found by bisection and rates by scipy."""

import math

import numpy as np
from scipy.optimize import linprog

from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE
from policies.rounds import Literal


def upper_index(instance, means, counts, level, k):
    """sup {q ≥ mean_k: Σ_z N_z d⁺(mean_z, q − ℓ(k, z)) ≤ f}."""

    def spent(q):
        raised = q - instance.metric[k]
        return sum(
            counts[z] * instance.family.kl(float(means[z]), float(raised[z]))
            for z in range(len(means))
            if raised[z] > means[z]
        )

    low, high = float(means[k]), float(means[k]) + 1.0
    while high < instance.family.highest() and spent(high) < level:
        high += 1.0
    high = min(high, instance.family.highest())
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if spent(middle) <= level else (low, middle)
    return low


def rates_of(instance, means, leader):
    """The linear program at the means as they stand."""
    others = [z for z in range(len(means)) if z != leader]
    top = means[leader]
    table = [
        [
            instance.family.kl(float(means[z]), float(top - instance.metric[x, z]))
            if top - instance.metric[x, z] > means[z]
            else 0.0
            for z in others
        ]
        for x in others
    ]
    solved = linprog(top - means[others], A_ub=-np.array(table), b_ub=-np.ones(len(others)))
    rates = np.zeros(len(means))
    rates[others] = solved.x
    return rates


def trace(instance, horizon, seed, c, epsilon=None):
    """(arm, phase) of every round: CKL-UCB, or OSLB where there is an ε."""
    world, rounds, n = Literal(instance, seed), [], instance.n_arms
    for t in range(1, horizon + 1):
        if t <= n:
            arm, phase = t - 1, ESTIMATE
        else:
            means, counts = world.means, world.counts
            leader = int(np.argmax(means))
            f = math.log(t) + c * n * math.log(max(math.log(t), 1))
            above = [
                k
                for k in range(n)
                if k != leader
                and upper_index(instance, means, counts, f, k) > means[leader] + 1e-12
            ]
            if not above:
                arm, phase = leader, EXPLOIT
            elif epsilon is None:
                arm = min([leader, *above], key=lambda k: counts[k])
                phase = EXPLOIT if arm == leader else EXPLORE
            else:
                rates = rates_of(instance, means, leader)
                behind = min(
                    (k for k in range(n) if rates[k] > 1e-9), key=lambda k: counts[k] / rates[k]
                )
                least = int(np.argmin(counts))
                arm, phase = behind, EXPLORE
                if counts[least] < epsilon / n * counts[behind]:
                    arm, phase = least, ESTIMATE
        rounds.append((arm, phase))
        world.play(arm)
    return rounds


def as_good_as(instance):
    """C(θ) where each arm must tell itself from the best: what ignoring the distances costs."""
    best = float(instance.rewards.max())
    return sum(
        float(gap) / instance.family.kl(float(mean), best)
        for mean, gap in zip(instance.rewards, instance.gaps, strict=True)
        if gap > 0
    )
