"""MINTS: arms are drawn by what speaks against their being the best."""

import math

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from ossb.errors import InputError
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.structures.dueling import Dueling
from ossb.structures.finite import Finite
from ossb.structures.lipschitz import Lipschitz
from ossb.structures.unimodal import Unimodal
from ossb.tally import empty_tally

CASES = {
    "bernoulli": Classical(theta=[0.5, 0.6, 0.7], observation="bernoulli"),
    "minimized": Classical(theta=[3.0, 2.0, 1.0], observation="poisson", goal="minimize"),
    "line": Unimodal(theta=[0.1, 0.4, 0.9, 0.6, 0.2]),
    "star": Unimodal(
        theta=[0.8, 0.2, 0.3, 0.5], edges=[[0, 1], [0, 2], [0, 3]], observation="bernoulli"
    ),
    "lipschitz": Lipschitz(
        points=[0.0, 0.5, 1.0],
        lipschitz_constant=1.0,
        theta=[0.2, 0.5, 0.4],
        observation="bernoulli",
    ),
    "finite": Finite(parameters=[[1.0, 0.5], [1.0, 2.0]], theta=[1.0, 0.5]),
}


def told(counts, means):
    tally = empty_tally(len(counts), len(counts))
    tally.counts[:], tally.plays[:], tally.means[:] = counts, counts, means
    tally.clock[0] = sum(counts)
    return tally


def posterior(instance, counts, means):
    """What the policy takes the chances to be, before they are scaled."""
    record = policy("mints", instance)
    memory = record.start()
    record.select(told(counts, means), memory, np.random.default_rng(0))
    return memory.chances


def by_level(family, counts, means):
    """With λ_j = q the largest, every other arm above q comes down to q: one number to search."""
    deviances = []
    for j in range(len(means)):

        def cost(q, j=j):
            return sum(
                n * family.kl(m, q)
                for x, (n, m) in enumerate(zip(counts, means, strict=True))
                if n > 0 and (x == j or m > q)
            )

        found = minimize_scalar(
            cost,
            bounds=(means[j], max(means) + 1e-9),
            method="bounded",
            options={"xatol": 1e-13},
        )
        deviances.append(0.0 if counts[j] == 0 else min(found.fun, cost(means[j])))
    return np.exp(-np.array(deviances))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["bernoulli", "exponential", "gaussian", "poisson"])
