"""Bounds at other costs than regret: values, proofs, and what has to stay as it was."""

import dataclasses
import json
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import ossb
from cutting_planes import least_cost, pair_oracle
from ossb import certificates
from ossb.errors import InputError
from ossb.graves_lai import program
from ossb.graves_lai.cost import SAMPLES
from ossb.graves_lai.information.indices import indices
from ossb.graves_lai.information.links import LOGISTIC
from ossb.graves_lai.pairs import pair_rates

FAMILIES = ("gaussian", "bernoulli", "poisson", "exponential", "bounded")


def classical(rng, family, goal, size=None):
    theta = rng.uniform(0.05, 0.95, size or rng.integers(2, 7))
    return ossb.Classical(theta=theta, observation=family, goal=goal)


@pytest.mark.parametrize(
    ("theta", "time", "weights"),
    [
        ((0.5, 0.45, 0.43, 0.4), 989.79214026, (0.417, 0.390, 0.136, 0.057)),
        ((0.3, 0.21, 0.2, 0.19, 0.18), 326.64211241, (0.336, 0.251, 0.177, 0.132, 0.104)),
    ],
)
def test_characteristic_times_of_garivier_and_kaufmann(theta, time, weights):
    answer = ossb.bound(ossb.Classical(theta=theta, observation="bernoulli"), cost="samples")
    assert answer.value == pytest.approx(time, rel=1e-9)
    assert answer.weights == pytest.approx(weights, abs=5e-4)
    assert answer.verify().valid
    assert answer.gap < 1e-12


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
@pytest.mark.parametrize("family", FAMILIES)
def test_independent_arms_agree_with_cutting_planes(family, goal):
    rng = np.random.default_rng(7)
    for _ in range(3):
        instance = classical(rng, family, goal)
        prices = rng.uniform(0.2, 3.0, instance.n_arms)

        answer = ossb.bound(instance, cost=prices.tolist())
        oracle = pair_oracle(instance.family.kl, instance.rewards, instance.best)
        lower, upper = least_cost(prices, oracle)
        assert lower * (1 - 1e-6) <= answer.value <= upper * (1 + 1e-6)
        assert answer.verify().valid


DUELS = [[0.5, 0.6, 0.7, 0.8], [0.4, 0.5, 0.9, 0.3], [0.3, 0.1, 0.5, 0.6], [0.2, 0.7, 0.4, 0.5]]
HILL = [0.0, 0.2, 0.5, 0.7, 1.0]
SETS = [[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 0, 0, 1, 1]]


def every(rng):
    """An instance of each structure, and of each way in which one is solved."""
    yield classical(rng, "bernoulli", "maximize")
    yield classical(rng, "poisson", "minimize")
    yield ossb.Dueling(preferences=DUELS)
    edges = [[0, 1], [0, 2], [2, 3], [2, 4]]
    yield ossb.Unimodal(theta=[0.8, 0.6, 0.7, 0.3, 0.65], edges=edges, observation="bernoulli")
    hill = {"theta": [0.3, 0.45, 0.6, 0.55, 0.3], "points": HILL, "lipschitz_constant": 1.2}
    yield ossb.Lipschitz(**hill, observation="poisson")
    rows = rng.uniform(0.1, 0.9, (5, 3))
    rows[1:3, np.argmax(rows[0])] = rows[0].max()
    yield ossb.Finite(parameters=rows, theta=rows[0], observation="bernoulli")
    arms, phi = rng.normal(size=(8, 3)), rng.normal(size=3)
    yield ossb.Linear(arms=arms, phi=phi, sigma=0.3, goal="minimize")
    yield ossb.GeneralizedLinear(arms=arms, phi=phi, link="logistic", observes="index")
    keys = {"arms": arms[:5], "phi": 0.5 * phi}
    yield ossb.GeneralizedLinear(**keys, link="logistic", observation="bernoulli")
    yield ossb.GeneralizedLinear(**keys, link="log", observation="poisson", goal="minimize")
    phi = rng.uniform(0.2, 0.8, 5)
    yield ossb.Combinatorial(feedback="bandit", arms=SETS, phi=phi)
    for family, goal in (
        ("gaussian", "minimize"),
        ("bernoulli", "maximize"),
        ("poisson", "minimize"),
    ):
        keys = {"arms": SETS, "phi": phi, "observation": family, "goal": goal}
        yield ossb.Combinatorial(feedback="semi_bandit", **keys)
    yield ossb.Polytope(A=[[0, 1, -1], [1, 0, -1]], b=[0.4, 0.9], theta=[0.8, 0.5, 0.3])
    pieces = [{"A": [[1, -1, 0], [0, -1, 1]], "b": [0, 0]}]
    pieces.append({"A": [[-1, 1, 0], [0, 1, -1]], "b": [0, 0]})
    yield ossb.Union(pieces=pieces, theta=[0.3, 0.6, 0.5], observation="bernoulli")


