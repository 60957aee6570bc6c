"""A change of units changes no decision: means and noise times a power of two, exactly."""

import numpy as np
import pytest

from ossb.policies import POLICIES
from ossb.policies.base import refusal
from ossb.simulation import simulate
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.finite import Finite
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.linear import Linear
from ossb.structures.lipschitz import Lipschitz
from ossb.structures.polytope import Polytope
from ossb.structures.unimodal import Unimodal
from policies.contract import decisions

ARMS = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.2], [0.6, 0.6], [-0.5, 0.7]]
PAIRS = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
PEAK = np.array([0.1, 0.4, 0.8, 0.5, 0.3])
PHI = np.array([0.6, -0.3])
ITEMS = np.array([0.2, 0.5, 0.7, 0.4])


def in_units(unit):
    """The same problems, counted in other units."""
    return {
        "classical": Classical(theta=unit * PEAK, sigma=unit),
        "linear": Linear(arms=ARMS, phi=unit * PHI, sigma=unit),
        "identity": GeneralizedLinear(
            arms=ARMS, link="identity", observes="reward", phi=unit * PHI, sigma=unit
        ),
        "lipschitz": Lipschitz(
            points=[0, 1, 2, 3, 4], lipschitz_constant=0.5 * unit, theta=unit * PEAK, sigma=unit
        ),
        "unimodal": Unimodal(theta=unit * PEAK, sigma=unit),
        "semi-bandit": Combinatorial(
            feedback="semi_bandit", arms=PAIRS, phi=unit * ITEMS, sigma=unit
        ),
        "finite": Finite(
            parameters=unit * np.array([[0.5, 0.2, 0.1], [0.5, 0.8, 0.1], [0.4, 0.2, 0.9]]),
            theta=unit * np.array([0.5, 0.2, 0.1]),
            sigma=unit,
        ),
        "polytope": Polytope(
            A=[[1, -1, 0], [0, 1, -1]],
            b=[0, 0.3 * unit],
            theta=unit * np.array([0.2, 0.5, 0.4]),
            sigma=unit,
        ),
    }


# a bound on the parameter, published step sizes, or a slope, in a unit of their own
OWN_UNITS = ("oful", "ids", "solid", "lse")
ROUNDS = {"polytope": 30}
SMALL = {"polytope": 2.0**-10}  # convex programs have tolerances of their own
PLAIN = in_units(1.0)
CASES = [
    (name, kind)
    for name, instance in PLAIN.items()
    for kind in POLICIES
    if kind not in OWN_UNITS and refusal(POLICIES[kind], instance) is None
]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_units_change_no_decision(name, kind, large):
    unit = 2.0**20 if large else SMALL.get(name, 2.0**-33)
    rounds = ROUNDS.get(name, 120)
    plain, other = (
        decisions(instance, kind, rounds, 5) for instance in (PLAIN[name], in_units(unit)[name])
    )
    assert plain == other


@pytest.mark.parametrize("observes", ["reward", "index"])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_rewards_beyond_the_range_of_other_links_are_told_apart(observes, goal):
    """With the identity link an index is a reward, and no limit is put on it."""
    sign = 1.0 if goal == "maximize" else -1.0
    instance = GeneralizedLinear(
        arms=[[1, 0], [0, 1], [0.7, 0.7], [1, 1]],
        phi=[2000.0 * sign, 1000.0 * sign],
        sigma=1000.0,
        link="identity",
        observes=observes,
        observation="gaussian",
        goal=goal,
    )
    for kind in ("hgl", "ossb", "graves-lai"):
        found = simulate(instance, [kind], 300, 3, 1, compiled=False).policies[0]
        assert found.plays[3] > 200
