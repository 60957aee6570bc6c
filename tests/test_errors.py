"""An error names the field, what it must be and what was got."""

import pickle

import pytest

from ossb.errors import CertificationError, InputError, InUse, PolicyError


@pytest.mark.parametrize(
    ("got", "shown"),
    [
        (3, "3"),
        ("three\n  words here", "three words here"),
        ("", "''"),
        ("  ", "''"),
        ([0.5] * 100, "[0.5, 0.5,"),
    ],
)
def test_what_was_got_is_shown_in_one_short_line(got, shown):
    message = str(InputError("theta", "be a list", got))
    assert message.startswith(f"`theta` must be a list, got {shown}")
    assert len(message) < 120


def test_a_hint_comes_first():
    message = str(InputError("policy", "be one of hgl, ossb (did you mean 'hgl'?)", "hgll"))
    assert message == "did you mean 'hgl'? `policy` must be one of hgl, ossb, got hgll"
    assert str(InputError("n", "be given")) == "`n` must be given"


@pytest.mark.parametrize(
    "error",
    [
        InputError("theta", "be a list", 3),
        PolicyError("mine", 7, "`arm` must be 0, …, 2, got 3"),
        CertificationError("no proof"),
        InUse("taken", "http://here"),
    ],
)
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_a_policy_error_says_who_and_when():
    assert str(PolicyError("mine", 7, "this")) == "policy 'mine' in round 7: this"
    assert str(PolicyError("mine", 0, "this")) == "policy 'mine' before round 1: this"