def linear_oracle(arms, best, gaps):
    """Alternatives of linear arms: rows ½⟨δ, x⟩² at the least told δ with ⟨δ, x_j − x_b⟩ = Δ_j."""

    def oracle(rates):
        inverse = np.linalg.pinv(arms.T @ (rates[:, None] * arms))
        rows = []
        for j in range(len(arms)):
            if j != best:
                apart = arms[j] - arms[best]
                image = inverse @ apart
                rows.append(0.5 * (arms @ image * (gaps[j] / (apart @ image))) ** 2)
        return np.array(rows)

    return oracle


@pytest.mark.parametrize("trial", range(5))
def test_linear_arms_agree_with_cutting_planes(trial):
    rng = np.random.default_rng(trial)
    arms, phi = rng.normal(size=(7 + trial, 2 + trial % 3)), rng.normal(size=2 + trial % 3)
    instance = ossb.Linear(arms=arms, phi=phi)
    prices = rng.uniform(0.2, 3.0, len(arms))
    answer = ossb.bound(instance, cost=prices.tolist())
    oracle = linear_oracle(arms, instance.best, instance.gaps)
    lower, upper = least_cost(prices, oracle, 1e-6)
    assert lower * (1 - 1e-6) <= answer.value <= upper * (1 + 1e-6)


@pytest.mark.parametrize("link", ["logistic", "log"])
def test_generalised_linear_arms_agree_with_cutting_planes(link):
    rng = np.random.default_rng(11)
    family = {"logistic": "bernoulli", "log": "poisson"}[link]
    arms, phi = rng.normal(size=(6, 2)), rng.normal(size=2)
    instance = ossb.GeneralizedLinear(arms=arms, phi=phi, link=link, observation=family)
    partition = {"logistic": lambda u: np.logaddexp(0.0, u), "log": np.exp}[link]
    slope = {"logistic": lambda u: 1.0 / (1.0 + np.exp(-u)), "log": np.exp}[link]
    index, best = arms @ phi, instance.best

    def oracle(rates):
        rows = []
        for j in np.delete(np.arange(6), best):
            apart, margin = arms[j] - arms[best], index[best] - index[j]
            along = np.array([-apart[1], apart[0]])  # two features: one direction is left

            def row(step, apart=apart, margin=margin, along=along):
                shift = arms @ (margin * apart / (apart @ apart) + step * along)
                return partition(index + shift) - partition(index) - slope(index) * shift

            found = minimize_scalar(lambda step, row=row: row(step) @ rates, tol=1e-12)
            rows.append(row(found.x))
        return np.array(rows)

    prices = rng.uniform(0.2, 3.0, 6)
    answer = ossb.bound(instance, cost=prices.tolist())
    lower, upper = least_cost(prices, oracle)
    assert lower * (1 - 1e-6) <= answer.value <= upper * (1 + 1e-6)


