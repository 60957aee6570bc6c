"""Generalised linear arms as policies see them, against a convex solver."""

import math

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize

from ossb.graves_lai.information.links import IDENTITY, LOG, LOGISTIC, change, divergence
from ossb.models.base import NU, SETTLED, WEAKEST
from ossb.models.glm import END, index_of
from ossb.simulation import simulate
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.tally import empty_tally, observe
from structured_instances import ARMS, INSTANCES, made_up

KINDS = {
    "logistic": GeneralizedLinear(
        arms=ARMS, phi=[0.8, -0.4], link="logistic", observation="bernoulli"
    ),
    "log": GeneralizedLinear(arms=ARMS, phi=[0.8, -0.4], link="log", observation="poisson"),
    "index": GeneralizedLinear(
        arms=ARMS, phi=[0.8, -0.4], link="logistic", observation="gaussian", sigma=0.5
    ),
    "minimise": GeneralizedLinear(
        arms=ARMS, phi=[0.8, -0.4], link="log", observation="poisson", goal="minimize"
    ),
}


def prior(instance):
    """V₀ in the coordinates of the features: indices of any level, which differ by 1 or so."""
    arms = np.array(instance.arms)
    if instance.observes == "index":
        return np.zeros((2, 2))
    return 2 * np.cov(arms.T, bias=True) + np.outer(arms.mean(axis=0), arms.mean(axis=0)) / 100


def exact(instance, tally):
    """The estimated indices by a convex solver."""
    phi, arms = cp.Variable(2), np.array(ARMS)
    means, counts = instance.sign * tally.means, tally.counts.astype(float)
    index = arms @ phi
    if instance.observes == "index":
        cost = cp.sum(cp.multiply(counts, cp.square(index - means))) / 2
    elif instance.link == "log":
        cost = cp.sum(cp.multiply(counts, cp.exp(index)) - cp.multiply(counts * means, index))
    else:
        cost = cp.sum(cp.multiply(counts, cp.logistic(index)) - cp.multiply(counts * means, index))
    penalty = cp.quad_form(phi, prior(instance)) / 2
    cp.Problem(cp.Minimize(cost + penalty)).solve(solver=cp.CLARABEL)
    return arms @ phi.value


@pytest.mark.parametrize("instance", KINDS.values(), ids=list(KINDS))
@pytest.mark.parametrize("seed", range(3))
def test_projection_maximises_likelihood_and_prior(instance, seed):
    model = instance.model()
    memory, tally = model.start(), made_up(instance, seed)
    leader = model.project(tally, memory)
    indices = exact(instance, tally)
    assert memory.indices == pytest.approx(indices, abs=1e-4)
    assert leader == int(np.argmax(instance.sign * indices))
    again = memory.phi.copy()
    model.project(tally, memory)
    assert memory.phi == pytest.approx(again, abs=1e-9)


def test_separated_data_have_a_finite_estimate():
    instance = KINDS["logistic"]
    model = instance.model()
    memory, tally = model.start(), empty_tally(5, 5)
    for arm in range(5):
        for _ in range(50):
            observe(tally, arm, 1.0 if ARMS[arm][0] > 0 else 0.0)
    model.project(tally, memory)
    assert memory.indices == pytest.approx(exact(instance, tally), abs=1e-3)


def cheapest_change(model, memory, tally, arm, leader, known):
    """The same by a general solver: the least divergence that makes an arm the leader's equal."""
    arms = np.array(ARMS)
    link, indices = model.observed_link, memory.indices

    def cost(delta):
        shifts = arms @ delta
        parts = [divergence(link, u, h) for u, h in zip(indices, shifts, strict=True)]
        pulls = [change(link, u, h) for u, h in zip(indices, shifts, strict=True)]
        return float(tally.counts @ parts), arms.T @ (tally.counts * pulls)

    rows = [arms[arm] - arms[leader], *([arms[leader]] if known else [])]
    sides = [indices[leader] - indices[arm], 0.0]
    meets = [
        {"type": "eq", "fun": lambda delta, r=row, s=side: r @ delta - s}
        for row, side in zip(rows, sides, strict=False)
    ]
    answer = minimize(
        cost, np.zeros(2), jac=True, constraints=meets, method="SLSQP", options={"ftol": 1e-14}
    )
    return answer.fun / model.sigma**2


