"""Specialised answers equal the generic engine's, on random instances of every structure."""

from types import SimpleNamespace

import numpy as np
import pytest

from general_form import as_general
from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.structures import STRUCTURES
from ossb.structures.base import bound

SEEDS = range(4)


def agree(content):
    instance = from_dict(content)
    special, general = bound(instance), bound(as_general(instance))
    report = general.verify()
    assert report.valid, report.problems
    assert special.value == pytest.approx(general.value, rel=2.1e-6)
    return special, general


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "poisson", "bounded"])
def test_classical(observation, goal):
    theta = np.random.default_rng(1).uniform(0.1, 0.9, 5)
    agree(
        {
            "structure": "classical",
            "observation": observation,
            "theta": theta.tolist(),
            "goal": goal,
        }
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_linear(seed):
    rng = np.random.default_rng(seed)
    size, d = int(rng.integers(4, 10)), int(rng.integers(2, 4))
    agree(
        {
            "structure": "linear",
            "arms": rng.normal(size=(size, d)).tolist(),
            "phi": rng.normal(size=d).tolist(),
            "sigma": 0.7,
            "goal": "minimize" if seed % 2 else "maximize",
        }
    )


def test_lipschitz_with_a_gap_far_smaller_than_the_distances():
    agree(
        {
            "structure": "lipschitz",
            "theta": [0, 0, -0.03, 0, 2.8e-6],
            "points": [0.0539, 0.2858, 0.5153, 0.805, 0.8079],
            "lipschitz_constant": 1,
        }
    )


def test_semi_bandit_with_a_confusing_mean_next_to_its_end():
    agree(
        {
            "structure": "combinatorial",
            "feedback": "semi_bandit",
            "observation": "bernoulli",
            "phi": [0.4999996010333174, 0.499997109072722, 0.5000012833922056],
            "arms": [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 0]],
        }
    )


@pytest.mark.parametrize("seed", range(12))
def test_linear_with_arms_that_do_not_span(seed):
    rng = np.random.default_rng(seed)
    size, d, rank = int(rng.integers(2, 7)), int(rng.integers(2, 6)), int(rng.integers(1, 3))
    if seed % 3 == 0:
        arms = np.unique(rng.integers(0, 2, (min(size, d - 1) + 1, d)).astype(float), axis=0)
    else:
        arms = rng.normal(size=(size, rank)) @ rng.normal(size=(rank, d))
    agree(
        {
            "structure": "linear",
            "arms": arms.tolist(),
            "phi": rng.uniform(0.2, 1.0, d).tolist(),
            "goal": "minimize" if seed % 2 else "maximize",
        }
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("link", ["logistic", "log", "identity"])
def test_generalized_linear_index(seed, link):
    rng = np.random.default_rng(seed)
    agree(
        {
            "structure": "generalized_linear",
            "observes": "index",
            "link": link,
            "arms": rng.normal(size=(6, 2)).tolist(),
            "phi": rng.normal(size=2).tolist(),
            "goal": "minimize" if seed % 2 else "maximize",
        }
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "poisson"])
def test_lipschitz(seed, observation):
    rng = np.random.default_rng(seed)
    points = np.sort(rng.uniform(0, 1, 6))
    theta = 0.5 + 0.4 * np.sin(4 * points + rng.uniform(0, 3))
    agree(
        {
            "structure": "lipschitz",
            "observation": observation,
            "points": points.tolist(),
            "lipschitz_constant": 1.7,
            "theta": theta.tolist(),
            "goal": "minimize" if seed % 2 else "maximize",
        }
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("feedback", ["bandit", "semi_bandit"])
def test_combinatorial(seed, feedback):
    rng = np.random.default_rng(seed)
    arms = np.unique(rng.integers(0, 2, (9, 4)), axis=0)
    arms = arms[arms.sum(axis=1) > 0]
    agree(
        {
            "structure": "combinatorial",
            "feedback": feedback,
            "arms": arms.tolist(),
            "phi": rng.uniform(0, 1, 4).tolist(),
        }
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_semi_bandit_with_bernoulli_items(seed):
    rng = np.random.default_rng(seed)
    arms = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 1, 1]]
    agree(
        {
            "structure": "combinatorial",
            "feedback": "semi_bandit",
            "arms": arms,
            "observation": "bernoulli",
            "phi": rng.uniform(0.1, 0.9, 4).tolist(),
        }
    )


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
@pytest.mark.parametrize("observation", ["gaussian", "bernoulli"])
def test_unimodal_on_a_line(observation, goal):
    theta = [0.1, 0.3, 0.3, 0.8, 0.6, 0.2]
    theta = theta if goal == "maximize" else [1 - t for t in theta]
    agree({"structure": "unimodal", "observation": observation, "theta": theta, "goal": goal})


