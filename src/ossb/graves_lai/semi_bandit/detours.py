"""Paths at scale: the program over flows, with alternatives generated among detours.

Several detours at once are told apart where each of them is: U_k ≤ Δ_k² for each gives
Σ U_k ≤ (Σ Δ_k)².  So single detours are all the alternatives there are, and playing a detour
costs its own gap, so that flows are all the ways to play.
"""

from dataclasses import replace
from typing import Protocol

import numpy as np

from ossb.graves_lai.semi_bandit.detour_barrier import Flow, Rows, descend, repair
from ossb.graves_lai.semi_bandit.detour_duals import best_weights
from ossb.graves_lai.semi_bandit.detour_search import cheapest, largest_ratio, tangents, violated
from ossb.graves_lai.semi_bandit.implicit_solution import ImplicitSolution, Items
from ossb.graves_lai.semi_bandit.longest_paths import Graph, LongestPaths, total

MAX_ROUNDS = 60
MAX_STAY = 2  # rounds at one tolerance while many detours are still missing
TIGHTEN = 0.1
FINEST = 0.01  # of the gap asked: thin flows count little in the working gap, much in a proof
DUST = 1e-14
UNIT = 2.0  # 2σ², with σ = 1


class PathSet(Protocol):
    """Paths from a source to a target."""

    @property
    def n_items(self) -> int: ...

    def maximize(self, weights: np.ndarray) -> Items: ...

    def detours(self, best: Items, weights: np.ndarray) -> Graph: ...

    def follow(self, best: Items, detour: list[int]) -> Items: ...


def solve_paths(
    paths: PathSet, phi: np.ndarray, sigma: float = 1.0, gap: float = 1e-6
) -> ImplicitSolution:
    """The Graves–Lai bound of all paths, Gaussian items, one best path.

    It is solved with σ = 1 and the least gap of a path as the unit of means.
    """
    phi = np.ascontiguousarray(phi, dtype=np.float64)
    leader = paths.maximize(phi)
    graph = paths.detours(leader, phi)
    if graph.items.size == 0:
        return ImplicitSolution(leader, [], 0.0, 0.0, [], np.zeros((0, phi.size)), np.zeros(0))
    least = float(tangents(LongestPaths(graph))[0])
    found = solve_scaled(paths, leader, paths.detours(leader, phi / least), gap)
    per_play = (sigma / least) * (sigma / least)
    return replace(
        found,
        support=[(arm, rate * per_play) for arm, rate in found.support],
        upper=found.upper * per_play * least,
        lower=found.lower * per_play * least,
        confusing=phi + least * found.confusing,
    )


def solve_scaled(paths: PathSet, leader: Items, graph: Graph, gap: float) -> ImplicitSolution:
    """Solve at unit scale; ``confusing`` is by how much the means of all items differ."""
    sweeps = LongestPaths(graph)
    grid, detours = tangents(sweeps), cheapest(sweeps)
    rows = Rows(graph, detours, UNIT)
    flow = Flow(start_flow(graph, detours, rows), np.zeros(len(detours)))
    answer: ImplicitSolution | None = None
    finest = FINEST * gap
    inner, mu, stayed = 0.1, 0.1 * float(graph.cost @ flow.weights) / len(detours), 0
    for _ in range(MAX_ROUNDS):
        flow = descend(graph, rows, flow, inner, mu)
        known = set(detours)
        spread = UNIT / flow.weights
        new = [d for d in violated(sweeps, spread, grid, 0.2 * inner) if d not in known]
        if not new and inner <= gap:
            last = inner <= finest
            found, new = certify(paths, leader, sweeps, detours, rows, flow, grid, gap, last)
            new = [d for d in new if d not in known]
            answer = found if answer is None or found.gap < answer.gap else answer
            if answer.gap <= gap or (not new and last):
                break
        elif not new:
            search = largest_ratio(sweeps, spread, grid, 1.0 + 0.2 * inner)
            new = [d for d in search.detours if d not in known]
        stayed = stayed + 1 if len(new) > 0.01 * len(detours) and stayed < MAX_STAY else 0
        if new:
            detours, flow = _extended(rows, detours, flow, new)
            rows = Rows(graph, detours, UNIT)
            repair(rows, detours, flow.weights, inner)
        mu = 0.3 * inner * float(graph.cost @ flow.weights) / len(detours)
        if not stayed:
            inner = max(gap if inner > gap else finest, TIGHTEN * inner)
    if answer is None:
        answer, _ = certify(paths, leader, sweeps, detours, rows, flow, grid, gap, True)
    return answer


