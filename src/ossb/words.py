"""Words for people: a number with its noun, an error, and the nearest right name."""

import difflib
import math
from collections.abc import Iterable


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 trial``, ``2,000 trials``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def rounded(value: float, digits: int = 4) -> str:
    """A number to so many digits, in full up to a billion: ``16,880`` and not ``1.688e+04``."""
    power = int(f"{value:.{digits - 1}e}".partition("e")[2]) if math.isfinite(value) else 0
    if digits <= power < 9:
        return f"{round(value, digits - 1 - power):,.0f}"
    return f"{value:,.{digits}g}"


def spread(value: float, trials: int, digits: int = 2) -> str:
    """A standard error of the mean, or a dash where one trial cannot have one."""
    return rounded(value, digits) if trials > 1 else "–"


def hint(word: object, known: Iterable[str]) -> str:
    """``(did you mean 'theta'?)`` after a space, or nothing where no name is near."""
    near = difflib.get_close_matches(str(word), list(known), 1)
    return f"{_OPENING}{near[0]!r}?)" if near else ""


def hint_apart(text: str) -> tuple[str, str]:
    """A text without the hint at its end, and the hint: ``did you mean 'theta'?``, or nothing."""
    rest, opening, near = text.rpartition(_OPENING)
    if not (opening and near.endswith("?)")):
        return text, ""
    return rest, (opening + near)[2:-1]


_OPENING = " (did you mean "
