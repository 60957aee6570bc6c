"""A list of parameters: each is confusing or not, as its doubles compare."""

import numpy as np
from flint import arb

from ossb.graves_lai.exact.balls import least, total
from ossb.graves_lai.exact.means import Truth, summed
from ossb.graves_lai.proof import Alternative, ProofError, Support


def is_confusing(truth: Truth, parameter: np.ndarray, free: bool = True) -> bool:
    """Whether another arm is better, and free plays of the best one do not tell."""
    signed = truth.sign * parameter
    agrees = not free or parameter[truth.best] == truth.theta[truth.best]
    return bool(agrees and signed.max() > signed[truth.best])


def confusing(
    truth: Truth,
    parameters: np.ndarray,
    alternative: Alternative,
    arm: int,
    free: bool = True,
) -> np.ndarray:
    """The parameter of the list that an alternative names, under which its arm is better."""
    if alternative.relative:
        raise ProofError(".relative: must be false, means are written as they are")
    if not 0 <= alternative.piece < len(parameters):
        raise ProofError(f".piece: must be below {len(parameters)}, the number of parameters")
    listed = parameters[alternative.piece]
    for name in ("parameter", "witness"):
        if not np.array_equal(getattr(alternative, name), listed):
            raise ProofError(f".{name}: outside the parameter set, it is not `piece` of the list")
    if free and listed[truth.best] != truth.theta[truth.best]:
        raise ProofError(".parameter: differs in what the best arm reveals")
    if not truth.sign * listed[arm] > truth.sign * listed[truth.best]:
        raise ProofError(".witness: its arm is not strictly better")
    return listed


def information(truth: Truth, parameters: np.ndarray, support: Support, free: bool = True) -> arb:
    """F(η), without the parameters that any rate however small rules out for good."""
    rates = summed(support)
    told = [x for x in range(truth.theta.size) if not free or x != truth.best]

    def is_open(parameter: np.ndarray) -> bool:
        pairs = [(truth.theta[x], parameter[x]) for x in told]
        return all(truth.divergence(p, q).is_finite() for p, q in pairs)

    return least(
        total(
            rate * truth.divergence(truth.theta[x], parameter[x])
            for x, rate in rates.items()
            if not free or x != truth.best
        )
        for parameter in parameters
        if is_confusing(truth, parameter, free) and is_open(parameter)
    )
