import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import golden
from ossb.errors import CertificationError, InputError
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.structures.polytope import Polytope


def make(instance):
    return Polytope(**{key: value for key, value in instance.items() if key != "structure"})


def certified(instance, gap=1e-6):
    answer = bound(instance, gap)
    report = answer.verify()
    assert report.valid, report.problems
    assert answer.gap <= gap
    return answer


@pytest.mark.parametrize(("instance", "expected"), golden.parameters("polytope"))
def test_reference_values(instance, expected):
    answer = certified(make(instance))
    assert answer.value == pytest.approx(expected["value"], rel=1e-5)


FREE = {"A": np.zeros((0, 3)), "b": np.zeros(0)}


@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "bounded", "poisson"])
def test_without_constraints_it_is_the_classical_bandit(observation):
    theta = np.array([0.7, 0.4, 0.2])
    instance = Polytope(**FREE, theta=theta, observation=observation)
    answer = certified(instance)
    kl = instance.family.kl
    rates = [1 / kl(float(t), 0.7) for t in theta[1:]]
    assert answer.rates[1:] == pytest.approx(rates, rel=1e-5)
    assert answer.value == pytest.approx(float(np.dot(rates, 0.7 - theta[1:])), rel=1e-6)


def test_the_mean_space_limits_what_can_be_confused():
    # λ_0 + λ_2 = 1 and λ_1 ≥ λ_2 + 0.5 leave room for a better arm 2 only if λ_1 > 1
    instance = Polytope(A=[[0, -1, 1]], b=[-0.5], theta=[0.7, 0.6, 0.05], observation="bernoulli")
    answer = certified(instance)
    assert {alternative.arm for alternative in answer.alternatives} == {1}
    free = certified(Polytope(A=[[0, -1, 1]], b=[-0.5], theta=[0.7, 0.6, 0.05]))
    assert {alternative.arm for alternative in free.alternatives} == {1}


def test_means_at_the_ends_of_the_mean_space():
    answer = certified(Polytope(**FREE, theta=[0.6, 0.0, 0.3], observation="bernoulli"))
    assert answer.rates[1] == pytest.approx(-1 / math.log(0.4), rel=1e-5)
    poisson = certified(Polytope(**FREE, theta=[2.0, 0.0, 0.3], observation="poisson"))
    assert poisson.rates[1] == pytest.approx(0.5, rel=1e-5)
    winner = certified(Polytope(**FREE, theta=[1.0, 0.5, 0.3], observation="bernoulli"))
    assert winner.value == 0.0


def test_a_tie_is_not_a_confusing_parameter():
    order = {"A": [[-1, 1, 0], [0, -1, 1]], "b": [0, 0]}
    answer = certified(Polytope(**order, theta=[3.0, 2.0, 1.0]))
    assert (answer.lower, answer.upper, list(answer.support)) == (0.0, 0.0, [])
    assert len(answer.multipliers) == 2
    broken = json.loads(json.dumps(answer.multipliers))
    broken[0]["bounds"][0] *= 0.5
    assert not dataclasses.replace(answer, multipliers=broken).verify().valid
    assert not dataclasses.replace(answer, multipliers=broken[1:]).verify().valid


def test_a_set_that_cannot_agree_is_empty_with_a_proof():
    # arm 1 can beat arm 0 only where λ_2 leaves the mean space
    answer = certified(
        Polytope(
            A=[[0, 1, -1]],
            b=[-0.45],
            theta=[0.6, 0.1, 0.9],
            rewards=[[1, 0, 0], [0, 1, 0]],
            reveals=[[0], [1]],
            observation="bernoulli",
        )
    )
    assert answer.value == 0.0


def test_graph_feedback_where_a_neighbour_shows_the_rest():
    # arm 1 shows arms 1 and 2, at less cost than arm 2 itself: both are learnt from it
    theta = [1.0, 0.5, 0.0]
    answer = certified(Polytope(**FREE, theta=theta, rewards=np.eye(3), reveals=[[0], [1, 2], [2]]))
    assert answer.value == pytest.approx(0.5 * 8, rel=1e-6)  # 2 / 0.5² rounds of arm 1
    assert answer.rates == pytest.approx([0, 8, 0], abs=1e-5)


