"""Policies learn from answers that come in batches or late."""

import itertools

import numpy as np
import pytest

from ossb.policies import POLICIES, policy
from ossb.policies.base import refusal
from ossb.simulation import simulate
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.dueling import Dueling
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.linear import Linear
from ossb.structures.lipschitz import Lipschitz
from ossb.structures.unimodal import Unimodal
from ossb.tally import decide, empty_tally
from policies.contract import untold

PHI = [0.1, 0.9, 0.3, 0.8]
PAIRS = [[int(i in pair) for i in range(4)] for pair in itertools.combinations(range(4), 2)]
ITEMS = {"feedback": "semi_bandit", "phi": PHI, "sigma": 0.2}
INSTANCES = {
    "classical": Classical(theta=[0.2, 0.9, 0.4], sigma=0.2),
    "linear": Linear(arms=[[1, 0], [0, 1], [0.6, 0.6]], phi=[0.1, 1.0], sigma=0.2),
    "unimodal": Unimodal(theta=[0.1, 0.4, 0.9, 0.3], sigma=0.2),
    "lipschitz": Lipschitz(
        observation="bernoulli",
        theta=[0.1, 0.3, 0.9, 0.4],
        points=[0.0, 1.0, 2.0, 3.0],
        lipschitz_constant=0.7,
    ),
    "dueling": Dueling(preferences=[[0.5, 0.2, 0.1], [0.8, 0.5, 0.2], [0.9, 0.8, 0.5]]),
    "semi-bandit": Combinatorial(arms=PAIRS, **ITEMS),
    "oracle": Combinatorial(arm_set="m_sets", n_items=4, size=2, **ITEMS),
    "logistic": GeneralizedLinear(
        arms=[[1, 0], [0, 1], [0.5, 0.8]],
        phi=[-2.0, 2.0],
        link="logistic",
        observation="bernoulli",
    ),
}
# the best cost there is, 0, is also what nothing told looks like
COSTS = {
    "failures": Classical(observation="bernoulli", theta=[0.8, 0.1, 0.6], goal="minimize"),
    "counts": Classical(observation="poisson", theta=[3.0, 0.5, 2.0], goal="minimize"),
    "falling": Unimodal(observation="bernoulli", theta=[0.9, 0.6, 0.1, 0.7], goal="minimize"),
    "level": Lipschitz(
        observation="bernoulli",
        theta=[0.9, 0.7, 0.1, 0.6],
        points=[0.0, 1.0, 2.0, 3.0],
        lipschitz_constant=0.7,
        goal="minimize",
    ),
    "failing items": Combinatorial(
        arms=PAIRS, feedback="semi_bandit", phi=PHI, observation="bernoulli", goal="minimize"
    ),
}


def fitting(instances):
    """Every policy on every instance that it fits."""
    return [
        (name, kind)
        for name, instance in instances.items()
        for kind in POLICIES
        if refusal(POLICIES[kind], instance) is None
    ]


CASES = fitting(INSTANCES)
HORIZON, SLACK = 400, 8.0
IN_TURN = ("rmed1", "rmed2", "e4")  # these play lists and designs one arm after the other


def regret(instance, kind, **timing):
    """Mean regret, and that of the second half."""
    found = simulate(instance, [kind], HORIZON, 3, 1, compiled=False, **timing).policies[0]
    middle = found.curves[:, np.searchsorted(found.checkpoints, HORIZON // 2)]
    return found.curves[:, -1].mean(), (found.curves[:, -1] - middle).mean()


@pytest.mark.sampled(of=10)
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_what_is_told_late_is_used(name, kind):
    """The second half costs no more than all of a run in which every answer comes at once.

    Here gaps are large: a policy that learns is done by then, or explores as it does anyway.
    """
    at_once, _ = regret(INSTANCES[name], kind)
    for timing in ({"batch": 40}, {"delay": 25}):
        _, second_half = regret(INSTANCES[name], kind, **timing)
        assert second_half <= at_once + SLACK


@pytest.mark.parametrize(("kind", "sigma", "timing"), [
    ("e4:horizon=3000", 1.0, {"batch": 300}),
    ("e4:horizon=3000", 1.0, {"delay": 150}),
    ("end-of-optimism:horizon=3000", 0.3, {"batch": 300}),
    ("end-of-optimism:horizon=3000", 0.3, {"delay": 5}),
])  # fmt: skip
def test_plans_wait_for_what_they_are_made_from(kind, sigma, timing):
    """Batches are planned from their answers: a plan made of nothing keeps a wrong leader."""
    instance = Linear(arms=[[1, 0], [0, 1], [0.9, 0.2]], phi=[0.0, 1.0], sigma=sigma)
    found = simulate(instance, [kind], 3000, 10, 1, compiled=False, **timing).policies[0]
    assert found.plays[1] > 0.85 * 3000
    assert found.curves[:, -1].max() < 0.2 * 3000


@pytest.mark.parametrize(("name", "kind"), [
    (name, kind)
    for name, kind in fitting(INSTANCES | COSTS)
    if (INSTANCES | COSTS)[name].n_arms and kind not in IN_TURN
])  # fmt: skip
def test_first_decisions_spread(name, kind):
    """Several made before anything is told do not all go to the first arm."""
    instance = (INSTANCES | COSTS)[name]
    arms = untold(instance, kind, 40)
    most = max(set(arms), key=arms.count)
    assert arms.count(most) <= 24
    assert len(instance.reveals()[most]) > 0


def asked(instance, items_of, rounds):
    """The items of decisions made while nothing more is told."""
    record = policy("hgl", instance)
    memory, rng, tally = record.start(), np.random.default_rng(0), empty_tally(5, 20)
    tally.counts[:], tally.means[:] = 6, [0.1, 0.5, 0.45, 0.7, 0.3]
    tally.plays[:], tally.clock[0] = 2, 15
    found = []
    for _ in range(rounds):
        decision = record.select(tally, memory, rng)
        decide(tally, decision)
        found.append(items_of(memory, decision.arm))
        tally.pending[list(found[-1])] += 1
    return found


def test_an_oracle_spreads_a_batch_as_the_list_does():
    sets = list(itertools.combinations(range(5), 2))
    keys = {"feedback": "semi_bandit", "phi": [0.1, 0.5, 0.45, 0.7, 0.3]}
    listed = Combinatorial(arms=[[int(i in arm) for i in range(5)] for arm in sets], **keys)
    implicit = Combinatorial(arm_set="m_sets", n_items=5, size=2, **keys)
    expected = asked(listed, lambda _, arm: sets[arm], 60)
    assert len(set(expected)) > 2
    assert asked(implicit, lambda memory, arm: tuple(memory.table.arms[arm]), 60) == expected
