from typing import NamedTuple

import numpy as np
import pytest

from ossb.graves_lai.semi_bandit.longest_paths import LongestPaths, as_edges, total


class Sketch(NamedTuple):
    items: np.ndarray
    tail: np.ndarray
    head: np.ndarray
    cost: np.ndarray
    n_nodes: int


def sketch(rng, n_nodes=7, n_more=9):
    """A random graph in which every node lies between the first and the last."""
    edges = [(k, k + 1) for k in range(n_nodes - 1)]
    while len(edges) < n_nodes - 1 + n_more:
        edges.append(tuple(sorted(rng.choice(n_nodes, 2, replace=False).tolist())))
    rng.shuffle(edges)
    tail, head = np.array(edges).T
    return Sketch(np.arange(len(edges)), tail, head, rng.uniform(size=len(edges)), n_nodes)


def every_path(graph, node=0):
    if node == graph.n_nodes - 1:
        yield ()
    for k in np.flatnonzero(graph.tail == node).tolist():
        for rest in every_path(graph, int(graph.head[k])):
            yield (k, *rest)


@pytest.mark.parametrize("seed", range(8))
def test_the_longest_path_through_every_edge_under_every_weight(seed):
    rng = np.random.default_rng(seed)
    graph = sketch(rng)
    weights = rng.normal(size=(graph.cost.size, 3))
    sweeps = LongestPaths(graph)
    found = sweeps.under(weights)
    edges = np.repeat(np.arange(graph.cost.size), 3)
    columns = np.tile(np.arange(3), graph.cost.size)
    table = sweeps.through(found, edges, columns)
    paths = list(every_path(graph))
    for row, edge, column in zip(table, edges.tolist(), columns.tolist(), strict=True):
        (mine,) = as_edges(row[None, :])
        best = max((p for p in paths if edge in p), key=lambda p: weights[list(p), column].sum())
        assert mine == best
        length = total(row[None, :], weights[:, column])[0]
        assert length == pytest.approx(weights[list(best), column].sum())
    whole = max(weights[list(p), 0].sum() for p in paths)
    assert found.forward[-1, 0] == pytest.approx(whole)
    assert found.backward[0, 0] == pytest.approx(whole)


def test_paths_are_listed_once():
    assert as_edges(np.array([[0, 2, -1], [-1, 0, 2], [1, -1, -1]])) == [(0, 2), (1,)]