def test_partial_monitoring_with_an_arm_that_shows_all_and_is_never_best():
    # arms 0 and 1 show nothing of themselves; arm 2 shows both means and brings nothing
    answer = certified(
        Polytope(
            A=np.zeros((0, 2)),
            b=[],
            theta=[1.0, 0.5],
            reveals=[[], [], [0, 1]],
            rewards=[[1, 0], [0, 1], [0, 0]],
        )
    )
    # the nearest tie moves both means by 0.25: rate · (0.25² + 0.25²)/2 = 1, at a gap of 1; arm 2
    # itself becomes best where both are below 0
    assert answer.value == pytest.approx(16.0, rel=1e-6)
    assert answer.rates == pytest.approx([0, 0, 16], rel=1e-5)


def test_minimising_is_maximising_the_negatives():
    base = {"A": [[1.0, -2.0, 1.0]], "b": [0.0]}
    most = certified(Polytope(**base, theta=[0.3, 0.9, 0.6]))
    mirrored = Polytope(A=[[-1.0, 2.0, -1.0]], b=[0.0], theta=[-0.3, -0.9, -0.6], goal="minimize")
    least = certified(mirrored)
    assert least.value == pytest.approx(most.value, rel=1e-6)
    costs = Polytope(**base, theta=[0.3, 0.9, 0.6], observation="bernoulli", goal="minimize")
    assert certified(costs).best_arm == 0


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "poisson"])
def test_small_gaps(observation, gap):
    theta = [0.6, 0.6 - gap, 0.3, 0.5]
    A = [[1, -1, 0, 0], [0, 1, -2, 1], [1, 1, 1, 1]]
    answer = certified(
        Polytope(A=A, b=np.array(A) @ theta + [0.0, 0.2, 0.5], theta=theta, observation=observation)
    )
    assert math.isfinite(answer.value)


def test_equalities_written_as_two_inequalities_give_the_same_value():
    theta = np.array([0.4, 0.3, 0.2, 0.1])
    lower = -np.eye(4)
    once = certified(Polytope(A=lower, b=np.zeros(4), A_eq=np.ones((1, 4)), b_eq=[1], theta=theta))
    rows = np.vstack([lower, np.ones((1, 4)), -np.ones((1, 4))])
    twice = certified(Polytope(A=rows, b=[0, 0, 0, 0, 1, -1], theta=theta))
    assert twice.value == pytest.approx(once.value, rel=1e-6)


def test_corrupted_proofs_fail():
    theta = [0.3, 0.7, 0.9, 0.8, 0.4]
    A = np.array([[1, -2, 1, 0, 0], [0, 1, -2, 1, 0], [0, 0, 1, -2, 1]])
    answer = certified(Polytope(A=A, b=np.zeros(3), theta=theta, observation="bernoulli"))
    for key, change in (("tau", 1.01), ("bounds", 1.3), ("means", 1.01)):
        broken = json.loads(json.dumps(answer.multipliers))
        for entry in broken:
            value = entry[key]
            entry[key] = value * change if key == "tau" else [change * v for v in value]
        assert not dataclasses.replace(answer, multipliers=broken).verify().valid, key
    for broken in (None, [], [{"piece": 0}], [{**answer.multipliers[0], "bounds": [1.0]}] * 4):
        assert not dataclasses.replace(answer, multipliers=broken).verify().valid
    negative = json.loads(json.dumps(answer.multipliers))
    negative[0]["bounds"][0] = -1.0
    assert not dataclasses.replace(answer, multipliers=negative).verify().valid
    fewer = [(arm, 0.99 * rate) for arm, rate in answer.support]
    assert not dataclasses.replace(answer, support=fewer).verify().valid
    first = answer.alternatives[0]
    up = np.array(first.parameter)
    up[first.arm] += 0.3
    for change in ({"parameter": up}, {"witness": np.array(theta)}, {"piece": 1}, {"piece": -1}):
        bad = [dataclasses.replace(first, **change), *answer.alternatives[1:]]
        assert not dataclasses.replace(answer, alternatives=bad).verify().valid
    heavier = [
        dataclasses.replace(alternative, weight=alternative.weight * (2 if k == 0 else 1))
        for k, alternative in enumerate(answer.alternatives)
    ]
    assert not dataclasses.replace(answer, alternatives=heavier).verify().valid


