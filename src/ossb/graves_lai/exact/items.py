"""Arms that are sets of items, each observed when its arm is played.

A confusing parameter of arm x moves items of x that the best arm lacks.  A certificate gives the
doubles of a move δ; it stands for s δ, with the s > 0 that makes x tie with the best arm.  Upper:
for every τ ≥ 0, with w_i the rate at which item i is seen,

    F_x(η) ≥ τ Δ_x − Σ_i sup over λ of [τ (λ_i − φ_i) − w_i d(φ_i, λ_i)],

over the items of x that the best arm lacks; x is never better if these cannot gain Δ_x.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from flint import arb

from ossb.graves_lai.exact.balls import INFINITE, greatest, least, total
from ossb.graves_lai.exact.divergences import Divergence
from ossb.graves_lai.proof import Alternative, ProofError

Moved = dict[int, arb]  # the mean of each item that differs from the truth
Multipliers = Callable[[int, list[int], dict[int, arb]], list[float]]


class Items(NamedTuple):
    """The true means in the user's own sign, the best arm, and the space that means are in."""

    phi: np.ndarray
    best: frozenset[int]
    sign: float
    low: float
    high: float
    divergence: Divergence
    free: bool = True  # whether plays of the best arm are, so that its items do not move

    def gap(self, arm: Iterable[int]) -> arb:
        """Δ(x)."""
        items = set(arm)
        lost = total(arb(self.phi[i]) for i in self.best - items)
        won = total(arb(self.phi[i]) for i in items - self.best)
        return arb(self.sign) * (lost - won)

    def outside(self, arm: Iterable[int]) -> list[int]:
        """The items of an arm that the best one lacks."""
        return sorted(set(arm) - self.best)

    def moving(self, arm: Iterable[int]) -> dict[int, int]:
        """The items that an alternative of an arm moves: 1 for better, −1 for worse."""
        items = set(arm)
        moves = dict.fromkeys(self.outside(items), 1)
        return moves if self.free else {**moves, **dict.fromkeys(sorted(self.best - items), -1)}

    def room(self, item: int, side: int = 1) -> arb:
        """By how much the mean of an item can become better, or worse for side −1."""
        end = self.high if side * self.sign > 0 else self.low
        if not np.isfinite(end):
            return INFINITE
        return abs(arb(end) - arb(self.phi[item]))


def seen(plays: Iterable[tuple[Iterable[int], float]]) -> dict[int, arb]:
    """The rate at which each item is seen, where it is; plays are arms with their rates."""
    rates: dict[int, arb] = {}
    for arm, rate in plays:
        if rate > 0.0:
            for i in arm:
                rates[i] = rates.get(i, arb(0)) + arb(rate)
    return rates


def confusing(truth: Items, alternative: Alternative, arm: Collection[int]) -> Moved:
    """The exact means of the items that an alternative moves."""
    mine, gap = truth.moving(arm), truth.gap(arm)
    moves = {}
    for name in ("parameter", "witness"):
        numbers = getattr(alternative, name)
        if numbers.shape != truth.phi.shape:
            raise ProofError(f".{name}: must have the shape {list(truth.phi.shape)}")
        still = np.zeros_like(truth.phi) if alternative.relative else truth.phi
        moved = np.flatnonzero(numbers != still).tolist()
        if truth.free and not truth.best.isdisjoint(moved):
            raise ProofError(f".{name}: differs in what the best arm reveals")
        if not mine.keys() >= set(moved):
            raise ProofError(f".{name}: moves items that its arm has not")
        moves[name] = {i: arb(numbers[i]) - arb(still[i]) for i in moved}
    gain = _won(truth, mine, moves["parameter"])
    if not gain > 0:
        raise ProofError(".parameter: its arm is worse than the best one")
    means = {i: arb(truth.phi[i]) + gap / gain * move for i, move in moves["parameter"].items()}
    witness = {i: arb(truth.phi[i]) + move for i, move in moves["witness"].items()}
    for name, some in (("parameter", means), ("witness", witness)):
        if not all(mean >= truth.low and mean <= truth.high for mean in some.values()):
            raise ProofError(f".{name}: outside the parameter set, by the means there are")
    if not _won(truth, mine, moves["witness"]) > gap:
        raise ProofError(".witness: its arm is not strictly better")
    return means


def _won(truth: Items, sides: dict[int, int], moves: Moved) -> arb:
    """By how much moves make an arm better than the best one was."""
    return arb(truth.sign) * total(sides[i] * move for i, move in moves.items())


