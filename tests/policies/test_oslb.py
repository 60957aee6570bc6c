"""OSLB."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.structures.lipschitz import Lipschitz
from policies import lipschitz_rules
from policies.rounds import played
from policies.test_ckl_ucb import LINE, PLANE


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("epsilon", [0.1, 2.0])
@pytest.mark.parametrize("instance", [LINE, PLANE])
def test_rounds_are_those_of_the_rule(seed, epsilon, instance):
    rounds, _ = played("oslb", instance, 120, seed, epsilon=epsilon)
    assert rounds == lipschitz_rules.trace(instance, 120, seed, 0.0, epsilon)


def test_a_certain_leader_is_played():
    sure = Lipschitz(theta=[1.0, 0.5], distances=[[0, 0.6], [0.6, 0]], observation="bernoulli")
    _, tally = played("oslb", sure, 100, 3)
    assert tally.plays[0] > 60


def test_the_slope_comes_down_to_the_bound():
    """Asymptotically optimal: between 10⁴ and 10⁵, regret per unit of ln t is near C."""
    x = np.arange(6) / 5
    instance = Lipschitz(
        theta=(0.8 - 0.7 * np.abs(x - 2 / 5)).tolist(), points=x.tolist(), lipschitz_constant=0.7,
        observation="bernoulli",
    )  # fmt: skip
    found = simulate(instance, ["oslb"], 100_000, 60, seed=2, workers=2).policies[0]
    at = np.searchsorted(found.checkpoints, [10_000, 100_000])
    early, late = found.checkpoints[at]
    slopes = (found.curves[:, at[1]] - found.curves[:, at[0]]) / math.log(late / early)
    error = slopes.std() / math.sqrt(60)
    assert slopes.mean() - 4 * error < 2.0 * bound(instance).value
    assert slopes.mean() + 4 * error > 0.5 * bound(instance).value


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="is not for classical"):
        policy("oslb", Classical(theta=[0.1, 0.2]))
    for parameters, field in [({"epsilon": -0.1}, "epsilon"), ({"c": -1.0}, "c")]:
        with pytest.raises(InputError, match=field):
            policy("oslb", LINE, **parameters)