def random_polytope(rng, observation, rows):
    size = int(rng.integers(2, 5))
    theta = rng.permutation(np.linspace(0.15, 0.85, size)) + rng.uniform(-0.05, 0.05, size)
    A = rng.normal(size=(rows, size))
    return {
        "A": A,
        "b": A @ theta + rng.exponential(size=rows) * 0.2,
        "theta": theta,
        "observation": observation,
    }


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(["gaussian", "bernoulli", "poisson"]))
def test_the_value_does_not_decrease_when_the_set_grows(seed, observation):
    instance = random_polytope(np.random.default_rng(seed), observation, 4)
    small = certified(Polytope(**instance))
    large = certified(Polytope(**{**instance, "A": instance["A"][1:], "b": instance["b"][1:]}))
    assert large.value >= small.value * (1 - 3e-6)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_relabelling_and_scaling(seed):
    rng = np.random.default_rng(seed)
    instance = random_polytope(rng, "gaussian", 3)
    plain = certified(Polytope(**instance))
    order = rng.permutation(instance["theta"].size)
    moved = {**instance, "A": instance["A"][:, order], "theta": instance["theta"][order]}
    assert certified(Polytope(**moved)).value == pytest.approx(plain.value, rel=3e-6)
    wider = certified(Polytope(**instance, sigma=3.0))
    assert wider.value == pytest.approx(9 * plain.value, rel=3e-6)


def test_one_arm_costs_nothing():
    assert certified(Polytope(A=[[1.0]], b=[2.0], theta=[1.0])).value == 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"theta": [0.5, 2.0, 0.0]}, r"A λ ≤ b: row 0 is off by 1"),
        ({"A_eq": [[1, 1, 1]], "b_eq": [1.0]}, r"A_eq λ = b_eq: row 0 is off by 0.299"),
        ({"b": [1.0, 2.0]}, "hold 1 number,"),
        ({"A": None}, "`A` must be given with `b`"),
        ({"A_eq": [[1, 1, 1]]}, "`b_eq` must be given with `A_eq`"),
        ({"A": [[1, 0]]}, "have 3 columns"),
        ({"A": [[1, 0, 0], [-1, 0, 0]], "b": [0, -1]}, "polytope is empty"),
        ({"theta": None, "A": [[1, 0, 0], [-1, 0, 0]], "b": [0, -1]}, "polytope is empty"),
        ({"theta": None, "A": [[1, 0, 0]], "b": [-1], "observation": "poisson"}, "is empty"),
        ({"theta": [0.5, 0.5, 0.3]}, "both best"),
        ({"theta": [-0.5, 0.5, 0.3], "observation": "poisson"}, "component 0 a mean in"),
        ({"observation": "exponential"}, "gaussian, bernoulli, poisson, bounded"),
        ({"reveals": [[0], [1, 2], [2]]}, "`rewards` must be given: arm 1 shows 2"),
        ({"reveals": [[0], [1], [3]]}, r"`reveals\[2\]\[0\]` must be below 3"),
        ({"reveals": [[0], [1, 1], [2]]}, "name each component once"),
        ({"reveals": [[0], 1, [2]]}, r"`reveals\[1\]` must be a list"),
        ({"reveals": 3}, "`reveals` must be a list of lists"),
        ({"reveals": []}, "at least one arm"),
        ({"rewards": [[1, 0, 0]]}, "one row for each of the 3 arms"),
        ({"means": [[1, 0]]}, "have 3 columns"),
        ({"reveals": [[0], [], [2]], "rewards": np.eye(3)}, "not learnable|be learnable"),
    ],
)
def test_refusals(change, message):
    instance = {"A": [[0, 1, 0]], "b": [1.0], "theta": [0.5, 0.4, 0.4 - 1e-3], **change}
    with pytest.raises(InputError, match=message):
        bound(Polytope(**instance))


def test_dimension_must_be_known():
    with pytest.raises(InputError, match="have a row"):
        Polytope(A=[], b=[])
    assert Polytope(A=[], b=[], means=[[1.0, 0.0]]).n_arms == 1
    assert not Polytope(A=[[1.0, 1.0]], b=[1.0]).known


def test_arms_by_number():
    instance = Polytope(**FREE, theta=[3.0, 2.0, 1.0])
    assert instance.total_gap() == pytest.approx(3.0)
    with pytest.raises(InputError, match="below 3"):
        instance.position(3)


