"""Linear means of which contrasts change their sign: directions are made exact.

A contrast u is the difference of two arms, or one arm held against a level; its margin is by how
much ⟨φ, u⟩ would have to change.  An alternative φ + δ with ⟨δ, u⟩ = margin is on the border, and
any longer δ beyond it.  See ``ossb.graves_lai.exact.linear``, of whose frames no arm is a leader.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat

from ossb.graves_lai.answers import LEVEL
from ossb.graves_lai.exact.balls import greatest
from ossb.graves_lai.exact.linear import Confusing, Frame, dot
from ossb.graves_lai.proof import Alternative, ProofError

Pair = tuple[int, int]


class Contrast(NamedTuple):
    """What a pair asks of the parameter: u in coordinates of the frame and as it is, its margin."""

    coordinates: list[arb]
    features: list[arb]
    margin: arb


def contrasts(frame: Frame, pairs: Sequence[Pair], level: float) -> list[Contrast]:
    """By how much the worse of each pair has to gain on the better one.

    ``level`` is in the user's sign.
    """
    both = frame.coordinates.tolist(), frame.balls.tolist()
    values, found = frame.values, []
    for high, low in pairs:
        if low == LEVEL:
            ends = [[-entry for entry in rows[high]] for rows in both]
            gap = values[high] - arb(level)
        elif high == LEVEL:
            ends = [rows[low] for rows in both]
            gap = arb(level) - values[low]
        else:
            ends = [[a - b for a, b in zip(rows[low], rows[high], strict=True)] for rows in both]
            gap = values[high] - values[low]
        margin = arb(frame.sign) * gap
        if not margin > 0:
            raise ProofError("instance: what is to be told apart is level")
        found.append(Contrast(ends[0], ends[1], margin))
    return found


def confusing(frame: Frame, alternative: Alternative, asked: Contrast) -> Confusing:
    """The exact direction of an alternative, of the length at which its contrast is 0."""
    delta = frame.direction(alternative.parameter, alternative.relative)
    gain = arb(frame.sign) * dot(delta, asked.features)
    if not gain > 0:
        raise ProofError(".parameter: it moves the other way")
    witness = frame.direction(alternative.witness, alternative.relative)
    if not arb(frame.sign) * dot(witness, asked.features) > asked.margin:
        raise ProofError(".witness: it is not strictly on the other side")
    scale = asked.margin / gain
    return Confusing([scale * entry for entry in delta])


def information(
    frame: Frame, asked: Sequence[Contrast], rates: dict[int, arb], variance: arb
) -> arb:
    """1 / max over contrasts of 2σ² uᵀ V⁻¹ u / margin²."""
    form = frame.inverse({arm: rate for arm, rate in rates.items() if rate > 0})
    if form is None:
        return arb(0)
    spread = frame.forms(arb_mat([one.coordinates for one in asked]), form)
    pairs = zip(spread, asked, strict=True)
    return 1 / (2 * variance * greatest(q / one.margin**2 for q, one in pairs))


def frame_without_leaders(arms: np.ndarray, phi: np.ndarray, sign: float) -> Frame:
    """Every arm is its own leader, and none is free."""
    return Frame(arms, phi, range(len(arms)), sign, ())
