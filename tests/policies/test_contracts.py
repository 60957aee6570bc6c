"""Every policy keeps every contract, on every structure and family it fits.

Those that compile are in a file of their own, which runs beside this one.
"""

import pytest

import ossb
from ossb.errors import InputError
from ossb.testing import policy_checks
from policies.contract_cases import (
    CASES,
    CHECKS,
    COMPILED,
    NEVER_LISTED,
    ODD,
    OWN,
    VARIANTS,
    sampled,
)


@pytest.mark.parametrize(
    "check", [sampled(one) for one in CHECKS if not one.name.startswith(COMPILED)]
)
def test_every_policy_keeps_the_contracts(check):
    check()


@pytest.mark.parametrize("name", OWN)
def test_what_fits_is_made_and_what_does_not_is_refused(name):
    for check in policy_checks(name, CASES):
        if check.name == "fits or refuses":
            check()


def test_every_policy_and_every_variant_is_played():
    played = {check.case.partition(", ")[0] for check in CHECKS}
    named = {str(check.case).partition(":")[0].partition(",")[0] for check in CHECKS}
    assert named == set(OWN) - NEVER_LISTED
    assert len(played) == len(named) + sum(bool(parameters) for _, parameters in VARIANTS)


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