def as_polytopes(rng):
    """Instances beside the same ones in the general form."""
    theta = rng.uniform(0.1, 0.9, 4)
    for family in ("gaussian", "bernoulli", "poisson"):
        keys = {"theta": theta, "observation": family}
        yield ossb.Classical(**keys), ossb.Polytope(A=np.zeros((0, 4)), b=[], **keys)
    theta, step = [0.3, 0.6, 0.55, 0.1], np.diff(np.eye(4), axis=0)
    pieces = [
        {"A": (step * np.where(np.arange(3) < k, -1.0, 1.0)[:, None]).tolist(), "b": [0.0] * 3}
        for k in range(4)
    ]
    keys = {"theta": theta, "observation": "bernoulli"}
    yield ossb.Unimodal(**keys), ossb.Union(pieces=pieces, **keys)
    places = np.array([0.0, 0.3, 0.4, 1.0])
    rows = [np.eye(4)[i] - np.eye(4)[j] for i in range(4) for j in range(4) if i != j]
    reach = [2.0 * abs(places[i] - places[j]) for i in range(4) for j in range(4) if i != j]
    near = ossb.Lipschitz(points=places, lipschitz_constant=2.0, **keys)
    yield near, ossb.Polytope(A=rows, b=reach, **keys)
    arms, phi = rng.normal(size=(6, 2)), rng.normal(size=2)
    general = ossb.Polytope(A=np.zeros((0, 2)), b=[], means=arms, theta=phi)
    yield ossb.Linear(arms=arms, phi=phi), general
    phi = rng.uniform(0.2, 0.8, 5)
    for family in ("gaussian", "bernoulli", "poisson"):
        keys = {"observation": family}
        sets = ossb.Combinatorial(feedback="semi_bandit", arms=SETS, phi=phi, **keys)
        shown = [np.flatnonzero(row).tolist() for row in SETS]
        keys |= {"theta": phi, "rewards": np.array(SETS, dtype=float), "reveals": shown}
        yield sets, ossb.Polytope(A=np.zeros((0, 5)), b=[], **keys)


@pytest.mark.parametrize("cost", ["samples", 0.2])
def test_every_structure_agrees_with_its_general_form(cost):
    for instance, general in as_polytopes(np.random.default_rng(9)):
        value = ossb.bound(instance, cost=cost).value
        assert value == pytest.approx(ossb.bound(general, cost=cost).value, rel=2e-6)


def test_a_finite_set_is_told_by_the_best_arm_too():
    both = [[0.5, 0.4], [0.3, 0.4]]
    instance = ossb.Finite(parameters=both, theta=both[0], observation="gaussian")
    assert ossb.bound(instance).value == 0.0  # plays of the best arm are free, and tell
    assert ossb.bound(instance, cost="samples").value == pytest.approx(2 / 0.2**2)
    assert ossb.bound(instance, cost=[3.0, 1.0]).value == pytest.approx(6 / 0.2**2)


@pytest.mark.parametrize("cost", ["samples", 0.3, "prices", "free"])
def test_certificates_are_checked_from_their_file(cost, tmp_path):
    rng = np.random.default_rng(3)
    for instance in every(rng):
        given = cost
        if cost in ("prices", "free"):
            given = rng.uniform(0.5, 2.0, instance.n_arms)
            if cost == "free":  # that the winner is better than itself tells nothing anyway
                given[instance.position(instance.best_arm())] = 0.0
            given = given.tolist()
        answer = ossb.bound(instance, cost=given)
        path = tmp_path / "proof.json"
        certificates.write([answer], path)
        ((read, report),) = certificates.verify(path)
        assert report.valid, (instance, report.problems)
        assert read.cost == answer.cost
        assert read.value == answer.value
        if answer.value == 0.0:
            continue
        # of another cost, or claimed lower, it proves nothing
        content = json.loads(path.read_text())
        entry = content["bounds"][0]
        for key, value in (("cost", "regret"), ("upper", 0.9 * entry["lower"])):
            path.write_text(json.dumps({**content, "bounds": [{**entry, key: value}]}))
            try:
                ((_, report),) = certificates.verify(path)
            except InputError:
                continue
            assert not report.valid


@pytest.mark.parametrize("number", range(len(list(every(np.random.default_rng(4))))))
def test_the_frontier_is_concave_in_the_price_of_a_sample_and_ends_at_both(number):
    rng = np.random.default_rng(4)
    for instance in list(every(rng))[number : number + 1]:
        regret, time = ossb.bound(instance).value, ossb.bound(instance, cost="samples").value
        at = np.geomspace(1e-4, 1e6, 11)
        answers = [ossb.bound(instance, cost=float(c)) for c in at]
        values = np.array([answer.value for answer in answers])
        lengths = np.array([sum(rate for _, rate in answer.support) for answer in answers])
        slopes = np.diff(values) / np.diff(at)
        assert (np.diff(slopes) <= 1e-6 * slopes[:-1]).all()
        # L = V′(c) lies between the slopes on both sides
        assert (lengths[1:-1] <= slopes[:-1] * (1 + 1e-4)).all()
        assert (lengths[1:-1] >= slopes[1:] * (1 - 1e-4)).all()
        assert values[-1] / at[-1] == pytest.approx(time, rel=1e-4)
        assert regret * (1 - 1e-6) <= values[0] <= regret * 1.5 + 1e-3
        assert ossb.bound(instance, cost=0).value == regret