@pytest.mark.parametrize("instance", KINDS.values(), ids=list(KINDS))
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_likelihood_ratio(instance, known, seed):
    model = instance.model()
    memory, tally = model.start(), made_up(instance, seed, most=60)
    leader = model.project(tally, memory)
    model.test(leader, math.inf, tally, memory)
    others = [x for x in range(5) if x != leader]
    ratios = [cheapest_change(model, memory, tally, x, leader, known) for x in others]
    number = SETTLED if known else WEAKEST
    assert memory.numbers[number] == pytest.approx(min(ratios), rel=1e-5)


@pytest.mark.parametrize("kind", ["logistic", "log"])
def test_likelihood_ratio_is_on_the_right_side_of_a_level(kind):
    instance = KINDS[kind]
    model = instance.model()
    memory, tally = model.start(), made_up(instance, 1, most=60)
    leader = model.project(tally, memory)
    model.test(leader, math.inf, tally, memory)
    weakest, settled = memory.numbers[WEAKEST], memory.numbers[SETTLED]
    for level in (0.5 * weakest, 0.99 * weakest, 1.01 * weakest, 3.0 * weakest):
        model.test(leader, level, tally, memory)
        assert (memory.numbers[WEAKEST] >= level) == (weakest >= level)
        if weakest < level:
            assert (memory.numbers[SETTLED] >= level) == (settled >= level)


def test_gain_is_the_fall_of_expected_improvement():
    instance = KINDS["index"]
    model = instance.model()
    memory, tally = model.start(), made_up(instance, 2, most=30)
    leader = model.weigh(tally, memory)
    arms, sigma = np.array(ARMS), instance.sigma
    weight = np.linalg.inv((arms * tally.counts[:, None]).T @ arms)
    expected, chances = np.zeros(5), 0.0
    for j in range(5):
        if j == leader:
            continue
        across = arms[j] - arms[leader]
        spread = np.sqrt(across @ weight @ across)
        lead = memory.indices[leader] - memory.indices[j]
        z = lead / (sigma * spread)
        height = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
        steep = (memory.rewards[leader] - memory.rewards[j]) / lead
        expected += 0.5 * height * steep * sigma / spread * (arms @ weight @ across) ** 2
        chances += 0.5 * math.erfc(z / math.sqrt(2))
    expected /= 1 + np.einsum("xi,ij,xj->x", arms, weight, arms)
    assert memory.gain == pytest.approx(expected, rel=1e-6)
    assert memory.numbers[NU] == pytest.approx(1 / (1 + chances))


def test_indices_of_means_stay_short_of_the_ends():
    ends = [index_of(LOGISTIC, 0.0), index_of(LOGISTIC, 1.0), index_of(LOG, 0.0)]
    assert ends == [-END, END, -END]
    inside = [index_of(LOGISTIC, 0.5), index_of(LOG, 2.0), index_of(IDENTITY, -3.0)]
    assert inside == pytest.approx([0.0, math.log(2.0), -3.0])


@pytest.mark.parametrize("instance", KINDS.values(), ids=list(KINDS))
def test_policies_run(instance):
    result = simulate(instance, ["hgl", "ossb", "ossb-paper"], 25, 1, compiled=False)
    for answer in result.policies:
        assert answer.plays.sum() == 25
        assert np.isfinite(answer.curves).all()


def test_components_are_what_is_observed():
    assert KINDS["index"].components == pytest.approx(np.array(ARMS) @ [0.8, -0.4])
    assert KINDS["minimise"].components == pytest.approx(-np.exp(np.array(ARMS) @ [0.8, -0.4]))
    assert INSTANCES["logistic"].components.max() < 1


def test_the_best_arm_is_played_most():
    result = simulate(KINDS["index"], ["hgl"], 1500, 4, compiled=False)
    assert int(np.argmax(result["hgl"].plays)) == KINDS["index"].best
