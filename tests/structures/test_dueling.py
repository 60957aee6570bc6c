"""Dueling bandits: winners, losers, edges and what is refused."""

import dataclasses

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.families.bernoulli import bernoulli_kl
from ossb.structures import bound
from ossb.structures.dueling import Dueling

CYCLE = [[0.5, 0.6, 0.6, 0.6], [0.4, 0.5, 0.9, 0.1], [0.4, 0.1, 0.5, 0.9], [0.4, 0.9, 0.1, 0.5]]


def test_two_items():
    answer = bound(Dueling(preferences=[[0.5, 0.8], [0.2, 0.5]]))
    assert answer.value == pytest.approx(0.5 * 0.3 / bernoulli_kl(0.2, 0.5))
    assert answer.support == [((0, 1), pytest.approx(1.0 / bernoulli_kl(0.2, 0.5)))]
    assert answer.verify().valid


def test_items_are_best_told_apart_by_whoever_beats_them_most():
    answer = bound(Dueling(preferences=CYCLE))
    assert [arm for arm, _ in answer.support] == [(1, 2), (1, 3), (2, 3)]
    assert answer.value == pytest.approx(3 * 0.1 / bernoulli_kl(0.1, 0.5))
    assert answer.verify().valid


def test_the_loser_where_the_goal_is_to_minimise():
    flipped = (1.0 - np.array(CYCLE)).tolist()
    answer = bound(Dueling(preferences=flipped, goal="minimize"))
    assert answer.best_arm == (0, 0)
    assert answer.value == pytest.approx(bound(Dueling(preferences=CYCLE)).value)
    assert answer.verify().valid


def test_one_item():
    answer = bound(Dueling(preferences=[[0.5]]))
    assert (answer.value, answer.best_arm) == (0.0, (0, 0))
    assert answer.verify().valid


def test_certain_duels_and_even_losers():
    p = [[0.5, 1.0, 0.9], [0.0, 0.5, 0.5], [0.1, 0.5, 0.5]]
    answer = bound(Dueling(preferences=p))
    assert answer.verify().valid
    assert {arm for arm, _ in answer.support} == {(0, 1), (0, 2)}


def test_arms_are_pairs_in_either_order():
    instance = Dueling(preferences=CYCLE, arm_names=list("abcd"))
    assert instance.n_arms == 10
    assert instance.gap_of((1, 0)) == instance.gap_of((0, 1)) == pytest.approx(0.05)
    assert instance.gap_of((0, 0)) == 0.0
    assert instance.gap_of((1, 1)) == pytest.approx(0.1)
    assert instance.total_gap() == pytest.approx(3 * 0.05 + 6 * 0.1)
    assert instance.arm_name((0, 2)) == "a – c"
    assert Dueling(n_items=3).arm_name((0, 2)) == "0 – 2"
    for arm in (0, (0,), (0, 4), (0, 1, 2), "01"):
        with pytest.raises(InputError, match="`arm` must be a pair of items below 4"):
            instance.position(arm)


def test_rounded_tables_are_accepted():
    p = [[0.5, 0.6], [0.4 + 5e-10, 0.5]]
    assert bound(Dueling(preferences=p)).verify().valid


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"preferences": [[0.5, 0.6], [0.5, 0.5]]}, r"`preferences\[0\]\[1\]` must sum to 1 with"),
        (
            {"preferences": [[0.6, 0.6], [0.4, 0.5]]},
            r"`preferences\[0\]\[0\]` must be 1/2, got 0\.6",
        ),
        (
            {"preferences": [[0.5, 1.2], [-0.2, 0.5]]},
            r"`preferences\[0\]\[1\]` must lie in \[0, 1\]",
        ),
        ({"preferences": [[0.5, 0.6]]}, "`preferences` must be square"),
        ({"preferences": []}, "`preferences` must be square"),
        ({"preferences": [[0.5, 0.6], [0.4]]}, r"`preferences\[1\]` must have as many numbers"),
        ({"preferences": [[0.5, 0.6], [0.4, 0.5]], "n_items": 3}, "have 3 columns, got 2"),
        (
            {"preferences": [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]},
            "have a Condorcet winner: item 0 wins most often but not against item 2, got 0.4",
        ),
        (
            {
                "preferences": [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]],
                "goal": "minimize",
            },
            "have a Condorcet loser: item 0 loses most often but not against item 1",
        ),
        ({"preferences": [[0.5, 0.5], [0.5, 0.5]]}, "items 0 and 1 are tied"),
        (
            {"preferences": [[0.5, 0.5], [0.5, 0.5]], "arm_names": ["tea", "milk"]},
            "items tea and milk are tied",
        ),
        (
            {"n_items": 3, "observation": "gaussian"},
            "be one of bernoulli for dueling, got gaussian",
        ),
        ({}, "`n_items` must be given, or preferences"),
        ({"n_items": 0}, "`n_items` must be at least 1"),
    ],
)
def test_refusals(keys, message):
    with pytest.raises(InputError, match=message):
        Dueling(**keys)


def test_proofs_about_pairs_are_checked():
    answer = bound(Dueling(preferences=CYCLE))
    first = answer.alternatives[0]
    for change in ({"arm": (0, 1)}, {"arm": (2, 2)}, {"parameter": np.full((3, 3), 0.5)}):
        bad = [dataclasses.replace(first, **change), *answer.alternatives[1:]]
        assert not dataclasses.replace(answer, alternatives=bad).verify().valid
    doubled = [(arm[::-1], 0.5 * rate) for arm, rate in answer.support for _ in (0, 1)]
    assert dataclasses.replace(answer, support=doubled).verify().valid


@pytest.mark.parametrize("lead", [1e-3, 1e-6, 1e-8, 1e-9])
def test_items_that_are_nearly_even_are_certified(lead):
    """Of a lead this small, the table in doubles keeps few digits; the check has them all."""
    table = [[0.5, 0.5 + lead, 0.9], [0.5 - lead, 0.5, 0.6], [0.1, 0.4, 0.5]]
    answer = bound(Dueling(preferences=table))
    assert answer.verify().valid
    assert answer.gap <= 1e-6
