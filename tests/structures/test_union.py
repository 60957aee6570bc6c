import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ossb.errors import CertificationError, InputError
from ossb.structures.base import bound
from ossb.structures.polytope import Polytope
from ossb.structures.union import Union


def certified(instance):
    answer = bound(instance)
    report = answer.verify()
    assert report.valid, report.problems
    assert answer.gap <= 1e-6
    return answer


INCREASING = {"A": [[1, -1, 0], [0, 1, -1]], "b": [0, 0]}
DECREASING = {"A": [[-1, 1, 0], [0, -1, 1]], "b": [0, 0]}
THETA = [0.7, 0.4, 0.1]


def test_two_orders():
    # known to be monotone, decreasing here: confusing is only an increasing λ with λ_0 = 0.7
    answer = certified(Union(pieces=[INCREASING, DECREASING], theta=THETA))
    # λ_1 = λ_2 = 0.7: η_1 0.3²/2 + η_2 0.6²/2 ≥ 1, at costs 0.3 and 0.6
    assert answer.value == pytest.approx(0.6 * 2 / 0.36, rel=1e-6)
    assert answer.rates == pytest.approx([0, 0, 2 / 0.36], rel=1e-5)
    assert {alternative.piece for alternative in answer.alternatives} == {0}
    assert len(answer.multipliers) == 4


def test_one_piece_is_a_polytope():
    A = [[1.0, -2.0, 1.0]]
    alone = certified(Polytope(A=A, b=[0.0], theta=[0.3, 0.9, 0.6], observation="bernoulli"))
    union = Union(pieces=[{"A": A, "b": [0.0]}], theta=[0.3, 0.9, 0.6], observation="bernoulli")
    assert certified(union).value == pytest.approx(alone.value, rel=1e-6)


def test_a_mean_forced_infinitely_far_costs_nothing():
    dead = {"A": [[1, 0, 0]], "b": [1], "A_eq": [[0, 0, 1]], "b_eq": [0.0]}
    answer = certified(Union(pieces=[DECREASING, dead], theta=THETA, observation="bernoulli"))
    assert answer.value == 0.0
    broken = json.loads(json.dumps(answer.multipliers))
    for entry in broken:
        entry["means"][2] = 0.0
    assert not dataclasses.replace(answer, multipliers=broken).verify().valid


def test_a_piece_that_cannot_agree_is_empty():
    far = {"A": [[1, 0, 0]], "b": [0.2]}
    answer = certified(Union(pieces=[DECREASING, far], theta=THETA))
    assert answer.value == 0.0


def test_rewards_of_a_piece():
    # in the second piece arm 1 brings twice its mean
    pieces = [
        {"A": [[0, 1]], "b": [0.5]},
        {"A": [[0, -1]], "b": [-0.5], "rewards": [[1, 0], [0, 2]]},
    ]
    answer = certified(Union(pieces=pieces, theta=[0.9, 0.3]))
    assert answer.value == pytest.approx(0.6 * 2 / 0.04, rel=1e-6)  # λ_1 = 0.5 brings 1 > 0.9
    first = answer.alternatives[0]
    wrong = [dataclasses.replace(first, piece=0)]
    assert not dataclasses.replace(answer, alternatives=wrong).verify().valid
    short = [dataclasses.replace(first, parameter=np.array([0.9, 0.4]))]
    assert not dataclasses.replace(answer, alternatives=short).verify().valid
    nowhere = [dataclasses.replace(first, piece=5)]
    assert not dataclasses.replace(answer, alternatives=nowhere).verify().valid


def test_minimising():
    answer = certified(
        Union(pieces=[INCREASING, DECREASING], theta=[0.1, 0.4, 0.7], goal="minimize")
    )
    assert answer.best_arm == 0
    assert answer.value == pytest.approx(0.6 * 2 / 0.36, rel=1e-6)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["gaussian", "bernoulli"]))
