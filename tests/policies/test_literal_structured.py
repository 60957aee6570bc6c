"""``ossb-paper`` decides as Algorithm 1 does where arms share what they show, round by round."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from ossb.families.bernoulli import bernoulli_kl
from ossb.graves_lai.glm.solution import solve as solve_glm
from ossb.graves_lai.information.links import IDENTITY
from ossb.graves_lai.semi_bandit.solve import solve as solve_semi_bandit
from ossb.policies import policy
from ossb.simulation.environment import environment_of
from ossb.simulation.simulate import new_course
from ossb.simulation.trial import run_trial
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.dueling import Dueling
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.lipschitz import Lipschitz
from ossb.tally import empty_tally

EXPLOIT, ESTIMATE, EXPLORE = 0, 1, 2


def trace(instance, horizon, noise, *, epsilon, gamma):
    """(arm, phase) of every round, written out as printed."""
    reveals, n_arms = instance.reveals(), instance.n_arms
    plays, not_exploited, rounds = np.zeros(n_arms), 0, []
    counts, means = np.zeros(instance.components.size), np.zeros(instance.components.size)
    for t in range(1, horizon + 1):
        unplayed = [x for x in range(n_arms) if plays[x] == 0 and reveals[x]]
        if unplayed:
            arm, phase = unplayed[0], ESTIMATE
            not_exploited += 1
        else:
            leader, rates = RATES[instance.kind](instance, counts, means)
            wanted = [x for x in range(n_arms) if rates[x] > 0]
            if all(plays[x] >= rates[x] * (1 + gamma) * math.log(t) for x in wanted):
                arm, phase = leader, EXPLOIT
            else:
                not_exploited += 1
                forced = [x for x in range(n_arms) if reveals[x] or x == leader]
                least = min(forced, key=lambda x: plays[x])
                if plays[least] <= epsilon * not_exploited:
                    arm, phase = least, ESTIMATE
                else:
                    arm, phase = min(wanted, key=lambda x: plays[x] / rates[x]), EXPLORE
        rounds.append((arm, phase))
        plays[arm] += 1
        for component in reveals[arm]:
            counts[component] += 1
            value = instance.family.sample(float(instance.components[component]), noise)
            means[component] += (value - means[component]) / counts[component]
    return rounds


def dueling(instance, counts, means):
    """1/d on the cheapest duel of every item; a tie is told apart by no finite number of duels."""
    n = instance.n_items
    p, weight = np.full((n, n), 0.5), np.zeros((n, n))
    for c, (i, k) in enumerate(itertools.combinations(range(n), 2)):
        p[i, k], p[k, i], weight[i, k], weight[k, i] = means[c], 1 - means[c], counts[c], counts[c]
    winners = [i for i in range(n) if all(p[i, k] > 0.5 for k in range(n) if k != i)]
    cost = [
        sum(weight[i, k] * bernoulli_kl(p[i, k], 0.5) for k in range(n) if p[i, k] < 0.5)
        for i in range(n)
    ]
    best = winners[0] if winners else int(np.argmin(cost))
    rates = np.zeros(instance.n_arms)
    for i in range(n):
        if i == best:
            continue
        options = []
        for k in range(n):
            if p[i, k] < 0.5:
                regret = max(0.5 * (p[best, i] + p[best, k] - 1), 1e-12)
                options.append((regret / bernoulli_kl(p[i, k], 0.5), k))
        other = min(options)[1] if options else best
        information = bernoulli_kl(p[i, other], 0.5) if options else 1e-24
        rates[instance.position((min(i, other), max(i, other)))] += 1 / information
    return instance.position((best, best)), rates


def lipschitz(instance, counts, means):
    """The linear program over the arms that are not best."""
    best = int(np.argmax(means))
    others = [x for x in range(means.size) if x != best]
    table = [
        [
            instance.family.kl(means[z], max(means[z], means[best] - instance.metric[x, z]))
            for z in others
        ]
        for x in others
    ]
    found = linprog(means[best] - means[others], -np.array(table), -np.ones(len(others)))
    rates = np.zeros(means.size)
    rates[others] = np.where(found.x > 1e-12, found.x, 0.0)
    return best, rates


def combinatorial(instance, counts, means):
    found = solve_semi_bandit(instance.arms, means, gap=1e-6, compiled=False)
    best = int(np.argmax(instance.arms @ means))
    return best, found.rates * instance.sigma**2


def generalized_linear(instance, counts, means):
    best = int(np.argmax(means))
    rewards = 1 / (1 + np.exp(-means))
    costs = rewards[best] - rewards
    found = solve_glm(instance.arms, means, best, costs, IDENTITY, gap=1e-6, compiled=False)
    return best, np.where(np.arange(means.size) == best, 0.0, found.rates) * instance.sigma**2


RATES = {
    "dueling": dueling,
    "lipschitz": lipschitz,
    "combinatorial": combinatorial,
    "generalized_linear": generalized_linear,
}
CASES = {
    "duels": (Dueling(preferences=[[0.5, 0.7, 0.8], [0.3, 0.5, 0.6], [0.2, 0.4, 0.5]]), 200),
    "cycle": (
        Dueling(
            preferences=[
                [0.5, 0.6, 0.6, 0.6],
                [0.4, 0.5, 0.9, 0.1],
                [0.4, 0.1, 0.5, 0.9],
                [0.4, 0.9, 0.1, 0.5],
            ]
        ),
        200,
    ),
    "lipschitz": (
        Lipschitz(theta=[0.0, 0.5, 0.9, 0.3], points=[0, 1, 2, 3], lipschitz_constant=1.0), 80
    ),
    "m-sets": (
        Combinatorial(
            feedback="semi_bandit",
            arms=[[1, 1, 0], [1, 0, 1], [0, 1, 1]],
            phi=[1.5, 0.5, -0.5],
            sigma=0.8,
        ),
        60,
    ),
    "index": (
        GeneralizedLinear(
            arms=[[1, 0], [0, 1], [0.9, 0.3]], phi=[1, -0.5], link="logistic", sigma=0.6
        ),
        60,
    ),
}  # fmt: skip


def decisions(record, instance, horizon, noise):
    """(arm, phase) of every round of an interpreted trial."""
    environment = environment_of(instance)
    tally = empty_tally(environment.means.size, environment.gaps.size)
    memory, course = record.start(), new_course(np.array([horizon]))
    rounds = []
    for t in range(1, horizon + 1):
        before = tally.plays.copy(), tally.phases.copy()
        run_trial(record, environment, tally, memory, course, t, t + 1, noise, noise)
        arm = int(np.argmax(tally.plays - before[0]))
        rounds.append((arm, int(np.argmax(tally.phases - before[1]))))
    return rounds


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("epsilon", "gamma"), [(0.05, 0.0), (0.01, 0.3)])
def test_every_decision_is_that_of_the_printed_algorithm(name, epsilon, gamma):
    instance, horizon = CASES[name]
    record = policy("ossb-paper", instance, epsilon=epsilon, gamma=gamma)
    ours = decisions(record, instance, horizon, np.random.default_rng(5))
    printed = trace(instance, horizon, np.random.default_rng(5), epsilon=epsilon, gamma=gamma)
    assert ours == printed
    assert len({phase for _, phase in ours}) >= 2
