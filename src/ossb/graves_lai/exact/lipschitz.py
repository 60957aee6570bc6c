"""Lipschitz means: of each arm the most confusing parameter is known, and the proof names the arm.

Θ holds the means with |λ_x − λ_z| ≤ ℓ(x, z) for all pairs.  ℓ is L |p_x − p_z| in exact
arithmetic, or the length of the shortest path through the given distances; where rounding puts
θ itself outside, ℓ(x, z) is the difference of its means.  Then λ_z = max(θ_z, θ* − ℓ(x, z)) lies
in Θ by the triangle inequality, is a limit of such parameters for higher tops, and every λ under
which x is better has means no less than these.  (In the sign that maximises.)
"""

from collections.abc import Callable, Sequence

import numpy as np
from flint import arb

from ossb.graves_lai.exact.balls import INFINITE, greatest, least, total
from ossb.graves_lai.exact.means import Truth, summed
from ossb.graves_lai.proof import Alternative, ProofError, Support

Reach = Callable[[int, int], arb]
NEAR = 1e-9  # of the size of the means: the parameter of a certificate is for its reader
CLEAR = 1e-9  # by how much, relatively, doubles have to differ for a sum of three to be sure
UNIT = 2.0**-53


def between_points(points: np.ndarray, constant: float) -> Reach:
    """ℓ(x, z) of points, which are the rows."""

    def reach(x: int, z: int) -> arb:
        steps = [abs(arb(a) - arb(b)) for a, b in zip(points[x], points[z], strict=True)]
        length = steps[0] if len(steps) == 1 else total(step * step for step in steps).sqrt()
        return arb(constant) * length

    return reach


def along_paths(shortest: np.ndarray) -> Reach:
    """ℓ(x, z) of shortest paths summed in doubles: at most K roundings of positive terms."""
    share = 2.0 * len(shortest) * UNIT

    def reach(x: int, z: int) -> arb:
        length = float(shortest[x, z])
        return arb(length, share * length)

    return reach


def confusing(truth: Truth, alternative: Alternative, arm: int, rounded: np.ndarray) -> int:
    """The arm: all else follows from it.  ``rounded`` is its most confusing parameter, rounded."""
    parameter, witness, theta = alternative.parameter, alternative.witness, truth.theta
    if alternative.relative:
        raise ProofError(".relative: must be false, means are written as they are")
    if parameter.shape != theta.shape:
        raise ProofError(f".parameter: must have the shape {list(theta.shape)}")
    if truth.is_certain():
        raise ProofError(".arm: no mean can be better than the best one")
    size = np.abs(theta).max() + np.abs(rounded).max()
    if not (np.abs(parameter - rounded) <= NEAR * size).all():
        raise ProofError(".parameter: outside the parameter set, or not its arm's most confusing")
    if witness[truth.best] != theta[truth.best]:
        raise ProofError(".witness: differs in what the best arm reveals")
    if not truth.sign * witness[arm] > truth.sign * witness[truth.best]:
        raise ProofError(".witness: its arm is not strictly better")
    return arm


def heaviest(
    truth: Truth,
    reach: Reach,
    metric: np.ndarray,
    arms: Sequence[int],
    weights: Sequence[float],
    costs: Callable[[int], arb],
) -> arb:
    """Maximum over z ≠ x* of Σ_k weights[k] d(θ_z, max(θ_z, θ* − ℓ(x_k, z))) / κ(z)."""
    collected: dict[int, arb] = {}
    for arm, weight in zip(arms, weights, strict=True):
        if not reach(arm, truth.best) > 0:
            return INFINITE
        for z in np.flatnonzero(_may_rise(truth, metric[arm])).tolist():
            raised = _raised(truth, z, reach(arm, z))
            if z != truth.best and not raised <= 0:
                shown = arb(weight) * _divergence(truth, z, raised.upper())
                collected[z] = collected.get(z, arb(0)) + shown
    return greatest(shown / costs(z) for z, shown in collected.items())


def information(truth: Truth, reach: Reach, metric: np.ndarray, support: Support) -> arb:
    """min over x of Σ_z η(z) d(θ_z, max(θ_z, θ* − ℓ(x, z)))."""
    if truth.is_certain():
        return INFINITE
    rates = {z: rate for z, rate in summed(support).items() if z != truth.best and rate > 0}
    found = []
    for x in range(truth.theta.size):
        if x == truth.best:
            continue
        may = _may_rise(truth, metric[x])
        terms = []
        for z, rate in rates.items():
            if may[z]:
                within = reach(x, z).max(abs(arb(truth.theta[x]) - arb(truth.theta[z])))
                raised = _raised(truth, z, within).lower()
                if raised > 0:
                    terms.append(rate * _divergence(truth, z, raised))
        found.append(total(terms))
    return least(found)


def _may_rise(truth: Truth, metric: np.ndarray) -> np.ndarray:
    """Where θ* − ℓ may exceed θ_z; in doubles, with room for what they round."""
    top = truth.theta[truth.best]
    if not metric.max(initial=0.0) < 1e150:  # squares may have overflowed
        return np.ones(metric.size, dtype=bool)
    size = abs(top) + np.abs(truth.theta) + metric
    lead: np.ndarray = truth.sign * (top - truth.theta) - metric > -CLEAR * size
    return lead


def _raised(truth: Truth, z: int, reach: arb) -> arb:
    """By how much the mean of z rises, where that is positive."""
    return truth.gap(z) - reach


def _divergence(truth: Truth, z: int, raised: arb) -> arb:
    """d(θ_z, θ_z + raised), ``raised`` an exact end of a ball: the divergence rises with it."""
    theta = arb(truth.theta[z])
    return truth.divergence(theta, theta + arb(truth.sign) * raised)
