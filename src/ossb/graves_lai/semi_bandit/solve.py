"""One-off bounds for listed arms."""

import math
from dataclasses import replace

import numpy as np

from ossb.errors import CertificationError, InputError
from ossb.graves_lai import program
from ossb.graves_lai.information.items import set_items, step_of, told
from ossb.graves_lai.program.warm import NOBODY
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.item_family import EDGE, ItemFamily
from ossb.graves_lai.semi_bandit.solution import SemiBanditSolution, gaps_to
from ossb.graves_lai.semi_bandit.units import units_of
from ossb.numerics.ties import terms_of, tied

SHARE = 0.5  # of the gap asked for, to which the barrier goes
SHARES = (1e-4, 1e-6, 1e-8, 0.0)  # of the cost, below which rates are left out if the bound allows
MOSTLY = 0.9  # of the gap asked for, which that may use
ROUNDING = 1e-15
LEAST, MOST = 1e-280, 1e280  # units of rates and costs that leave room for rates and costs


def solve(
    arms: np.ndarray,
    phi: np.ndarray,
    gap: float = 1e-6,
    compiled: bool | None = None,
    items: ItemFamily | None = None,
) -> SemiBanditSolution:
    """The Graves–Lai bound of listed arms at item means ``phi``.

    Parameters
    ----------
    arms
        0/1 matrix, one row per arm.
    phi
        Item means.
    gap
        Relative gap to certify.
    compiled
        Whether to run the compiled kernels; by default for large problems, and where they are
        at hand after a few calls.
    items
        How items are observed; Gaussian with unit variance by default.
    """
    arms = np.ascontiguousarray(arms, dtype=np.float64)
    phi = np.ascontiguousarray(phi, dtype=np.float64)
    check_arms(arms, phi)
    if items is None:
        items = GaussianItems(1.0)
    units = units_of(items, phi, gaps_to(arms, phi, int(np.argmax(arms @ phi))))
    refuse_edges(arms, phi / units.mean, units.items)
    try:
        with np.errstate(all="ignore"):
            found = solve_in_units(arms, phi / units.mean, gap, compiled, units.items)
    except (ArithmeticError, ValueError) as error:
        raise CertificationError(f"C(θ) is beyond the range of doubles: {error}") from error
    cost = units.rate * units.mean
    if found.upper > 0.0 and not LEAST < min(cost, units.rate) <= max(cost, units.rate) < MOST:
        raise CertificationError(
            "C(θ) is beyond the range of doubles: give means and sigma in other units"
        )
    if found.upper == 0.0:
        return replace(found, rates=np.zeros_like(found.rates))
    return replace(
        found,
        rates=found.rates * units.rate,
        upper=found.upper * cost,
        lower=found.lower * cost,
        confusing=phi + (found.confusing - phi / units.mean) * units.mean,
    )


def solve_in_units(
    arms: np.ndarray, phi: np.ndarray, gap: float, compiled: bool | None, items: ItemFamily
) -> SemiBanditSolution:
    """Solve in the units in which the numbers stand."""
    leader = int(np.argmax(arms @ phi))
    gaps = gaps_to(arms, phi, leader)
    information = set_items(items, arms, phi, gaps, arms[leader])
    found = program.solve(information, gaps, NOBODY, SHARE * gap, compiled)
    chosen = np.flatnonzero(found.weights > 0.0)
    weights, collected = found.weights[chosen], np.zeros(phi.size)
    confusing = np.tile(phi, (chosen.size, 1))
    for k, arm in enumerate(chosen.tolist()):
        step = step_of(information, arm)
        confusing[k] += step * max(1.0, gaps[arm] / step.sum())  # not short of it by rounding
        for i in np.flatnonzero(step).tolist():
            collected[i] += weights[k] * items.divergence(phi[i], confusing[k, i] - phi[i])
    lower, others = 0.0, np.arange(len(arms)) != leader
    if chosen.size:
        lower = float(weights.sum() / ((arms @ collected)[others] / gaps[others]).max())
    rates = found.rates
    for share in SHARES:
        spent = found.rates * gaps
        fewer = np.where(spent > share * spent.sum(), found.rates, 0.0)
        least = float(told(information, fewer @ arms).min())
        if least > 0.0:
            rates = fewer / least
            if float(rates @ gaps) - lower <= MOSTLY * gap * float(rates @ gaps):
                break
    return SemiBanditSolution(leader, rates, float(rates @ gaps), lower, chosen, confusing, weights)


def check_arms(arms: np.ndarray, phi: np.ndarray) -> None:
    """Refuse what is not a list of 0/1 arms with one best arm."""
    if arms.ndim != 2 or arms.shape[0] == 0 or arms.shape[1] == 0:
        raise InputError("arms", "be a matrix with a row for each arm", arms.shape)
    if not np.isin(arms, (0.0, 1.0)).all():
        raise InputError("arms", "hold 0 and 1 only")
    if phi.shape != (arms.shape[1],) or not np.isfinite(phi).all():
        raise InputError("phi", f"hold {arms.shape[1]} finite numbers", phi)
    rewards = arms @ phi
    if tied(rewards, terms_of(arms, phi)).size > 1:
        raise InputError("phi", "have one best arm")


def refuse_edges(arms: np.ndarray, phi: np.ndarray, items: ItemFamily) -> None:
    """Refuse an arm that can become best, but by too little for doubles to say how hard that is.

    An arm whose items cannot gain what they need is no alternative, and does not count.
    """
    room = np.array([items.room(float(mean)) for mean in phi])
    if np.isinf(room).all():
        return
    best = int(np.argmax(arms @ phi))
    for x in range(arms.shape[0]):
        apart = arms[x] - arms[best]
        gains = room[apart > 0]
        size = float(np.abs(apart * phi).sum())
        spare = math.fsum([*gains.tolist(), *(apart * phi).tolist()])
        edge = 2.0 * EDGE * (gains.size + size)
        if ROUNDING * (gains.size + size) < spare <= edge:
            raise CertificationError(
                f"arm {x} can become better than the best arm, {best}, by {spare:.2g} at most: "
                "too little for double precision to say how hard that is to rule out"
            )