def test_units_of_prices_and_order_of_arms_do_not_matter():
    rng = np.random.default_rng(5)
    for instance in every(rng):
        prices = rng.uniform(0.5, 2.0, instance.n_arms)
        value = ossb.bound(instance, cost=prices.tolist()).value
        for unit in (1e-9, 1e9):
            scaled = ossb.bound(instance, cost=(unit * prices).tolist()).value
            assert scaled == pytest.approx(unit * value, rel=2e-6)
        ones = ossb.bound(instance, cost=[1.0] * instance.n_arms)
        assert ones.value == pytest.approx(ossb.bound(instance, cost="samples").value, rel=2e-6)


def test_a_relabelled_instance_has_the_same_value():
    rng = np.random.default_rng(6)
    instance = classical(rng, "bernoulli", "maximize", 6)
    prices, order = rng.uniform(0.5, 2.0, 6), rng.permutation(6)
    moved = ossb.Classical(theta=instance.theta[order], observation="bernoulli")
    one = ossb.bound(instance, cost=prices.tolist())
    two = ossb.bound(moved, cost=prices[order].tolist())
    assert one.value == pytest.approx(two.value, rel=1e-12)
    assert one.rates[order] == pytest.approx(two.rates, rel=1e-9)


@pytest.mark.parametrize(
    ("cost", "field"),
    [
        ("fast", "cost"),
        (-1.0, "cost"),
        (float("nan"), "cost"),
        (True, "cost"),
        ([1.0, 1.0], "cost"),
        ([1.0, 0.0, 1.0], "cost[1]"),
        ([-1.0, 1.0, 1.0], "cost[0]"),
        ([1.0, "2", 1.0], "cost[1]"),
        (None, "cost"),
    ],
)
def test_a_wrong_cost_is_refused_by_name(cost, field):
    with pytest.raises(InputError) as refused:
        ossb.bound(ossb.Classical(theta=[0.5, 0.3, 0.1]), cost=cost)
    assert refused.value.field == field


def test_on_a_graph_with_a_cycle_the_best_arm_must_be_free():
    cycle = {"theta": [0.9, 0.5, 0.4, 0.3], "edges": [[0, 1], [0, 2], [1, 3], [2, 3]]}
    with pytest.raises(InputError, match="cycle"):
        ossb.bound(ossb.Unimodal(**cycle), cost="samples")
    free = ossb.bound(ossb.Unimodal(**cycle), cost=[0.0, 1.0, 1.0, 1.0])
    assert free.value == pytest.approx(2 / 0.4**2 + 2 / 0.5**2)


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_described_sets_cost_what_the_same_sets_listed_do(family, tmp_path):
    keys = {"phi": [0.8, 0.7, 0.5, 0.45], "observation": family, "feedback": "semi_bandit"}
    listed = [[1.0 if i in pair else 0.0 for i in range(4)] for pair in combinations(range(4), 2)]
    described = ossb.bound(
        ossb.Combinatorial(arm_set="m_sets", n_items=4, size=2, **keys), cost="samples"
    )
    assert described.value == pytest.approx(
        ossb.bound(ossb.Combinatorial(arms=listed, **keys), cost="samples").value, rel=1e-6
    )
    certificates.write([described], tmp_path / "proof.json")
    ((_, report),) = certificates.verify(tmp_path / "proof.json")
    assert report.valid


def test_described_sets_that_are_too_many_or_exponential_are_refused():
    many = ossb.Combinatorial(
        feedback="semi_bandit", arm_set="m_sets", n_items=30, size=10, phi=np.arange(30.0)
    )
    with pytest.raises(InputError, match="2,000"):
        ossb.bound(many, cost="samples")
    few = {"arm_set": "m_sets", "n_items": 3, "size": 1, "phi": [0.3, 0.2, 0.1]}
    exponential = ossb.Combinatorial(feedback="semi_bandit", observation="exponential", **few)
    with pytest.raises(InputError, match="exponential"):
        ossb.bound(exponential, cost="samples")


