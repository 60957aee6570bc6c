"""What a campaign is sure of, of contrasts that are named: differences of rows of features."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ossb import fields as read
from ossb.campaigns.brought import has_features
from ossb.campaigns.evidence import observed_link
from ossb.campaigns.ledger import TOLD
from ossb.campaigns.state import State
from ossb.errors import InputError
from ossb.models.contrasts import Trial, contrast, trial

MOST = 1000


class Told(NamedTuple):
    """What was told, row by row, in the order of the decisions."""

    link: int
    rows: np.ndarray
    values: np.ndarray  # in units of the noise
    scale: float  # that unit


def read_contrasts(named: Any, state: State) -> dict[str, np.ndarray]:
    """Contrasts as users name them, checked."""
    if not has_features(state.instance):
        must = f"be left out: arms of {state.instance.kind} structures share no parameter"
        raise InputError("contrasts", must)
    if not isinstance(named, Mapping):
        raise InputError("contrasts", "be a table of rows by name", named)
    if len(named) > MOST:
        raise InputError("contrasts", f"hold at most {MOST}", len(named))
    width = state.brought.width
    found = {}
    for name, row in named.items():
        called = read.seen(name, "contrasts")
        found[called] = read.vector(row, f"contrasts.{called}", width)
        if not found[called].any():
            raise InputError(f"contrasts.{called}", "have an entry that is not 0")
    return found


def trial_of(state: State) -> Told:
    """What was told so far of decisions, which data from before are not."""
    decisions, instance = state.decisions, state.instance
    places = np.flatnonzero(decisions.status == TOLD)
    arms = decisions.arm[places]
    rows = np.zeros((places.size, state.brought.width))
    listed = arms >= 0
    rows[listed] = np.asarray(instance.arms)[arms[listed]]
    own = [state.brought.place(int(number)) for number in places[~listed]]
    rows[~listed] = state.brought.rows[own]
    values = decisions.value[places].view(np.float64)
    scale = float(instance.noise or 1.0)
    return Told(observed_link(instance), rows, values / scale, scale)


def judged(told: Told, rows: Mapping[str, np.ndarray], delta: float) -> dict[str, dict[str, Any]]:
    """What is sure of contrasts."""
    known = trial(told.link, told.rows, told.values)
    return {name: _judged(told, known, row, delta) for name, row in rows.items()}


def _judged(told: Told, known: Trial | None, row: np.ndarray, delta: float) -> dict[str, Any]:
    level = -math.log(delta)
    answer: dict[str, Any] = {
        "delta": delta,
        "estimate": None,
        "low": None,
        "high": None,
        "statistic": 0.0,
        "threshold": level,
        "met": False,
    }
    if known is None:
        reason = f"{len(told.rows)} rows were told: more than twice as many as features are needed"
        return {**answer, "reason": reason}
    found = contrast(known, row, level)
    return {
        **answer,
        "estimate": found.estimate * told.scale,
        "low": _end(found.low * told.scale),
        "high": _end(found.high * told.scale),
        "statistic": found.statistic,
        "met": bool(found.statistic >= level),
    }


def _end(value: float) -> float | None:
    return value if math.isfinite(value) else None
