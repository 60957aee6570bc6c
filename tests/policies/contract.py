"""What every policy keeps to, and its decisions next to those of a literal transcription."""

import copy

import numpy as np

from ossb.campaigns.arrays import leaves
from ossb.policies import policy
from ossb.simulation.environment import environment_of
from ossb.simulation.simulate import Timing, new_course, new_late, play
from ossb.tally import decide, empty_tally, observe

AT_ONCE, LATE = Timing(), Timing(batch=7, delay=3)


def trial(instance, name, parameters, horizon, timing, compiled):
    """Everything a trial leaves behind, as arrays."""
    record, environment = policy(name, instance, **parameters), environment_of(instance)
    tally = empty_tally(environment.means.size, environment.gaps.size)
    memory, course = record.start(), new_course(np.array([horizon // 2, horizon]))
    rng, noise = np.random.default_rng(8), np.random.default_rng(9)
    late = new_late(environment, timing)
    play(
        record,
        environment,
        tally,
        memory,
        course,
        late,
        1,
        horizon + 1,
        rng,
        noise,
        timing,
        compiled,
        name,
    )
    return [*tally, *leaves(memory), *course, rng.random(1), noise.random(1)]


def assert_compiling_changes_nothing(instance, name, horizon=250, timing=AT_ONCE, **parameters):
    """Tally, memory, curve and random streams are the same bit for bit."""
    ours = trial(instance, name, parameters, horizon, timing, True)
    theirs = trial(instance, name, parameters, horizon, timing, False)
    for one, other in zip(ours, theirs, strict=True):
        assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()


def assert_select_only_reads(instance, name, rounds=40, **parameters):
    """The tally is as it was after every decision, with observations on their way too."""
    record, environment = policy(name, instance, **parameters), environment_of(instance)
    tally = empty_tally(environment.means.size, environment.gaps.size)
    memory, rng, noise = record.start(), np.random.default_rng(1), np.random.default_rng(2)
    for t in range(rounds):
        before = copy.deepcopy(tally)
        decision = record.select(tally, memory, rng)
        assert all((old == new).all() for old, new in zip(before, tally, strict=True))
        decide(tally, decision)
        for component in environment.shown[slice(*environment.starts[decision.arm :][:2])]:
            if t % 3 == 2:
                tally.pending[component] += 1
            else:
                value = environment.family.sample(environment.means[component], noise)
                observe(tally, component, value)
        tally.clock[0] += t % 3 != 2


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


def decisions(instance, name, horizon, seed, **parameters):
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
