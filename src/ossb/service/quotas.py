"""How often each token may call: so many calls a second, with bursts, and so many a day (UTC).

Counted in this process: of several servers on one store each counts what came to it.
"""

import math
from typing import NamedTuple

BURST = 2.0  # seconds whose calls may come at once
DAY = 86400.0
MOST = 4096  # tokens known, before those that did not call today are forgotten


class _Spent(NamedTuple):
    """What a token has left of its burst, and has called today."""

    moment: float
    left: float
    day: int
    today: int


class Quotas:
    """Calls of tokens, by id; for the event loop's thread."""

    def __init__(self) -> None:
        self._spent: dict[str, _Spent] = {}

    def spend(
        self, id_: str, per_second: float | None, per_day: int | None, now: float
    ) -> "tuple[str, float] | None":
        """Count a call; where it is one too many, of what, and after how many seconds it is not."""
        if per_second is None and per_day is None:
            return None
        most = math.inf if per_second is None else max(1.0, BURST * per_second)
        day = int(now // DAY)
        before = self._spent.get(id_, _Spent(now, most, day, 0))
        passed = max(now - before.moment, 0.0)
        left = min(most, before.left + passed * (per_second or 0.0))
        today = before.today if before.day == day else 0
        if per_day is not None and today >= per_day:
            return "a day", (day + 1) * DAY - now
        if per_second is not None and left < 1.0:
            return "a second", (1.0 - left) / per_second
        self._spent[id_] = _Spent(now, left - 1.0, day, today + 1)
        if len(self._spent) > MOST:  # tokens come and go
            self._spent = {key: one for key, one in self._spent.items() if one.day == day}
        return None
