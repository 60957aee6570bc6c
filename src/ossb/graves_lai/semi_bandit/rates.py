"""The warm solver: rates at new item means, from what is held.

``rates`` verifies the held solution in one pass over the arms and keeps it, rescaled to
feasibility, if its certified gap is small enough; otherwise it re-solves from it, else from
nothing.  Item weights w do not depend on the means while rates and leader are kept, so the
pass needs only Σ 1/w and Σ g of every arm, which are cached.
"""

import numpy as np

from ossb.graves_lai.semi_bandit.barrier import minimize
from ossb.graves_lai.semi_bandit.dense import multiply_transposed
from ossb.graves_lai.semi_bandit.listed import (
    compact,
    extend,
    hold,
    load,
    reduce_items,
    renew_bounds,
    restart,
    seed,
    set_gaps,
)
from ossb.graves_lai.semi_bandit.memory import (
    COLD,
    COLLECTED,
    GAP,
    HELD,
    ITEMS,
    KEPT,
    LEADER,
    PULL_SUM,
    SCALE,
    SPREAD_SUM,
    TARGET,
    WARM,
    M,
    N,
    SemiBanditMemory,
)
from ossb.graves_lai.semi_bandit.workspace import BEST_V, BEST_Y, FORCE, PULL, TRIAL_W, V
from ossb.kernels import kernel, separate_kernel

MAX_ROUNDS = 80
COLD_MARGIN = 0.5
NEAR = 0.5  # gap from which a held solution is not worth starting from


@kernel
def cache(memory: SemiBanditMemory, n_arms: int) -> None:
    """Σ 1/w and Σ g of every arm, and rates and weights free of the gaps."""
    item = memory.work.by_item
    p = memory.state[ITEMS]
    for i in range(p):
        item[FORCE, i] = 1.0 / item[TRIAL_W, i]
    multiply_transposed(memory.member, item[FORCE], p, n_arms, memory.by_arm[SPREAD_SUM])
    multiply_transposed(memory.member, item[PULL], p, n_arms, memory.by_arm[PULL_SUM])
    for z in range(memory.state[N]):
        memory.held_rate[z] = memory.held_v[z] / memory.by_arm[GAP, memory.column_arm[z]]
    for x in range(memory.state[M]):
        gap = memory.by_arm[GAP, memory.row_arm[x]]
        memory.held_omega[x] = memory.held_y[x] * gap * gap


@kernel
def verify(memory: SemiBanditMemory, n_arms: int) -> tuple[float, float, float]:
    """Certified relative gap of what is held at the gaps now set, the factor that makes its
    rates feasible, and the largest information collected per unit of regret.
    """
    factor = 0.0
    heaviest = 1e-300
    for x in range(n_arms):
        inverse = 1.0 / memory.by_arm[GAP, x]
        factor = max(factor, 2.0 * memory.by_arm[SPREAD_SUM, x] * inverse * inverse)
        heaviest = max(heaviest, memory.by_arm[PULL_SUM, x] * inverse)
    upper = 0.0
    for z in range(memory.state[N]):
        upper += memory.held_rate[z] * memory.by_arm[GAP, memory.column_arm[z]]
    lower = 0.0
    for x in range(memory.state[M]):
        gap = memory.by_arm[GAP, memory.row_arm[x]]
        lower += memory.held_omega[x] / (gap * gap)
    upper *= factor
    if not upper > 0.0:
        return 1.0, factor, heaviest
    return 1.0 - lower / heaviest / upper, factor, heaviest


@kernel
def recall(memory: SemiBanditMemory) -> None:
    """Make the held solution the working one, to have it checked at the gaps now set."""
    by_column = memory.work.by_column
    for z in range(memory.state[N]):
        by_column[BEST_V, z] = memory.held_rate[z] * memory.by_arm[GAP, memory.column_arm[z]]
    for x in range(memory.state[M]):
        memory.work.by_row[BEST_Y, x] = memory.held_y[x]


@kernel
def carry_over(memory: SemiBanditMemory, n_arms: int, factor: float, heaviest: float) -> None:
    """The held solution at the gaps now set, feasible for all rows and with the bounds' scale."""
    for z in range(memory.state[N]):
        gap = memory.by_arm[GAP, memory.column_arm[z]]
        memory.held_v[z] = factor * memory.held_rate[z] * gap
    for x in range(memory.state[M]):
        gap = memory.by_arm[GAP, memory.row_arm[x]]
        memory.held_y[x] = memory.held_omega[x] / (gap * gap * heaviest)
    for x in range(n_arms):
        collected = memory.by_arm[PULL_SUM, x] / memory.by_arm[GAP, x]
        memory.by_arm[COLLECTED, x] = collected / heaviest


