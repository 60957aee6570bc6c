"""What a campaign knows of a parameter, of listed arms and of rows that asks brought alike."""

from typing import Any

import numpy as np

from ossb.campaigns.brought import Brought
from ossb.graves_lai.information.links import IDENTITY
from ossb.models.brought import (
    EXACT,
    MORE,
    Evidence,
    Quadratic,
    Spread,
    fitted,
    gram,
    known,
)
from ossb.policies.brought import Offer
from ossb.tally import Tally

EARLY = 64.0  # the scale of the prior under which early rows are looked at


def observed_link(instance: Any) -> int:
    """The link of what plays show."""
    return int(instance.links[1])


def evidence_of(instance: Any, brought: Brought, tally: Tally) -> Evidence:
    """All that was told, in units of the noise."""
    link, sigma = observed_link(instance), float(instance.noise or 1.0)
    seen = np.flatnonzero(tally.counts)
    rows, counts = np.asarray(instance.arms)[seen], tally.counts[seen].astype(np.float64)
    means = instance.observed_sign * tally.means[seen] / sigma
    none = np.zeros((0, rows.shape[1])), np.zeros(0), np.zeros(0)
    if link == IDENTITY:
        own = brought.quadratic(sigma)
        matrix = own.matrix + gram(rows, counts)
        return Evidence(link, Quadratic(matrix, own.vector + rows.T @ (counts * means)), *none)
    told, values = brought.told()
    start, quadratic = early(brought, link, told, values / sigma)
    return Evidence(
        link,
        quadratic,
        np.concatenate([rows, told[start:]]),
        np.concatenate([counts, np.ones(len(told) - start)]),
        np.concatenate([means, values[start:] / sigma]),
    )


def known_of(instance: Any, brought: Brought, tally: Tally) -> tuple[Evidence, Spread] | None:
    """The evidence with rows that asks brought, and its spread; None where none was told."""
    if not brought.order:
        return None
    return evidence_of(instance, brought, tally), brought.spread


def early(
    brought: Brought, link: int, rows: np.ndarray, values: np.ndarray
) -> tuple[int, Quadratic]:
    """How many of the first rows told are taken in as a quadratic, and that.

    It follows from these rows alone, so that a restart makes the same.
    """
    width = brought.width
    size, reached = 0, EXACT
    while reached <= len(rows):
        size, reached = reached, int(MORE * reached)
    if size == 0:
        return 0, Quadratic(np.zeros((width, width)), np.zeros(width))
    if brought.early is None or brought.early[:2] != (brought.changes, size):
        empty = Quadratic(np.zeros((width, width)), np.zeros(width))
        first = Evidence(link, empty, rows[:size], np.ones(size), values[:size])
        square = rows[:size].T @ rows[:size]
        weak = Spread(size, rows[:size].sum(axis=0), square)
        found = fitted(first, weak.prior() / EARLY**2 + weak.floor())
        brought.early = (brought.changes, size, known(first, found.theta))
    return size, brought.early[2]


def offer_of(instance: Any, brought: Brought, tally: Tally, rows: np.ndarray) -> Offer:
    """What a policy decides on, of rows that the ask brought, or that are listed."""
    recent = brought.recent
    if recent and recent[-1] is rows:
        recent = recent[:-1]
    waiting = brought.waiting + gram(np.asarray(instance.arms), tally.pending.astype(np.float64))
    return Offer(
        instance,
        rows,
        recent,
        evidence_of(instance, brought, tally),
        waiting,
        brought.spread,
        float(tally.clock[0]) + 1.0,
    )
