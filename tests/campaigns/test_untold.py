"""An arm that never answers does not draw all asks, wherever 0 lies among the rewards."""

from collections import Counter

import numpy as np
import pytest

from ossb.campaigns import Campaign

SILENT = 3
FIT_ALL = ["hgl", "ossb", "ossb-paper", "ucb1", "kl-ucb", "dmed", "imed", "burnetas-katehakis"]
STRUCTURES = {
    "classical": {"structure": "classical", "sigma": 1.0, "n_arms": 4},
    "lipschitz": {
        "structure": "lipschitz",
        "sigma": 1.0,
        "points": [0, 1, 2, 3],
        "lipschitz_constant": 5.0,
    },
    "unimodal": {"structure": "unimodal", "sigma": 1.0, "n_arms": 4},
}


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("policy", [*FIT_ALL, "thompson", "mints", "graves-lai"])
def test_an_arm_that_never_answers(policy, structure, goal):
    instance = {**STRUCTURES[structure], "observation": "gaussian", "goal": goal}
    best = 0 if goal == "minimize" else 2
    rng, asked = np.random.default_rng(0), Counter()
    with Campaign.open("memory://", "c", instance=instance, policy=policy, seed=1) as campaign:
        for _ in range(60):
            (decision,) = campaign.ask()
            asked[decision.arm] += 1
            if decision.arm != SILENT:
                mean = [100.0, 102.0, 104.0][decision.arm]
                campaign.tell(decision.id, float(rng.normal(mean, 1.0)))
    assert asked[SILENT] <= 33  # dmed and imed owe it every other play
    assert asked[best] >= 15
    assert len(asked) == 4


def test_an_item_that_is_never_told_of_does_not_draw_all_paths():
    instance = {
        "structure": "combinatorial",
        "sigma": 1.0,
        "feedback": "semi_bandit",
        "goal": "minimize",
        "arm_set": "paths",
        "edges": [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]],
        "source": 0,
        "target": 3,
    }
    rng, asked = np.random.default_rng(0), Counter()
    with Campaign.open("memory://", "c", instance=instance, seed=1) as campaign:
        for _ in range(100):
            (decision,) = campaign.ask()
            asked[tuple(decision.arm)] += 1
            if 2 not in decision.arm:
                campaign.tell(decision.id, [float(rng.normal(30.0, 1.0)) for _ in decision.arm])
    assert asked[0, 2, 4] <= 10


LEADERS = {
    "costs": (
        {"structure": "classical", "sigma": 1.0, "n_arms": 3, "goal": "minimize"},
        {0: 5.0, 1: 3.0},
        1,
    ),
    "losses": ({"structure": "classical", "sigma": 1.0, "n_arms": 3}, {0: -5.0, 1: -3.0}, 1),
    "a line of costs": ({**STRUCTURES["lipschitz"], "goal": "minimize"}, {0: 5.0, 1: 3.0}, 1),
    "a duel": ({"structure": "dueling", "n_items": 3}, {(0, 1): 1}, [0, 0]),
    "items": (
        {
            "structure": "combinatorial",
            "sigma": 1.0,
            "feedback": "semi_bandit",
            "goal": "minimize",
            "arm_set": "m_sets",
            "n_items": 3,
            "size": 1,
        },
        {(0,): [5.0], (1,): [3.0]},
        [1],
    ),
    "one arm": ({"structure": "classical", "sigma": 1.0, "n_arms": 3}, {2: 1.0}, 2),
    "one cost": (
        {"structure": "classical", "sigma": 1.0, "n_arms": 3, "goal": "minimize"},
        {2: 1.0},
        2,
    ),
    "level arms": ({"structure": "classical", "sigma": 1.0, "n_arms": 4}, {2: 1.0, 3: 1.0}, 2),
    "one place on a line": (STRUCTURES["unimodal"], {2: -1.0}, 2),
    "one point": (STRUCTURES["lipschitz"], {2: -1.0}, 2),
    "a later duel": ({"structure": "dueling", "n_items": 3}, {(1, 2): 1}, [1, 1]),
    "a lost duel": ({"structure": "dueling", "n_items": 3}, {(0, 1): 0}, [1, 1]),
    "a duel to lose": (
        {"structure": "dueling", "n_items": 3, "goal": "minimize"},
        {(1, 2): 1},
        [2, 2],
    ),
    "some items": (
        {
            "structure": "combinatorial",
            "sigma": 1.0,
            "feedback": "semi_bandit",
            "arm_set": "m_sets",
            "n_items": 4,
            "size": 2,
        },
        {(2, 3): [1.0, 3.0]},
        [2, 3],
    ),
    "a smaller set": (
        {
            "structure": "combinatorial",
            "sigma": 1.0,
            "feedback": "semi_bandit",
            "arms": [[1, 1, 1, 0], [0, 0, 0, 1]],
        },
        {1: [9.0]},
        1,
    ),
    "a cycle": (
        {"structure": "unimodal", "sigma": 1.0, "edges": [[0, 1], [1, 2], [2, 3], [3, 0]]},
        {2: -1.0},
        2,
    ),
}


@pytest.mark.parametrize("case", LEADERS)
def test_an_arm_that_nothing_was_told_of_does_not_lead(case):
    instance, told, leader = LEADERS[case]
    policy = "osub" if "edges" in instance and instance["structure"] == "unimodal" else "hgl"
    with Campaign.open("memory://", "c", instance=instance, policy=policy, seed=1) as campaign:
        campaign.import_rows(list(told.items()))
        assert campaign.leader() == campaign.best() == leader