@kernel
def write(memory: SemiBanditMemory, factor: float, out: np.ndarray) -> None:
    """The held rates, made feasible."""
    for x in range(out.shape[0]):
        out[x] = 0.0
    for z in range(memory.state[N]):
        out[memory.column_arm[z]] = factor * memory.held_rate[z]


@separate_kernel
def rates(
    arms: np.ndarray, phi: np.ndarray, kappa: float, memory: SemiBanditMemory, out: np.ndarray
) -> float:
    """Write feasible rates within 1 + gap of optimal; returns the certified relative gap.

    Parameters
    ----------
    arms
        0/1 matrix of floats, one row per arm, as given to ``start``.
    phi
        Item means; the leader is the best arm, the first one on ties.
    kappa
        Gap up to which the held rates are kept; the memory's target if that is larger.
    memory
        From ``start``; changed in place.
    out
        One rate per arm; 0 for the leader.
    """
    # One kernel with one call of each: numba compiles everything below a kernel anew for each
    # kernel above it, so every further layer would cost seconds.
    n_arms = arms.shape[0]
    target = memory.bounds[TARGET]
    leader = set_gaps(arms, phi, memory)
    warm = memory.state[HELD] == 1 and memory.state[LEADER] == leader and memory.state[M] > 0
    checking = warm and not memory.items.quadratic()
    relative = 1.0
    mu = 0.0
    margin = COLD_MARGIN
    inner = 0.5 * target
    stalled = 0
    if warm and not checking:
        relative, factor, heaviest = verify(memory, n_arms)
        if relative <= max(kappa, target):
            memory.state[KEPT] += 1
            write(memory, factor, out)
            return relative
        warm = relative < NEAR
        if warm:
            carry_over(memory, n_arms, factor, heaviest)
            memory.state[WARM] += 1
            margin = 0.3 * relative
            mu = restart(memory, relative)
    for _ in range(MAX_ROUNDS):
        if not warm:
            warm = True
            memory.state[COLD] += 1
            reduce_items(arms, leader, memory)
            seed(memory, phi, n_arms)
            if memory.state[M] == 0:
                memory.state[HELD] = 1
                write(memory, 0.0, out)
                return 0.0
            mu = 0.0
            margin = COLD_MARGIN
            inner = 0.5 * target if memory.state[N] >= n_arms - 1 else max(0.5 * target, 0.01)
        load(phi, memory)
        if checking:
            recall(memory)
        else:
            upper, lower, _steps = minimize(
                memory.items, memory.work, memory.state[ITEMS], memory.state[N],
                memory.state[M], inner, mu, margin,
            )  # fmt: skip
            if mu > 0.0 and upper - lower > inner * upper:
                for z in range(memory.state[N]):  # a warm start that failed: the same sets, cold
                    memory.work.by_column[V, z] = 1.0
                mu = 0.0
                margin = COLD_MARGIN
                continue
        upper, lower = renew_bounds(memory.items, memory, n_arms)
        hold(memory, upper, lower)
        relative = 1.0 - lower / upper
        if relative <= (max(kappa, target) if checking else target):
            memory.state[KEPT] += 1 if checking else 0
            break
        if checking:
            checking = False
            warm = relative < NEAR
            memory.state[WARM] += 1 if warm else 0
            if not warm:
                continue
        n, m = memory.state[N], memory.state[M]
        if max(n, m) + memory.state[ITEMS] > memory.held_v.shape[0]:
            compact(memory)
            n, m = memory.state[N], memory.state[M]
        extend(memory, n_arms, 0.1 * relative)
        if memory.state[N] + memory.state[M] > n + m:
            stalled = 0
            inner = max(0.5 * target, min(0.05, 0.1 * relative))
        else:
            stalled = stalled + 1 if inner <= 0.5 * target else 0
            inner = 0.5 * target
            if stalled == 3:
                break
        margin = 0.3 * relative
        mu = restart(memory, relative)
    cache(memory, n_arms)
    write(memory, memory.bounds[SCALE], out)
    return relative