def test_the_value_does_not_decrease_with_more_pieces(seed, observation):
    rng = np.random.default_rng(seed)
    theta = rng.permutation([0.2, 0.5, 0.8])
    pieces = []
    for k in range(3):
        A = rng.normal(size=(3, 3))
        middle = theta if k == 0 else rng.uniform(0.1, 0.9, 3)
        pieces.append({"A": A, "b": A @ middle + 0.1})
    few = certified(Union(pieces=pieces[:2], theta=theta, observation=observation))
    more = certified(Union(pieces=pieces, theta=theta, observation=observation))
    assert more.value >= few.value * (1 - 3e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"theta": [0.4, 0.7, 0.1]}, r"nearest, pieces\[1\], is broken in row 0 of A by 0.3"),
        ({"pieces": []}, "at least one polytope"),
        ({"pieces": 3}, "list of polytopes"),
        ({"pieces": [3]}, r"`pieces\[0\]` must be a table"),
        ({"pieces": [{"A": [[1, 0, 0]], "Aeq": [0]}]}, "did you mean"),
        ({"pieces": [{"rewards": [[1, 0, 0]]}]}, "have the keys A and b"),
        ({"pieces": [{**DECREASING, "rewards": [[1, 0, 0]]}]}, "one row for each of the 3 arms"),
        ({"pieces": [{"A": [[1, 0, 0]]}]}, r"`pieces\[0\].b` must be given"),
        (
            {"theta": None, "pieces": [DECREASING, {"A": [[1, 0, 0], [-1, 0, 0]], "b": [0, -1]}]},
            r"`pieces\[1\]` must leave some parameter",
        ),
        ({"pieces": [DECREASING, {**DECREASING, "rewards": 2 * np.eye(3)}]}, "have one reward"),
    ],
)
def test_refusals(change, message):
    with pytest.raises(InputError, match=message):
        Union(**{"pieces": [INCREASING, DECREASING], "theta": THETA, **change})


def test_to_dict_reads_back():
    pieces = [{"A": np.array([[1.0, -1.0]]), "b": np.array([0.5]), "rewards": np.eye(2)}]
    content = Union(pieces=pieces, theta=[0.3, 0.1]).to_dict()
    json.dumps(content)
    again = Union(**{key: value for key, value in content.items() if key != "structure"})
    assert again.to_dict() == content


def test_a_count_that_is_surely_zero():
    pieces = [{"A": [[0, 0], [1, 0], [0, -1]], "b": [0.5, 1.8, 0.0]}, {"A": [[1, 0]], "b": [0.9]}]
    answer = bound(Union(observation="poisson", theta=[1.3, 0.0], pieces=pieces))
    assert answer.verify().valid
    assert answer.value == pytest.approx(1.0, rel=1e-6)


def test_an_empty_piece_is_refused_though_theta_lies_in_another():
    pieces = [{"A": [[1, 0], [-1, 0]], "b": [0, -1]}, {"A": [[1, 0]], "b": [1]}]
    with pytest.raises(InputError, match=r"pieces\[0\].*empty"):
        Union(pieces=pieces, theta=[0.5, 0.2])


def test_arrays_within_lists_can_be_written():
    piece = {"A": [np.array([1, 0])], "b": [np.int64(5)]}
    instance = Union(pieces=[piece], theta=[1, 0])
    assert json.loads(json.dumps(instance.to_dict()))["pieces"] == [{"A": [[1, 0]], "b": [5]}]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("theta", [[0.5, 0.2], [0.5, 0.4999999999]])
def test_pieces_that_differ_a_little_in_the_rewards_of_theta_are_not_certified(theta, order):
    """Which one comes first decided it: C = 8e10 or 4e10 for the second θ."""
    pieces = [{"A": [[1, 0]], "b": [1.0], "rewards": [[1, 0], [more, 1]]} for more in (0.0, 1e-10)]
    with pytest.raises(CertificationError, match=r"hold theta and differ in the reward of arm 1"):
        bound(Union(pieces=pieces[::order], theta=theta))


@pytest.mark.parametrize("order", [1, -1])
def test_the_piece_that_holds_theta_is_found_exactly(order):
    """θ leaves the second piece by 2**-54, which its row rounds away."""
    row = np.array([[1.0, 1.0, -1.0, 2.0**-54]])
    theta = [0.5, 0.25, 0.75, 1.0]
    pieces = [
        {"A": -row, "b": [0.0], "rewards": [[1, 0, 0, 0], [0, 1, 0, 0]]},
        {"A": row, "b": [0.0], "rewards": [[1, 0, 0, 0], [0, 3, 0, 0]]},
    ][::order]
    instance = Union(pieces=pieces, theta=theta, reveals=[[0], [1]])
    assert instance.polytopes[instance.home].rewards[1, 1] == 1.0
    assert instance.best == 0


def test_of_pieces_that_theta_nearly_meets_each_may_be_its_own():
    """θ is in neither, by less than rounding: what they say of its rewards has to agree."""
    pieces = [
        {"A": [[1, 0]], "b": [0.5 - 1e-12], "rewards": [[1, 0], [0, 1]]},
        {"A": [[1, 0]], "b": [0.5 - 1e-11], "rewards": [[1, 0], [0, 1.5]]},
    ]
    with pytest.raises(CertificationError, match="differ in the reward of arm 1"):
        bound(Union(pieces=pieces, theta=[0.5, 0.2]))
    alike = [{**piece, "rewards": [[1, 0], [0, 1]]} for piece in pieces]
    assert Union(pieces=alike, theta=[0.5, 0.2]).home == 0
