"""Where a campaign stands, in tables: its arms, and its items where arms are those of a set."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from ossb.words import counted

MOST_ARMS = 20  # of a set, the most played ones


def tables(found: dict[str, Any]) -> Iterator[Table | Text]:
    """What ``ossb campaign show`` prints between its first and last line."""
    is_set = "arm_set" in found["instance"]
    yield _arms(found, MOST_ARMS if is_set else len(found["arms"]))
    if is_set:
        more = found["arms_played"] - MOST_ARMS
        if more > 0:
            yield Text(f"and {counted(more, 'arm')} played less")
        yield _items(found)


def size(found: dict[str, Any]) -> str:
    """How many arms there are, or items where arms are not listed."""
    if "arm_set" in found["instance"]:
        items = len(found["components"]["counts"])
        return f"{found['instance']['arm_set']} of {counted(items, 'item')}"
    return counted(len(found["arms"]), "arm")


def _arms(found: dict[str, Any], most: int) -> Table:
    rates = {str(entry["arm"]): entry["rate"] for entry in found["rates"]["rates"] or []}
    table = _table("arm", "plays", _mean(found), "rate c(x, m)")
    rows = list(zip(found["arms"], found["plays"], found["means"], strict=True))
    for arm, plays, mean in rows[:most]:
        leads = " (leads)" if arm["arm"] == found["leader"] else ""
        rate = rates.get(str(arm["arm"]))
        table.add_row(
            Text(arm["arm_name"] + leads),
            f"{plays:,}",
            "" if mean is None else f"{mean:.6g}",
            "" if rate is None else f"{rate:.6g}",
        )
    return table


def _items(found: dict[str, Any]) -> Table:
    table = _table("item", "seen", _mean(found))
    counts, means = found["components"]["counts"], found["components"]["means"]
    names = found["instance"].get("arm_names") or [str(item) for item in range(len(counts))]
    for item, (name, count, mean) in enumerate(zip(names, counts, means, strict=True)):
        said = " (retired)" if item in found["retired"] else ""
        table.add_row(Text(name + said), f"{count:,}", "" if mean is None else f"{mean:.6g}")
    return table


def _mean(found: dict[str, Any]) -> str:
    """What a mean is called: with the unit of rewards, where the instance names one."""
    unit = found["instance"].get("reward_unit")
    return f"mean, {unit}" if unit else "mean"


def _table(first: str, *rest: str) -> Table:
    table = Table()
    table.add_column(Text(first))
    for heading in rest:
        table.add_column(Text(heading), justify="right")
    return table
