"""Regions side by side in arrays, the region as first axis, wherever θ is.

Smaller regions are padded with rows of 0 and unused columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.generic.frame import Frame


@dataclass(frozen=True, eq=False)
class Stack:
    """What ``Separation`` needs of its regions' frames."""

    basis: np.ndarray  # (a, n, r)
    seen: np.ndarray  # (a, C, r) what arms show, along the basis
    walls: np.ndarray  # (a, m + 1, r) rows and the negative advantage along it, 0 if tight
    rows: np.ndarray  # (a, m + 1, n) the same, not along it
    norms: np.ndarray  # (a, m + 1) what these were divided by
    fixed: np.ndarray  # (a, q, n) equalities
    inverse: np.ndarray  # (a, n, q) their pseudo-inverses
    fixed_norms: np.ndarray  # (a, q)
    anchor: np.ndarray  # (a, r, r), positive on the padding


def stack_of(frames: Sequence[Frame]) -> Stack:
    """Some regions side by side."""
    count, entries = len(frames), frames[0].basis.shape[0]
    columns = max(1, *(frame.basis.shape[1] for frame in frames))
    rows = max(frame.tight.size for frame in frames) + 1
    fixed = max(frame.fixed.shape[0] for frame in frames)
    stack = Stack(
        np.zeros((count, entries, columns)),
        np.zeros((count, frames[0].seen.shape[0], columns)),
        np.zeros((count, rows, columns)),
        np.zeros((count, rows, entries)),
        np.ones((count, rows)),
        np.zeros((count, fixed, entries)),
        np.zeros((count, entries, fixed)),
        np.ones((count, fixed)),
        np.zeros((count, columns, columns)),
    )
    for a, frame in enumerate(frames):
        free, m, outline = frame.basis.shape[1], frame.tight.size, frame.outline
        stack.basis[a, :, :free] = frame.basis
        stack.seen[a, :, :free] = frame.seen
        stack.walls[a, :m, :free], stack.walls[a, -1, :free] = frame.walls[:-1], frame.walls[-1]
        stack.rows[a, :m] = np.where(frame.tight[:, None], 0.0, outline.rows)
        stack.rows[a, -1] = -outline.gain
        stack.norms[a, :m], stack.norms[a, -1] = outline.row_norms, outline.gain_norm
        q = frame.fixed.shape[0]
        stack.fixed[a, :q], stack.inverse[a, :, :q] = frame.fixed, frame.inverse
        stack.fixed_norms[a, : outline.equal_norms.size] = outline.equal_norms
        padding = np.arange(free, columns)
        stack.anchor[a, padding, padding] = 1.0
    return stack
