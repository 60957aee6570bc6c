"""With the identity link rewards may be as large as they like.

That units change no decision is among the contracts of ``test_symmetries.py``.
"""

import pytest

from ossb.simulation import simulate
from ossb.structures.generalized_linear import GeneralizedLinear


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