def certify(
    paths: PathSet,
    leader: Items,
    sweeps: LongestPaths,
    detours: list[tuple[int, ...]],
    rows: Rows,
    flow: Flow,
    grid: np.ndarray,
    gap: float,
    last: bool,
) -> tuple[ImplicitSolution, list[tuple[int, ...]]]:
    """Both bounds over all paths, and detours that ask for larger rates.

    The ``last`` time weights that prove too little are improved.
    """
    graph = sweeps.graph
    plays = decompose(graph, flow.weights)
    weights = np.zeros(graph.cost.size)
    for detour, rate in plays:
        weights[list(detour)] += rate
    spread = rows.unit / weights
    search = largest_ratio(sweeps, spread, grid, 1.0 + 0.1 * gap)
    support = [
        (paths.follow(leader, graph.items[list(detour)].tolist()), float(rate * search.ratio))
        for detour, rate in plays
    ]
    upper = float(sum(rate * graph.cost[list(d)].sum() for d, rate in plays)) * search.ratio
    y = flow.multipliers * np.exp(-rows.log_information(flow.weights))
    used = np.flatnonzero(y > DUST * y.sum())
    steps = rows.steps(flow.weights).rows(used)
    wanted = upper * (1.0 - gap) if last else 0.0
    y, lower = proved(sweeps, steps * steps / rows.unit, y[used], wanted)
    confusing = np.zeros((used.size, paths.n_items))
    confusing[:, graph.items] = steps
    solution = ImplicitSolution(
        leader,
        support,
        upper,
        lower,
        [paths.follow(leader, graph.items[list(detours[x])].tolist()) for x in used],
        confusing,
        y,
        "certified" if search.complete else "heuristic",
    )
    return solution, search.detours


def proved(
    sweeps: LongestPaths, collected: np.ndarray, y: np.ndarray, wanted: float
) -> tuple[np.ndarray, float]:
    """Weights on confusing parameters and what they prove, improved if it is less than wanted.

    A multiplier of the working problem is exact relative to all of them: where gaps differ by
    decades, those of wide gaps are not, and one detour that collects too much spoils the whole.
    """
    lower = float(y.sum() / heaviest_detour(sweeps, collected.T @ y))
    if lower < wanted:
        better = best_weights(sweeps.graph, collected, y)
        if better is not None and better.any():
            again = float(better.sum() / heaviest_detour(sweeps, collected.T @ better))
            if again > lower:
                return better, again
    return y, lower


def heaviest_detour(sweeps: LongestPaths, pull: np.ndarray) -> float:
    """max over detours of Σ pull / Σ cost (Dinkelbach)."""
    cost, ratio = sweeps.graph.cost, 0.0
    for _ in range(100):
        found = sweeps.under((pull - ratio * cost)[:, None])
        path = sweeps.through(found, found.first[0], np.zeros(1, dtype=np.int64))
        mine = float(total(path, pull)[0] / total(path, cost)[0])
        if mine <= ratio * (1.0 + 1e-14):
            break
        ratio = mine
    return ratio


def decompose(graph: Graph, weights: np.ndarray) -> list[tuple[tuple[int, ...], float]]:
    """Detours whose rates add up to the flow, up to rounding; every edge in at least one."""
    left = weights.copy()
    outgoing: list[list[int]] = [[] for _ in range(graph.n_nodes)]
    incoming: list[list[int]] = [[] for _ in range(graph.n_nodes)]
    for k in range(graph.cost.size):
        outgoing[graph.tail[k]].append(k)
        incoming[graph.head[k]].append(k)
    plays: dict[tuple[int, ...], float] = {}
    for edge in np.argsort(weights, kind="stable").tolist():
        # smallest flows first: each detour takes all that is left of its narrowest edge
        while left[edge] > DUST * weights[edge]:
            path = [edge]
            while graph.tail[path[0]] != 0:
                path.insert(0, max(incoming[graph.tail[path[0]]], key=lambda k: left[k]))
            while graph.head[path[-1]] != graph.n_nodes - 1:
                path.append(max(outgoing[graph.head[path[-1]]], key=lambda k: left[k]))
            rate = float(left[path].min())
            if not rate > 0:
                break
            left[path] -= rate
            plays[tuple(path)] = plays.get(tuple(path), 0.0) + rate
    return list(plays.items())


def start_flow(graph: Graph, detours: list[tuple[int, ...]], rows: Rows) -> np.ndarray:
    """Every detour played in proportion to what it alone would ask for, every row held."""
    weights = np.zeros(graph.cost.size)
    for detour, need in zip(detours, rows.need, strict=True):
        weights[list(detour)] += rows.unit * len(detour) / (need * need)
    return weights * 1.5 * np.exp(-rows.log_information(weights).min())


def _extended(
    rows: Rows, detours: list[tuple[int, ...]], flow: Flow, new: list[tuple[int, ...]]
) -> tuple[list[tuple[int, ...]], Flow]:
    """The working rows with new ones, without those that are far from mattering."""
    t = rows.log_information(flow.weights)
    keep = (t < 0.5) | (flow.multipliers > 1e-3 * flow.multipliers.mean())
    kept = [d for d, stays in zip(detours, keep, strict=True) if stays]
    multipliers = np.concatenate([flow.multipliers[keep], np.zeros(len(new))])
    return kept + new, Flow(flow.weights.copy(), multipliers)
