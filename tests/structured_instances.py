"""Small instances of the structures with coupled arms, and tallies of made-up observations."""

import numpy as np

from ossb.structures.combinatorial import Combinatorial
from ossb.structures.dueling import Dueling
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.lipschitz import Lipschitz
from ossb.tally import empty_tally, observe

PREFERENCES = [
    [0.5, 0.6, 0.7, 0.55],
    [0.4, 0.5, 0.3, 0.6],
    [0.3, 0.7, 0.5, 0.8],
    [0.45, 0.4, 0.2, 0.5],
]
ARMS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.7], [-0.5, 0.4], [0.9, -0.3]]
SETS = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]

INSTANCES = {
    "dueling": Dueling(preferences=PREFERENCES),
    "lipschitz": Lipschitz(
        observation="bernoulli",
        theta=[0.3, 0.5, 0.45, 0.6, 0.35],
        points=[0.0, 1.0, 1.5, 2.5, 3.5],
        lipschitz_constant=0.3,
    ),
    "semi_bandit": Combinatorial(
        feedback="semi_bandit", arms=SETS, phi=[0.5, 0.2, 0.9, 0.4], sigma=0.7
    ),
    "logistic": GeneralizedLinear(
        arms=ARMS, phi=[0.8, -0.4], link="logistic", observation="bernoulli"
    ),
}


def made_up(instance, seed, most=12, pending=False):
    """A tally of random plays of every arm, with rounds that are not yet told if so wished."""
    rng = np.random.default_rng(seed)
    reveals = instance.reveals()
    tally = empty_tally(instance.components.size, instance.n_arms)
    for arm, components in enumerate(reveals):
        for _ in range(int(rng.integers(1, most))):
            tally.plays[arm] += 1
            tally.clock[0] += 1
            for component in components:
                mean = float(instance.components[component])
                observe(tally, component, instance.family.sample(mean, rng))
    if pending:
        for component in reveals[-2]:
            tally.pending[component] += 2
    return tally
