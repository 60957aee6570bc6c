import itertools

import numpy as np
import pytest

import golden
from ossb import certificates
from ossb.arm_sets import ARM_SETS, indicator
from ossb.errors import InputError
from ossb.graves_lai.proof import prove
from ossb.instances import from_dict
from ossb.structures.base import bound
from ossb.structures.combinatorial import Combinatorial

DAG = [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3], [0, 3]]
BIPARTITE = [list(pair) for pair in itertools.product(range(3), range(4))]
GRAPH = [[0, 1], [1, 2], [2, 0], [2, 3], [3, 0]]
SHAPES = {
    "m_sets": {"n_items": 6, "size": 2},
    "paths": {"edges": DAG, "source": 0, "target": 3},
    "matchings": {"n_left": 3, "n_right": 4, "edges": BIPARTITE},
    "spanning_trees": {"n_nodes": 4, "edges": GRAPH},
}
each_shape = pytest.mark.parametrize("kind", SHAPES)


def implicit(kind, **keys):
    return Combinatorial(feedback="semi_bandit", arm_set=kind, **SHAPES[kind], **keys)


def listed_arms(kind):
    make, keys = ARM_SETS[kind]
    arm_set = make(*(SHAPES[kind][key] for key in keys))
    return np.array([indicator(arm_set.n_items, arm) for arm in arm_set.arms()])


@pytest.mark.parametrize(("instance", "expected"), golden.parameters("combinatorial"))
def test_reference_values(instance, expected):
    keys = {key: value for key, value in instance.items() if key != "structure"}
    answer = bound(Combinatorial(**keys))
    assert answer.value == pytest.approx(expected["value"], rel=3e-6)
    assert answer.verify().valid


@each_shape
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_implicit_equals_listed(kind, goal):
    arms = listed_arms(kind)
    phi = np.random.default_rng(1).uniform(0.1, 0.9, arms.shape[1])
    short = bound(implicit(kind, phi=phi, goal=goal, sigma=0.5))
    long = Combinatorial(feedback="semi_bandit", arms=arms, phi=phi, goal=goal, sigma=0.5)
    assert short.value == pytest.approx(bound(long).value, rel=2.1e-6)
    assert short.verify().valid, short.verify().problems
    assert short.instance.arm_name(short.best_arm) == str(list(short.best_arm))
    names = [f"item {i}" for i in range(phi.size)]
    named = implicit(kind, phi=phi, arm_names=names).arm_name(short.best_arm)
    assert named == ", ".join(names[i] for i in short.best_arm)
    with pytest.raises(InputError, match="support"):
        _ = short.rates


@pytest.mark.parametrize("kind", ["m_sets", "spanning_trees"])
@pytest.mark.parametrize("observation", ["bernoulli", "bounded", "poisson", "exponential"])
def test_matroids_take_every_family(kind, observation):
    arms = listed_arms(kind)
    phi = np.random.default_rng(2).uniform(0.1, 0.9, arms.shape[1])
    answer = bound(implicit(kind, phi=phi, observation=observation))
    assert answer.verify().valid, answer.verify().problems
    if observation != "exponential":
        long = Combinatorial(feedback="semi_bandit", arms=arms, phi=phi, observation=observation)
        assert answer.value == pytest.approx(bound(long).value, rel=2.1e-6)


def test_bandit_feedback_tells_less_than_semi_bandit():
    arms = listed_arms("m_sets")
    phi = np.random.default_rng(3).uniform(0, 1, 6)
    little, much = (
        bound(Combinatorial(feedback=feedback, arms=arms, phi=phi))
        for feedback in ("bandit", "semi_bandit")
    )
    assert little.verify().valid
    assert little.value > 0
    assert much.value > 0


def test_a_single_arm_costs_nothing():
    for feedback in ("bandit", "semi_bandit"):
        answer = bound(Combinatorial(feedback=feedback, arms=[[1, 0]], phi=[0.1, 0.2]))
        assert answer.value == 0.0
        assert answer.verify().valid


@each_shape
def test_rates_that_are_too_small_prove_nothing(kind):
    phi = np.random.default_rng(5).uniform(size=listed_arms(kind).shape[1])
    answer = bound(implicit(kind, phi=phi))
    half = [(arm, rate / 2) for arm, rate in answer.support]
    exact = answer.verify().information
    assert exact == pytest.approx(1.0, rel=2e-6)
    assert prove(answer.instance, half, [], None).information == pytest.approx(exact / 2, rel=1e-6)
    assert prove(answer.instance, half[:1], [], None).information < 1e-3 * exact


@each_shape
def test_ties_are_refused_by_name(kind):
    phi = np.ones(listed_arms(kind).shape[1])
    if kind == "paths":
        phi = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    with pytest.raises(InputError, match="both best"):
        bound(implicit(kind, phi=phi))


