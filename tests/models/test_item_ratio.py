"""The likelihood ratio of sets of items, against a general solver and on its ways out."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import xlogy

from ossb.models.base import SETTLED, WEAKEST
from ossb.simulation import simulate
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.tally import empty_tally

ARMS = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 1]])
FAMILIES = ["bernoulli", "bounded", "poisson"]
GOALS = ["maximize", "minimize"]


def sets(observation, goal="maximize", arms=ARMS, phi=(0.5, 0.2, 0.9, 0.4)):
    keys = {"feedback": "semi_bandit", "observation": observation, "goal": goal}
    return Combinatorial(arms=arms, phi=list(phi), **keys)


def told(instance, rng):
    tally = empty_tally(4, len(ARMS))
    tally.counts[:] = rng.integers(1, 30, 4)
    if instance.observation == "poisson":
        sums = rng.poisson(0.7 * tally.counts)
    else:
        sums = rng.binomial(tally.counts, 0.5)
    tally.means[:] = instance.sign * sums / tally.counts
    return tally


def divergence(observation, p, q):
    if observation == "poisson":
        return xlogy(p, p / q) - p + q
    return xlogy(p, p / q) + xlogy(1 - p, (1 - p) / (1 - q))


def by_solver(instance, tally, leader, known):
    """The least loss over λ under which another arm is as good, arm by arm."""
    means = instance.sign * tally.means
    highest = 50.0 if instance.observation == "poisson" else 1 - 1e-9
    least = math.inf
    for row in np.delete(ARMS, leader, axis=0):
        gain = row - ARMS[leader]
        if known and not (gain > 0).any():
            continue  # nothing is left that could make it better
        counted = (gain != 0) if not known else (gain > 0)

        def loss(point, counted=counted):
            each = divergence(instance.observation, means, point)
            return float((tally.counts * np.where(counted, each, 0.0)).sum())

        fixed = np.clip(means, 1e-9, highest)
        bounds = [
            (m, m) if known and change < 0 else (1e-9, highest)
            for m, change in zip(fixed, gain, strict=True)
        ]
        better = {"type": "ineq", "fun": lambda point, gain=gain: instance.sign * (gain @ point)}
        found = minimize(
            loss,
            np.clip(means, 0.05, 0.95),
            bounds=bounds,
            constraints=[better],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        if found.success:
            least = min(least, found.fun)
    return least


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("observation", FAMILIES)
def test_it_is_what_a_solver_finds(observation, goal, seed):
    instance = sets(observation, goal)
    model, tally = instance.model(), told(instance, np.random.default_rng(seed))
    memory = model.start()
    leader = model.project(tally, memory)
    model.test(leader, math.inf, tally, memory)
    for number, known in ((WEAKEST, False), (SETTLED, True)):
        expected = by_solver(instance, tally, leader, known)
        assert memory.numbers[number] == pytest.approx(expected, rel=2e-5, abs=1e-6)
    before = memory.numbers[WEAKEST]
    model.test(leader, math.inf, tally, memory)  # again, from where it ended
    assert memory.numbers[WEAKEST] == pytest.approx(before, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("observation", FAMILIES)
def test_a_level_is_met_if_and_only_if_the_ratio_does(observation):
    instance, rng = sets(observation), np.random.default_rng(1)
    model = instance.model()
    memory = model.start()
    for _ in range(40):
        tally = told(instance, rng)
        leader = model.project(tally, memory)
        exact = model.start()
        model.test(leader, math.inf, tally, exact)
        for level in (0.2, 1.0, 4.0):
            model.test(leader, level, tally, memory)
            weakest = exact.numbers[WEAKEST]
            assert (memory.numbers[WEAKEST] >= level) == (weakest >= level)
            if weakest < level:
                assert (memory.numbers[SETTLED] >= level) == (exact.numbers[SETTLED] >= level)


def test_what_holds_another_arm_cannot_be_overtaken_by_it():
    instance = sets("bernoulli", arms=[[1, 0], [1, 1]], phi=[0.5, 0.5])
    model = instance.model()
    memory, tally = model.start(), empty_tally(2, 2)
    tally.counts[:], tally.means[:] = 3, 0.5
    leader = model.project(tally, memory)
    assert leader == 1
    model.test(leader, math.inf, tally, memory)
    assert memory.numbers[WEAKEST] == math.inf
    tally.counts[:], tally.means[:] = [3, 0], 0.0  # the second item was never seen
    model.test(model.project(tally, memory), math.inf, tally, memory)
    assert memory.numbers[WEAKEST] == 0.0


def test_an_arm_with_the_same_items_is_no_alternative():
    instance = sets("bernoulli", arms=[[1, 0, 1], [0, 1, 1], [1, 0, 1]], phi=[0.5, 0.2, 0.3])
    model = instance.model()
    memory, tally = model.start(), empty_tally(3, 3)
    tally.counts[:], tally.means[:] = 100, [0.8, 0.2, 0.5]
    model.test(model.project(tally, memory), math.inf, tally, memory)
    assert memory.numbers[WEAKEST] > 30


def test_a_tie_but_for_rounding_is_looked_at_again_and_again():
    """Its slope may wander off as far as it likes: once there is news it counts no more."""
    instance = sets("bernoulli", arms=[[1, 0, 0], [0, 1, 1]], phi=[0.5, 0.2, 0.3])
    model, rng, stuck = instance.model(), np.random.default_rng(0), 0
    for _ in range(15):
        memory, tally = model.start(), empty_tally(3, 2)
        n = int(rng.integers(20, 90))
        one, other = rng.integers(1, n // 3, 2)
        tally.counts[:], tally.means[:] = n, [(one + other) / n, one / n, other / n]
        for _ in range(900):
            leader = model.project(tally, memory)
            model.test(leader, 3.0, tally, memory)
        tally.counts[:], tally.means[:] = 1000, [0.9, 0.1, 0.2]
        model.test(model.project(tally, memory), math.inf, tally, memory)
        stuck += not memory.numbers[WEAKEST] > 100
    assert stuck == 0


def test_gaps_that_underflow_are_none():
    instance = sets("bounded", arms=[[1, 0], [0, 1]], phi=[0.5, 0.4])
    model = instance.model()
    memory, tally = model.start(), empty_tally(2, 2)
    tally.counts[:], tally.means[:] = 1, [5e-324, 0.0]
    model.test(model.project(tally, memory), math.inf, tally, memory)
    assert memory.numbers[WEAKEST] == 0.0


@pytest.mark.parametrize("seen", list(itertools.product([0.0, 1.0], repeat=2)))
def test_two_items_are_two_arms(seen):
    """Means at the ends of their range tell no more than they do of independent arms."""
    ratios = []
    for instance in (
        sets("bernoulli", arms=[[1, 0], [0, 1]], phi=[0.5, 0.5]),
        Classical(n_arms=2, observation="bernoulli"),
    ):
        model = instance.model()
        memory, tally = model.start(), empty_tally(2, 2)
        tally.counts[:], tally.means[:] = 1, seen
        model.test(model.project(tally, memory), math.inf, tally, memory)
        ratios.append(memory.numbers[WEAKEST])
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-7)


@pytest.mark.parametrize(
    ("policy", "observation", "shape"),
    [
        ("ossb", "bernoulli", {"arms": [[1, 0], [0, 1]]}),
        ("graves-lai", "bernoulli", {"arms": [[1, 0], [0, 1]]}),
        ("hgl", "poisson", {"arms": [[1, 0], [0, 1]]}),
        ("hgl", "poisson", {"arm_set": "m_sets", "n_items": 2, "size": 1}),
        ("hgl", "exponential", {"arm_set": "m_sets", "n_items": 2, "size": 1}),
    ],
)
def test_first_observations_at_an_end_do_not_lock(policy, observation, shape):
    """Two items of which one is played cost about what two independent arms do."""
    phi, keys = [0.5, 0.35], {"observation": observation}
    of_items = Combinatorial(feedback="semi_bandit", phi=phi, **shape, **keys)
    listed = "arms" in shape
    trials = 200 if listed else 40
    mean = {}
    for instance in (of_items, Classical(theta=phi, **keys)):
        answer = simulate(instance, policy, 1000, trials=trials, seed=1)
        mean[instance.kind] = answer.policies[0].curves[:, -1].mean()
    assert mean["combinatorial"] <= 1.6 * mean["classical"]
