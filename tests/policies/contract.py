"""Decisions of policies, next to those of literal transcriptions."""

import numpy as np

from ossb.policies import policy
from ossb.simulation.environment import environment_of
from ossb.tally import decide, empty_tally, observe


def untold(instance, name, rounds, **parameters):
    """The arms played while nothing is told."""
    record = policy(name, instance, **parameters)
    tally = empty_tally(len(instance.components), instance.n_arms)
    memory, rng, arms = record.start(), np.random.default_rng(1), []
    for _ in range(rounds):
        decision = record.select(tally, memory, rng)
        decide(tally, decision)
        for component in instance.reveals()[decision.arm]:
            tally.pending[component] += 1
        arms.append(int(decision.arm))
    return arms


def decisions(instance, name, horizon, seed, /, **parameters):
    """The arms of an interpreted trial; ``World`` with the same seed draws the same values."""
    record, world = policy(name, instance, **parameters), World(instance, seed)
    tally = empty_tally(len(instance.components), instance.n_arms)
    memory, rng, arms = record.start(), np.random.default_rng(seed + 1000), []
    for _ in range(horizon):
        decision = record.select(tally, memory, rng)
        decide(tally, decision)
        for component, value in world.play(int(decision.arm)):
            observe(tally, component, value)
        tally.clock[0] += 1
        arms.append(int(decision.arm))
    return arms


class World:
    """Draws values, and keeps the means that a transcription needs."""

    def __init__(self, instance, seed):
        self.environment, self.noise = environment_of(instance), np.random.default_rng(seed)
        self.n = np.zeros(len(instance.components), int)
        self.means = np.zeros(len(instance.components))

    def play(self, arm):
        shown, world = [], self.environment
        for component in world.shown[slice(*world.starts[arm:][:2])].tolist():
            value = world.family.sample(float(world.means[component]), self.noise)
            self.n[component] += 1
            # as the tally does it: ties are settled by roundings
            self.means[component] += (value - self.means[component]) / self.n[component]
            shown.append((component, value))
        return shown


def upper_by_bisection(family, mean, level):
    """sup {q ≥ mean: kl(mean, q) ≤ level}."""
    low, high, step = mean, mean, 1.0
    while family.kl(mean, high) <= level and high < family.highest():
        low, high, step = high, min(high + step, family.highest()), 2 * step
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if family.kl(mean, middle) <= level else (low, middle)
    return low
