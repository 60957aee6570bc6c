import copy
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from ossb.families import Bernoulli, Gaussian
from ossb.models.base import NU, SETTLED, WEAKEST
from ossb.models.classical import ClassicalModel, pooled_ratio
from ossb.models.region_programs import RegionPrograms
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.structures.classical import Classical
from ossb.structures.polytope import Polytope
from ossb.structures.unimodal import Unimodal
from ossb.structures.union import Union
from ossb.tally import Tally, empty_tally

LINE = {"A": [[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]], "b": [0.0, 0.0]}  # increasing
BACK = {"A": [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]], "b": [0.0, 0.0]}  # decreasing
PEAK = {"A": [[1.0, -1.0, 0.0], [0.0, -1.0, 1.0]], "b": [0.0, 0.0]}


def told(means, counts) -> Tally:
    tally = empty_tally(len(means), len(means))
    tally.means[:] = means
    tally.counts[:] = counts
    tally.plays[:] = counts
    tally.clock[0] = sum(counts)
    return tally


def free_polytope(observation: str, theta) -> Polytope:
    n = len(theta)
    return Polytope(
        observation=observation, A=np.vstack([np.eye(n)]), b=np.full(n, 50.0), theta=theta
    )


@pytest.mark.parametrize(
    ("observation", "family"), [("gaussian", Gaussian()), ("bernoulli", Bernoulli())]
)
def test_without_structure_ratios_are_those_of_independent_arms(observation, family):
    tally = told([0.3, 0.55, 0.6], [12, 30, 25])
    general = free_polytope(observation, [0.3, 0.5, 0.6]).model()
    memory = general.start()
    assert general.project(tally, memory) == 2
    np.testing.assert_allclose(memory.estimate, tally.means, atol=1e-6)
    general.test(2, math.inf, tally, memory)
    expected = min(
        pooled_ratio(family, tally.means[x], float(tally.counts[x]), 0.6, 25.0) for x in (0, 1)
    )
    assert memory.numbers[WEAKEST] == pytest.approx(expected, rel=1e-4)
    known = min(tally.counts[x] * family.kl(tally.means[x], 0.6) for x in (0, 1))
    assert memory.numbers[SETTLED] == pytest.approx(known, rel=1e-3)


def test_gains_are_near_those_of_independent_arms():
    tally = told([0.1, 0.4, 0.9], [40, 60, 200])
    general = free_polytope("gaussian", [0.1, 0.4, 0.9]).weighing()
    memory = general.start()
    general.weigh(tally, memory)
    classical = ClassicalModel(Gaussian(), 3, 3, 0.0, 0.0)
    reference = classical.start()
    classical.weigh(tally, reference)
    # the discount of evidence is the classical model's own
    np.testing.assert_allclose(memory.gain, reference.gain, rtol=0.35, atol=1e-12)


CONCAVE = np.array([[1.0, -2, 1, 0, 0], [0, 1, -2, 1, 0], [0, 0, 1, -2, 1]])


