"""Records: coercion, checks, and what is refused when a class is defined."""

import inspect
from typing import NamedTuple, Protocol

import numpy as np
import pytest
from numpy.typing import NDArray

from ossb.errors import InputError
from ossb.families import Gaussian
from ossb.kernels import kernel
from ossb.records import Flags, Floats, Ints, record


class Shape(Protocol):
    def area_of_shape(self, height: float) -> float: ...


@record
class Strip(NamedTuple):
    strip_width: float
    strip_repeats: int = 1
    strip_mirrored: bool = False
    strip_weights: Floats = (1, 2)
    strip_places: Ints = (0, 1)
    strip_marks: Flags = (True, False)

    def _check(self):
        if self.strip_width <= 0:
            raise InputError("strip_width", "be positive", self.strip_width)

    def area_of_shape(self, height):
        total = 0.0
        for k in range(self.strip_weights.shape[0]):
            if self.strip_marks[self.strip_places[k]]:
                total += self.strip_weights[k]
        return total * self.strip_width * height * self.strip_repeats


@record
class Pile(NamedTuple):
    strip: Shape
    law: Gaussian | Strip

    def total_of_pile(self, height):
        return self.strip.area_of_shape(height) + self.law.kl(0.0, height)


@kernel
def pile_total(pile, height):
    return pile.total_of_pile(height)


def test_fields_are_coerced_to_one_type_each():
    strip = Strip(
        2,
        strip_repeats=True,
        strip_mirrored=0,
        strip_weights=[1, 2],
        strip_places=np.array([0.0, 1.0]),
    )
    assert [type(value) for value in strip[:3]] == [float, int, bool]
    assert strip.strip_weights.dtype == np.float64
    assert strip.strip_places.dtype == np.int64
    assert strip.strip_marks.dtype == np.bool_
    assert strip.strip_weights.flags.c_contiguous
    assert Strip(2).strip_width == Strip(2.0).strip_width
    assert next(iter(inspect.signature(Strip).parameters)) == "strip_width"


def test_every_new_record_is_checked():
    with pytest.raises(InputError, match=r"`strip_width` must be positive, got -1\.0"):
        Strip(-1)
    with pytest.raises(TypeError):
        Strip()
    assert Strip(1)._replace(strip_repeats=2).strip_repeats == 2


def test_methods_run_in_python_and_compiled_through_nested_records():
    pile = Pile(Strip(2, strip_repeats=3), Gaussian(0.5))
    assert pile_total(pile, 1.5) == 9.0 + 4.5
    assert pile_total.compiled(pile, 1.5) == pile_total(pile, 1.5)


def define(annotation, name="length_of_this", body=None):
    cls = NamedTuple("Bad", [("field", annotation)])  # noqa: UP014 - the annotation varies
    if body is not None:
        setattr(cls, name, body)
    return cls


@pytest.mark.parametrize("annotation", [NDArray[np.float64], np.ndarray, str, object, list, dict])
def test_annotations_that_mean_nothing_to_the_compiler_are_refused(annotation):
    with pytest.raises(TypeError, match=r"Bad\.field must be annotated float, int, bool, Floats"):
        record(define(annotation))


@pytest.mark.parametrize("name", ["count", "index"])
def test_methods_that_hide_those_of_tuples_are_refused(name):
    with pytest.raises(TypeError, match=f"Bad.{name} hides a tuple method"):
        record(define(float, name, lambda self: 0))


def test_one_signature_for_each_method_name():
    with pytest.raises(
        TypeError, match=r"Bad.kl\(self, p\) must have the signature \(self, p, q\)"
    ):
        record(define(float, "kl", lambda self, p: 0.0))


def test_empty_records_are_refused():
    with pytest.raises(TypeError, match="Bad needs at least one field"):
        record(NamedTuple("Bad", []))


@kernel
def area_at_one(shape: Shape) -> float:
    return shape.area_of_shape(1.0)


def test_records_defined_after_a_kernel_was_compiled_have_all_their_methods():
    assert area_at_one.compiled(Strip(2.0)) == area_at_one(Strip(2.0))

    @record
    class Wedge(NamedTuple):
        wedge_slope: float

        def area_of_wedge(self, height: float) -> float:
            return 0.5 * self.wedge_slope * height * height

        def area_of_shape(self, height: float) -> float:
            return self.area_of_wedge(height)

    assert area_at_one.compiled(Wedge(3.0)) == 1.5


class Board(NamedTuple):
    """A plain named tuple, such as a policy's memory."""

    thickness: np.ndarray


@kernel
def thicken(board: Board, height: float) -> float:
    board.thickness[0] = height
    return board.thickness[0]


def test_a_method_hides_no_field_of_its_name():
    @record
    class Sheet(NamedTuple):
        sheet_height: float

        def thickness(self, height: float) -> float:
            return self.sheet_height * height

    @record
    class Plank(NamedTuple):
        thickness: float

        def area_of_shape(self, height: float) -> float:
            return self.thickness * height

    @kernel
    def thickness_at(sheet, height):
        return sheet.thickness(height)

    assert thicken.compiled(Board(np.zeros(1)), 2.5) == 2.5
    assert area_at_one.compiled(Plank(3.0)) == 3.0
    assert thickness_at.compiled(Sheet(2.0), 4.0) == 8.0
