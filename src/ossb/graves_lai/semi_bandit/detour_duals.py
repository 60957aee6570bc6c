"""The best weights on the confusing parameters of some detours: a linear program.

With the parameters given, weights y prove Σ y if no detour collects more than it costs.  By
duality of longest paths that holds if, and only if, nodes have prices with
collected_e ≤ cost_e + price(head) − price(tail) on every edge, both ends at price 0.
"""

import numpy as np

from ossb.graves_lai.linprog import solve_lp
from ossb.graves_lai.semi_bandit.longest_paths import Graph

LEAST = 1e-12  # of the largest: what less is collected on an edge counts as this much


def best_weights(graph: Graph, collected: np.ndarray, near: np.ndarray) -> np.ndarray | None:
    """Weights of the rows of ``collected``, what each of them collects on every edge.

    ``near`` are weights that are nearly right and set the scale; None if that failed.
    """
    columns = collected.T * near
    total = columns.sum(axis=1)
    scale = 1.0 / np.maximum(total, LEAST * total.max())
    prices = _prices(graph)
    table = np.hstack([columns, -prices]) * scale[:, None]
    value = np.concatenate([-near / near.sum(), np.zeros(prices.shape[1])])
    lower = np.where(np.arange(value.size) < near.size, 0.0, -np.inf)
    answer = solve_lp(value, table, row_upper=scale * graph.cost, lower=lower)
    return near * np.maximum(answer.point[: near.size], 0.0) if answer.status == "optimal" else None


def _prices(graph: Graph) -> np.ndarray:
    """price(head) − price(tail) of every edge, by the nodes between start and end."""
    edge = np.arange(graph.cost.size)
    table = np.zeros((edge.size, graph.n_nodes))
    table[edge, graph.head] = 1.0
    table[edge, graph.tail] = -1.0
    return table[:, 1:-1]