def nearest(means, counts, sigma, more):
    """Means of the set, and more inequalities, of the largest likelihood, by a general solver."""
    rows = np.vstack([CONCAVE, *more])
    found = minimize(
        lambda means_of: 0.5 * counts @ (means - means_of) ** 2,
        means,
        jac=lambda means_of: counts * (means_of - means),
        constraints=[{"type": "ineq", "fun": lambda x: -rows @ x, "jac": lambda x: -rows}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.x, found.fun / sigma**2


def literal_gains(means, counts, sigma):
    """The leader, ν and B of the rule, as it is written."""
    estimate, least = nearest(means, counts, sigma, [])
    leader = int(np.argmax(estimate))
    gain, chances = np.zeros(means.size), 0.0
    for j in set(range(means.size)) - {leader}:
        beaten = np.zeros(means.size)
        beaten[[leader, j]] = 1.0, -1.0
        other, value = nearest(means, counts, sigma, [beaten])
        glr, gap = value - least, estimate[leader] - estimate[j]
        deviation = sigma * math.sqrt(1 / counts[j] + 1 / counts[leader])
        z = math.sqrt(2 * glr)
        each = 0.5 * ((estimate - other) / sigma) ** 2
        factor = 0.5 * norm.pdf(z) * max(gap / z, deviation)
        gain += factor * each / (counts @ each) * counts / (1 + counts)
        chances += norm.sf(z)
    return leader, 1 / (1 + chances), gain


@pytest.mark.parametrize("seed", range(8))
def test_gains_are_those_of_the_rule_as_written(seed):
    rng = np.random.default_rng(seed)
    theta, sigma = np.array([0.2, 0.6, 0.8, 0.7, 0.3]), 0.7
    counts = rng.integers(3, 40, 5)
    means = theta + sigma * rng.normal(size=5) / np.sqrt(counts)
    model = Polytope(A=CONCAVE, b=[0.0] * 3, theta=theta, sigma=sigma).weighing()
    memory = model.start()
    leader, nu, gain = literal_gains(means, counts.astype(float), sigma)
    assert model.weigh(told(means, counts), memory) == leader
    assert memory.numbers[NU] == pytest.approx(nu, rel=1e-3)
    assert memory.gain == pytest.approx(gain, rel=1e-2, abs=1e-3 * gain.max())


def test_unimodal_as_a_union_has_the_same_ratios():
    tally = told([0.2, 0.7, 0.5], [20, 40, 15])
    union = Union(pieces=[LINE, BACK, PEAK], theta=[0.2, 0.7, 0.5]).model()
    model = Unimodal(theta=[0.2, 0.7, 0.5]).model()
    memory, reference = union.start(), model.start()
    leader = union.project(tally, memory)
    assert leader == model.project(tally, reference) == 1
    union.test(leader, math.inf, tally, memory)
    model.test(leader, math.inf, tally, reference)
    assert memory.numbers[WEAKEST] == pytest.approx(reference.numbers[WEAKEST], rel=1e-4)


def test_means_outside_are_projected():
    tally = told([0.9, 0.1, 0.5], [10, 10, 10])
    model = Polytope(**LINE, theta=[0.1, 0.5, 0.9]).model()
    memory = model.start()
    model.project(tally, memory)
    np.testing.assert_allclose(memory.estimate, [0.5, 0.5, 0.5], atol=1e-3)
    assert (np.diff(memory.estimate) >= -1e-9).all()


def test_where_the_order_is_known_nothing_competes():
    model = Polytope(**LINE, theta=[0.1, 0.5, 0.9]).model()
    memory = model.start()
    model.test(2, math.inf, told([0.1, 0.5, 0.9], [5, 5, 5]), memory)
    assert memory.numbers[WEAKEST] == np.inf


@pytest.mark.parametrize("name", ["hgl", "ossb", "ossb-paper"])
def test_policies_play_a_union(name):
    instance = Union(pieces=[LINE, BACK, PEAK], theta=[0.2, 0.9, 0.5])
    result = simulate(instance, [name], 60, 2, seed=1)
    assert result.policies[0].plays.sum() == pytest.approx(60)
    again = simulate(instance, [name], 60, 2, seed=1, compiled=False)
    np.testing.assert_array_equal(result.policies[0].curves, again.policies[0].curves)


def test_graph_feedback_plays_what_shows_most():
    instance = Polytope(
        A=np.eye(3),
        b=np.ones(3),
        theta=[0.2, 0.8, 0.5],
        reveals=[[0, 1, 2], [1], [2]],
        rewards=np.eye(3),
    )
    model = instance.model()
    assert [model.informative(place) for place in range(2)] == [0, -1]
    result = simulate(instance, ["hgl"], 80, 3, seed=0)
    assert result.policies[0].plays.argmax() == 1


def test_a_goal_to_minimise():
    up = simulate(Polytope(**PEAK, theta=[0.1, 0.9, 0.2]), ["hgl"], 50, 2, seed=3)
    valley = {"A": (-np.array(PEAK["A"])).tolist(), "b": PEAK["b"]}
    instance = Polytope(**valley, theta=[-0.1, -0.9, -0.2], goal="minimize")
    down = simulate(instance, ["hgl"], 50, 2, seed=3)
    assert up.policies[0].plays.argmax() == down.policies[0].plays.argmax() == 1


def test_index_policies_need_arms_that_show_their_reward():
    shown = Polytope(**PEAK, theta=[0.1, 0.9, 0.2])
    assert policy("kl-ucb", shown) is not None
    hidden = Polytope(A=np.eye(2), b=np.ones(2), theta=[0.1, 0.5], rewards=[[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="show their own reward"):
        policy("kl-ucb", hidden)
    assert policy("kl-ucb", Classical(n_arms=2)) is not None


def test_what_nothing_shows_stays_in_the_set_too():
    """No arm shows the last entry of λ, on which the second arm's reward and two rows depend."""
    rows = np.array([[0, -1, 1], [0, 0, -1], [0, 1, 0], [0, -1, 0], [0, 0, 1]], dtype=float)
    sides = np.array([-1, 0.5, 5, 5, 5])
    instance = Polytope(
        A=rows,
        b=sides,
        means=[[1, 0, 0], [0, 1, 0]],
        rewards=[[1, 0, 0], [0, 0, 1]],
        theta=[2, 0.9, -0.3],
    )
    model = instance.model()
    memory, tally, rng = model.start(), empty_tally(2, 2), np.random.default_rng(0)
    for _ in range(100):
        tally.counts[:] = rng.integers(0, 5, 2)
        tally.means[:] = np.where(tally.counts > 0, rng.normal(size=2), 0.0)
        model.project(tally, memory)
        assert (rows @ memory.parameter <= sides + 1e-9).all()


def random_polytope(rng, observation):
    """Three means in a box, under one more plane."""
    normal = rng.uniform(0.2, 1.0, 3)
    box = np.vstack([np.eye(3), -np.eye(3)])
    return Polytope(
        observation=observation,
        A=np.vstack([box, normal]),
        b=np.append(np.repeat([0.98, -0.02], 3), 0.6 * normal.sum()),
    )


@pytest.mark.parametrize("observation", ["bernoulli", "gaussian"])
def test_earlier_solutions_decide_as_new_ones_do(observation, monkeypatch):
    rng = np.random.default_rng(3)
    solved, plain = [], RegionPrograms.solve

    def counted(self, keys, *data):
        solved.append(len(keys))
        return plain(self, keys, *data)

    monkeypatch.setattr(RegionPrograms, "solve", counted)
    tests = 0
    for _ in range(6):
        model = random_polytope(rng, observation).model()
        memory = model.start()
        tally = told(rng.uniform(0.1, 0.9, 3), rng.integers(5, 40, 3))
        for _ in range(15):
            arm = int(rng.integers(3))
            tally.counts[arm] += rng.integers(1, 4)
            tally.means[arm] = np.clip(tally.means[arm] + 0.01 * rng.normal(), 0.05, 0.95)
            leader = model.project(tally, memory)
            fresh = model.start()
            assert model.project(tally, fresh) == leader
            begun = len(solved)
            model.test(leader, math.inf, tally, fresh)
            del solved[begun:]
            weakest, settled = fresh.numbers[WEAKEST], fresh.numbers[SETTLED]
            for level in (0.8 * weakest, 1.2 * weakest, 0.8 * settled):
                model.test(leader, float(level), tally, memory)
                tests += 1
                assert (memory.numbers[WEAKEST] >= level) == (weakest >= level)
                if weakest < level:
                    assert (memory.numbers[SETTLED] >= level) == (settled >= level)
    assert len(solved) < 1.5 * tests  # each would take two or more


def test_an_estimate_that_was_written_over_is_made_anew():
    """A memory's arrays may be changed from outside: by another server, or a copied model."""
    model = Polytope(observation="bernoulli", A=[[1, 1, 1]], b=[2.2]).model()
    memory, tally = model.start(), told([0.9, 0.7, 0.8], [4, 4, 4])
    model.project(tally, memory)
    known = memory.estimate.copy()
    memory.estimate[:] = 0.5
    model.project(tally, memory)
    np.testing.assert_array_equal(memory.estimate, known)
    other = copy.deepcopy(model)
    for _ in range(30):
        fresh = other.start()
        other.project(tally, fresh)
        np.testing.assert_allclose(fresh.estimate, known)


@pytest.mark.parametrize("name", ["ossb", "ossb-paper", "graves-lai", "hgl"])
def test_means_at_the_end_of_their_family_are_no_obstacle(name):
    """An alternative to a mean next to 1 is far off, and rates are found all the same."""
    instance = Polytope(observation="bernoulli", A=[[1, 1, 1]], b=[2.2])
    record = policy(name, instance)
    tally = told([1.0, 0.5, 1.0], [2, 2, 1])
    tally.phases[1] = 5
    decision = record.select(tally, record.start(), np.random.default_rng(0))
    assert 0 <= decision.arm < 3
    if name == "ossb":
        model, out = record.model, np.zeros(3)
        memory = model.start()
        leader = model.project(tally, memory)
        assert 0.0 <= model.rates(leader, 0.01, memory, out) <= 0.01
        assert 0.0 < out.max() < 1.0


@pytest.mark.filterwarnings("error")
def test_a_leader_that_nearly_always_succeeds_needs_little_exploration():
    """Alternatives are as far off as its mean is near 1: arm 1 takes about 1/kl(0.395, mean)."""
    rows = [[-1.4623, 1.9472, 1.0929, -1.0587], [1.3758, 0.0324, -1.8139, -0.4204]]
    model = Polytope(observation="bernoulli", A=rows, b=[1.014, -0.6492]).model()
    memory, out = model.start(), np.ones(4)
    memory.parameter[:] = [0.58019, 0.39521, 0.9999999998494973, 1.5279932874534552e-10]
    assert 0.0 <= model.rates(2, 0.01, memory, out) <= 0.01
    assert out[1] == pytest.approx(1.0 / Bernoulli().kl(0.39521, memory.parameter[2]), rel=0.02)
    memory.parameter[2] = 0.9
    model.rates(2, 0.01, memory, out)
    assert out.max() > 0.1


@pytest.mark.parametrize("observation", ["poisson", "bernoulli"])
def test_a_component_whose_mean_may_only_be_zero(observation):
    """The first entry of λ is 0 in the whole polytope, and so is the first component's mean."""
    instance = Polytope(
        observation=observation,
        A=[[1, 0, 0], [0, 1, 1]],
        b=[0, 3],
        means=[[0.3, 0, 0], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]],
        theta=[0, 0.4, 0.7],
    )
    bound = instance.solve(1e-4)
    assert bound.value == pytest.approx(5.607486 if observation == "poisson" else 2.59593, rel=1e-4)
    for name in ("hgl", "ossb"):
        simulate(instance, [name], 60, 3, seed=0, workers=1, compiled=False)
    model, tally = instance.model(), told([0.0, 0.5, 0.6], [20, 20, 20])
    memory = model.start()
    model.project(tally, memory)
    assert memory.estimate == pytest.approx([0.0, 0.5, 0.6], abs=1e-3)


def test_regions_thinner_than_doubles_hold_are_no_error():
    """An estimate at the end of the mean space, in the piece of convex means."""
    concave = np.array([[1, -2, 1, 0, 0], [0, 1, -2, 1, 0], [0, 0, 1, -2, 1]], float)
    instance = Union(
        observation="bernoulli",
        pieces=[{"A": sign * concave, "b": [0, 0, 0]} for sign in (1.0, -1.0)],
        theta=[0.2, 0.6, 0.8, 0.7, 0.3],
    )
    outcome = simulate(instance, ["ossb"], 60, 1, seed=4, workers=1)
    assert 0.0 <= outcome["ossb"].regret[0] <= 60 * 0.6


def test_components_not_seen_yet_are_no_warning(recwarn):
    """The divergence from a mean at an end of its family is infinite, and counts for nothing."""
    chain = Polytope(
        observation="bernoulli", theta=[0.2, 0.5, 0.4], A=[[1, 0, -1], [-1, -1, 1]], b=[0, 0]
    )
    simulate(chain, ["uniform"], 30, 1, until=0.05, compiled=False)
    assert not list(recwarn)
