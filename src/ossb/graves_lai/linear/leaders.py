"""Arms across several best ones, one for each context, whose plays are all free."""

import numpy as np

from ossb.errors import InputError
from ossb.graves_lai.linear.certificate import (
    ABSENT,
    NEARLY,
    PARALLEL,
    ROUNDING,
    refuse_extremes,
    refuse_nearly_dependent,
)
from ossb.graves_lai.linear.span import span_basis


def independent(rows: np.ndarray) -> list[int]:
    """As many rows as are independent, each the furthest from the span of those before it."""
    length = np.linalg.norm(rows, axis=1)
    unit = rows / np.where(length > 0.0, length, 1.0)[:, None]
    if not length.any():
        return []
    sizes = np.linalg.svd(unit, compute_uv=False)
    between = sizes[(sizes > ABSENT * sizes[0]) & (sizes <= PARALLEL * sizes[0])]
    if between.size:
        raise InputError(
            "arms",
            "have best arms that are linearly dependent or further from that: some depend on "
            f"others up to {between.max() / sizes[0]:.1e} only, too little for double precision",
        )
    chosen: list[int] = []
    for _ in range(int((sizes > PARALLEL * sizes[0]).sum())):
        far = int(np.argmax(np.linalg.norm(unit, axis=1)))
        direction = unit[far] / np.linalg.norm(unit[far])
        for _again in range(2):  # once more, against rounding
            unit = unit - np.outer(unit @ direction, direction)
        unit[far] = 0.0
        chosen.append(far)
    return chosen


def across_all(arms: np.ndarray, leaders: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The arms in an orthonormal basis of what the leaders leave of their span, and that basis.

    Returns (K, r) and (d, r).  Arms in the span of the leaders become exactly 0.
    """
    refuse_extremes(arms)
    dimension = arms.shape[1]
    chosen = arms[leaders][independent(arms[leaders])] if leaders else arms[:0]
    basis, slack = np.eye(dimension), 1.0
    if len(chosen):
        unit = chosen / np.linalg.norm(chosen, axis=1)[:, None]
        _, sizes, right = np.linalg.svd(unit)
        basis, slack = np.ascontiguousarray(right[len(chosen) :].T), float(1.0 / sizes[-1])
    z = arms @ basis
    rest, length = np.linalg.norm(z, axis=1), np.linalg.norm(arms, axis=1)
    inside = rest <= ROUNDING * slack * length if len(chosen) else rest == 0.0
    for arm in np.flatnonzero(~inside & (rest <= NEARLY * slack * length)):
        raise InputError(
            f"arms[{int(arm)}]",
            "lie in the span of the best arms of all contexts or further from that: it is "
            f"{rest[arm] / length[arm]:.1e} away only, too little for double precision",
        )
    z = np.where(inside[:, None], 0.0, z)
    span = span_basis(z)
    if span.shape[1] < z.shape[1]:
        refuse_nearly_dependent(z)
        z, basis = z @ span, basis @ span
    return z, basis
