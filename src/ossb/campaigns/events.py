"""Events: what happened in a campaign, in one order, chained by hashes.

The journal is the truth and a campaign's state is its fold.  An event holds all that it
changed, so that folding it calls no policy, no solver and no clock.  The format is written down
in ``docs/journal.md``.
"""

import hashlib
import json
from typing import Any, NamedTuple

import msgspec

from ossb.campaigns.texts import HALF, is_half, leaves
from ossb.errors import InputError

FORMATS = (1, 2, 3)  # the second where arms are not listed, and numbered as they are met; the
# third with shorter changes of memories
KINDS = (
    "created",
    "imported",
    "asked",
    "offered",  # an ask that brings its own rows of features
    "told",
    "voided",
    "expired",
    "arm_added",
    "arm_retired",
    "switched",
    "closed",
)
GENESIS = "0" * 64
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


class Event(NamedTuple):
    """One entry of a journal."""

    number: int  # 1, 2, …
    kind: str
    time: float  # seconds since the epoch, by the server's clock
    body: str  # JSON
    digest: str  # of the previous digest and all of the above

    @property
    def content(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.body)
        return found


def chained(previous: str, number: int, kind: str, time: float, content: dict[str, Any]) -> Event:
    """The event that follows the one with digest ``previous``."""
    body = _ENCODER.encode(content)
    try:
        return Event(number, kind, time, body, digest(previous, number, kind, time, body))
    except UnicodeEncodeError:
        where = next(place for place, value in leaves(content) if is_half(value))
        raise InputError(where, HALF) from None


def digest(previous: str, number: int, kind: str, time: float, body: str) -> str:
    """What ties an event to all before it."""
    text = f"{previous}\n{number}\n{kind}\n{time!r}\n{body}"
    return hashlib.sha256(text.encode()).hexdigest()


def follows(event: Event, number: int, previous: str) -> bool:
    """Whether an event is what was written after event ``number`` with digest ``previous``.

    Damage may have turned any field into anything: what cannot even be hashed does not follow.
    """
    try:
        expected = digest(previous, event.number, event.kind, event.time, event.body)
    except (UnicodeEncodeError, TypeError, ValueError):
        return False
    return event.number == number + 1 and event.digest == expected
