"""``fit`` and ``predict`` beside the real MABWiser, on the same data by the same calls."""

import inspect
import math

import numpy as np
import pytest
from mabwiser.mab import MAB as Theirs
from mabwiser.mab import LearningPolicy

from ossb.adapters.mab import MAB
from ossb.errors import InputError

ARMS = ["red", "green", "blue"]
MEANS = {"red": 0.2, "green": 0.8, "blue": 0.5}


def data(seed, count):
    rng = np.random.default_rng(seed)
    decisions = rng.choice(ARMS, count)
    return decisions, np.array([float(rng.random() < MEANS[arm]) for arm in decisions])


@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict", "predict_expectations"])
def test_calls_are_written_as_for_mabwiser(method):
    ours = inspect.signature(getattr(MAB, method)).parameters
    theirs = inspect.signature(getattr(Theirs, method)).parameters
    assert list(ours) == list(theirs)


@pytest.mark.parametrize("policy", ["hgl", "kl-ucb", "thompson", "ucb1"])
def test_one_program_runs_with_both(policy):
    answers = []
    for make in (
        lambda: MAB(ARMS, policy, observation="bernoulli"),
        lambda: Theirs(ARMS, LearningPolicy.EpsilonGreedy(epsilon=0.0)),
    ):
        bandit = make()
        bandit.fit(*data(1, 300))
        bandit.partial_fit(*data(2, 300))
        answers.append((bandit.predict_expectations(), sorted(bandit.arms)))
        assert bandit.predict() in ARMS
    (ours, our_arms), (theirs, their_arms) = answers
    assert our_arms == their_arms
    assert ours == pytest.approx(theirs)


def test_it_plays_the_best_arm_most():
    bandit = MAB(ARMS, "hgl", observation="bernoulli")
    rng = np.random.default_rng(5)
    plays = dict.fromkeys(ARMS, 0)
    for _ in range(300):
        arm = bandit.predict()
        plays[arm] += 1
        bandit.partial_fit([arm], [float(rng.random() < MEANS[arm])])
    assert plays["green"] > 200


def test_fit_forgets_and_partial_fit_does_not():
    bandit = MAB(ARMS)
    bandit.fit(["red", "red"], [1.0, 3.0])
    assert bandit.predict_expectations()["red"] == 2.0
    assert math.isnan(bandit.predict_expectations()["blue"])
    assert bandit.cold_arms == ["green", "blue"]
    bandit.partial_fit(["red"], [5.0])
    assert bandit.predict_expectations()["red"] == pytest.approx(3.0)
    bandit.fit(["blue"], [1.0])
    assert bandit.cold_arms == ["red", "green"]


def test_arms_come_and_go_as_with_mabwiser():
    ours = MAB(ARMS, "ucb1", observation="bernoulli")
    theirs = Theirs(ARMS, LearningPolicy.UCB1())
    for bandit in (ours, theirs):
        bandit.fit(*data(3, 50))
        bandit.add_arm("white")
        assert bandit.arms == [*ARMS, "white"]
        assert bandit.cold_arms == ["white"]
        bandit.remove_arm("green")
        assert bandit.arms == ["red", "blue", "white"]
        assert bandit.predict() in bandit.arms
    assert ours.predict() == "white"  # the only arm never played
    assert len(ours.predict_expectations()) == 3


def test_a_structure_tells_of_arms_that_were_not_played():
    lines = {"structure": "linear", "arms": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]}
    bandit = MAB(ARMS, "ossb", instance=lines)
    bandit.fit(["red", "green"] * 1000, [1.0, 2.0] * 1000)
    expected = bandit.predict_expectations()
    assert bandit.cold_arms == ["blue"]
    # least squares is held back a little, as by one observation of 0
    assert expected == pytest.approx({"red": 1.0, "green": 2.0, "blue": 3.0}, rel=2e-3)
    bandit.add_arm("white", features=[2.0, 0.0])
    assert bandit.arms[-1] == "white"
    named = MAB(
        ["a", "b"], instance={"structure": "classical", "arm_names": ["a", "b"], "n_arms": 2}
    )
    named.add_arm("c")
    assert named._learner.instance.arm_names[-1] == "c"


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="`arms` must be distinct"):
        MAB(["a", "a"])
    with pytest.raises(InputError, match="`arms` must be 3, as in the instance"):
        MAB(["a"], instance={"structure": "classical", "n_arms": 3})
    with pytest.raises(InputError, match="`instance` must have arms that each show"):
        MAB(["a", "b", "c"], instance={"structure": "dueling", "n_items": 2})
    with pytest.raises(InputError, match="`instance` must list its arms"):
        MAB(["a"], instance={"structure": "combinatorial", "feedback": "semi_bandit",
                             "arm_set": "m_sets", "n_items": 4, "size": 2})  # fmt: skip
    with pytest.raises(InputError, match="`instance` must be an instance"):
        MAB(["a"], instance=5)
    bandit = MAB(ARMS)
    with pytest.raises(InputError, match="`arm` must be one of the arms, got x"):
        bandit.fit(["x"], [1.0])
    with pytest.raises(InputError, match="`rewards` must be 2 numbers"):
        bandit.fit(["red", "red"], [1.0])
    with pytest.raises(InputError, match="`contexts` must be left out"):
        bandit.predict([[1.0]])
    with pytest.raises(InputError, match="`observation` must be finite"):
        bandit.partial_fit(["red"], [math.nan])
    with pytest.raises(InputError, match="`arm` must be new"):
        bandit.add_arm("red")
    bandit.remove_arm("red")
    bandit.remove_arm("green")
    with pytest.raises(InputError, match="`arm` must leave one that is not retired"):
        bandit.remove_arm("blue")
