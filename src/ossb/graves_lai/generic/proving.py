"""Both sides of a bound on polytopes and unions of them, from what a certificate holds.

Loads flint, and is itself loaded by what feasibility or prepares a proof, not before.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb, fmpq

from ossb.errors import CertificationError
from ossb.graves_lai.exact.balls import INFINITE, greatest, least, total, working
from ossb.graves_lai.generic.certificate import told_by
from ossb.graves_lai.generic.cutting import Answer, regions_of
from ossb.graves_lai.generic.duals import Dual
from ossb.graves_lai.generic.exact import ExactProgram
from ossb.graves_lai.generic.lower import divergences
from ossb.graves_lai.generic.polish import polished
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.rational import ZERO, rational, rationals
from ossb.graves_lai.generic.region import Region, narrow_region, region_of
from ossb.graves_lai.generic.upper import Multipliers, information
from ossb.graves_lai.proof import ProofError

ROUNDED = 1e-11  # information may lack so much to 1


def proved_information(
    program: ExactProgram, support: Sequence[tuple[int, float]], multipliers: Any
) -> arb:
    """A ball whose lower end bounds F(η) from below: the least over all regions."""
    rates = [ZERO] * program.n_arms
    for arm, rate in support:
        rates[arm] += rational(rate)
    weights = program.weights(rates)
    given = {(one.piece, one.arm): one for one in map(_read, multipliers)}
    proved = INFINITE
    for piece, arm in program.pairs():
        if (piece, arm) not in given:
            raise ProofError(f"multipliers: there are none for arm {arm} in piece {piece}")
        one = given[piece, arm]
        sizes = (len(one.bounds), len(one.equal), len(one.means))
        rows = program.piece(piece)
        if sizes != (len(rows.rows), len(rows.equal), len(program.means)):
            raise ProofError(
                f"multipliers: those for arm {arm} in piece {piece} are too many or few"
            )
        proved = least([proved, information(program, one, weights)])
    return proved


def _read(entry: Any) -> Multipliers:
    """Multipliers as the rationals that stand in a certificate."""
    vectors = [rationals(np.asarray(entry[key])) for key in ("bounds", "equal", "means")]
    return Multipliers(int(entry["piece"]), int(entry["arm"]), rational(entry["tau"]), *vectors)


def heaviest(
    program: ExactProgram, points: Sequence[Sequence[fmpq]], weights: Sequence[float]
) -> arb:
    """Maximum over x ≠ x* of Σ_k weights[k] D(θ, λ_k, x) / Δ(x), for parameters at some δ."""
    tables = [divergences(program, point) for point in points]
    loads = []
    for arm in range(program.n_arms):
        if arm != program.best:
            load = total(weight * table[arm] for weight, table in zip(weights, tables, strict=True))
            loads.append(load / arb(program.gap(arm)))
    return greatest(loads)


def proved_regions(program: Program, exact: ExactProgram) -> tuple[list[Region], list[Dual]]:
    """Regions that hold confusing parameters, and exact proofs that the others add nothing."""
    regions, claimed = regions_of(program)
    empty = []
    nothing = [ZERO] * len(exact.means)
    for dual in claimed:
        with working():
            proof, proved = polished(exact, dual, nothing, np.inf)
        if proved == np.inf:
            empty.append(proof)
            continue
        narrow = narrow_region(program, dual.piece, dual.arm)
        if narrow is None:
            raise CertificationError(
                f"arm {dual.arm} in piece {dual.piece} can hardly be better than arm "
                f"{program.best}: no strict advantage was found, and no proof that there is none"
            )
        regions.append(narrow)
    return regions, empty


def is_excluded(program: Program, exact: ExactProgram, arm: int) -> bool:
    """Whether it can be proved that an arm is strictly better nowhere in the one piece there is."""
    try:
        found = region_of(program, 0, arm)
    except CertificationError:
        return False
    if isinstance(found, Region):
        return False
    with working():
        return polished(exact, found, [ZERO] * len(exact.means), np.inf)[1] == np.inf


def prepared(program: Program, exact: ExactProgram, answer: Answer) -> Answer:
    """An answer with multipliers as the exact check takes them best, and rates that suit these."""
    if not answer.n_regions:
        return answer
    n_empty = len(answer.duals) - answer.n_regions
    empty, duals, rates = answer.duals[:n_empty], answer.duals[n_empty:], answer.rates
    for _ in range(2):
        duals, least_proved = _polished(program, exact, duals, rates)
        if not 0.0 < least_proved < 1.0 - ROUNDED:
            break
        rates = rates / least_proved  # as feasible as these multipliers prove them to be
        duals = [dual.scaled(1.0 / least_proved) for dual in duals]
    if not least_proved > 0.0:
        raise CertificationError(
            "no multipliers were found that cancel exactly: are there rows, or arms, that "
            "depend on others up to rounding only?"
        )
    upper = float(rates @ program.gaps)
    lower = min(answer.lower, upper)
    return replace(answer, rates=rates, lower=lower, upper=upper, duals=[*empty, *duals])


def _polished(
    program: Program, exact: ExactProgram, duals: Sequence[Dual], rates: np.ndarray
) -> tuple[list[Dual], float]:
    """Multipliers of regions near the given ones, and the least that they prove."""
    weights, proved = program.weights(rates), []
    with working():
        exactly = exact.weights(rationals(rates))
        for dual in duals:
            expected = told_by(program, dual, weights)
            proved.append(polished(exact, dual, exactly, expected))
    return [dual for dual, _ in proved], min(value for _, value in proved)
