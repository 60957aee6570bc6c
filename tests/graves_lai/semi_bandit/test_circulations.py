"""A basis of conserved flows."""

import numpy as np
import pytest

from ossb.arm_sets.paths import Paths
from ossb.graves_lai.semi_bandit.circulations import circulations


def grid(side):
    right = [(i * side + j, i * side + j + 1) for i in range(side) for j in range(side - 1)]
    down = [(i * side + j, (i + 1) * side + j) for i in range(side - 1) for j in range(side)]
    return right + down


def conservation(graph):
    """Flow out minus flow in at every node between start and end."""
    node = np.arange(1, graph.n_nodes - 1)[:, None]
    return (graph.tail == node).astype(float) - (graph.head == node)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("side", [2, 3, 5])
def test_every_cycle_conserves_flow_and_together_they_span_all_that_do(side, seed):
    edges, rng = grid(side), np.random.default_rng(seed)
    phi = rng.uniform(0.1, 1.0, len(edges))
    paths = Paths(edges, 0, side * side - 1)
    graph = paths.detours(paths.maximize(phi), phi)
    weights = rng.uniform(0.1, 1.0, graph.cost.size)
    conserved, found = conservation(graph), circulations(graph, weights)
    cycles = np.array([found.flow(row) for row in np.eye(found.left.size)])
    assert not (conserved @ cycles.T).any()
    assert set(np.unique(cycles)) <= {-1.0, 0.0, 1.0}
    assert np.allclose(cycles * weights @ cycles.T, found.bent(weights))
    assert np.allclose(found.along(conserved[:1]), conserved[:1] @ cycles.T)
    assert np.allclose(found.times(weights), cycles @ weights)
    free = graph.cost.size - np.linalg.matrix_rank(conserved) if conserved.size else len(weights)
    assert np.linalg.matrix_rank(cycles) == len(cycles) == free


def test_narrow_edges_are_each_in_one_cycle():
    paths = Paths(grid(4), 0, 15)
    phi = np.random.default_rng(1).uniform(0.1, 1.0, 24)
    graph = paths.detours(paths.maximize(phi), phi)
    weights = np.ones(graph.cost.size)
    weights[3] = 1e-6
    assert 3 in circulations(graph, weights).left
