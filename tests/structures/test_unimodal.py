"""Unimodal bandits on lines and graphs, and what is refused."""

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.graves_lai.proof import Alternative, ProofError
from ossb.structures import bound
from ossb.structures.classical import Classical
from ossb.structures.unimodal import Unimodal

STAR = [[0, 1], [0, 2], [0, 3]]


def test_only_neighbours_of_the_peak_are_explored():
    answer = bound(Unimodal(theta=[0.1, 0.3, 0.9, 0.5, 0.2]))
    assert [arm for arm, _ in answer.support] == [1, 3]
    pair = bound(Classical(theta=[0.3, 0.9, 0.5]))
    assert answer.value == pytest.approx(pair.value)
    assert answer.verify().valid


def test_a_star_is_the_classical_bandit():
    theta = [0.9, 0.5, 0.2, 0.3]
    star = bound(Unimodal(theta=theta, edges=STAR, observation="bernoulli"))
    assert star.value == pytest.approx(bound(Classical(theta=theta, observation="bernoulli")).value)
    leaf = bound(Unimodal(theta=[0.5, 0.9, 0.2, 0.3], edges=STAR))
    assert [arm for arm, _ in leaf.support] == [0]


def test_cycles_and_repeated_edges():
    square = [[0, 1], [1, 2], [2, 3], [3, 0], [1, 0]]
    answer = bound(Unimodal(theta=[0.9, 0.5, 0.1, 0.4], edges=square))
    assert [arm for arm, _ in answer.support] == [1, 3]
    assert answer.verify().valid


def test_plateaus_away_from_the_peak():
    answer = bound(Unimodal(theta=[0.1, 0.1, 0.4, 0.9, 0.4, 0.4]))
    assert answer.verify().valid
    with pytest.raises(InputError, match="arms 1 and 2 are both best"):
        Unimodal(theta=[0.1, 0.5, 0.5, 0.2])


def test_the_peak_at_the_top_of_the_mean_space():
    answer = bound(Unimodal(theta=[0.5, 1.0, 0.5], observation="bernoulli"))
    assert answer.value == 0.0
    assert answer.verify().valid


def test_minimising_seeks_a_valley():
    answer = bound(Unimodal(theta=[0.9, 0.2, 0.5, 0.6], goal="minimize"))
    assert answer.best_arm == 1
    assert [arm for arm, _ in answer.support] == [0, 2]
    assert answer.verify().valid
    with pytest.raises(InputError, match="unimodal"):
        Unimodal(theta=[0.1, 0.5, 0.2], goal="minimize")


def test_one_arm():
    assert bound(Unimodal(theta=[0.3])).value == 0.0
    assert bound(Unimodal(theta=[0.3], edges=[])).verify().valid


def test_sizes_come_from_whatever_is_given():
    assert Unimodal(n_arms=4).n_arms == 4
    assert Unimodal(edges=STAR).n_arms == 4
    assert Unimodal(n_arms=10**9).n_arms == 10**9  # nothing of that size is built


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"theta": [0.1, 0.9, 0.2, 0.3]}, "turns between arms 2 and 3, got \\[0.2, 0.3\\]"),
        ({"theta": [0.3, 0.1, 0.9]}, "turns between arms 1 and 0"),
        ({"theta": [0.1, 0.9, 0.2, 0.3], "arm_names": list("abcd")}, "between arms c and d"),
        ({"theta": [0.1, 0.9, 0.2], "edges": [[0, 1], [0, 1]]}, "no path joins 0 and 2"),
        ({"theta": [0.1, 0.9, 0.2], "edges": [[0, 1]]}, "3 arms need 2 edges, got 1"),
        ({"edges": [[0, 10**12]]}, "arms need 1000000000000 edges"),
        ({"theta": [0.1, 0.9], "edges": [[0, 2]]}, r"`edges\[0\]\[1\]` must be below 2, got 2"),
        ({"n_arms": 2, "edges": [[0, 2]]}, r"`edges\[0\]\[1\]` must be below 2, got 2"),
        ({"theta": [0.1, 0.9], "edges": [[0, 1], [1, 1]]}, r"`edges\[1\]` must join two different"),
        ({"theta": [0.1, 0.9], "edges": [[0]]}, r"`edges\[0\]` must be a pair of nodes"),
        ({"theta": [0.1, 0.9], "edges": [[0, 0.5]]}, r"`edges\[0\]\[1\]` must be a whole number"),
        ({"theta": [0.1, 0.9], "edges": [[-1, 0]]}, r"`edges\[0\]\[0\]` must be at least 0"),
        ({}, "`theta` must be given, or n_arms"),
        ({"theta": []}, "at least one arm"),
    ],
)
def test_refusals(keys, message):
    with pytest.raises(InputError, match=message):
        Unimodal(**keys)


def test_pieces_are_convex_sets_rooted_at_a_neighbour():
    instance = Unimodal(theta=[0.1, 0.3, 0.9, 0.5, 0.2])
    lifted, bent = np.array([0.1, 0.95, 0.9, 0.5, 0.2]), np.array([0.1, 0.95, 0.9, 0.5, 0.7])
    instance.check_member(Alternative(1, lifted, lifted, 1.0), 1)
    with pytest.raises(ProofError, match="neighbour of the best arm"):
        instance.check_member(Alternative(4, lifted, lifted, 1.0), 4)
    with pytest.raises(ProofError, match="parameter: outside the parameter set"):
        instance.check_member(Alternative(1, bent, lifted, 1.0), 1)
    with pytest.raises(ProofError, match="witness: outside the parameter set"):
        instance.check_member(Alternative(1, lifted, bent, 1.0), 1)
