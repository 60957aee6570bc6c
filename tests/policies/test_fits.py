"""What is said to fit an instance is made for it, and what is not says why."""

import pytest

import ossb
from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.policies import POLICIES
from ossb.policies.base import refusal
from policies.pairs import instances

CYCLE = {"structure": "unimodal", "theta": [0.2, 0.6, 0.9, 0.5]} | {
    "edges": [[0, 1], [1, 2], [2, 3], [3, 0]]
}
ROADS = {"arm_set": "paths", "edges": [[0, 1], [1, 3], [0, 2], [2, 3]], "source": 0, "target": 3}
SUMS = {"structure": "combinatorial", "feedback": "bandit", "phi": [0.1, 0.2, 0.3, 0.4], **ROADS}
ODD = {"unimodal on a cycle": from_dict(CYCLE), "sums of described arms": from_dict(SUMS)}


@pytest.mark.parametrize(
    "instance", [pytest.param(i, id=n) for n, i in (instances() | ODD).items()]
)
def test_what_fits_is_made(instance):
    for name, kind in POLICIES.items():
        if refusal(kind, instance) is None and kind.suits(instance) is None:
            assert ossb.policy(name, instance) is not None
        else:
            with pytest.raises(InputError, match=r"`policy` must fit the instance|lines and trees"):
                ossb.policy(name, instance)


def test_on_a_cycle_some_do_and_are_named():
    with pytest.raises(InputError, match="lines and trees only; these do: ") as caught:
        ossb.policy("hgl", ODD["unimodal on a cycle"])
    named = str(caught.value).split("these do: ")[1].split(", ")
    assert {"osub", "imed-ub", "ossb-paper"} <= set(named)
    assert "ossb" not in named
    printed = {"estimate": "means", "test": "counts"}
    assert ossb.policy("ossb", ODD["unimodal on a cycle"], **printed) is not None


def test_sums_of_arms_that_are_not_listed_are_for_no_policy():
    for name in ("hgl", "oful", "linear-thompson", "glm-ucb"):
        with pytest.raises(InputError, match=r"needs its arms listed.*; no policy does"):
            ossb.simulate(ODD["sums of described arms"], name, horizon=10, trials=1)
