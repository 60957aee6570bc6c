"""What proves that rates tell enough of an alternative of ``Indices``; see there."""

from typing import TYPE_CHECKING

from ossb.graves_lai.information.index_minimiser import ACTIVE, PROVED, RANK, fill_newton
from ossb.graves_lai.information.links import admissible, change_from, conjugate, curvature
from ossb.kernels import kernel
from ossb.numerics.dense import inner

if TYPE_CHECKING:
    from ossb.graves_lai.information.indices import Indices

LEAST = 1e-280  # divergences below it ask for rates that overflow


@kernel
def proof_of(info: "Indices", row: int) -> float:
    """A lower bound of F at what is played, by duality; −1 if there is none."""
    rank, pulls = info.sizes[RANK], info.pulls[row if info.pulls.shape[0] > 1 else 0]
    regular, multiplier = fill_newton(info, row)
    if not regular:
        return -1.0
    within = 1.0
    for e in range(info.sizes[ACTIVE]):
        x = info.active[e]
        index, here, off = info.index_of[x], info.here[x], info.off[x]
        shift = inner(info.deltas[row], info.points[x], rank)
        # the step is −H⁻¹ of the residual: moving p along it meets the condition exactly
        pull = change_from(info.law, index, here, off, shift)
        pull += curvature(info.law, index, shift) * inner(info.step, info.points[x], rank)
        pulls[e] = info.played[e] * pull
        within = min(within, admissible(info.law, here, off, pull))
    info.multipliers[row] = within * multiplier
    total = within * multiplier * info.margins[row]
    for e in range(info.sizes[ACTIVE]):
        x, rate = info.active[e], info.played[e]
        pulls[e] *= within
        total -= rate * conjugate(info.law, info.here[x], info.off[x], pulls[e] / rate)
    return total if total > 0.0 else -1.0


@kernel
def keep_proofs(info: "Indices", least: float) -> None:
    """Keep the proofs for the rates played, divided by the least that they tell."""
    count = info.sizes[ACTIVE]
    info.sizes[PROVED] = count
    for e in range(count):
        info.proved_by[e] = info.active[e]
        info.proved_rates[e] = info.played[e] / least
    for row in range(info.pulls.shape[0]):
        for e in range(count):
            info.pulls[row, e] /= least
    for row in range(info.margins.shape[0]):
        info.multipliers[row] /= least
        info.proved_margins[row] = info.margins[row]


@kernel
def proof_still(info: "Indices", row: int) -> float:
    """A lower bound of F at the rates proved, from the pulls scaled to the margin there is now."""
    scale = info.margins[row] / info.proved_margins[row]
    within, pulls = 1.0, info.pulls[row]
    for e in range(info.sizes[PROVED]):
        x = info.proved_by[e]
        slope = scale * pulls[e] / info.proved_rates[e]
        within = min(within, admissible(info.law, info.here[x], info.off[x], slope))
    scale *= within
    total = scale * info.multipliers[row] * info.margins[row]
    for e in range(info.sizes[PROVED]):
        x, rate = info.proved_by[e], info.proved_rates[e]
        slope = scale * pulls[e] / rate
        total -= rate * conjugate(info.law, info.here[x], info.off[x], slope)
    return total
