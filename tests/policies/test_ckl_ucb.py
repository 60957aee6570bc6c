"""CKL-UCB."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.structures.classical import Classical
from ossb.structures.lipschitz import Lipschitz
from policies import lipschitz_rules
from policies.rounds import played
from structured_instances import made_up

LINE = Lipschitz(
    theta=[0.3, 0.5, 0.45, 0.6, 0.35], points=[0.0, 1.0, 1.5, 2.5, 3.5], lipschitz_constant=0.3,
    sigma=0.5,
)  # fmt: skip
PLANE = Lipschitz(
    theta=[0.3, 0.5, 0.4, 0.65], points=[[0, 0], [1, 0], [0, 1], [1, 1]], lipschitz_constant=0.25,
    observation="bounded",
)  # fmt: skip
TABLE = Lipschitz(
    theta=[2.0, 1.5, 1.2], distances=[[0, 0.6, 0.9], [0.6, 0, 0.4], [0.9, 0.4, 0]],
    observation="poisson", goal="minimize",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("c", [0.0, 3.0])
@pytest.mark.parametrize("instance", [LINE, PLANE])
def test_rounds_are_those_of_the_rule(seed, c, instance):
    rounds, _ = played("ckl-ucb", instance, 120, seed, c=c)
    assert rounds == lipschitz_rules.trace(instance, 120, seed, c)


def test_an_arm_at_distance_zero_is_never_doubted():
    twins = Lipschitz(
        theta=[0.2, 0.2, 0.6], distances=[[0, 0, 0.5], [0, 0, 0.5], [0.5, 0.5, 0]], sigma=0.3
    )
    record = policy("ckl-ucb", twins)
    tally = made_up(twins, 0, most=3)
    tally.means[:] = [0.9, 0.1, 0.3]
    tally.plays[:], tally.counts[:] = [400, 1, 400], [400, 1, 400]
    assert record.select(tally, record.start(), np.random.default_rng(0)).arm == 0


def test_regret_is_that_of_distances_in_use():
    """Logarithmic, and less than C ln T for the C of arms that are not compared."""
    x = np.arange(10) / 9
    instance = Lipschitz(
        theta=(0.8 - 0.7 * np.abs(x - 3 / 9)).tolist(), points=x.tolist(), lipschitz_constant=0.7,
        observation="bernoulli",
    )  # fmt: skip
    found = simulate(instance, ["ckl-ucb"], 20000, 40, seed=2).policies[0]
    most = lipschitz_rules.as_good_as(instance) * math.log(20000)
    assert 10 < found.regret.mean() < most
    assert found.plays[3] > 0.95 * 20000


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="is not for classical"):
        policy("ckl-ucb", Classical(theta=[0.1, 0.2]))
    with pytest.raises(InputError, match="c"):
        policy("ckl-ucb", LINE, c=-1.0)
