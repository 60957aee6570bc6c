"""Words for people."""

import math

import pytest

from ossb.words import counted, hint, hint_apart, rounded, spread


def test_one_is_not_several():
    assert counted(1, "trial") == "1 trial"
    assert counted(0, "trial") == "0 trials"
    assert counted(2000, "trial") == "2,000 trials"
    assert counted(1, "policy", "policies") == "1 policy"
    assert counted(3, "policy", "policies") == "3 policies"


def test_one_trial_has_no_standard_error():
    assert spread(0.1234, 2) == "0.12"
    assert spread(0.0, 2) == "0"  # trials that do not differ
    assert spread(0.0, 1) == "–"
    assert spread(1234.5, 9, 5) == "1,234.5"


def test_the_nearest_name_or_none():
    assert hint("teta", ["phi", "theta"]) == " (did you mean 'theta'?)"
    assert hint("zzz", ["phi", "theta"]) == ""
    assert hint(7, ("phi",)) == ""


def test_a_hint_is_told_from_what_it_stands_after():
    assert hint_apart("be one of phi, theta" + hint("teta", ["theta"])) == (
        "be one of phi, theta",
        "did you mean 'theta'?",
    )
    assert hint_apart("hold no (did you mean that?)") == ("hold no", "did you mean that?")
    for text in ("", "be a number", "ask (did you mean 'x'?) twice"):
        assert hint_apart(text) == (text, "")


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.0, 4, "0"),
        (0.04512, 2, "0.045"),
        (57.264, 4, "57.26"),
        (1312.4, 4, "1,312"),
        (16882.0, 4, "16,880"),
        (170.3, 2, "170"),
        (99.96, 2, "100"),
        (-1.0e8, 4, "-100,000,000"),
        (3.2e12, 4, "3.2e+12"),
        (math.inf, 4, "inf"),
        (math.nan, 4, "nan"),
    ],
)
def test_numbers_are_written_in_full(value, digits, shown):
    assert rounded(value, digits) == shown
