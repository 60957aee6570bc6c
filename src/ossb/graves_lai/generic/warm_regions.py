"""Regions at a new θ from those held, all at once and without linear programs."""

from collections.abc import Sequence

import numpy as np

from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.region import Region

STILL_INSIDE = 1e-3  # slack, at unit scale, that a point from before must still have


def warm_regions(
    program: Program, held: Sequence[Region], insides: Sequence[np.ndarray]
) -> list[Region | None]:
    """The regions at θ, from those held and a parameter well inside each; None where unsure.

    Where rows are tight, a move of θ may undo it: such a region is found anew.
    """
    if not held:
        return []
    batch = program.fixed_leader.batch(tuple((one.piece, one.arm, one.hull) for one in held))
    scale = np.array([region.scale for region in held])[:, None]
    slacks = np.full(batch.norms.shape, np.inf)
    fixed_to = np.zeros(batch.fixed_norms.shape)
    for a, region in enumerate(held):
        rows, equal = program.sides_of(region.piece)
        slacks[a, : rows.size], fixed_to[a, : equal.size] = rows, equal
        slacks[a, -1] = -program.need(region.piece, region.arm)
    slacks /= batch.norms * scale
    fixed_to /= batch.fixed_norms * scale
    middle = (np.array(insides) - program.theta) / (scale * program.fixed_leader.columns)
    for _ in range(2):
        off = fixed_to - (batch.fixed @ middle[..., None])[..., 0]
        middle = middle + (batch.inverse @ off[..., None])[..., 0]
    clear = (slacks - (batch.rows @ middle[..., None])[..., 0]).min(axis=1) > STILL_INSIDE
    return [
        Region(
            region.piece,
            region.arm,
            region.scale,
            region.hull,
            slacks[a, : region.n_bounds],
            -float(slacks[a, -1]),
            region.tight_proof,
            middle[a],
        )
        if clear[a] and not region.tight.any()
        else None
        for a, region in enumerate(held)
    ]
