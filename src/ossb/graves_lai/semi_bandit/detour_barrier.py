"""The barrier method over flows: min ⟨cost, w⟩ with flow conserved and every row told apart.

The working rows are detours P with log F_P = log Δ_P² − log Σ_{e∈P} spread/w_e ≥ 0.  Arms do
not appear: any flow w > 0 is a sum of detours.  Each Newton step is a circulation, and solves one
dense system in as many cycles as the graph has.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk
from scipy.sparse.linalg import splu

from ossb.graves_lai.semi_bandit.circulations import circulations
from ossb.graves_lai.semi_bandit.detour_search import Graph

MAX_STEPS = 80


@dataclass
class Flow:
    """An iterate: item weights and multipliers of the rows."""

    weights: np.ndarray  # (n_edges,)
    multipliers: np.ndarray  # (n_rows,)


class Rows:
    """Detours that must be told apart, as a sparse matrix over edges."""

    def __init__(self, graph: Graph, detours: list[tuple[int, ...]], unit: float) -> None:
        lengths = [len(detour) for detour in detours]
        index = np.concatenate([np.array(detour) for detour in detours])
        start = np.concatenate([[0], np.cumsum(lengths)])
        shape = (len(detours), graph.cost.size)
        self.member = sparse.csr_array((np.ones(index.size), index, start), shape=shape)
        self.need = np.array([graph.cost[list(detour)].sum() for detour in detours])
        self.unit = unit

    def log_information(self, weights: np.ndarray) -> np.ndarray:
        return np.log(self.need * self.need / (self.unit * (self.member @ (1.0 / weights))))

    def gradient(self, weights: np.ndarray) -> sparse.csr_array:
        total = self.member @ (1.0 / weights)
        scaled = self.member.multiply(1.0 / (weights * weights)).multiply(1.0 / total[:, None])
        return sparse.csr_array(scaled)


def incidence(graph: Graph) -> sparse.csr_array:
    """Flow out minus flow in at every node between start and end."""
    n_edges = graph.cost.size
    edge = np.arange(n_edges)
    out, into = graph.tail > 0, graph.head < graph.n_nodes - 1
    row = np.concatenate([graph.tail[out], graph.head[into]]) - 1
    column = np.concatenate([edge[out], edge[into]])
    value = np.concatenate([np.ones(out.sum()), -np.ones(into.sum())])
    return sparse.csr_array((value, (row, column)), shape=(graph.n_nodes - 2, n_edges))


def repair(rows: Rows, detours: list[tuple[int, ...]], weights: np.ndarray, margin: float) -> None:
    """Play every detour that is not told apart a little more, in place.

    Scaling the whole flow would move every other row off its centre.
    """
    target = np.exp(margin)
    for x in np.flatnonzero(rows.log_information(weights) < margin).tolist():
        edges = list(detours[x])
        mine = weights[edges]
        allowed = rows.need[x] ** 2 / (rows.unit * target)
        low, high = 0.0, len(edges) / allowed
        if (1.0 / mine).sum() <= allowed:
            continue  # an earlier repair was enough
        while high - low > 0.02 * high:
            middle = 0.5 * (low + high)
            if (1.0 / (mine + middle)).sum() <= allowed:
                high = middle
            else:
                low = middle
        weights[edges] = mine + high


def descend(graph: Graph, rows: Rows, flow: Flow, gap: float, mu: float) -> Flow:
    """Bring the complementarity of the working problem below a relative ``gap``.

    Every row must hold strictly at the start; ``mu`` is where the multipliers
    of new rows, given as 0, start from.
    """
    conserved, cycles = incidence(graph), circulations(graph, flow.weights)
    w, t = flow.weights, rows.log_information(flow.weights)
    q = np.where(flow.multipliers > 0.0, flow.multipliers, mu / t)
    centering = 0.1
    for _ in range(MAX_STEPS):
        value = float(graph.cost @ w)
        gradient = rows.gradient(w)
        # never far below what is asked: with more tight rows than free directions the system
        # is singular in the limit
        mu = max(centering * float(q @ t), 0.05 * gap * value) / t.size
        step_w, step_q, residual = _newton(graph, conserved, cycles, gradient, w, q, t, mu)
        if float(q @ t) <= 0.5 * gap * value and residual <= 0.5 * gap * value:
            break
        alpha = min(1.0, 0.98 / max(1e-30, float((-step_w / w).max())))
        beta = min(1.0, 0.98 / max(1e-30, float((-step_q / q).max())))
        before = _merit(graph, w, t, mu)
        for _ in range(30):
            trial = w + alpha * step_w
            trial_t = rows.log_information(trial)
            inside = trial_t.min() > 0
            if inside and _merit(graph, trial, trial_t, mu) <= before + 1e-12 * abs(before):
                break
            alpha *= 0.6
        else:
            break
        w, t = trial, trial_t
        q = np.clip(q + beta * step_q, 1e-3 * mu / t, 1e3 * mu / t)
        shorter = min(alpha, beta)
        centering = min(0.9, max(0.01 if shorter > 0.9 else 0.1, (1.0 - shorter) ** 2))
    return Flow(w, q)


def _merit(graph: Graph, w: np.ndarray, t: np.ndarray, mu: float) -> float:
    return float(graph.cost @ w - mu * np.log(t).sum() - mu * np.log(w).sum())


def _newton(
    graph: Graph,
    conserved: sparse.csr_array,
    cycles: sparse.csr_array,
    gradient: sparse.csr_array,
    w: np.ndarray,
    q: np.ndarray,
    t: np.ndarray,
    mu: float,
) -> tuple[np.ndarray, np.ndarray, float]:
    """The direction, and how far stationarity is from holding, weighted by the flow."""
    pull = gradient.T @ q
    curvature = 2.0 * pull / w + mu / (w * w)
    rest = mu / w - graph.cost
    stiffness = q / t - q
    # rows that would change the direction by less than one in a thousand are left out of it
    stiff = np.flatnonzero(np.abs(stiffness) * (gradient.power(2) @ (1.0 / curvature)) > 1e-3)
    bent = sparse.csr_array(cycles.multiply(curvature[None, :]))
    system = (bent @ cycles.T).toarray()
    _add_squares(system, (gradient[stiff] @ cycles.T).toarray(), stiffness[stiff])
    moved = _solved(system, cycles @ (gradient.T @ (mu / t) + rest))
    step_w = cycles.T @ moved
    step_q = (mu - q * (gradient @ step_w)) / t - q
    stationary = _conserving(conserved, 1.0 / curvature, pull + rest)
    return step_w, step_q, float(np.abs(stationary * w).sum())


def _add_squares(system: np.ndarray, rows: np.ndarray, weights: np.ndarray) -> None:
    """Add rowsᵀ diag(weights) rows to a symmetric matrix."""
    plain = weights > 0.0
    if plain.any():
        scaled = np.sqrt(weights[plain])[:, None] * rows[plain]
        half = dsyrk(1.0, scaled.T)  # the upper triangle
        system += half + np.triu(half, 1).T
    if not plain.all():
        system += rows[~plain].T @ (weights[~plain, None] * rows[~plain])


def _solved(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of a symmetric system, scaled to a unit diagonal first."""
    scale = 1.0 / np.sqrt(np.abs(np.diag(system)))
    scaled = scale[:, None] * system * scale[None, :]
    try:
        return scale * cho_solve(cho_factor(scaled, check_finite=False), scale * right)
    except LinAlgError:  # rows far from tight bend the other way
        return scale * np.linalg.solve(scaled, scale * right)


def _conserving(conserved: sparse.csr_array, inverse: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """What is left of a vector after the prices of nodes that explain most of it."""
    if not conserved.shape[0]:
        return vector
    weighted = sparse.csr_array(conserved.multiply(inverse[None, :]))
    prices = splu(sparse.csc_array(weighted @ conserved.T)).solve(weighted @ vector)
    return vector - conserved.T @ prices
