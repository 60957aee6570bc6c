"""An error names the field, what it must be and what was got."""

import pytest

from ossb.errors import InputError


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
