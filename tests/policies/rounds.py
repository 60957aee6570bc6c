"""Rounds of a policy, interpreted, one by one."""

import numpy as np

from ossb.policies import policy
from ossb.simulation.environment import environment_of
from ossb.tally import decide, empty_tally, observe


def played(name, instance, horizon, seed, **parameters):
    """(arm, phase) of every round, and the tally at the end."""
    record = policy(name, instance, **parameters)
    environment, noise = environment_of(instance), np.random.default_rng(seed)
    tally = empty_tally(environment.means.size, environment.gaps.size)
    memory, rng, rounds = record.start(), np.random.default_rng(seed + 1), []
    for _ in range(horizon):
        decision = record.select(tally, memory, rng)
        decide(tally, decision)
        rounds.append((int(decision.arm), int(decision.phase)))
        for place in range(*environment.starts[decision.arm : decision.arm + 2]):
            component = environment.shown[place]
            value = environment.family.sample(float(environment.means[component]), noise)
            observe(tally, component, value)
        tally.clock[0] += 1
    return rounds, tally


class Literal:
    """A literal transcription's own counts: components seen, and the values drawn."""

    def __init__(self, instance, seed):
        self.instance, self.noise = instance, np.random.default_rng(seed)
        self.counts = np.zeros(instance.components.size)
        self.sums = np.zeros(instance.components.size)

    @property
    def means(self):
        return self.sums / np.maximum(self.counts, 1)

    def play(self, arm):
        self.show(self.instance.reveals()[arm])

    def show(self, components):
        for component in components:
            mean = float(self.instance.components[component])
            self.sums[component] += self.instance.family.sample(mean, self.noise)
            self.counts[component] += 1
