"""Independent means of which pairs change sides, or single ones a level: exactly.

An alternative moves a better arm down and a worse one up, to the same level between both means; or
one arm to the level that is asked about.  Nothing else moves, and the arms can go further by as
little as one likes, so that it is a limit of parameters under which they are strictly on the other
sides.  In the notation of ``ossb.graves_lai.exact.levels`` the better arm of the pair is "best".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from flint import arb

from ossb.graves_lai.answers import LEVEL
from ossb.graves_lai.exact import levels
from ossb.graves_lai.exact.balls import greatest, least
from ossb.graves_lai.exact.means import Truth, summed
from ossb.graves_lai.proof import Alternative, ProofError, Support

Pair = tuple[int, int]


class Exchange(NamedTuple):
    """An exact alternative: the arms that move, and to where in the sign that maximises."""

    arms: tuple[int, ...]
    level: arb


def confusing(truth: Truth, alternative: Alternative, pair: Pair, expected: np.ndarray) -> Exchange:
    """A pair of arms that meet; ``expected`` is their parameter, rounded."""
    high, low = pair
    found = levels.confusing(truth._replace(best=high), alternative, low, expected)
    return Exchange((high, low), found.level)


def crossing(truth: Truth, alternative: Alternative, arm: int, level: arb) -> Exchange:
    """One arm that moves to the level asked about, ``level`` in the sign that maximises."""
    parameter, witness, theta = alternative.parameter, alternative.witness, truth.theta
    if alternative.relative:
        raise ProofError(".relative: must be false, means are written as they are")
    for name, means in (("parameter", parameter), ("witness", witness)):
        if means.shape != theta.shape:
            raise ProofError(f".{name}: must have the shape {list(theta.shape)}")
        if not ((means >= truth.low) & (means <= truth.high)).all():
            raise ProofError(f".{name}: outside the parameter set, by the means there are")
        if np.delete(means != theta, arm).any():
            raise ProofError(f".{name}: moves another arm than its own")
    if not arb(truth.sign) * arb(parameter[arm]) == level:
        raise ProofError(".parameter: its arm is not at the level")
    over = levels.height(truth, arm) > level
    lead = arb(truth.sign) * arb(witness[arm]) - level
    if not (lead < 0 if over else lead > 0):
        raise ProofError(".witness: its arm is not strictly on the other side")
    return Exchange((arm,), level)


def heaviest(
    truth: Truth,
    confusing: Sequence[Exchange],
    weights: Sequence[float],
    costs: Callable[[int], arb],
) -> arb:
    """Maximum over z of Σ_k weights[k] d(θ_z, λ_kz) / κ(z)."""
    collected: dict[int, arb] = {}
    for one, weight in zip(confusing, weights, strict=True):
        for z in one.arms:
            told = truth.divergence(arb(truth.theta[z]), arb(truth.sign) * one.level)
            collected[z] = collected.get(z, arb(0)) + arb(weight) * told
    return greatest(load / costs(z) for z, load in collected.items())


def information(
    truth: Truth, pairs: Sequence[Pair], support: Support, level: arb, fallen: Mapping[Pair, float]
) -> arb:
    """min over the pairs of what rates tell of them.

    ``fallen`` proposes how far below the better mean both meet: any proposal is right, a good one
    tight.
    """
    rates = {z: rate for z, rate in summed(support).items() if rate > 0}
    found = []
    for pair in pairs:
        played = [z for z in pair if z != LEVEL]
        if any(z not in rates for z in played):
            return arb(0)
        if len(played) == 1:
            z = played[0]
            target = arb(truth.sign) * level
            found.append(rates[z] * truth.divergence(arb(truth.theta[z]), target))
        else:
            high, low = pair
            moves = levels.Moves({low: arb(0)}, {high: arb(0)})
            met = levels.told(truth._replace(best=high), low, moves, rates, fallen[pair])
            found.append(met)
    return least(found)
