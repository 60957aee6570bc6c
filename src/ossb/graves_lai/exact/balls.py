"""Balls: a midpoint and a radius around the true value, with python-flint's Arb (Johansson 2017).

A comparison of balls is true only where it holds for all of their points.
"""

import math
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from flint import arb, ctx

PRECISION = 192  # bits; a double has 53
_state = threading.Lock()
_users: list[int] = []  # the precision that each computation under way found


@contextmanager
def working() -> Iterator[None]:
    """Work to ``PRECISION`` bits; the precision is one of the whole process, and is put back.

    Threads may be in here together: the last one to leave puts back what the first one found.
    """
    with _state:
        _users.append(ctx.prec if not _users else _users[0])
        ctx.prec = PRECISION
    try:
        yield
    finally:
        with _state:
            found = _users.pop()
            if not _users:
                ctx.prec = found


INFINITE = arb.pos_inf()


def down(ball: arb) -> float:
    """The largest double that is surely not above a ball; −∞ where nothing is sure."""
    if ball.is_nan():
        return -math.inf
    end = ball.lower()
    near = float(end)
    if near == math.inf and end.is_finite():
        return math.nextafter(math.inf, 0.0)
    while arb(near) > end:
        near = math.nextafter(near, -math.inf)
    return near


def up(ball: arb) -> float:
    """The least double that is surely not below a ball; +∞ where nothing is sure."""
    return 0.0 - down(-ball)  # no −0


def total(balls: Iterable[arb]) -> arb:
    """The sum of some balls."""
    answer = arb(0)
    for ball in balls:
        answer += ball
    return answer


def least(balls: Iterable[arb]) -> arb:
    """A ball around the least of some; +∞ of none."""
    answer = INFINITE
    for ball in balls:
        answer = answer.min(ball)
    return answer


def greatest(balls: Iterable[arb]) -> arb:
    """A ball around the greatest of some that are not negative; 0 of none."""
    answer = arb(0)
    for ball in balls:
        answer = answer.max(ball)
    return answer
