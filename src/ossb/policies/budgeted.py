"""Budgeted linear maximisation: the arm of largest value among those of a gap within a budget.

For all budgets at once, by dynamic programming over items (m-sets) or edges (paths), where the
gap of an arm is a sum of costs that are not negative: of an item taken outside the best m-set or
dropped from it, against its worst item; of an edge, what the best way through it loses.  Costs
are rounded down to whole steps, so an arm counts as within a budget that it exceeds by less than
a step for each of its items.
"""

from typing import Any

import numpy as np

from ossb.arm_sets import ArmSet, Items, MSets, Paths


def within_budgets(
    arm_set: ArmSet, means: np.ndarray, values: np.ndarray, step: float, levels: int
) -> list[Items] | None:
    """For budgets of 0, …, ``levels`` steps, the arms of largest total value; each once.

    None for sets that have no such dynamic program.
    """
    if isinstance(arm_set, MSets):
        return _sets_within(arm_set, means, values, step, levels)
    if isinstance(arm_set, Paths):
        return _paths_within(arm_set, means, values, step, levels)
    return None


def _shifted(table: np.ndarray, by: int) -> np.ndarray:
    """The table with its last axis moved up; what comes in from below is −∞."""
    if by == 0:
        return table
    moved = np.full_like(table, -np.inf)
    if by < table.shape[-1]:
        moved[..., by:] = table[..., :-by]
    return moved


def _steps(costs: np.ndarray, step: float, levels: int) -> list[int]:
    """Costs in whole steps; all that is beyond the last level is one beyond."""
    return np.minimum(np.maximum(costs, 0.0) / step, levels + 1).astype(np.int64).tolist()


def _improving(row: np.ndarray) -> list[int]:
    """Levels at which more value is to be had than at any lower one."""
    before = np.concatenate([[-np.inf], np.maximum.accumulate(row)[:-1]])
    return np.flatnonzero(row > before).tolist()


def _sets_within(
    arm_set: MSets, means: np.ndarray, values: np.ndarray, step: float, levels: int
) -> list[Items]:
    size, n_items = arm_set.size, arm_set.n_items
    best = arm_set.maximize(means)
    worst = float(means[list(best)].min())
    inside = np.zeros(n_items, dtype=bool)
    inside[list(best)] = True
    apart = np.abs(means - worst)
    taking = _steps(np.where(inside, 0.0, apart), step, levels)
    skipping = _steps(np.where(inside, apart, 0.0), step, levels)
    most = np.full((size + 1, levels + 1), -np.inf)
    most[0, 0] = 0.0
    chosen: list[np.ndarray] = []
    for item in range(n_items):
        without = _shifted(most, skipping[item])
        with_it = np.full_like(most, -np.inf)
        with_it[1:] = _shifted(most, taking[item])[:-1] + values[item]
        chosen.append(with_it > without)
        most = np.where(chosen[-1], with_it, without)
    found: dict[Items, None] = {}
    for start in _improving(most[size]):
        count, level, items = size, start, []
        for item in reversed(range(n_items)):
            if chosen[item][count, level]:
                items.append(item)
                count, level = count - 1, level - taking[item]
            else:
                level -= skipping[item]
        found[tuple(reversed(items))] = None
    return list(found)


def _paths_within(
    arm_set: Paths, means: np.ndarray, values: np.ndarray, step: float, levels: int
) -> list[Items]:
    tails, heads = arm_set.edges[:, 0].tolist(), arm_set.edges[:, 1].tolist()
    leaving: list[list[int]] = [[] for _ in range(arm_set.n_nodes)]
    for edge, tail in enumerate(tails):
        leaving[tail].append(edge)
    far = [-np.inf] * arm_set.n_nodes
    far[arm_set.source] = 0.0
    for node in arm_set.order:
        for edge in leaving[node]:
            far[heads[edge]] = max(far[heads[edge]], far[node] + float(means[edge]))
    most: list[Any] = [None] * arm_set.n_nodes
    last: list[Any] = [None] * arm_set.n_nodes
    most[arm_set.source] = np.full(levels + 1, -np.inf)
    most[arm_set.source][0] = 0.0
    costs = [0] * len(tails)
    for node in arm_set.order:
        if most[node] is None:
            continue
        for edge in leaving[node]:
            head = heads[edge]
            lost = far[head] - far[node] - float(means[edge])
            costs[edge] = int(min(max(lost, 0.0) / step, levels + 1))
            reached = _shifted(most[node], costs[edge]) + values[edge]
            if most[head] is None:
                most[head], last[head] = reached, np.full(levels + 1, edge)
            else:
                better = reached > most[head]
                most[head] = np.where(better, reached, most[head])
                last[head] = np.where(better, edge, last[head])
    found: dict[Items, None] = {}
    for start in _improving(most[arm_set.target]):
        node, level, items = arm_set.target, start, []
        while node != arm_set.source:
            edge = int(last[node][level])
            items.append(edge)
            node, level = tails[edge], level - costs[edge]
        found[tuple(sorted(items))] = None
    return list(found)