def test_independent_arms_have_the_profile_likelihood(name, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    instance = Classical(n_arms=n, observation=name)
    counts, means = rng.integers(1, 9, n), rng.uniform(0.2, 0.8, n)
    counts[int(rng.integers(n))] = seed % 2
    means[counts == 0] = 0.0
    expected = by_level(instance.family, counts, means)
    assert posterior(instance, counts, means) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("edges", [None, [[0, 1], [1, 2], [1, 3], [3, 4]]])
@pytest.mark.parametrize("seed", range(3))
def test_unimodal_arms_have_the_profile_likelihood(edges, seed):
    """The sup with the mode at j is a quadratic program: means fall along every edge from j."""
    rng = np.random.default_rng(seed)
    instance = Unimodal(n_arms=5, edges=edges)
    counts, means = rng.integers(1, 9, 5), rng.normal(size=5)
    counts[seed] = 0
    means[seed] = 0.0
    deviances = []
    for j in range(5):
        level, falls, reached, front = cp.Variable(5), [], {j}, [j]
        while front:
            arm = front.pop()
            for other in set(instance.neighbours[arm]) - reached:
                falls.append(level[other] <= level[arm])
                reached.add(other)
                front.append(other)
        cost = 0.5 * cp.sum(cp.multiply(counts, cp.square(level - means)))
        deviances.append(cp.Problem(cp.Minimize(cost), falls).solve(solver=cp.CLARABEL))
    expected = np.exp(-(np.array(deviances) - min(deviances)))
    assert posterior(instance, counts, means) == pytest.approx(expected, abs=1e-6)


def test_lipschitz_arms_have_the_profile_likelihood():
    """A quadratic program again; the means told are Lipschitz themselves, and one arm is unseen."""
    points, counts = np.array([0.0, 0.3, 0.5, 0.9]), [4, 7, 0, 5]
    means = np.array([0.2, 0.4, 0.0, 0.3])
    instance = Lipschitz(points=points, lipschitz_constant=1.0)
    deviances = []
    for j in range(4):
        level = cp.Variable(4)
        limits = [level <= level[j]]
        limits += [
            level[x] - level[z] <= abs(points[x] - points[z]) for x in range(4) for z in range(4)
        ]
        cost = 0.5 * cp.sum(cp.multiply(counts, cp.square(level - means)))
        deviances.append(cp.Problem(cp.Minimize(cost), limits).solve(solver=cp.CLARABEL))
    expected = np.exp(-np.array(deviances))
    assert posterior(instance, counts, means) == pytest.approx(expected, abs=1e-5)


def test_finite_parameters_have_the_profile_likelihood():
    instance = Finite(parameters=[[1.0, 0.5, 0.0], [1.0, 2.0, 0.0], [0.0, 0.4, 0.3]])
    counts, means = [3, 2, 0], [0.8, 0.9, 0.0]
    losses = np.array(
        [
            sum(n * 0.5 * (m - v) ** 2 for n, m, v in zip(counts, means, row, strict=True))
            for row in instance.parameters
        ]
    )
    expected = np.exp(losses.min() - np.array([losses[0], min(losses[1:]), math.inf]))
    assert posterior(instance, counts, means) == pytest.approx(expected)


def test_arms_are_drawn_in_these_proportions():
    instance, counts, means = CASES["bernoulli"], [6, 8, 5], [0.5, 0.75, 0.6]
    record, tally, trials = policy("mints", instance), told(counts, means), 6000
    memory, rng = record.start(), np.random.default_rng(3)
    drawn = np.bincount([record.select(tally, memory, rng).arm for _ in range(trials)], minlength=3)
    chances = by_level(instance.family, counts, means)
    chances /= chances.sum()
    assert (abs(drawn / trials - chances) < 4.5 * np.sqrt(chances / trials)).all()


def test_a_cutoff_leaves_every_arm_a_share():
    record = policy("mints", CASES["bernoulli"], cutoff=2.0)
    memory = record.start()
    record.select(told([50, 50, 50], [0.1, 0.1, 0.9]), memory, np.random.default_rng(0))
    assert memory.chances == pytest.approx([math.exp(-2), math.exp(-2), 1.0])


def test_nothing_told_is_a_uniform_draw():
    assert posterior(CASES["line"], [0] * 5, [0.0] * 5).tolist() == [1.0] * 5
    assert posterior(CASES["bernoulli"], [0] * 3, [0.0] * 3).tolist() == [1.0] * 3


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="cutoff"):
        policy("mints", CASES["line"], cutoff=0.0)
    with pytest.raises(InputError, match="is not for dueling"):
        policy("mints", Dueling(n_items=3))
    with pytest.raises(InputError, match="lines and trees"):
        policy("mints", Unimodal(n_arms=3, edges=[[0, 1], [1, 2], [2, 0]]))


def test_the_twelve_arms():
    """Reported elsewhere: 232."""
    theta = [0, 0.1, 0.2, 0.3, 0.4, 0.7, 0.5, 0.5, 0.4, 0.2, 0.2, 0.1]
    regret = simulate(Unimodal(theta=theta), ["mints"], 20_000, 50, seed=1).policies[0].regret
    assert abs(regret.mean() - 232) < 4 * regret.std() / math.sqrt(50)
    assert regret.std() / math.sqrt(50) < 15


def test_independent_arms_cost_what_lai_and_robbins_say():
    """The slope of mean regret in ln t over the last decade is within 40 % of C."""
    instance = CASES["bernoulli"]
    found = simulate(instance, ["mints"], 20_000, 100, seed=4).policies[0]
    mean = found.curves.mean(axis=0)
    decade = int(np.searchsorted(found.checkpoints, 2000))
    slope = (mean[-1] - mean[decade]) / math.log(20_000 / found.checkpoints[decade])
    assert 0.6 * bound(instance).value < slope < 1.4 * bound(instance).value
