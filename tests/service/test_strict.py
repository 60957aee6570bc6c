"""Bodies read strictly: what is wrong is named by where it stands."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ossb.errors import InputError
from ossb.service.strict import _TOKENS, DEEPEST, _depth, decode


@pytest.mark.parametrize(
    ("body", "field", "must"),
    [
        (b'{"observation": 1e999}', "observation", "be finite, got 1e999"),
        (b'{"observation": NaN}', "observation", "be finite, got NaN"),
        (b'{"observation": [0, -Infinity]}', "observation[1]", "be finite"),
        (b'{"tells": [{"id": "a"}, {"observation": 1e999}]}', "tells[1].observation", "be finite"),
        (b'{"n": %s}' % (b"1" * 5000), "n", "be finite"),
        (b'{"tells": [{"id": 1, "id": 1}]}', "tells[0].id", "be given once"),
        (b'{"id": "\\ud800"}', "id", "half a character"),
        (b'{"instance": {"arm_names": ["a", "\\uDFFF"]}}', "instance.arm_names[1]", "half a"),
        (b'{"\\ud800": 1}', "\\ud800", "half a character"),
        (b'[{"id": 1e999}]', "body", "be a JSON object"),
        (b'{"n": 1, "n": }', "body", "be JSON"),
    ],
)
def test_what_is_wrong_is_named(body, field, must):
    with pytest.raises(InputError) as caught:
        decode(body)
    assert caught.value.field == field
    assert must in str(caught.value)


def test_what_can_be_meant_is_read():
    body = '{"a": "\\ud83d\\ude00 \\\\ud800", "b": [1, -0.0, 1e300, %s]}' % ("9" * 400)
    assert decode(body.encode()) == {"a": "😀 \\ud800", "b": [1, 0.0, 1e300, int("9" * 400)]}


def depth_by_hand(body):
    depth = deepest = place = 0
    while place < len(body):
        mark = body[place]
        if mark == ord('"'):
            place += 1
            while place < len(body) and body[place] != ord('"'):
                place += 2 if body[place] == ord("\\") else 1
        depth += (mark in b"[{") - (mark in b"]}")
        deepest = max(deepest, depth)
        place += 1
    return deepest


@given(st.text(alphabet='"\\[]{}a\n', max_size=40))
@example('"\\"[[')
@example('"\\')
@example('"[\\\\"[')
def test_depth_is_that_of_a_plain_scan(marks):
    body = b"[]" * (DEEPEST + 1) + marks.encode()  # enough brackets to be looked at
    assert _depth(body) == depth_by_hand(body)


@pytest.mark.parametrize("text", [b'\\"', b"\\\\", b"a", b"["])
@pytest.mark.parametrize("end", [b"", b"\\"])
def test_a_text_without_end_is_looked_at_once(text, end):
    body = b'"' + text * 1000 + end
    assert [found.span() for found in _TOKENS.finditer(body)] == [(0, len(body))]
    with pytest.raises(InputError, match="`body` must be JSON"):
        decode(b'{"tells": ' + b"[" * 7 + body)
