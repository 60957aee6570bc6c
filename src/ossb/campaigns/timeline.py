"""A campaign's course: phases, dates and estimated regret along its decisions, in a few bins."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ossb.campaigns.ledger import TOLD
from ossb.campaigns.state import State
from ossb.tally import PHASES


def timeline(state: State, bins: int, gaps: Sequence[float | None] | None) -> dict[str, Any]:
    """Counts of each phase in equal stretches of decisions, and the regret up to their ends.

    ``asked`` says when the last decision of each stretch was asked.

    Parameters
    ----------
    gaps
        What a play of each arm costs; ``regret`` is None without them.  Only decisions that were
        told count: the others may never have been played.  Arms met since the gaps were worked
        out, where arms are not listed, cost nothing yet.
    """
    total = len(state.decisions)
    edges = np.unique(np.linspace(0, total, min(bins, total) + 1).astype(np.int64))
    ends = edges[1:] if total else edges[:0]
    stretch = np.repeat(np.arange(ends.size), np.diff(edges)) if total else np.zeros(0, np.int64)
    phases = {}
    for number, phase in enumerate(PHASES):
        inside = stretch[state.decisions.phase == number]
        phases[phase] = np.bincount(inside, minlength=ends.size).tolist()
    told = state.decisions.status == TOLD
    regret = None
    if gaps is not None:
        since = max(0, len(state.reveals) - len(gaps))
        prices = np.array([gap or 0.0 for gap in gaps] + [0.0] * since)
        listed = told & (state.decisions.arm >= 0)  # what other rows cost is not known
        spent = np.cumsum(np.where(listed, prices[state.decisions.arm * listed], 0.0))
        regret = spent[ends - 1].tolist()
    rounds = np.cumsum(told)[ends - 1].tolist() if total else []
    asked = state.decisions.asked[ends - 1].tolist() if total else []
    return {
        "ends": ends.tolist(),
        "rounds": rounds,
        "asked": asked,
        "phases": phases,
        "regret": regret,
    }