def collected(truth: Items, parameters: Sequence[Moved], weights: Sequence[float]) -> Moved:
    """Σ_k weights[k] d(φ_i, λ_ki) of every item that is moved."""
    found: Moved = {}
    for moved, weight in zip(parameters, weights, strict=True):
        for i, mean in moved.items():
            shown = arb(weight) * truth.divergence(truth.phi[i], mean)
            found[i] = found.get(i, arb(0)) + shown
    return found


def heaviest(
    truth: Items, arms: Iterable[Collection[int]], gaps: Iterable[arb], pull: Moved
) -> arb:
    """Maximum over listed arms of Σ pull / Δ, or what else they cost."""
    loads = []
    for arm, gap in zip(arms, gaps, strict=True):
        mine = [pull[i] for i in arm if i in pull]
        if mine:
            loads.append(total(mine) / gap)
    return greatest(loads)


def information(
    truth: Items,
    arms: Sequence[Collection[int]],
    gaps: Sequence[arb],
    rates: dict[int, arb],
    multipliers: Multipliers,
) -> arb:
    """min over the arms of F_x, where ``multipliers`` propose τ: any is right, a good one tight."""
    found = []
    for x, (arm, gap) in enumerate(zip(arms, gaps, strict=True)):
        sides = truth.moving(arm)
        mine = list(sides)
        if total(truth.room(i, side) for i, side in sides.items()) <= gap:
            continue  # never better, whatever its items are
        if truth.divergence.observation == "gaussian":
            if any(i not in rates for i in mine):
                return arb(0)
            spread = total(1 / rates[i] for i in mine)
            found.append((gap / arb(truth.divergence.sigma)) ** 2 / (2 * spread))
            continue
        proved = [
            arb(tau) * gap - total(_suprema(truth, sides, rates, tau))
            for tau in multipliers(x, mine, rates)
            if 0.0 < tau < np.inf
        ]
        if not proved:
            return arb(0)
        found.append(greatest(proved))
    return least(found)


def _suprema(truth: Items, sides: dict[int, int], rates: dict[int, arb], tau: float) -> list[arb]:
    """What an alternative that moves some items is worth beyond what they show, at most."""
    slope = arb(truth.sign) * arb(tau)
    return [
        supremum(truth, truth.phi[i], rates.get(i, arb(0)), side * slope, truth.room(i, side))
        for i, side in sides.items()
    ]


def supremum(truth: Items, mean: float, weight: arb, slope: arb, room: arb) -> arb:
    """sup over λ of slope (λ − φ) − weight d(φ, λ)."""
    p = arb(mean)
    if not weight > 0:
        return abs(slope) * room
    if truth.divergence.observation == "poisson":
        if p == 0 and slope <= weight:
            return arb(0)
        if not slope < weight:
            return INFINITE
        peak = weight * p / (weight - slope)
    else:
        root = ((weight - slope) ** 2 + 4 * slope * weight * p).sqrt()
        peak = (slope - weight + root) / (2 * slope)
        if p == 0 or p == 1:
            peak = _at_the_end(p, weight, slope)
    return slope * (peak - p) - weight * truth.divergence(p, peak)


def _at_the_end(p: arb, weight: arb, slope: arb) -> arb:
    """The peak of a Bernoulli item whose mean is 0 or 1: there, unless a slope pulls it away."""
    if p == 0:
        return 1 - weight / slope if slope > weight else p
    return -weight / slope if -slope > weight else p


def exchange(truth: Items, replaceable: dict[int, list[int]]) -> dict[int, int]:
    """For each item outside the best basis, the worst one that it can replace.

    Raises ``ProofError`` unless every exchange is for the worse: the basis is then the best.
    """
    found = {}
    for i, replaced in replaceable.items():
        if replaced:
            worst = min(replaced, key=lambda j: truth.sign * truth.phi[j])
            if not truth.sign * truth.phi[worst] > truth.sign * truth.phi[i]:
                raise ProofError(f"instance: item {i} may replace {worst} in the best arm")
            found[i] = worst
    return found


def heaviest_exchange(truth: Items, worst: dict[int, int], pull: Moved) -> arb:
    """Maximum over bases: of any other basis the gap is at least the sum of its exchanges'."""
    apart = {i: abs(arb(truth.phi[j]) - arb(truth.phi[i])) for i, j in worst.items()}
    return greatest(pull[i] / apart[i] for i in pull)


def information_of_exchanges(truth: Items, worst: dict[int, int], rates: dict[int, arb]) -> arb:
    """min over exchanges of w_i d(φ_i, φ_j), where i can become better than j at all."""
    top = truth.high if truth.sign > 0 else truth.low
    return least(
        rates.get(i, arb(0)) * truth.divergence(truth.phi[i], truth.phi[j])
        for i, j in worst.items()
        if truth.phi[j] != top
    )
