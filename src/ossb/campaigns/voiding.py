"""Taking a tell back: what the means are without it.

Taking an observation out of a mean loses what its size has hidden: after 10¹² is taken out of a
mean of doubles, of the others 4 digits are right.  So the mean is that of the other observations,
added up exactly, where these are at hand: numbers are in the ledger, lists in the journal, where
they are only looked up if the loss could be seen.  Of imported data nothing but the mean is kept.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ossb.campaigns.brought import is_brought
from ossb.campaigns.events import Event
from ossb.campaigns.ledger import TOLD
from ossb.campaigns.observations import Observations
from ossb.campaigns.state import State

WHOLE = ("bernoulli", "poisson")  # families of whole numbers: so are their sums
SEEN = 1e-12  # a loss from which on lists are looked up, relative to the mean or to sigma
ROUNDING = 8.0 * float(np.finfo(float).eps)

Read = Callable[[int, int], Iterator[Event]]  # events on disk, from one number to another


def without(state: State, place: int, observation: Any, read: Read) -> list[float]:
    """The means of what a decision showed, once its observation is taken back."""
    if is_brought(int(state.decisions.arm[place])):
        return []
    values = observation if isinstance(observation, list) else [observation]
    shown = state.reveals[int(state.decisions.arm[place])]
    family = state.instance.observed_family
    means = []
    for component, value in zip(shown, values if shown else [], strict=True):
        if state.tally.counts[component] == 1:
            means.append(0.0)
            continue
        mean = _mean_without(state, place, component, value, read)
        # rounding must not put a mean outside the family's range
        means.append(min(max(mean, family.lowest()), family.highest()))
    return means


def _mean_without(state: State, place: int, component: int, value: float, read: Read) -> float:
    tally, sign = state.tally, state.instance.observed_sign
    left = int(tally.counts[component]) - 1
    total = float(tally.means[component]) * (left + 1)
    if state.instance.observation in WHOLE and abs(total) < 2**50:
        return (float(round(total)) - sign * value) / left
    rough = (total - sign * value) / left
    arms = [arm for arm, shown in enumerate(state.reveals) if component in shown]
    others = np.isin(state.decisions.arm, arms) & (state.decisions.status == TOLD)
    others[place] = False
    places = np.flatnonzero(others)
    if places.size != left:  # some were imported
        return rough
    listing = Observations(state).are_lists
    lists = [arm for arm in arms if listing(state.reveals[arm])]
    in_lists = places[np.isin(state.decisions.arm[places], lists)]
    loss = ROUNDING * max(abs(total), abs(value)) / left
    if in_lists.size and loss <= SEEN * (abs(rough) + state.instance.sigma):
        return rough
    numbers = np.setdiff1d(places, in_lists)
    told = state.decisions.value[numbers].view(np.float64).tolist()
    told += _from_lists(state, in_lists, component, read)
    return sign * math.fsum(told) / left


def _from_lists(state: State, places: np.ndarray, component: int, read: Read) -> list[float]:
    """What some decisions, told lists, showed of a component."""
    if not places.size:
        return []
    wanted, numbers = set(places.tolist()), state.decisions.event[places]
    events = set(numbers.tolist())
    found = []
    for event in read(int(numbers.min()), int(numbers.max())):
        if event.number not in events:
            continue
        for place, values in event.content["tells"]:
            if place in wanted:
                at = list(state.reveals[int(state.decisions.arm[place])]).index(component)
                found.append(values[at])
    return found
