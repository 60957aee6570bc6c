"""Solving the program held in memory: repair or start cold; stop on the gap."""

from ossb.graves_lai.lipschitz.certificate import certify
from ossb.graves_lai.lipschitz.memory import (
    CORNER,
    GAIN,
    MATRIX,
    PRICES,
    ROW_FIRST,
    ROW_LAST,
    SPEND,
    UNIT,
    LipschitzMemory,
)
from ossb.graves_lai.lipschitz.repair import repair
from ossb.graves_lai.lipschitz.tableau import cold
from ossb.kernels import kernel

OPTIMAL = 1e-9  # certified gap of a solution that counts as optimal


@kernel
def resolve(memory: LipschitzMemory, warm: bool) -> float:
    """Solve, from the held basis if ``warm``, or from nothing; the certified gap.

    Pivots add up rounding: where the tableau's answer is not tight, its last basis is factored
    anew and repaired, and the better of the two answers is kept.
    """
    n = memory.active.shape[0]
    spend, prices = memory.vectors[SPEND], memory.vectors[PRICES]
    kept_spend, kept_prices = memory.vectors[CORNER], memory.vectors[GAIN]
    for x in range(n):
        largest = 0.0
        for z in range(memory.indices[ROW_FIRST, x], memory.indices[ROW_LAST, x]):
            largest = max(largest, memory.squares[MATRIX, x, z])
        memory.sides[UNIT, n + x] = 1.0 / largest if largest > 0.0 else 1.0
    best = 2.0
    limit = n // 4 + 8 if warm else 0
    for attempt in range(3):  # held basis, tableau, basis of the tableau
        if attempt == 1:
            cold(memory)
            limit = 4 * n + 20
        elif attempt == 0 and not warm:
            continue
        elif not repair(memory, limit):
            continue
        gap = certify(memory)
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
    return certify(memory)
