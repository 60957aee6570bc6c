"""One-off solves: the program at one parameter, interpreted where small, compiled where large."""

import math
from typing import NamedTuple

import numpy as np

from ossb.graves_lai.glm.frame import set_frame, whiten
from ossb.graves_lai.glm.generation import generate
from ossb.graves_lai.glm.space import (
    COST,
    DIRECTION,
    FRAME,
    HELD,
    INDEX,
    MARGIN,
    OPEN,
    SCORE,
    SPENT,
    WEIGHED,
    Space,
    space,
)
from ossb.graves_lai.glm.working_set import clear, first_sets, read_means
from ossb.kernels import kernel

_WORTH_COMPILING = 30_000  # arms × (d − 1)²: about ten seconds interpreted, a cold compilation


class GlmSolution(NamedTuple):
    """Rates and both bounds, with what proves them.

    Directions are changes δ of φ in its own coordinates, with ⟨δ, x*⟩ = 0 and
    ⟨δ, x⟩ = u* − u_x: φ + δ makes arm x as good as the best.
    """

    rates: np.ndarray  # (K,)
    upper: float
    lower: float
    alternatives: np.ndarray  # (a,) arms of the lower bound
    weights: np.ndarray  # (a,) their weights
    directions: np.ndarray  # (a, d)
    open_arms: np.ndarray  # (o,) every arm that can be told from the best
    most_confusing: np.ndarray  # (o, d) its most confusing direction at the rates


@kernel
def prepare(link: int, arms: np.ndarray, best: int, workspace: Space) -> tuple[int, int, int]:
    """Coordinates and first working sets of a cold solve; returns rank, columns and rows."""
    rank = set_frame(arms, best, workspace)
    clear(workspace)
    read_means(link, workspace)
    for arm in range(arms.shape[0]):
        workspace.by_arm[SCORE, arm] = 0.0
        if workspace.lists[OPEN, arm] == 1:
            workspace.by_arm[SCORE, arm] = 1.0 / workspace.by_arm[COST, arm]
    whiten(link, rank, 0.0, workspace)
    n, m = first_sets(link, rank, workspace)
    return rank, n, m


def solve(
    arms: np.ndarray,
    index: np.ndarray,
    best: int,
    costs: np.ndarray,
    link: int,
    gap: float = 1e-6,
    compiled: bool | None = None,
) -> GlmSolution:
    """Minimise Σ η_x costs_x so that every alternative is told apart.

    Parameters
    ----------
    arms
        Features, (K, d).
    index
        u = ⟨φ, x⟩ of every arm; ``best`` has the largest, or the least, of all.
    costs
        What a play of each arm costs; positive but at ``best``.
    link
        The family observed: LOGISTIC, LOG or IDENTITY of ``links``.
    compiled
        Whether to run compiled; where not given, if that is large, or at hand after a few calls.
    """
    n_arms, dimension = arms.shape
    if compiled is None and n_arms * (dimension - 1) ** 2 > _WORTH_COMPILING:
        compiled = True
    workspace = space(n_arms, dimension)
    workspace.by_arm[INDEX] = index
    workspace.by_arm[COST] = costs
    workspace.by_arm[MARGIN] = index[best] - index
    pulls = np.zeros((1, workspace.work.shape[1] + 1))
    run = generate.run_as(compiled)
    rank, n, m = prepare.run_as(compiled)(link, np.ascontiguousarray(arms), best, workspace)
    upper = lower = 0.0
    if rank:
        _, _, upper, lower = run(link, n, m, gap, math.inf, 0.0, rank, workspace, pulls)
    open_arms = np.flatnonzero(workspace.lists[OPEN])
    spent, weights = workspace.by_arm[SPENT], workspace.by_arm[WEIGHED]
    rates = np.zeros(n_arms)
    rates[open_arms] = spent[open_arms] / costs[open_arms]
    alternatives = np.flatnonzero(weights > 0.0)
    frame = workspace.small[FRAME, :rank]
    return GlmSolution(
        rates=rates,
        upper=float(upper),
        lower=float(lower),
        alternatives=alternatives,
        weights=weights[alternatives],
        directions=workspace.vectors[HELD, alternatives, :rank] @ frame,
        open_arms=open_arms,
        most_confusing=workspace.vectors[DIRECTION, open_arms, :rank] @ frame,
    )
