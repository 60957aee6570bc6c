"""A campaign as a notebook and a prompt show it."""

from collections.abc import Mapping
from typing import Any

from ossb.notebook import bars, table

SHOWN = 12  # arms, the most played


def card(described: Mapping[str, Any]) -> str:
    """The most played arms of a campaign, as ``Campaign.describe`` has it."""
    arms = list(zip(described["arms"], described["plays"], described["means"], strict=True))
    ordered = sorted(arms, key=lambda entry: -entry[1])
    rows = [
        (arm["arm_name"], f"{plays:,}", "" if mean is None else f"{mean:.6g}")
        for arm, plays, mean in ordered[:SHOWN]
    ]
    if len(ordered) > SHOWN:
        rows.append((f"… {len(ordered) - SHOWN} more", "", ""))
    state = "closed" if described["closed"] else "open"
    kind = described["instance"]["structure"]
    unit = described["instance"].get("reward_unit")
    caption = f"{described['name']}: {kind}, {_standing(described)}, {state}"
    picture = bars(
        "plays of each arm",
        {arm["arm_name"]: float(plays) for arm, plays, _ in ordered[:SHOWN]},
    )
    return table(caption, ("arm", "plays", f"mean, {unit}" if unit else "mean"), rows) + picture


def line(described: Mapping[str, Any], leader: str) -> str:
    """A campaign in one line, with the arm that leads."""
    closed = ", closed" if described["closed"] else ""
    return f"<Campaign {described['name']!r}: {_standing(described)}, leader: {leader}{closed}>"


def _standing(described: Mapping[str, Any]) -> str:
    policy = described["policy"]["name"]
    return f"{policy}, {described['rounds']:,} told, {described['pending']:,} pending"
