"""The best weights on the confusing parameters of some detours: a linear program.

With the parameters given, weights y prove Σ y if no detour collects more than it costs.  By
duality of longest paths that holds if, and only if, nodes have prices with
collected_e ≤ cost_e + price(head) − price(tail) on every edge, both ends at price 0.
"""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ossb.graves_lai.semi_bandit.longest_paths import Graph

PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
LEAST = 1e-12  # of the largest: what less is collected on an edge counts as this much


def best_weights(graph: Graph, collected: sparse.csr_array, near: np.ndarray) -> np.ndarray | None:
    """Weights of the rows of ``collected``, what each of them collects on every edge.

    ``near`` are weights that are nearly right and set the scale; None if that failed.
    """
    columns = sparse.csr_array(collected.T @ sparse.diags_array(near))
    total = columns.sum(axis=1)
    scale = sparse.diags_array(1.0 / np.maximum(total, LEAST * total.max()))
    prices = _prices(graph)
    table = sparse.hstack([scale @ columns, -(scale @ prices)], format="csr")
    limits = scale @ graph.cost
    value = np.concatenate([-near / near.sum(), np.zeros(prices.shape[1])])
    bounds = [(0.0, None)] * near.size + [(None, None)] * prices.shape[1]
    answer = linprog(value, table, limits, bounds=bounds, method="highs", options=PRECISE)
    return None if answer.x is None else near * np.maximum(answer.x[: near.size], 0.0)


def _prices(graph: Graph) -> sparse.csr_array:
    """price(head) − price(tail) of every edge, by the nodes between start and end."""
    edge = np.arange(graph.cost.size)
    out, into = graph.tail > 0, graph.head < graph.n_nodes - 1
    row = np.concatenate([edge[into], edge[out]])
    column = np.concatenate([graph.head[into], graph.tail[out]]) - 1
    sign = np.concatenate([np.ones(into.sum()), -np.ones(out.sum())])
    shape = (edge.size, graph.n_nodes - 2)
    return sparse.csr_array((sign, (row, column)), shape=shape)
