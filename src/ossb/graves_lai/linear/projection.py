"""The arms in coordinates of the orthogonal complement of the leader."""

import math

import numpy as np

from ossb.kernels import kernel

PARALLEL = 1e-24  # squared sine below which an arm counts as parallel to the leader


@kernel
def project(arms: np.ndarray, leader: int, out: np.ndarray) -> int:
    """Fill ``out`` (span, K + span or more) and return the rank.

    That is span − 1, or span if the leader is 0, or 0 where every arm is parallel to the
    leader and there is nothing to rule out.

    A Householder reflection takes the leader to an axis, which is left out.  The columns
    after K are the images of the unit vectors.  Arms parallel to the leader become exactly 0.
    """
    span, n_arms = arms.shape
    axis = 0
    for i in range(span):
        if abs(arms[i, leader]) > abs(arms[axis, leader]):
            axis = i
    big = abs(arms[axis, leader])
    for i in range(span):
        for z in range(n_arms):
            out[i, z] = arms[i, z]
        for j in range(span):
            out[i, n_arms + j] = 1.0 if i == j else 0.0
    if big == 0.0:
        for i in range(span):
            for z in range(n_arms):
                if out[i, z] != 0.0:
                    return span
        return 0
    norm = 0.0
    for i in range(span):
        norm += (arms[i, leader] / big) * (arms[i, leader] / big)
    norm = big * math.sqrt(norm)
    sign = 1.0 if arms[axis, leader] > 0.0 else -1.0
    # |w|² = 2 (1 + |u_axis|) for w = u + sign · e_axis and a unit vector u
    twice = 1.0 / (1.0 + big / norm)
    empty = True
    for z in range(n_arms + span):
        inner = sign * out[axis, z]
        length = 0.0
        for i in range(span):
            inner += arms[i, leader] / norm * out[i, z]
            length += out[i, z] * out[i, z]
        inner *= twice
        rank = 0
        rest = 0.0
        for i in range(span):
            if i != axis:
                out[rank, z] = out[i, z] - inner * (arms[i, leader] / norm)
                rest += out[rank, z] * out[rank, z]
                rank += 1
        if z == leader or (z < n_arms and rest <= PARALLEL * length):
            for i in range(rank):
                out[i, z] = 0.0
        elif z < n_arms:
            empty = False
        out[rank, z] = 0.0
    return 0 if empty else span - 1