def test_every_way_to_climb_and_no_other():
    line = as_general(from_dict({"structure": "unimodal", "theta": list(range(40))}))
    assert len(line.pieces) == 40  # one for each peak, of 2³⁹ ways to have a neighbour above
    cycle = [[0, 1], [1, 2], [2, 3], [3, 0]]
    content = {"structure": "unimodal", "theta": [0.2, 0.6, 0.9, 0.5], "edges": cycle}
    assert len(as_general(from_dict(content)).pieces) == 16  # four peaks, four trees
    one = as_general(from_dict({"structure": "unimodal", "theta": [0.5]}))
    assert len(one.pieces) == 1


def test_unimodal_on_a_tree_and_on_a_cycle():
    tree = [[0, 1], [1, 2], [1, 3], [3, 4]]
    agree({"structure": "unimodal", "theta": [0.2, 0.6, 0.1, 0.9, 0.5], "edges": tree})
    cycle = [[0, 1], [1, 2], [2, 3], [3, 0]]
    agree({"structure": "unimodal", "theta": [0.2, 0.6, 0.9, 0.5], "edges": cycle})


@pytest.mark.parametrize("seed", SEEDS)
def test_dueling(seed):
    rng = np.random.default_rng(seed)
    size = 4
    upper = np.triu(rng.uniform(0.1, 0.9, (size, size)), 1)
    upper[0, 1:] = rng.uniform(0.55, 0.95, size - 1)
    preferences = upper + np.tril(1 - upper.T, -1)
    np.fill_diagonal(preferences, 0.5)
    order = rng.permutation(size)
    agree({"structure": "dueling", "preferences": preferences[np.ix_(order, order)].tolist()})


@pytest.mark.parametrize("observation", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("seed", SEEDS)
def test_finite(seed, observation):
    """As a union of points; the first ones agree with the truth on its best arm."""
    rng = np.random.default_rng(seed)
    theta = rng.uniform(0.1, 0.9, 4)
    parameters = rng.uniform(0.05, 0.95, (6, 4))
    parameters[:4, int(np.argmax(theta))] = theta.max()
    rows = [theta.tolist(), *parameters.tolist()]
    keys = {"structure": "finite", "observation": observation, "parameters": rows}
    agree({**keys, "theta": theta.tolist()})


@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "poisson"])
@pytest.mark.parametrize("seed", SEEDS)
def test_classical_and_unimodal_at_random(seed, observation):
    rng = np.random.default_rng(seed)
    theta = rng.permutation(rng.uniform(0.1, 0.9, 5))
    agree({"structure": "classical", "observation": observation, "theta": theta.tolist()})
    peak = int(rng.integers(0, 5))
    ordered = np.sort(theta)[::-1]
    line = [*ordered[1 : peak + 1][::-1], ordered[0], *ordered[peak + 1 :]]
    agree({"structure": "unimodal", "observation": observation, "theta": [float(t) for t in line]})


def test_refusals():
    oracle = SimpleNamespace(kind="oracle")
    with pytest.raises(InputError, match="to be written as a polytope or union"):
        as_general(oracle)
    with pytest.raises(InputError, match="be given"):
        as_general(STRUCTURES["classical"](n_arms=2))
    logistic = {
        "structure": "generalized_linear",
        "observation": "bernoulli",
        "link": "logistic",
        "arms": [[1.0], [0.5]],
        "phi": [1.0],
    }
    with pytest.raises(InputError, match="be index"):
        as_general(from_dict(logistic))
    star = [[i, j] for i in range(7) for j in range(i)]
    theta = np.linspace(0, 1, 7).tolist()
    with pytest.raises(InputError, match="ways to climb"):
        as_general(from_dict({"structure": "unimodal", "theta": theta, "edges": star}))
