"""How the kernel of convex programs is run: as it stands, until compiled code pays.

Both give the same, bit for bit.  A few small programs take less time than it takes to import a
compiler; large ones, and those of a policy round after round, are worth one.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from ossb import deadlines
from ossb.deadlines import Stop
from ossb.graves_lai.generic.course import Course, course_of
from ossb.graves_lai.generic.path import follow

# Operations of a step of all programs, of which about 100,000 take a second interpreted.
AHEAD = 50  # calls of the same size that are still to come, for all we know
SOON = 50_000  # so many ahead: see whether compiled code is in the cache
MANY = 300_000  # so many ahead: compile now
WORTH = 200_000  # so many behind: compile now


class Way:
    """Counts what was run interpreted, and turns to compiled code in time."""

    def __init__(self) -> None:
        self.spent = 0
        self.compiled = False
        self._looked = False
        self._here = threading.local()

    def go(self, kind: int, precision: float, tolerance: float, course: Course) -> None:
        """Bring every program to a relative gap."""
        if not self.compiled:
            self._consider(_size(course))
        if self.compiled:
            run: Callable[..., None] = follow.compiled
        else:  # who is waited for has code fetched aside
            run = follow.quick if deadlines.is_limited() else follow
        with deadlines.stopping([Stop(course.halt, 0, 1)]):
            run(kind, precision, tolerance, course)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """In this thread, leave compiling to others: who asks here may not wait."""
        before = self._is_aside()
        self._here.aside = True
        try:
            yield
        finally:
            self._here.aside = before

    def is_cached(self) -> bool:
        """Whether compiled code would run at once."""
        return follow.is_compiled(*_example())

    def compile(self) -> None:
        """Compile, or take what is in the cache."""
        follow.compiled(*_example())
        self.compiled = True

    def _is_aside(self) -> bool:
        return bool(getattr(self._here, "aside", False))

    def _consider(self, size: int) -> None:
        ahead, behind = self.spent + AHEAD * size, self.spent
        self.spent += size
        if self._is_aside() or deadlines.is_limited():  # to import a compiler alone takes a second
            return
        if ahead > SOON and not self._looked:
            self._looked = True
            self.compiled = self.is_cached()
        if ahead > MANY or behind > WORTH:
            self.compiled = True


def _size(course: Course) -> int:
    """About as many operations as a step of every program has."""
    count, components, columns = course.moves.shape
    return int(count * (components + course.walls.shape[1]) * columns * columns)


def _example() -> tuple[int, float, float, Course]:
    """Arguments of the kernel: minimise y² / 2 subject to y ≤ 1."""
    one = np.ones((1, 1))
    return (
        0,
        1.0,
        1e-6,
        course_of(np.zeros(1), one, 0 * one, one[None], one[None], one, 0 * one[None]),
    )


WAY = Way()