def test_exponential_means_at_distances_are_refused_with_the_reason():
    instance = ossb.Lipschitz(
        theta=[1.0, 0.8, 0.7], points=[0.0, 1.0, 2.0], lipschitz_constant=0.5,
        observation="exponential",
    )  # fmt: skip
    with pytest.raises(InputError, match="exponential"):
        ossb.bound(instance, cost="samples")


def test_arms_beyond_the_neighbours_are_played_where_they_are_cheap():
    prices = np.array([1.0, 100.0, 0.01, 1.0])
    # an arm on the other side of the best one tells that this is still above it
    middle = ossb.Unimodal(theta=[0.5, 0.8, 0.7, 0.69], observation="bernoulli")
    answer = ossb.bound(middle, cost=prices.tolist())
    assert answer.rates[3] > 0.0
    assert answer.verify().valid


def test_one_arm_costs_nothing_and_a_certain_best_arm_still_has_to_be_found():
    assert ossb.bound(ossb.Classical(theta=[0.5]), cost="samples").value == 0.0
    sure = ossb.Classical(theta=[1.0, 0.5], observation="bernoulli")
    assert ossb.bound(sure).value == 0.0
    assert ossb.bound(sure, cost="samples").value > 1.0
    assert ossb.bound(sure, cost=[0.0, 1.0]).value == 0.0


def test_theorem_two_is_about_regret():
    answer = ossb.bound(ossb.Classical(theta=[0.5, 0.3]), cost="samples")
    with pytest.raises(InputError, match="regret"):
        answer.asymptotic_constant()


def test_forged_levels_prove_nothing():
    answer = ossb.bound(ossb.Classical(theta=[0.5, 0.3, 0.2]), cost="samples")
    first = answer.alternatives[0]
    for change in (
        {"parameter": 0.9 * first.parameter},
        {"parameter": first.parameter + 0.01},
        {"parameter": -first.parameter},
        {"witness": first.parameter},
        {"arm": 0},
        {"arm": 2},
        {"relative": False},
        {"weight": -1.0},
    ):
        forged = [dataclasses.replace(first, **change), *list(answer.alternatives)[1:]]
        report = dataclasses.replace(answer, alternatives=forged).verify()
        assert not report.valid or report.lower <= answer.upper, change
        assert report.lower <= answer.upper * (1 + 1e-12)


def information_records():
    """Programs of each kind, and how many columns they have."""
    instance = ossb.Unimodal(theta=[0.5, 0.8, 0.7, 0.69], observation="bernoulli")
    yield instance.priced(SAMPLES).shape.levels, 4
    sets = ossb.Combinatorial(
        feedback="semi_bandit", arms=SETS, phi=[0.2, 0.5, 0.3, 0.8, 0.4], observation="bernoulli"
    )
    yield sets.priced(SAMPLES)._posed(), 5
    arms = np.random.default_rng(0).normal(size=(6, 2))
    information = indices(LOGISTIC, arms)
    information.index_of[:] = arms @ [0.5, -0.3]
    information.leaders[:] = int(np.argmax(information.index_of))
    information.margins[:] = information.index_of.max() - information.index_of
    yield information, 6


@pytest.mark.parametrize(
    "number", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
def test_the_barrier_is_the_same_compiled_and_interpreted(number):
    both = []
    for compiled in (False, True):
        information, n_columns = list(information_records())[number]
        costs = np.linspace(1.0, 2.0, n_columns)
        both.append(program.solve(information, costs, -1, 1e-7, compiled))
    assert (both[0].rates == both[1].rates).all()
    assert both[0].upper == both[1].upper
    assert 0.0 < both[0].upper - both[0].lower <= 1e-7 * both[0].upper


def test_compiled_and_interpreted_rates_are_the_same():
    rng = np.random.default_rng(8)
    for family in ("gaussian", "bernoulli"):
        instance = classical(rng, family, "maximize", 5)
        both = []
        for run in (pair_rates.function, pair_rates.compiled):
            rates = np.zeros(5)
            run(instance.family, instance.rewards, np.ones(5), instance.best, rates, 1e-12)
            both.append(rates)
        assert (both[0] == both[1]).all()
