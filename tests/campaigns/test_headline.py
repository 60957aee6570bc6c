"""Where a campaign stands, in one plain sentence."""

import pytest

from ossb.campaigns.deciding import Left
from ossb.campaigns.headline import headline

PRICES = {
    "instance": {"structure": "unimodal", "n_arms": 2, "reward_unit": "€"},
    "policy": {"name": "top-two"},
    "arms": [{"arm": 0, "arm_name": "7 €"}, {"arm": 1, "arm_name": "8 €"}],
    "closed": False,
}
OPEN = {"delta": 0.05, "epsilon": 0.0, "statistic": 1.0, "met": False, "arm": 1}
MET = {**OPEN, "met": True}
LEFT = Left(600, 300, 900)


def said(leader=1, stop=OPEN, left=LEFT, regret=27.4, per_day=100.0, **changed):
    return headline({**PRICES, **changed}, leader, stop, left, regret, per_day)


def test_who_leads_how_long_still_and_at_what_cost():
    assert said() == (
        "8 € leads; about 6 more days to be 95% sure; exploring has cost about 27 € so far."
    )
    assert said(left=None, regret=None) == "8 € leads; not 95% sure yet."
    assert said(policy={"name": "hgl"}, regret=None) == (
        "8 € leads; hgl does not aim to end (top-two: about 6 more days to be 95% sure)."
    )


@pytest.mark.parametrize(
    ("per_day", "words"),
    [
        (None, "about 600 more rounds"),
        (600 * 1440, "about 1 more minute"),
        (600 * 24, "about 60 more minutes"),
        (600 * 12, "about 2 more hours"),
        (600 * 0.7, "about 34 more hours"),
        (300.0, "about 2 more days"),
        (20.0, "about 4 more weeks"),
    ],
)
def test_how_long_in_the_unit_one_would_use(per_day, words):
    assert said(per_day=per_day, regret=None) == f"8 € leads; {words} to be 95% sure."


def test_what_is_decided_and_what_is_over():
    assert said(stop=MET, left=None, regret=0.0123) == (
        "8 € is best, 95% sure; exploring has cost about 0.012 € so far."
    )
    near = {**MET, "epsilon": 0.25, "delta": 0.001}
    assert said(stop=near, left=None, regret=None) == (
        "8 € is within 0.25 € of the best, 99.9% sure."
    )
    assert said(closed=True) == ("Closed: 8 € leads; not 95% sure; exploring has cost about 27 €.")
    assert said(leader=None) == "Nothing was told yet."
    assert said(leader=None, closed=True) == "Closed before anything was told."


def test_duels_and_sets_by_their_items():
    beers = {"structure": "dueling", "n_items": 2, "arm_names": ["ale", "bock"]}
    assert said([1, 1], instance=beers, arms=[], left=None, regret=None).startswith("bock leads;")
    routes = {"structure": "combinatorial", "arm_names": ["a", "b", "c"]}
    assert said([0, 2], instance=routes, arms=[], left=None, regret=None).startswith("a, c leads;")


def test_contexts_are_counted():
    contexts = [{"name": "phone"}, {}, {"name": "desk"}]
    arms = [
        {"arm": [z, x], "arm_name": f"{contexts[z].get('name', z)}: {name}"}
        for z in range(3)
        for x, name in enumerate(("up", "down"))
    ]
    instance = {"structure": "linear", "contexts": contexts}
    leaders = [[0, 1], [1, 0], [2, 1]]
    assert said(leaders, instance=instance, arms=arms) == (
        "down leads in 2 of 3 contexts, up in 1; exploring has cost about 27 so far."
    )
