"""Means g(⟨φ, x⟩), observed themselves: divergences in the index, and duals moved onto the arms.

With log-partition b and g = b′, d(u, h) = b(u + h) − b(u) − g(u) h.  Upper, for an arm x of margin
m in the index: any τ and p with Σ_y p_y y = τ x + ω x* for some ω give, by weak duality,

    F_x(η) ≥ τ m − Σ_y η_y d*(u_y, p_y/η_y),

d*(u, r) the divergence of the law of mean g(u) + r from that of mean g(u).  Doubles propose τ and
p; p is then moved onto the condition exactly, by the bordered inverse of Σ_y c_y y yᵀ for some
positive c.  An arm without a proposal starts from p = 0: where x is all but parallel to x*, that
is all there is to say.  Where plays of x* are not free the condition is Σ_y p_y y = τ (x − x*).
"""

from collections.abc import Callable, Sequence

import numpy as np
from flint import arb, arb_mat

from ossb.graves_lai.exact.balls import INFINITE, greatest, least, total
from ossb.graves_lai.exact.linear import Confusing, Frame, Vector, dot

LOGISTIC, LOG, IDENTITY = range(3)  # as in graves_lai.information.links
ASKED = 2.0  # information that an arm without a proposal is to have, at the rates
Proposal = tuple[float, np.ndarray]  # τ, and p of the arms played
Propose = Callable[[int, list[int]], Proposal | None]


def mean(link: int, index: arb) -> arb:
    """g(u)."""
    if link == LOGISTIC:
        return 1 / (1 + (-index).exp())
    return index.exp() if link == LOG else index


def change(link: int, index: arb, shift: arb) -> arb:
    """g(u + h) − g(u), without cancellation."""
    if link == LOGISTIC:
        return mean(link, index + shift) * mean(link, -index) * (-(-shift).expm1())
    return index.exp() * shift.expm1() if link == LOG else shift


def divergence(link: int, index: arb, shift: arb) -> arb:
    """d(u, h), in the mirror image where the index is positive: there nothing is nearly 1."""
    if link == LOGISTIC:
        if index > 0:
            index, shift = -index, -shift
        here = mean(link, index)
        # ln of (1 + e^(u + h)) / (1 + e^u) = 1 + g(u) (e^h − 1)
        return (here * shift.expm1()).log1p() - here * shift
    if link == LOG:
        return index.exp() * (shift.expm1() - shift)
    return shift * shift / 2


def conjugate(link: int, index: arb, slope: arb) -> arb:
    """d*(u, r); +∞ or unsure where no law has the mean g(u) + r."""
    if link == LOGISTIC:
        if index > 0:
            index, slope = -index, -slope
        here, rest = mean(link, index), mean(link, -index)
        return _entropy(here, slope) + _entropy(rest, -slope)
    return _entropy(index.exp(), slope) - slope if link == LOG else slope * slope / 2


def _entropy(part: arb, more: arb) -> arb:
    """(a + r) ln((a + r)/a)."""
    grown = part + more
    return arb(0) if grown == 0 else grown * (more / part).log1p()


def gap(frame: Frame, link: int, arm: int) -> arb:
    """Δ of an arm, in reward."""
    top = frame.values[frame.leaders[arm]]
    return abs(change(link, top, frame.values[arm] - top)) if arm != frame.leaders[arm] else arb(0)


def heaviest(
    frame: Frame,
    link: int,
    costs: Vector,
    confusing: Sequence[Confusing],
    weights: Sequence[float],
) -> arb:
    """Maximum over x of Σ_k weights[k] d(u_x, ⟨δ_k, x⟩) / κ_x, over x ≠ x* if that is free."""
    loads = []
    for x, row in enumerate(frame.shifts(confusing)):
        if frame.counts(x):
            shown = (divergence(link, frame.values[x], shift) for shift in row)
            pairs = zip(weights, shown, strict=True)
            loads.append(total(arb(weight) * one for weight, one in pairs) / costs[x])
    return greatest(loads)


def information(frame: Frame, link: int, rates: dict[int, arb], propose: Propose) -> arb:
    """min over the arms of what the duals prove."""
    if frame.is_settled or not frame.moves():
        return INFINITE
    played = sorted(arm for arm, rate in rates.items() if frame.counts(arm) and rate > 0)
    curves = {arm: rates[arm] * change_slope(link, frame.values[arm]) for arm in played}
    form = frame.inverse(curves)
    if form is None:
        return arb(0)
    arms, apart = frame.coordinates, frame.apart
    rows = [[arms[y, i] for i in range(arms.ncols())] for y in played]
    images = (arb_mat(rows) * form).tolist()  # rows of c⁻¹-weighted answers, one an arm played
    found = []
    for x in range(len(frame.margins)):
        if x == frame.leaders[x]:
            continue
        margin = arb(frame.sign) * frame.margins[x]
        proposal = propose(x, played)
        tau = ASKED / margin if proposal is None else arb(proposal[0])
        pulls = [arb(0)] * len(played) if proposal is None else [arb(p) for p in proposal[1]]
        if not tau * margin >= 0:
            return arb(0)
        rest = [-tau * apart[x, i] for i in range(arms.ncols())]
        for pull, row in zip(pulls, rows, strict=True):
            if pull != 0:
                rest = [left + pull * entry for left, entry in zip(rest, row, strict=True)]
        paid = []
        for arm, pull, image in zip(played, pulls, images, strict=True):
            moved = pull - curves[arm] * dot(image, rest)
            paid.append(rates[arm] * conjugate(link, frame.values[arm], moved / rates[arm]))
        found.append(tau * margin - total(paid))
    return least(found)


def change_slope(link: int, index: arb) -> arb:
    """g′(u)."""
    if link == LOGISTIC:
        return mean(link, index) * mean(link, -index)
    return index.exp() if link == LOG else arb(1)
