"""What stands before and after a solve: where it starts from, and what is held of it."""

import numpy as np

from ossb.graves_lai.linear.held import hold, list_held
from ossb.graves_lai.linear.interior_point import UNBOUNDED
from ossb.graves_lai.linear.memory import DESIGN, HELD_COLUMNS, OMEGA, PLAYED, RANK, SUPPORT
from ossb.graves_lai.linear.passes import whiten
from ossb.graves_lai.linear.projection import project
from ossb.graves_lai.linear.workspace import (
    ARM_LOWER,
    ARM_PLAYS,
    ARM_WEIGHT,
    COLUMNS,
    COUNT,
    GRAM,
    INVERSE_COST,
    INVERSE_MARGIN,
    MEMBER,
    MULTIPLIER,
    START,
    TOTAL,
    VECTORS,
    WORKING,
    Workspace,
)
from ossb.kernels import kernel


@kernel
def load_warm(held: np.ndarray, lists: np.ndarray, size: np.ndarray, ws: Workspace) -> None:
    """Make the held columns and rows the working sets, with their weights at the new gaps."""
    column, row, arm, index = ws.column, ws.row, ws.arm, ws.indices
    for kind in range(2):
        for z in range(arm.shape[1]):
            index[MEMBER + kind, z] = 0
        count = size[HELD_COLUMNS + kind]
        index[COUNT, kind] = count
        for e in range(count):
            x = lists[kind, e]
            index[WORKING + kind, e] = x
            index[MEMBER + kind, x] = 1
            if kind == COLUMNS:
                column[START, e] = held[DESIGN, x] / arm[INVERSE_COST, x]
            else:
                margin = 1.0 / arm[INVERSE_MARGIN, x]
                row[MULTIPLIER, e] = held[OMEGA, x] / (margin * margin)


@kernel
def complete_lists(spread: bool, ws: Workspace) -> None:
    """Make every arm that carries weight a member: bounds may stem from earlier rounds.

    With ``spread`` every working column is played alike instead: a feasible design, if a dear
    one, where no other was found.
    """
    column, arm, index = ws.column, ws.arm, ws.indices
    for kind in range(2):
        weight = arm[ARM_PLAYS if kind == COLUMNS else ARM_WEIGHT]
        for z in range(arm.shape[1]):
            if spread:
                played = kind == COLUMNS and index[MEMBER + kind, z] == 1
                weight[z] = 1.0 if played else 0.0
                arm[ARM_LOWER, z] = 0.0
            elif weight[z] > 0.0 and index[MEMBER + kind, z] == 0:
                count = index[COUNT, kind]
                if count < column.shape[1]:
                    index[WORKING + kind, count] = z
                    index[MEMBER + kind, z] = 1
                    index[COUNT, kind] = count + 1
                else:
                    weight[z] = 0.0


@kernel
def prepare(
    warm: bool,
    leader: int,
    arms: np.ndarray,
    coordinates: np.ndarray,
    held: np.ndarray,
    lists: np.ndarray,
    size: np.ndarray,
    ws: Workspace,
) -> int:
    """Start from the held solution, or project and whiten the arms afresh; the rank."""
    if warm:
        load_warm(held, lists, size, ws)
        return size[RANK]
    arm, cube = ws.arm, ws.cube
    n_arms = arm.shape[1]
    size[RANK] = project(arms, leader, coordinates)
    if size[RANK] > 0:
        whiten(
            coordinates,
            arm[INVERSE_COST],
            n_arms,
            n_arms + coordinates.shape[0],
            size[RANK],
            cube[GRAM],
            cube[VECTORS, TOTAL],
        )
    return size[RANK]


@kernel
def keep(
    upper: float,
    coordinates: np.ndarray,
    held: np.ndarray,
    lists: np.ndarray,
    size: np.ndarray,
    ws: Workspace,
) -> None:
    """Hold what was found; if that is nothing, something feasible, where the arms allow it."""
    for attempt in range(2):
        complete_lists(attempt == 1 or upper >= UNBOUNDED, ws)
        if hold(size[RANK], coordinates, held, ws):
            list_held(held, lists, size, ws)
            return
    size[PLAYED] = 0
    size[SUPPORT] = 0
