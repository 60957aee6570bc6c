"""A table with one row for each detour and one column for each edge, kept by its entries."""

from itertools import chain

import numpy as np


class Detours:
    """Which edges stand in which detour, entry by entry, detour after detour."""

    def __init__(self, detours: list[tuple[int, ...]], n_edges: int) -> None:
        lengths = np.fromiter(map(len, detours), dtype=np.int64, count=len(detours))
        self.n_edges = n_edges
        self.starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        self.row = np.repeat(np.arange(lengths.size), lengths)
        self.edge = np.fromiter(chain.from_iterable(detours), dtype=np.int64, count=self.row.size)

    def sums(self, by_edge: np.ndarray) -> np.ndarray:
        """Of each detour over its edges."""
        return np.asarray(np.add.reduceat(by_edge[self.edge], self.starts))

    def table(self, by_edge: np.ndarray, by_row: np.ndarray) -> "Table":
        """The product of both on the edges of each detour, 0 elsewhere."""
        return Table(self, by_edge[self.edge] * by_row[self.row])


class Table:
    """Numbers on the edges of each detour."""

    def __init__(self, detours: Detours, entries: np.ndarray) -> None:
        self.detours, self.entries = detours, entries

    def times(self, by_edge: np.ndarray) -> np.ndarray:
        """Σ over edges, for each row."""
        each = self.entries * by_edge[self.detours.edge]
        return np.asarray(np.add.reduceat(each, self.detours.starts))

    def collected(self, by_row: np.ndarray) -> np.ndarray:
        """Σ over rows, for each edge."""
        where = self.detours
        each = self.entries * by_row[where.row]
        return np.bincount(where.edge, weights=each, minlength=where.n_edges)

    def squared(self) -> "Table":
        return Table(self.detours, self.entries * self.entries)

    def rows(self, chosen: np.ndarray) -> np.ndarray:
        """Some rows as they are, zeros and all; ``chosen`` in rising order."""
        where = self.detours
        place = np.full(where.starts.size, -1)
        place[chosen] = np.arange(chosen.size)
        mine = place[where.row]
        kept = mine >= 0
        whole = np.zeros((chosen.size, where.n_edges))
        whole[mine[kept], where.edge[kept]] = self.entries[kept]
        return whole
