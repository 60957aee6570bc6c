"""Rounds of a policy, interpreted, one by one; and what every policy must keep to."""

import copy

import numpy as np

from ossb.policies import policy
from ossb.simulation import simulate
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


def same_compiled(name, instance, horizon, **timing):
    """Whether compiling changes nothing."""
    one, two = (
        simulate(instance, [name], horizon, 2, seed=5, compiled=compiled, **timing).policies[0]
        for compiled in (True, False)
    )
    return (
        (one.curves == two.curves).all()
        and (one.plays == two.plays).all()
        and (one.phases == two.phases).all()
    )


def leaves_the_tally(name, instance, tally, **parameters):
    """Whether a decision changes nothing in what was told."""
    record = policy(name, instance, **parameters)
    before = copy.deepcopy(tally)
    record.select(tally, record.start(), np.random.default_rng(2))
    return all((old == new).all() for old, new in zip(before, tally, strict=True))


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
