"""Arms played in turns: those of a turn one after the other, while the next turn is filled.

The lists L_C, L_R and L_N of Honda and Takemura (2010).
"""

from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel

NEXT, LAST = 0, 1  # places in Turn.marks


class Turn(NamedTuple):
    """Three sets of arms, as flags, and how far the turn is."""

    current: np.ndarray  # int64 (n,): L_C
    remaining: np.ndarray  # int64 (n,): L_R, not played yet in this turn
    following: np.ndarray  # int64 (n,): L_N
    marks: np.ndarray  # int64 (2,): where to look for the next one; the one just played, or −1


def new_turn(n: int) -> Turn:
    """A first turn of all."""
    ones = np.ones(n, np.int64)
    return Turn(ones, ones.copy(), np.zeros(n, np.int64), np.array([0, -1]))


@kernel
def next_in_turn(turn: Turn) -> int:
    """The next one of this turn, in ascending order, or −1 where the turn is over."""
    for x in range(turn.marks[NEXT], turn.current.shape[0]):
        if turn.current[x] == 1:
            return x
    return -1


@kernel
def take(turn: Turn, x: int) -> None:
    """Note that one is played."""
    turn.remaining[x] = 0
    turn.marks[NEXT] = x + 1
    turn.marks[LAST] = x


@kernel
def begin_turn(turn: Turn, leader: int) -> None:
    """Start on the next turn: of the leader alone if nobody qualified.

    As published somebody always does; with observations on their way nobody may.
    """
    found = False
    for x in range(turn.current.shape[0]):
        turn.current[x] = turn.following[x]
        turn.remaining[x] = turn.following[x]
        found = found or turn.following[x] == 1
        turn.following[x] = 0
    if not found:
        turn.current[leader] = 1
        turn.remaining[leader] = 1
    turn.marks[NEXT] = 0
