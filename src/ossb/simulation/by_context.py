"""Regret told apart by who asked."""

from typing import Any, NamedTuple

import numpy as np

MOST_SHOWN = 24


class InContext(NamedTuple):
    """What one context had of the rounds, and what they cost, as means over trials."""

    context: str
    rounds: float
    regret: float


def is_told_apart(instance: Any) -> bool:
    """Whether there are several contexts, with arms that are listed."""
    return bool(
        instance.has_contexts and instance.layout.n_contexts > 1 and instance.n_arms is not None
    )


def by_context(instance: Any, plays: np.ndarray) -> list[InContext]:
    """Rounds and regret of each context, given mean plays of all listed arms."""
    lost, layout = plays * instance.gaps, instance.layout
    blocks = [layout.rows(z) for z in range(layout.n_contexts)]
    return [
        InContext(name, float(plays[rows].sum()), float(lost[rows].sum()))
        for name, rows in zip(layout.names, blocks, strict=True)
    ]
