"""A campaign's state as plain data."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ossb.campaigns.ledger import EXPIRED, PENDING, STATUSES
from ossb.campaigns.looking import plain
from ossb.campaigns.state import State
from ossb.tally import PHASES


def described(state: State, now: float) -> dict[str, Any]:
    """Definition, arms, what was played and told, and what is waited for.

    Arms that are not listed are those met so far, in the order they came.
    """
    tally, instance = state.tally, state.instance
    waiting = np.zeros(tally.plays.size, np.int64)
    for place in state.pending:
        if state.decisions.arm[place] >= 0:
            waiting[state.decisions.arm[place]] += 1
    sign = instance.observed_sign
    means = [float(sign * m) if n else None for m, n in zip(tally.means, tally.counts, strict=True)]
    own = state.table is None and all(shown == [arm] for arm, shown in enumerate(state.reveals))
    summed = instance.adds_up
    return {
        **state.definition,
        "instance": instance.to_dict(),
        "created": state.opened,
        "closed": state.closed,
        "events": state.number,
        "arms": [
            {"arm": plain(arm), "arm_name": instance.arm_name(arm)}
            for arm in (state.arm_at(place) for place in range(len(state.reveals)))
        ],
        "retired": sorted(state.retired),
        "plays": (tally.plays - waiting)[: len(state.reveals)].tolist(),
        "means": means if own else [_mean(means, shown, summed) for shown in state.reveals],
        "components": {"counts": tally.counts.tolist(), "means": means},
        **({"brought": of_rows(state)} if state.brought else {}),
        "rounds": int(tally.clock[0]),
        "phases": dict(zip(PHASES, tally.phases[: len(PHASES)].tolist(), strict=True)),
        **standing(state, now),
    }


def of_rows(state: State) -> dict[str, int]:
    """How many decisions were on rows that asks brought, and how many of these were told."""
    return {"decisions": len(state.brought.numbers), "told": len(state.brought.order)}


def standing(state: State, now: float) -> dict[str, Any]:
    """How many decisions are pending, told and so on.

    Those whose lease has ended count as expired, whether or not an ask has freed them since.
    """
    statuses = np.bincount(state.decisions.status, minlength=len(STATUSES))
    overdue = state.overdue(now)
    statuses[PENDING] -= len(overdue)
    statuses[EXPIRED] += len(overdue)
    decisions = dict(zip(STATUSES, statuses.tolist(), strict=True))
    return {"pending": decisions["pending"], "decisions": decisions}


def _mean(means: list[Any], shown: Sequence[int], summed: bool) -> float | None:
    """The mean of what an arm shows; None where it shows nothing or was never seen.

    Of several components it is their sum, where that is what the arm brings.
    """
    values = [means[component] for component in shown]
    if not values or any(value is None for value in values) or not (summed or len(values) == 1):
        return None
    return float(sum(values))