@each_shape
def test_arms_outside_the_set_are_refused(kind):
    instance = implicit(kind, phi=np.random.default_rng(6).uniform(size=listed_arms(kind).shape[1]))
    with pytest.raises(InputError) as error:
        instance.gap_of((0,) * 2)
    assert error.value.field == "arm"
    with pytest.raises(InputError):
        instance.position(0)


def refused(**keys):
    with pytest.raises(InputError) as error:
        Combinatorial(**keys)
    return error.value.field


SEMI = {"feedback": "semi_bandit"}
TWO = {"feedback": "semi_bandit", "arms": [[1, 0], [0, 1]]}


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({"arms": [[1]]}, "feedback"),
        (SEMI, "arms"),
        ({**TWO, "arm_set": "m_sets"}, "arms"),
        ({**SEMI, "arms": []}, "arms"),
        ({**SEMI, "arms": [[1, 2]]}, "arms[0][1]"),
        ({**TWO, "size": 1}, "size"),
        ({**TWO, "phi": [1.0]}, "phi"),
        ({**TWO, "phi": [0.5, 1.5], "observation": "bernoulli"}, "phi[1]"),
        ({**TWO, "observation": "exponential"}, "observation"),
        ({**TWO, "feedback": "bandit", "observation": "bernoulli"}, "observation"),
        ({**SEMI, "arm_set": "m_set"}, "arm_set"),
        ({**SEMI, "arm_set": "m_sets", "n_items": 3}, "size"),
        ({**SEMI, "arm_set": "m_sets", "n_items": 3, "size": 1, "edges": []}, "edges"),
        ({**SEMI, "arm_set": "paths", **SHAPES["paths"], "observation": "bernoulli"},
         "observation"),
        (
            {"feedback": "bandit", "arm_set": "m_sets", "n_items": 3, "size": 1,
             "observation": "poisson"},
            "observation",
        ),
        ({**SEMI, "arm_set": "paths", "edges": [[0, 1]], "source": 0, "target": 2}, "target"),
    ],
)  # fmt: skip
def test_refusals(keys, field):
    assert refused(**keys) == field


def test_the_parameter_may_be_unknown():
    instance = implicit("paths")
    assert not instance.known
    assert instance.item_count == 6
    assert instance.to_dict()["edges"] == DAG


def test_listed_arms_have_positions_and_gaps():
    instance = Combinatorial(**TWO, phi=[0.5, 0.2], arm_names=["a", "b"])
    assert instance.n_arms == 2
    assert instance.total_gap() == pytest.approx(0.3)
    assert instance.arm_name(1) == "b"
    with pytest.raises(InputError):
        instance.gap_of(2)


DESCRIBED = {
    "m_sets": {"n_items": 6, "size": 3},
    "paths": {
        "edges": [[0, 1], [0, 2], [1, 3], [2, 3], [1, 2], [3, 4], [2, 4]], "source": 0, "target": 4,
    },
    "matchings": {"n_left": 2, "n_right": 3, "edges": [[0, 0], [0, 1], [1, 1], [1, 2], [0, 2]]},
    "spanning_trees": {"n_nodes": 4, "edges": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]},
}  # fmt: skip


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
@pytest.mark.parametrize("shape", DESCRIBED)
def test_bandit_feedback_on_a_described_set_is_that_on_its_list(shape, goal, tmp_path):
    keys = DESCRIBED[shape]
    size = keys.get("n_items") or len(keys["edges"])
    phi = np.random.default_rng(4).uniform(0.1, 0.9, size).round(3).tolist()
    common = {"feedback": "bandit", "phi": phi, "goal": goal, "sigma": 0.7}
    described = Combinatorial(arm_set=shape, **keys, **common)
    arms = [tuple(sorted(arm)) for arm in described.implicit_set.arms()]
    listed = Combinatorial(arms=[[int(i in arm) for i in range(size)] for arm in arms], **common)
    found, expected = bound(described), bound(listed)
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    assert found.verify().valid
    rates = {tuple(arm): rate for arm, rate in found.support}
    assert rates == pytest.approx({arms[arm]: rate for arm, rate in expected.support})
    assert described.best_arm() == arms[listed.best_arm()]
    again = from_dict(described.to_dict())
    assert bound(again).value == found.value


def test_bandit_feedback_on_too_many_arms_is_refused():
    phi = np.linspace(0, 1, 100).tolist()
    many = Combinatorial(feedback="bandit", arm_set="m_sets", n_items=100, size=10, phi=phi)
    with pytest.raises(InputError, match="`arm_set` must have at most 20,000 arms"):
        bound(many)
    tied = Combinatorial(feedback="bandit", arm_set="m_sets", n_items=3, size=2, phi=[1, 1, 1])
    with pytest.raises(InputError, match=r"have one best arm: \[0, 1\] and"):
        bound(tied)


