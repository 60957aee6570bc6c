"""Means of which an alternative knows its own level: the proof names the arm and the level.

Where plays of the best arm b have a price, arm j overtakes it at some level q between both means,
and of each other arm z the mean nearest to the truth is then

    λ_z(q) = min(max(θ_z, q − f_z), q + c_z),

f_z how far z may stay below j, c_z how far it may stay above b (in the sign that maximises).  For
independent arms only j and b move; on a tree j and those that must not stand above b; for
Lipschitz means f and c are the distances to j and to b.  All λ(q) are limits of parameters of Θ
under which j is strictly better: j can still rise, or b fall, by itself and by as little as one
likes.  And what all rates tell of j is the least over q of Σ η(z) d(θ_z, λ_z(q)), which is convex
in q (in 1/q, for exponential observations that do not keep a distance): a tangent bounds it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from flint import arb

from ossb.graves_lai.exact.balls import greatest, least, total
from ossb.graves_lai.exact.means import Truth, summed
from ossb.graves_lai.proof import Alternative, ProofError, Support

NEAR = 1e-9  # of the size of the means: the parameter of a certificate is for its reader
NOTHING = 2.0**-80  # of the way between both means: a step that changes no double
STEPS = 4  # of Newton's method, for a level that doubles know to their last digits


class Moves(NamedTuple):
    """How far arms may stay below the one that overtakes, and above the best one."""

    floors: Mapping[int, arb]
    ceilings: Mapping[int, arb]


class Level(NamedTuple):
    """An exact alternative: its arm, and the level in the sign that maximises."""

    arm: int
    level: arb


def height(truth: Truth, arm: int) -> arb:
    """θ in the sign that maximises."""
    return arb(truth.sign) * arb(truth.theta[arm])


def confusing(truth: Truth, alternative: Alternative, arm: int, expected: np.ndarray) -> Level:
    """The level, of which the best arm's mean tells; ``expected`` is its parameter, rounded."""
    parameter, witness, theta = alternative.parameter, alternative.witness, truth.theta
    if parameter.shape != theta.shape:
        raise ProofError(f".parameter: must have the shape {list(theta.shape)}")
    start = truth.theta if alternative.relative else np.zeros_like(theta)
    size = np.abs(theta).max() + np.abs(expected).max()
    if not (np.abs(parameter + start - expected) <= NEAR * size).all():
        raise ProofError(".parameter: outside the parameter set, or not its level's nearest")
    level = arb(truth.sign) * (arb(parameter[truth.best]) + arb(start[truth.best]))
    if not (height(truth, arm) <= level and level <= height(truth, truth.best)):
        raise ProofError(".parameter: its level is not between the means of both arms")
    lead = [arb(witness[x]) + arb(start[x]) for x in (arm, truth.best)]
    if not arb(truth.sign) * (lead[0] - lead[1]) > 0:
        raise ProofError(".witness: its arm is not strictly better")
    return Level(arm, level)


def shown(truth: Truth, moves: Moves, level: arb) -> dict[int, arb]:
    """d(θ_z, λ_z) of every arm that moves, at most."""
    found = {}
    for ends, side in ((moves.floors, 1), (moves.ceilings, -1)):
        for z, end in ends.items():
            here = height(truth, z)
            moved = side * (level - here) - end
            if not moved <= 0:
                there = here + side * moved.upper()
                theta, parameter = arb(truth.theta[z]), arb(truth.sign) * there
                found[z] = truth.divergence(theta, parameter)
    return found


def heaviest(
    truth: Truth,
    moves_of: Callable[[int], Moves],
    costs: Callable[[int], arb],
    confusing: Sequence[Level],
    weights: Sequence[float],
) -> arb:
    """Maximum over z of Σ_k weights[k] d(θ_z, λ_kz) / κ(z)."""
    collected: dict[int, arb] = {}
    for one, weight in zip(confusing, weights, strict=True):
        for z, told in shown(truth, moves_of(one.arm), one.level).items():
            collected[z] = collected.get(z, arb(0)) + arb(weight) * told
    return greatest(load / costs(z) for z, load in collected.items())


def information(
    truth: Truth,
    candidates: Iterable[int],
    moves_of: Callable[[int], Moves],
    support: Support,
    fallen: Mapping[int, float],
) -> arb:
    """min over the candidates of what rates tell at the level nearest to them.

    ``fallen`` proposes how far below the best mean that is: any proposal is right, a good one
    tight.
    """
    rates = {z: rate for z, rate in summed(support).items() if rate > 0}
    return least(told(truth, x, moves_of(x), rates, fallen.get(x, 0.0)) for x in candidates)


def told(truth: Truth, arm: int, moves: Moves, rates: Mapping[int, arb], fallen: float) -> arb:
    """The least over levels of Σ η(z) d(θ_z, λ_z), at least: by a tangent."""
    low, high = height(truth, arm), height(truth, truth.best)
    floors = {z: end.upper() for z, end in moves.floors.items() if z in rates}
    ceilings = {z: end.upper() for z, end in moves.ceilings.items() if z in rates}
    curve = Curve(truth, Moves(floors, ceilings), rates)
    level = high - arb(fallen)
    if not (low < level and level < high):
        level = (low + high) / 2
    slope, bend = curve.slope(level)
    for _ in range(STEPS):
        if not bend > 0:
            break
        moved = (level - slope / bend).mid()
        if not (low < moved and moved < high) or abs(moved - level) < NOTHING * (high - low):
            break
        level = moved
        slope, bend = curve.slope(level)
    # how far the parameter in which the curve is convex may still go either way
    down, up = curve.place(level) - curve.place(low), curve.place(high) - curve.place(level)
    lost = greatest([slope * curve.pace(level) * down, -slope * curve.pace(level) * up])
    return curve.value(level) - lost


class Curve:
    """Σ η(z) d(θ_z, λ_z(q)) at exact levels q."""

    def __init__(self, truth: Truth, moves: Moves, rates: Mapping[int, arb]) -> None:
        self.truth, self.moves, self.rates = truth, moves, rates
        self.inverted = truth.divergence.observation == "exponential"
        ends = [*moves.floors.values(), *moves.ceilings.values()]
        if self.inverted and any(end != 0 for end in ends):
            raise ProofError("multipliers: exponential means at distances have no tangents")

    def place(self, level: arb) -> arb:
        """The parameter in which the curve is convex; it rises with the level."""
        return -1 / level if self.inverted else level

    def pace(self, level: arb) -> arb:
        """Derivative of the level in that parameter."""
        return level * level if self.inverted else arb(1)

    def moved(self, level: arb) -> Iterable[tuple[int, arb, arb]]:
        """The arms that move: each with its mean's height, before and after."""
        for ends, side in ((self.moves.floors, 1), (self.moves.ceilings, -1)):
            for z, end in ends.items():
                here = height(self.truth, z)
                there = level - side * end
                if side * (there - here) > 0:
                    yield z, here, there

    def value(self, level: arb) -> arb:
        """Σ η(z) d(θ_z, λ_z)."""
        sign = arb(self.truth.sign)
        terms = []
        for z, here, there in self.moved(level):
            terms.append(self.rates[z] * self.truth.divergence(sign * here, sign * there))
        return total(terms)

    def slope(self, level: arb) -> tuple[arb, arb]:
        """Derivative in the level, and the curvature without what the variance's change adds."""
        first, second = arb(0), arb(0)
        for z, here, there in self.moved(level):
            weight = self.rates[z] / self.truth.divergence.variance(arb(self.truth.sign) * there)
            first += weight * (there - here)
            second += weight
        return first, second
