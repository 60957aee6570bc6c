"""Rates at a moving estimate: verify what is held, repair its basis, or start cold.

Rates that are feasible and within 1 + κ of optimal keep Theorem 2 with C(θ)(1 + κ), so a held
solution is kept, rescaled to feasibility, while its certified gap at the new estimate is at
most κ; with κ = 0 every estimate gets its optimum.
"""

import numpy as np

from ossb.families import Family
from ossb.graves_lai.lipschitz.certificate import OPTIMAL, certify
from ossb.graves_lai.lipschitz.memory import (
    ARM,
    BEST,
    COSTS,
    LEAST,
    RATES,
    SPEND,
    LipschitzMemory,
)
from ossb.graves_lai.lipschitz.program import set_units, update
from ossb.graves_lai.lipschitz.repair import repair
from ossb.graves_lai.lipschitz.tableau import cold
from ossb.kernels import separate_kernel


@separate_kernel
def rates(
    distances: np.ndarray,
    family: Family,
    theta: np.ndarray,
    kappa: float,
    memory: LipschitzMemory,
    out: np.ndarray,
) -> float:
    """Write c(x, θ) for every arm to ``out``; the certified relative gap of what is written.

    Parameters
    ----------
    distances
        ℓ, a metric, the Lipschitz constant included.
    theta
        Means, larger is better; the first of several best ones is the best arm.
    kappa
        Gap up to which the held solution is kept.
    memory
        From ``start(distances)``; holds the solution for the next call.
    """
    n = theta.shape[0]
    warm = update(distances, family, theta, memory)
    possible = False
    for z in range(n):
        out[z] = 0.0
        possible = possible or memory.active[z]
        memory.vectors[SPEND, z] = memory.vectors[COSTS, z] * memory.vectors[RATES, z]
    if not (possible and memory.bounds[BEST] < family.highest()):
        return 0.0  # nothing can be better: no parameter is confusing
    gap = certify(memory) if warm else 1.0
    if gap >= 1.0 or gap > max(kappa, OPTIMAL):  # a gap of 1: nothing is held
        set_units(memory)
        gap = 1.0
        if warm and repair(memory, 3 * n // 4 + 8):  # a cold start costs about as many pivots
            gap = certify(memory)
        if gap > OPTIMAL:
            cold(memory)
            gap = certify(memory)
        if gap > OPTIMAL and repair(memory, 4 * n + 20):  # pivots add up rounding: factor anew
            gap = certify(memory)
        for z in range(n):
            memory.vectors[RATES, z] = memory.vectors[SPEND, z] / memory.vectors[COSTS, z]
    for z in range(n):
        out[memory.indices[ARM, z]] = memory.vectors[RATES, z] / memory.bounds[LEAST]
    return gap