GRID = [[0, 1], [0, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 5], [4, 5]]


@pytest.mark.parametrize("feedback", ["bandit", "semi_bandit"])
@pytest.mark.parametrize("seed", range(8))
def test_means_that_are_large_beside_their_gaps_are_certified(feedback, seed):
    phi = np.random.default_rng(seed).random(len(GRID))
    keys = {"feedback": feedback, "arm_set": "paths", "edges": GRID, "source": 0, "target": 5}
    plain = bound(Combinatorial(phi=phi.tolist(), **keys)).value
    moved = bound(Combinatorial(phi=(phi + 1e6).tolist(), **keys))
    assert moved.value == pytest.approx(plain, rel=1e-5)
    assert moved.verify().valid


def test_numbers_of_numpy_can_be_written(tmp_path):
    four, two = np.int64(4), np.int64(2)
    keys = {"arm_set": "m_sets", "n_items": four, "size": two, "phi": [0.9, 0.8, 0.3, 0.1]}
    answer = bound(Combinatorial(feedback="semi_bandit", **keys))
    certificates.write([answer], tmp_path / "proof.json")
    ((_, report),) = certificates.verify(tmp_path / "proof.json")
    assert report.valid


@each_shape
def test_bounds_are_plain_numbers(kind):
    items = listed_arms(kind).shape[1]
    answer = bound(implicit(kind, phi=np.random.default_rng(3).uniform(0.1, 0.9, items)))
    numbers = [answer.lower, answer.upper, answer.value, *(rate for _, rate in answer.support)]
    assert {type(number) for number in numbers} == {float}


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({"arm_set": "matchings", "n_left": 10**9, "n_right": 10**9, "edges": [[0, 0]]}, "n_left"),
        ({"arm_set": "matchings", "n_left": 1, "n_right": 10**12, "edges": [[0, 0]]}, "n_right"),
        ({"arm_set": "spanning_trees", "n_nodes": 10**10, "edges": [[0, 1]]}, "edges"),
    ],
)
def test_nodes_that_no_edge_reaches_take_no_memory(keys, field):
    with pytest.raises(InputError, match=f"`{field}` must"):
        Combinatorial(feedback="semi_bandit", phi=[1.0], **keys)


def triangles_and_bridges(triangles, bridges):
    """Edges of a chain of triangles, then of single edges; the number of nodes."""
    edges, node = [], 0
    for _ in range(triangles):
        edges += [[node, node + 1], [node + 1, node + 2], [node, node + 2]]
        node += 2
    edges += [[node + k, node + k + 1] for k in range(bridges)]
    return edges, node + bridges + 1


def test_bandit_feedback_on_trees_where_most_edges_are_in_all_of_them():
    edges, n_nodes = triangles_and_bridges(6, 35)
    phi = np.random.default_rng(0).uniform(0.2, 0.8, len(edges))
    trees = {"arm_set": "spanning_trees", "n_nodes": n_nodes, "edges": edges}
    instance = Combinatorial(feedback="bandit", phi=phi, **trees)
    answer = bound(instance)
    assert answer.verify().valid
    # the bridges tell nothing apart: without them the bound is the same
    edges, n_nodes = triangles_and_bridges(6, 0)
    trees = {"arm_set": "spanning_trees", "n_nodes": n_nodes, "edges": edges}
    fewer = bound(Combinatorial(feedback="bandit", phi=phi[:18], **trees))
    assert answer.value == pytest.approx(fewer.value, rel=2e-6)


@pytest.mark.parametrize(
    "described",
    [
        {"arm_set": "m_sets", "n_items": 5000, "size": 2500},
        {"arm_set": "paths", "source": 0, "target": 40,
         "edges": [[k, k + step] for k in range(40) for step in (1, 2) if k + step <= 40]},
        {"arm_set": "matchings", "n_left": 15, "n_right": 15,
         "edges": [[i, j] for i in range(15) for j in range(15)]},
        {"arm_set": "spanning_trees", "n_nodes": 100,
         "edges": [[i, j] for i in range(100) for j in range(i)]},
    ],
)  # fmt: skip
def test_too_many_arms_for_bandit_feedback_are_refused_soon(described):
    made = Combinatorial(feedback="bandit", **described)
    phi = np.random.default_rng(1).uniform(size=made.implicit_set.n_items)
    with pytest.raises(InputError, match="`arm_set` must have at most 20,000 arms"):
        bound(Combinatorial(feedback="bandit", phi=phi, **described))
