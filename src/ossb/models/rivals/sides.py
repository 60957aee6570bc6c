"""Which arms stand on the better side of a border: the m best ones, or those above a level."""

import math
from typing import NamedTuple

import numpy as np

from ossb.kernels import kernel

OUTSIDE, INSIDE = 0, 1


class Sides(NamedTuple):
    """Where arms stand, and who stands against whom."""

    inside: np.ndarray  # int64 (n_arms,): 1 on the better side
    partners: np.ndarray  # int64 (n_arms,): of an arm outside, the one inside least told from it
    suspect: np.ndarray  # int64 (2,): the pair that held up the last verdict


def new_sides(n_arms: int) -> Sides:
    """Nobody stands anywhere yet."""
    return Sides(np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64), np.zeros(2, np.int64))


@kernel
def take_sides(rewards: np.ndarray, top: int, level: float, sides: Sides) -> None:
    """Mark the ``top`` best arms, those of low numbers where arms are level; or those above."""
    inside = sides.inside
    for x in range(rewards.shape[0]):
        inside[x] = INSIDE if top == 0 and rewards[x] > level else OUTSIDE
    for _ in range(top):
        best = -1
        for x in range(rewards.shape[0]):
            if inside[x] == OUTSIDE and (best < 0 or rewards[x] > rewards[best]):
                best = x
        inside[best] = INSIDE


@kernel
def border_of(x: int, level: float, epsilon: float, sides: Sides) -> float:
    """The first mean, from where an arm stands, of which it stands on the wrong side by ε."""
    return level - epsilon if sides.inside[x] == INSIDE else level + epsilon


@kernel
def number_of_pairs(n_arms: int, top: int) -> float:
    """How many pairs of one of the m best arms and another one there are, or arms at a level."""
    return float(n_arms if top == 0 else top * (n_arms - top))


@kernel
def log_pairs(n_arms: int, top: int) -> float:
    """The price of the union over them."""
    return math.log(max(number_of_pairs(n_arms, top), 1.0))
