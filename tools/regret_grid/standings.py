"""How policies stand in the cells of a grid: one row each, beside a reference policy.

A row is all of its trials that tables need, so that rows of trials played at different times and
on different machines can be put together, and kept in a small file of text.
"""

import csv
import math
from collections.abc import Collection, Iterable
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from ossb.errors import InputError

DIGITS = 6


@dataclass(frozen=True)
class Standing:
    """One policy in one cell, a group of instances at one horizon.

    Parameters
    ----------
    trials, mean, sem, p99, worst
        Of its regrets; the tail may be unknown (NaN).
    cost
        CPU microseconds of a round; NaN where unknown.
    shared
        Trials that the reference policy has too: what follows is of these.
    own, own_sem, reference, reference_sem
        Mean regrets of the policy and of the reference, and their errors.
    difference_sem
        Error of the mean difference, on the same noise.
    played
        The day from which the row is, as 2026-11-18.
    """

    group: str
    horizon: int
    policy: str
    trials: int
    mean: float
    sem: float
    p99: float
    worst: float
    cost: float
    shared: int
    own: float
    own_sem: float
    reference: float
    reference_sem: float
    difference_sem: float
    played: str = ""

    @property
    def key(self) -> tuple[str, int, str]:
        return self.group, self.horizon, self.policy

    @property
    def paired(self) -> bool:
        """Whether the error of the difference is that of shared noise."""
        apart = math.hypot(self.own_sem, self.reference_sem)
        return abs(self.difference_sem - apart) > 1e-4 * apart

    @property
    def relative(self) -> float:
        """Mean regret over that of the reference policy."""
        return self.own / max(self.reference, 1e-300)

    @property
    def relative_error(self) -> float:
        """Standard error of ``relative`` as a share of it, linearised."""
        if min(self.own, self.reference) <= 0:
            return 0.0
        own, reference = self.own_sem**2, self.reference_sem**2
        product = (own + reference - self.difference_sem**2) / 2  # covariance of the means
        variance = (
            own / self.own**2
            + reference / self.reference**2
            - 2 * product / (self.own * self.reference)
        )
        return math.sqrt(max(variance, 0.0))


COLUMNS = tuple(field.name for field in fields(Standing))
_NAMES, _COUNTS = ("group", "policy", "played"), ("horizon", "trials", "shared")


def merged(
    kept: Iterable[Standing], played: Iterable[Standing], anew: Collection[str] = ()
) -> list[Standing]:
    """Rows that were kept, with those played in the place of any that have no more trials.

    Of policies that are played ``anew``, since their rule has changed, in the place of all.  A row
    that says the same as before keeps its day.
    """
    rows = {row.key: row for row in kept}
    for row in played:
        before = rows.get(row.key)
        if before is None or row.trials >= before.trials or family_of(row.policy) in anew:
            same = before is not None and _numbers(before) == _numbers(row)
            rows[row.key] = replace(row, played=before.played) if before and same else row
    return list(rows.values())


def family_of(policy: str) -> str:
    """A policy without its parameters; your own is module:Class."""
    name, _, rest = policy.partition(":")
    return name if not rest or "=" in rest.partition(":")[0] else f"{name}:{rest.partition(':')[0]}"


def _numbers(row: Standing) -> list[str]:
    """What a row says, as it is written."""
    return [_written(value) for value in astuple(replace(row, cost=math.nan, played=""))]


def beside_changed(
    kept: Iterable[Standing], played: Iterable[Standing], reference: str
) -> list[Standing]:
    """Rows that were kept, beside a reference policy that was played anew since its rule changed.

    Where it was, they are compared with its new trials as if on other noise, and what was kept of
    itself and its variants is left out.
    """
    now = {(row.group, row.horizon): row for row in played if row.policy == reference}
    rows = []
    for row in kept:
        beside = now.get((row.group, row.horizon))
        if beside is None:
            rows.append(row)
        elif row.policy.partition(":")[0] != reference:
            rows.append(_beside(row, beside))
    return rows


def _beside(row: Standing, reference: Standing) -> Standing:
    return replace(
        row,
        shared=min(row.trials, reference.trials),
        own=row.mean,
        own_sem=row.sem,
        reference=reference.mean,
        reference_sem=reference.sem,
        difference_sem=math.hypot(row.sem, reference.sem),
    )


def write_standings(rows: Iterable[Standing], path: Path) -> None:
    """Rows as comma-separated text, numbers to six digits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows([_written(value) for value in astuple(row)] for row in rows)


def read_standings(path: Path) -> list[Standing]:
    """Rows of such a file."""
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.reader(file)
        head = tuple(next(table, ()))
        if head != COLUMNS:
            raise InputError(str(path), f"begin with {','.join(COLUMNS)}", ",".join(head))
        return [_read(path, number, line) for number, line in enumerate(table, 2)]


def _written(value: str | float) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.{DIGITS}g}"
    return str(value)


def _read(path: Path, number: int, line: list[str]) -> Standing:
    try:
        return Standing(
            **{  # type: ignore[arg-type]
                name: text
                if name in _NAMES
                else int(text)
                if name in _COUNTS
                else float(text or "nan")
                for name, text in zip(COLUMNS, line, strict=True)
            }
        )
    except ValueError:
        wanted = f"have {len(COLUMNS)} entries, numbers but for {', '.join(_NAMES)}"
        raise InputError(f"{path}, line {number}", wanted, ",".join(line)) from None
