"""Every structure as a Gymnasium environment, checked by Gymnasium."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from ossb.adapters.gymnasium import ID, BanditEnv
from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.structures import STRUCTURES
from ossb.structures.convex import Convex
from ossb.structures.oracle import Oracle
from structured_instances import ARMS, PREFERENCES, SETS

THETA = [0.2, 0.5, 0.9, 0.4]
KEYS = {
    "classical": {"theta": THETA},
    "classical, costs": {"theta": THETA, "observation": "exponential", "goal": "minimize"},
    "combinatorial": {"feedback": "bandit", "arms": SETS, "phi": [0.5, 0.2, 0.9, 0.4]},
    "combinatorial, semi-bandit": {
        "feedback": "semi_bandit",
        "arms": SETS,
        "phi": [0.5, 0.2, 0.9, 0.4],
        "observation": "bernoulli",
    },
    "combinatorial, not listed": {
        "feedback": "semi_bandit",
        "arm_set": "m_sets",
        "n_items": 5,
        "size": 2,
        "phi": [0.1, 0.5, 0.3, 0.9, 0.2],
    },
    "dueling": {"preferences": PREFERENCES},
    "finite": {"theta": [1.0, 0.5], "parameters": [[1.0, 0.5], [1.0, 2.0]]},
    "generalized_linear": {
        "arms": ARMS,
        "phi": [0.8, -0.4],
        "link": "logistic",
        "observation": "bernoulli",
    },
    "linear": {"arms": ARMS, "phi": [0.8, -0.4]},
    "lipschitz": {
        "theta": [0.3, 0.5, 0.45],
        "points": [0.0, 1.0, 1.5],
        "lipschitz_constant": 0.3,
        "observation": "poisson",
    },
    "polytope": {"A": [[1.0, -2.0, 1.0]], "b": [0.0], "theta": [0.3, 0.8, 0.5]},
    "polytope, rewards not shown": {
        "A": [[1.0, -2.0, 1.0]],
        "b": [0.0],
        "theta": [0.3, 0.8, 0.5],
        "reveals": [[0, 1], [1], [2]],
        "rewards": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    },
    "unimodal": {"theta": [0.1, 0.6, 0.3], "observation": "bernoulli"},
    "union": {
        "pieces": [{"A": [[1.0, -1.0]], "b": [0.0]}, {"A": [[-1.0, 1.0]], "b": [0.0]}],
        "theta": [0.3, 0.8],
    },
}
LISTED = [case for case in KEYS if "not listed" not in case]


def instance_of(case):
    return from_dict({"structure": case.partition(",")[0], **KEYS[case]})


def test_no_structure_is_left_out():
    assert {case.partition(",")[0] for case in KEYS} == set(STRUCTURES)


@pytest.mark.parametrize("case", KEYS)
def test_gymnasium_finds_nothing_wrong(case):
    check_env(BanditEnv(instance_of(case), horizon=5), skip_render_check=True)


def test_structures_of_code_are_environments_too():
    def nothing_confusing(theta, rates):
        return None

    theta = [0.3, 0.8, 0.5]
    for instance in (
        Convex(constraints=lambda x: [x[0] + x[2] <= 2 * x[1]], theta=theta),
        Oracle(oracle=nothing_confusing, theta=theta),
    ):
        check_env(BanditEnv(instance, horizon=5), skip_render_check=True)


@pytest.mark.parametrize("case", LISTED)
def test_plays_show_and_cost_what_the_instance_says(case):
    instance = instance_of(case)
    environment = BanditEnv(instance)
    environment.reset(seed=7)
    regret = 0.0
    for arm, shown in enumerate(instance.showing()):
        seen, reward, terminated, truncated, info = environment.step(arm)
        assert np.flatnonzero(seen["shown"]).tolist() == sorted(shown)
        regret += float(instance.gaps[arm])
        assert info["regret"] == pytest.approx(regret, abs=1e-12)
        assert info["gap"] == pytest.approx(float(instance.gaps[arm]), abs=1e-12)
        if case in ("dueling", "polytope, rewards not shown"):
            assert reward == -info["gap"]
        else:
            assert reward == pytest.approx(instance.sign * seen["values"].sum())
        assert not terminated
        assert not truncated


@pytest.mark.parametrize("case", ["classical", "classical, costs", "combinatorial, semi-bandit"])
def test_mean_rewards_are_those_of_the_arms(case):
    instance = instance_of(case)
    environment = BanditEnv(instance)
    environment.reset(seed=3)
    plays = 4000
    for arm in range(instance.n_arms):
        rewards = np.array([environment.step(arm)[1] for _ in range(plays)])
        # five standard errors: wrong for one arm in 10⁶
        slack = 5 * rewards.std() / np.sqrt(plays)
        assert abs(rewards.mean() - instance.rewards[arm]) < slack


def test_scores_choose_among_arms_that_are_not_listed():
    environment = BanditEnv(instance_of("combinatorial, not listed"))
    environment.reset(seed=1)
    seen, _, _, _, info = environment.step(np.array([0.0, 1.0, 0.0, 0.9, -1.0]))
    assert info["arm"] == [1, 3]
    assert info["gap"] == 0.0
    assert np.flatnonzero(seen["shown"]).tolist() == [1, 3]
    for bad in ([0.0], [np.nan] * 5):
        with pytest.raises(InputError, match="`action` must be 5 finite scores"):
            environment.step(np.array(bad))


def test_it_is_made_by_name():
    keys = {"structure": "classical", "theta": THETA}
    environment = gymnasium.make(f"ossb.adapters.gymnasium:{ID}", instance=keys, horizon=3)
    environment.reset(seed=0)
    ends = [environment.step(arm)[3] for arm in (0, 1, 2)]
    assert ends == [False, False, True]
    again = gymnasium.make(ID, instance=keys, horizon=3)
    assert again.reset(seed=0)[1] == {"regret": 0.0}


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="`theta` must be given: an environment"):
        BanditEnv({"structure": "classical", "n_arms": 3})
    with pytest.raises(InputError, match="`horizon` must be at least 1"):
        BanditEnv(instance_of("classical"), horizon=0)
    with pytest.raises(InputError, match="`render_mode` must be None"):
        BanditEnv(instance_of("classical"), render_mode="human")
    sums = {"structure": "combinatorial", "feedback": "bandit", "phi": [0.1, 0.2, 0.3]}
    with pytest.raises(InputError, match="`instance` must list its arms where only their sum"):
        BanditEnv({**sums, "arm_set": "m_sets", "n_items": 3, "size": 2})
    environment = BanditEnv(instance_of("classical"))
    environment.reset(seed=0)
    with pytest.raises(InputError, match="`action` must be below 4"):
        environment.step(4)
