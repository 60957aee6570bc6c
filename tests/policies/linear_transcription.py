"""Least squares and rivals of the leader by numpy, for transcriptions of linear policies."""

import math

import numpy as np

from ossb.structures.linear import Linear
from ossb.tally import decide, empty_tally, observe

# no two arms of one length: nothing is tied
ARMS = np.array([[1.0, 0.1], [-0.2, 0.95], [0.8, 0.9], [0.5, -0.3], [0.9, 0.35]])
EASY = Linear(arms=ARMS, phi=[4.0, -0.5], sigma=0.5)
HARD = Linear(arms=ARMS, phi=[0.4, 0.35], sigma=1.0)
OPTIMISM = Linear(arms=[[1, 0], [0, 1], [0.9, 0.2]], phi=[1, 0])


class Data:
    """Arms played and values seen, and the regression on them, with a ridge or none."""

    def __init__(self, instance, seed, ridge=1.0):
        self.instance, self.noise = instance, np.random.default_rng(seed)
        self.arms = np.asarray(instance.arms)
        self.gram = ridge * np.eye(self.arms.shape[1])
        self.target = np.zeros(self.arms.shape[1])

    def play(self, x, keep=True):
        mean = float(self.instance.rewards[x])
        value = self.instance.family.sample(mean, self.noise)
        if keep:
            self.gram += np.outer(self.arms[x], self.arms[x])
            self.target += value * self.arms[x]

    @property
    def theta(self):
        return np.linalg.solve(self.gram, self.target)

    @property
    def widths(self):
        return np.sqrt(np.einsum("ki,ij,kj->k", self.arms, np.linalg.inv(self.gram), self.arms))


def alternatives(arms, theta, gram):
    """For each arm but the best, (ν − θ, its squared norm)."""
    means = arms @ theta
    leader = int(np.argmax(means))
    found = {}
    for z in range(len(arms)):
        if z != leader:
            u = arms[z] - arms[leader]
            image = np.linalg.solve(gram, u)
            difference = (means[leader] - means[z]) * image / (u @ image)
            found[z] = difference, float(difference @ gram @ difference)
    return leader, found


def level(logarithm, t, d, c):
    log = max(math.log(t), 1.0)
    return 2 * (1 + 1 / log) * logarithm + c * d * math.log(max(d * log, 1.0))


def played_by(record, instance, rounds, seed):
    """(arm, phase) of every round of a policy."""
    noise, rng = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    tally, memory, found = empty_tally(instance.n_arms, instance.n_arms), record.start(), []
    for _ in range(rounds):
        decision = record.select(tally, memory, rng)
        decide(tally, decision)
        found.append((int(decision.arm), int(decision.phase)))
        mean = float(instance.rewards[decision.arm])
        observe(tally, decision.arm, instance.family.sample(mean, noise))
        tally.clock[0] += 1
    return found
