"""Reading what users write: clean values, or an error that names the entry."""

import math

import numpy as np
import pytest

from ossb import fields
from ossb.errors import CertificationError, InputError, OssbError


def refused(message, function, *arguments):
    with pytest.raises(InputError) as caught:
        function(*arguments)
    assert str(caught.value) == message


def test_numbers():
    assert fields.number(3, "x") == 3.0
    assert fields.number(np.float32(0.5), "x") == 0.5
    assert math.copysign(1.0, fields.number(-0.0, "x")) == -1.0
    refused("`x` must be a number, got True", fields.number, True, "x")
    refused("`x` must be a number, got np.True_", fields.number, np.bool_(True), "x")
    refused("`x` must be a number, got '0.5'", fields.number, "0.5", "x")
    refused("`x` must be a number, got None", fields.number, None, "x")
    refused("`x` must be a number, got np.timedelta64(2)", fields.number, np.timedelta64(2), "x")
    refused("`x` must be a number, got np.complex128(1+0j)", fields.number, np.complex128(1), "x")
    refused("`x` must be finite, got nan", fields.number, math.nan, "x")
    refused("`x` must be finite, got -inf", fields.number, -math.inf, "x")
    with pytest.raises(InputError, match="`x` must be finite, got 1000"):
        fields.number(10**400, "x")


def test_whole_numbers():
    refused(
        "`n` must be a whole number, got np.timedelta64(2)", fields.integer, np.timedelta64(2), "n"
    )
    assert fields.integer(np.int32(3), "n") == 3
    refused("`n` must be a whole number, got 3.0", fields.integer, 3.0, "n")
    refused("`n` must be a whole number, got True", fields.integer, True, "n")
    refused("`n` must be at least 1, got 0", fields.integer, 0, "n", 1)
    with pytest.raises(InputError, match="`n` must be at most"):
        fields.integer(10**400, "n")


def test_words():
    assert fields.text("a", "name") == "a"
    refused("`name` must be a string, got 3", fields.text, 3, "name")
    assert fields.choice("a", "key", ("a", "b")) == "a"
    refused("`key` must be one of red, blue, got 3", fields.choice, 3, "key", ["red", "blue"])
    message = "did you mean 'blue'? `key` must be one of red, blue, got blu"
    refused(message, fields.choice, "blu", "key", ["red", "blue"])
    assert fields.names(["a", "b"], "names") == ("a", "b")
    refused("`names` must be a list, got ab", fields.names, "ab", "names")
    refused("`names[1]` must be a string, got 2", fields.names, ["a", 2], "names")


@pytest.mark.parametrize(
    "value", [[1, 2.5], (1, 2.5), np.array([1, 2.5]), np.array([1, 2.5], "f4")]
)
def test_vectors(value):
    read = fields.vector(value, "v")
    assert read.tolist() == [1.0, 2.5]
    assert read.dtype == np.float64
    assert not read.flags.writeable


def test_vectors_are_copies():
    mine = np.array([1.0, 2.0])
    read = fields.vector(mine, "v")
    mine[0] = 5.0
    assert read[0] == 1.0


def test_bad_vectors():
    refused("`v[1]` must be a number, got a", fields.vector, [1, "a"], "v")
    refused("`v[0]` must be a number, got [1]", fields.vector, [[1]], "v")
    refused("`v[0]` must be a number, got True", fields.vector, np.array([True]), "v")
    refused("`v[1]` must be finite, got nan", fields.vector, np.array([1.0, math.nan]), "v")
    refused("`v` must be a list, got 3", fields.vector, 3, "v")
    refused("`v` must be a list, got {'a': 1}", fields.vector, {"a": 1}, "v")
    refused("`v` must be a list, got None", fields.vector, None, "v")
    refused("`v` must hold 2 numbers, got 1", fields.vector, [1], "v", 2)


def test_matrices():
    assert fields.matrix([[1, 2], [3, 4]], "m", 2).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert fields.matrix(np.eye(2), "m").tolist() == np.eye(2).tolist()
    assert fields.matrix([], "m", 3).shape == (0, 3)
    assert not fields.matrix(np.eye(2), "m").flags.writeable


def test_bad_matrices():
    refused("`m[1]` must have as many numbers as m[0], 2, got 1", fields.matrix, [[1, 2], [3]], "m")
    refused("`m[1][0]` must be a number, got x", fields.matrix, [[1, 2], ["x", 3]], "m")
    refused("`m` must have 3 columns, got 2", fields.matrix, [[1, 2]], "m", 3)
    bad = np.array([[1.0, 2.0], [3.0, math.inf]])
    refused("`m[1][1]` must be finite, got inf", fields.matrix, bad, "m")
    refused("`m[0]` must be a list, got 1", fields.matrix, [1, 2], "m")
    refused("`m[0]` must be a list, got 1.0", fields.matrix, np.array([1.0]), "m")


def test_pairs():
    assert fields.pairs([[0, 1], (2, 0)], "edges", 3).tolist() == [[0, 1], [2, 0]]
    assert fields.pairs(np.array([[0, 1]]), "edges").tolist() == [[0, 1]]
    assert fields.pairs([], "edges").shape == (0, 2)
    with pytest.raises(InputError, match=r"`edges\[0\]\[1\]` must be at most"):
        fields.pairs([[0, 2**70]], "edges")


def test_errors_are_one_line_of_bounded_length():
    error = InputError("x", "be short", "word\n" * 1000)
    assert "\n" not in str(error)
    assert len(str(error)) < 120
    assert str(error).endswith("…")
    assert str(InputError("x", "be given")) == "`x` must be given"
    assert (error.field, error.must) == ("x", "be short")
    assert isinstance(error, ValueError)
    assert issubclass(CertificationError, OssbError)
