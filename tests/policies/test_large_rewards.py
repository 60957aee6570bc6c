"""Rewards that are large beside the noise: no arm is ruled out by a prior alone.

What no run may do is never to look: each of these once had runs that kept to a bad arm to the end.
"""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.stats import norm

from ossb.campaigns import Campaign
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.simulation.environment import environment_of
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.linear import Linear
from ossb.tally import decide, empty_tally, observe

FIVE = [10.0, 10.5, 11.0, 11.5, 12.0]
DRAWN = np.random.default_rng(0)
ROWS = np.column_stack([np.ones(12), DRAWN.normal(size=(12, 3))])
EFFECTS = [0.5, -0.4, 0.3]
PAIRS = [[float(i in pair) for i in range(4)] for pair in itertools.combinations(range(4), 2)]


def poisson(rates):
    phi, arms = np.log(rates).tolist(), np.eye(len(rates)).tolist()
    return GeneralizedLinear(arms=arms, phi=phi, link="log", observation="poisson")


CASES = {
    "one-hot": Linear(arms=np.eye(5), phi=FIVE),
    "one-hot, to minimise": Linear(arms=np.eye(5), phi=FIVE, goal="minimize"),
    "little noise": Linear(arms=np.eye(2), phi=[0.9, 1.0], sigma=0.1),
    "intercept": Linear(arms=ROWS, phi=[50.0, *EFFECTS]),
    "intercept, far": Linear(arms=ROWS, phi=[1e6, *EFFECTS]),
    "small features": Linear(arms=1e-6 * ROWS, phi=[50e6, *(1e6 * np.array(EFFECTS))]),
    "huge effects": Linear(arms=ROWS, phi=[0.0, *(1e6 * np.array(EFFECTS))]),
    "tiny noise": Linear(arms=ROWS, phi=[1.0, *EFFECTS], sigma=1e-6),
    "sums": Combinatorial(
        arms=PAIRS, phi=[9.5, 10.0, 10.5, 11.0], feedback="bandit", observation="gaussian"
    ),
    "index": GeneralizedLinear(arms=np.eye(5).tolist(), phi=FIVE, link="identity"),
    "counts": poisson([20.0, 25.0, 30.0, 40.0]),
}


def share_of_worst(instance, name, rounds, trials, **parameters):
    """The regret of the worst run, as a share of what the worst arm alone costs."""
    gaps = np.asarray(instance.gaps)
    chosen = [{"name": name, **parameters}]
    result = simulate(instance, chosen, rounds, trials, seed=1, compiled=False)
    return result.policies[0].regret.max() / (rounds * gaps.max())


@pytest.mark.parametrize("case", CASES)
def test_the_default_does_not_lock(case):
    assert share_of_worst(CASES[case], "hgl", 200, 4) < 0.3


@pytest.mark.parametrize("case", CASES)
def test_glm_ucb_does_not_lock(case):
    assert share_of_worst(CASES[case], "glm-ucb", 200, 2) < 0.3


@pytest.mark.parametrize("case", ["one-hot", "little noise", "intercept", "sums"])
def test_thompson_sampling_without_a_prior_does_not_lock(case):
    flat = {"scale": "posterior", "prior": "flat"}
    assert share_of_worst(CASES[case], "linear-thompson", 200, 2, **flat) < 0.3


@pytest.mark.parametrize("name", ["ossb", "graves-lai"])
def test_estimates_of_others_have_no_level_of_their_own(name):
    for case in ("one-hot", "intercept"):
        assert share_of_worst(CASES[case], name, 200, 2) < 0.45


def test_the_default_compares_with_thompson_sampling():
    result = simulate(CASES["one-hot"], ["hgl", "thompson"], 1000, 200, seed=1)
    assert result["hgl"].regret.mean() < 1.2 * result["thompson"].regret.mean()


def test_a_campaign_looks_at_every_arm(tmp_path):
    noise, plays = np.random.default_rng(2), np.zeros(5, int)
    storage, instance = f"sqlite:///{tmp_path}/campaigns.db", Linear(arms=np.eye(5), sigma=1.0)
    with Campaign.open(storage, "five", instance=instance, seed=1) as campaign:
        for _ in range(100):
            (asked,) = campaign.ask()
            plays[int(asked.arm)] += 1
            campaign.tell(asked.id, FIVE[int(asked.arm)] + noise.normal())
    assert plays.min() > 0
    assert plays.argmax() == 4


# what leaves the set of means as it is


def rounds_of(name, instance, rounds, level=0.0, **parameters):
    """The arms that a policy plays, on noise of its own for every arm and round."""
    record, world = policy(name, instance, **parameters), environment_of(instance)
    tally, memory = empty_tally(instance.n_arms, instance.n_arms), record.start()
    noise, rng = np.random.default_rng(3).random((rounds, instance.n_arms)), RNG(4)
    found = []
    for turn in range(rounds):
        decision = record.select(tally, memory, rng)
        decide(tally, decision)
        arm = int(decision.arm)
        found.append(arm)
        value = QUANTILES[instance.observation](noise[turn, arm], world.means[arm])
        observe(tally, arm, level + float(value))
        tally.clock[0] += 1
    return found


RNG = np.random.default_rng
QUANTILES = {"gaussian": norm.ppf, "bernoulli": lambda u, p: u < p, "poisson": stats.poisson.ppf}
FLAT = {
    "hgl": ({}, 300),
    "glm-ucb": ({}, 300),
    "linear-thompson": ({"prior": "flat"}, 300),
    "end-of-optimism": ({}, 100),
    "e4": ({}, 100),
    "graves-lai": ({}, 60),
    "ossb": ({}, 60),
}


@pytest.mark.parametrize("name", FLAT)
def test_units_and_copies_of_features_and_a_level_change_no_decision(name):
    parameters, rounds = FLAT[name]
    phi, mixed = np.array([2.0, *EFFECTS]), RNG(5).normal(size=(4, 4))
    more = np.column_stack([ROWS, 3 * ROWS[:, 1], np.zeros(12), ROWS.sum(axis=1)])
    same = {
        "mixed": Linear(arms=ROWS @ mixed, phi=np.linalg.solve(mixed, phi)),
        "a tenth": Linear(arms=0.1 * ROWS, phi=10 * phi),
        "powers of two": Linear(arms=ROWS / [2, 4, 1, 1024], phi=phi * [2, 4, 1, 1024]),
        "more": Linear(arms=more, phi=[*phi, 0.0, 0.0, 0.0]),
    }
    instance = Linear(arms=ROWS, phi=phi)
    expected = rounds_of(name, instance, rounds, **parameters)
    for other in same.values():
        assert rounds_of(name, other, rounds, **parameters) == expected
    for level in (-7.0, 1000.0):
        assert rounds_of(name, instance, rounds, level=level, **parameters) == expected


@pytest.mark.parametrize("name", ["hgl", "glm-ucb"])
@pytest.mark.parametrize("link", ["logistic", "log"])
def test_units_of_features_change_no_decision_of_generalised_linear_arms(name, link):
    observation = "bernoulli" if link == "logistic" else "poisson"
    phi, mixed = np.array([0.5, *EFFECTS]), RNG(6).normal(size=(4, 4))
    found = []
    for change in (np.eye(4), 0.1 * np.eye(4), mixed):
        instance = GeneralizedLinear(
            arms=(ROWS @ change).tolist(),
            phi=np.linalg.solve(change, phi).tolist(),
            link=link,
            observation=observation,
        )
        found.append(rounds_of(name, instance, 150))
    assert found[0] == found[1] == found[2]
