"""Bodies read strictly: what is wrong is named by where it stands."""

import pytest

from ossb.errors import InputError
from ossb.service.strict import decode


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
