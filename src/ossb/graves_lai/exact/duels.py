"""Duels: the chance that i beats j is (1 + p_ij − p_ji)/2, exactly, for entries of a table.

For a table of which opposite entries sum to 1 that is p_ij.  So i beats j as p_ij > p_ji, a
comparison of doubles.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from flint import arb

from ossb.graves_lai.exact.balls import greatest, least, total
from ossb.graves_lai.exact.divergences import Divergence
from ossb.graves_lai.proof import Alternative, ProofError

Pair = tuple[int, int]
bernoulli = Divergence("bernoulli")


class Duels(NamedTuple):
    """The true table, and the item that beats all others (or loses, where ``sign`` is −1)."""

    table: np.ndarray
    best: int
    sign: float

    def lead(self, i: int, j: int) -> arb:
        """Twice the chance that i beats j, less 1, as the goal has it."""
        return arb(self.sign) * (arb(self.table[i, j]) - arb(self.table[j, i]))

    def gap(self, pair: Pair) -> arb:
        """½ (θ(i*, i) + θ(i*, j) − 1)."""
        return total(self.lead(self.best, item) for item in pair) / 4

    def loses(self, i: int, j: int) -> bool:
        """Whether i loses against j."""
        return bool(self.sign * self.table[i, j] < self.sign * self.table[j, i])


def chance(table: np.ndarray, i: int, j: int) -> arb:
    """The probability that i beats j."""
    return (1 + arb(table[i, j]) - arb(table[j, i])) / 2


def confusing(duels: Duels, alternative: Alternative, item: int, tolerance: float) -> np.ndarray:
    """A table, read as the true one is, under which ``item`` beats all or draws."""
    if alternative.relative:
        raise ProofError(".relative: must be false, chances are written as they are")
    others = np.arange(len(duels.table)) != item
    for name in ("parameter", "witness"):
        table = getattr(alternative, name)
        if table.shape != duels.table.shape:
            raise ProofError(f".{name}: must have the shape {list(duels.table.shape)}")
        if not ((table >= 0.0) & (table <= 1.0)).all():
            raise ProofError(f".{name}: outside the parameter set, chances lie in [0, 1]")
        if not (np.abs(table + table.T - 1.0) <= tolerance).all():
            raise ProofError(f".{name}: outside the parameter set, opposite chances sum to 1")
    mine, theirs = alternative.parameter[item, others], alternative.parameter[others, item]
    if not (duels.sign * mine >= duels.sign * theirs).all():
        raise ProofError(".parameter: outside the parameter set, its item does not beat all others")
    mine, theirs = alternative.witness[item, others], alternative.witness[others, item]
    if not (duels.sign * mine > duels.sign * theirs).all():
        raise ProofError(".witness: its arm is not strictly better")
    return alternative.parameter


def heaviest(
    duels: Duels,
    tables: Sequence[np.ndarray],
    weights: Sequence[float],
    costs: Callable[[Pair], arb],
) -> arb:
    """Maximum over pairs of Σ_k weights[k] d(θ_ij, tables[k]_ij) / κ(i, j)."""
    collected: dict[Pair, arb] = {}
    for table, weight in zip(tables, weights, strict=True):
        moved = (table != duels.table) | (table != duels.table).T
        for i, j in np.argwhere(np.triu(moved, 1)).tolist():
            shown = weight * bernoulli(chance(duels.table, i, j), chance(table, i, j))
            collected[i, j] = collected.get((i, j), arb(0)) + shown
    return greatest(shown / costs(pair) for pair, shown in collected.items())


def information(duels: Duels, rates: Sequence[tuple[Pair, float]]) -> arb:
    """min over i ≠ i* of Σ over j that beat i of η_ij d(θ_ij, ½)."""
    collected = {i: arb(0) for i in range(len(duels.table)) if i != duels.best}
    for (i, j), rate in rates:
        for item, other in ((i, j), (j, i)):
            if item != duels.best and duels.loses(item, other):
                shown = bernoulli(chance(duels.table, item, other), 0.5)
                collected[item] += arb(rate) * shown
    return least(collected.values())