def test_to_dict_reads_back():
    instance = Polytope(
        A=[[1.0, -1.0]],
        b=[3.0],
        theta=[1.0, 0.0],
        reveals=[[0], [0, 1]],
        rewards=[[1.0, 0.0], [0.0, 1.0]],
        means=[[1.0, 0.0], [0.0, 1.0]],
    )
    content = instance.to_dict()
    assert content["structure"] == "polytope"
    json.dumps(content)
    assert make(content).to_dict() == content


@pytest.mark.parametrize(
    ("means", "theta", "value"),
    [
        ([[1, 0, 0], [0, 1, 1]], [1, 0.5, 0.3], 10.0),
        ([[1, 1, 0], [0, 0, 0], [0, 1, 1]], [2, 1, 1], 2.0),
        ([[0, 0, 1, 0], [1, 1, 0, 0]], [0.1, 0.7, 0.375, 0.35], 2 / 0.425),
    ],
)
def test_arms_that_do_not_span_leave_directions_that_nothing_holds(means, theta, value):
    answer = certified(Polytope(A=[], b=[], means=means, theta=theta))
    assert answer.value == pytest.approx(value, rel=1e-6)


def test_rows_alone_do_not_carry_a_parameter_away():
    # rows let λ go to infinity along directions that no arm sees: it must stay near, or
    # rounding would break agreement with the best arm
    instance = Polytope(
        A=[[-1, -1, 2, -1], [1, -1, 0, 0]],
        b=[0.03616553561973519, 0.14032886979200732],
        means=[[1, 1, 1, 1], [1, 0, 1, 1], [0, 1, 1, 1], [1, 1, 0, 0]],
        theta=[0.20349205285495497, 0.06316318306294767, 0.13918510856414468, 0.02554944559065152],
        observation="bernoulli",
        goal="minimize",
    )
    answer = certified(instance)
    assert max(np.abs(alternative.parameter).max() for alternative in answer.alternatives) < 100


def test_weights_of_many_sizes():
    instance = Polytope(
        A=[[1, -1, -1, -1], [-1, 2, 1, 1]],
        b=[-0.417, 1.68],
        theta=[0.83, 0.713, 0.832, 0.202],
    )
    assert certified(instance).value == pytest.approx(1016.80672, rel=1e-6)


def test_a_zero_poisson_mean_beside_a_near_tie():
    theta = [6.55113, 0.0, 6.550487, 6.551136]
    answer = certified(Polytope(A=[], b=[], theta=theta, observation="poisson"))
    plain = bound(Classical(theta=theta, observation="poisson"))
    assert answer.value == pytest.approx(plain.value, rel=2e-6)


def test_multipliers_that_cancel_only_once_settled():
    instance = Polytope(
        A=[[1, 0, -1, 2], [0, 0, 0, 2], [2, -1, 1, 1]],
        b=[0.29674283844505045, 0.9480025146877452, 0.9054762587373347],
        means=[[1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 0, 1]],
        theta=[0.07282565816520997, 0.18826164934486248, 0.2240853344079047, 0.2240012573438726],
        observation="poisson",
    )
    assert certified(instance).value == pytest.approx(11541.97828, rel=1e-6)


def test_a_near_tie_beside_rows_that_hold_two_arms():
    # one weight is 10¹¹ times the others, and the steps have to keep off the walls
    instance = Polytope(
        A=[[0, 2, -1, 1], [2, 2, 1, 0]],
        b=[0.879712312652924, -8.011361694022545],
        theta=[-1.1454798954409413, -1.1738016759629097, -3.8727985512148435, -1.1454828866361],
    )
    assert certified(instance).value == pytest.approx(bound(instance, 1e-4).value, rel=1e-4)


def test_the_best_arm_is_settled_exactly():
    """The second arm brings 0.05, of which sums of doubles may leave 0."""
    rows = [[0, 0.4, 0], [1e16, 1, -1e16]]
    instance = Polytope(
        A=[], b=[], means=np.eye(3), reveals=[[1], [0, 2]], rewards=rows, theta=[1, 0.05, 1]
    )
    instance._set("best", 0)
    instance._set("brings", np.array([0.02, 0.0]))
    with pytest.raises(CertificationError, match="arm 1 is as good as the best arm, 0"):
        bound(instance)
