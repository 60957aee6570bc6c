"""Solving the program held in a workspace: repair or start cold; stop on the gap."""

from ossb.graves_lai.lipschitz.certificate import certify
from ossb.graves_lai.lipschitz.repair import repair
from ossb.graves_lai.lipschitz.tableau import cold
from ossb.graves_lai.lipschitz.workspace import CORNER, GAIN, PRICES, SPEND, Workspace
from ossb.kernels import kernel

OPTIMAL = 1e-9  # certified gap of a solution that counts as optimal


@kernel
def resolve(space: Workspace, warm: bool) -> float:
    """Solve, from the held basis if ``warm``, or from nothing; the certified gap.

    Pivots add up rounding: where the tableau's answer is not tight, its last basis is factored
    anew and repaired, and the better of the two answers is kept.
    """
    n = space.matrix.shape[0]
    spend, prices = space.vectors[SPEND], space.vectors[PRICES]
    kept_spend, kept_prices = space.vectors[CORNER], space.vectors[GAIN]
    best = 2.0
    limit = n // 4 + 8 if warm else 0
    for attempt in range(3):  # held basis, tableau, basis of the tableau
        if attempt == 1:
            cold(space)
            limit = 4 * n + 20
        elif attempt == 0 and not warm:
            continue
        elif not repair(space, limit):
            continue
        gap = certify(space)
        if gap <= OPTIMAL:
            return gap
        if gap < best:
            best = gap
            for i in range(n):
                kept_spend[i] = spend[i]
                kept_prices[i] = prices[i]
    for i in range(n):
        spend[i] = kept_spend[i]
        prices[i] = kept_prices[i]
    return certify(space)
