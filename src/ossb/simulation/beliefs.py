"""Beliefs for a plan: parameters drawn from ranges, of which the structure allows each.

Within ranges [low, high] a parameter is low + u (high − low).  The u of all entries are drawn
together, a common one and departures from it: independent ones first, smaller ones where the
structure does not allow those (means with one peak, say, when ranges overlap).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.fields import number
from ossb.instances import from_dict
from ossb.structures import STRUCTURES

BELIEFS = 21  # odd: one of them is the median
TRIES = 400  # draws for each size of departures
DEPARTURES = (1.0, 0.5, 0.2, 0.1, 0.03, 0.0)


def has_ranges(content: Any) -> bool:
    """Whether a mapping of an instance's keys has [low, high] in the place of a number."""
    if not isinstance(content, Mapping):
        return False
    key = getattr(STRUCTURES.get(str(content.get("structure"))), "parameter", None)
    if key not in ("theta", "phi"):
        return False
    entries = content.get(key)
    return isinstance(entries, list) and any(isinstance(entry, list) for entry in entries)


def beliefs_of(content: Mapping[str, Any], gap: float = 0.0, seed: int = 0) -> list[Any]:
    """Instances drawn from the ranges of one, whose best arm is ahead by ``gap`` or more."""
    key = STRUCTURES[content["structure"]].parameter
    ends = [_range(entry, f"{key}[{i}]") for i, entry in enumerate(content[key])]
    low, high = np.array(ends).T
    rng, found, close = np.random.default_rng([seed, 7]), list[Any](), 0
    refusal: InputError | None = None
    for size in DEPARTURES:
        for _ in range(TRIES):
            common, own = rng.uniform(), rng.uniform(size=low.size)
            drawn = low + ((1.0 - size) * common + size * own) * (high - low)
            try:
                instance: Any = from_dict({**content, key: drawn.tolist()})
            except InputError as error:
                refusal = error
                continue
            if least_gap(instance) < gap or not least_gap(instance) > 0.0:
                close += 1
                continue
            found.append(instance)
            if len(found) == BELIEFS:
                return found
    if found:
        return found
    if close:
        must = f"leave a best arm that is ahead by {gap:g}: within these ranges none was found"
        raise InputError("gap", must, gap)
    raise InputError(key, f"be ranges in which there are parameters of the structure: {refusal}")


def least_gap(instance: Any) -> float:
    """By how much the best arm is ahead of the next."""
    ahead = np.sort(np.asarray(instance.gaps, dtype=np.float64))
    return float(ahead[1]) if ahead.size > 1 else np.inf


def _range(entry: Any, field: str) -> tuple[float, float]:
    if not isinstance(entry, list):
        value = number(entry, field)
        return value, value
    if len(entry) != 2:
        raise InputError(field, "be a number or a range, [low, high]", entry)
    low, high = number(entry[0], field), number(entry[1], field)
    if not low <= high:
        raise InputError(field, "have its lower end first", entry)
    return low, high
