"""Where a campaign stands, in one document: for ``GET``, the page and ``campaign show``."""

import math
from collections.abc import Callable, Iterable
from typing import Any

from ossb.campaigns import Campaign, Corrupt

BINS = 60
DEFINED = ("name", "instance", "policy", "seed", "created", "closed")
COUNTED = ("rounds", "pending", "events", "phases", "plays", "means", "components")
SHORT = (*DEFINED, *COUNTED)
DAMAGED: dict[str, Any] = {
    **dict.fromkeys(("instance", "seed", "created", "plays", "means", "leader")),
    **dict.fromkeys(("phases", "components")),
    **dict.fromkeys(("rounds", "pending", "events"), 0),
    "policy": {"name": ""},
    "closed": False,
    "structure": "damaged",
}


def summary(campaign: Campaign, delta: float = 0.05) -> dict[str, Any]:
    """Definition, plays and means, leader, rates with certificate, and whether one may stop.

    ``exploration`` holds the regret spent so far by the estimate, Σ plays(x) (μ* − μ(x)), and
    C(m) ln t beside it.
    """
    stands = campaign.describe()
    leader = campaign.best() if stands["rounds"] else None
    rates = campaign.rates()
    gaps = rates.pop("gaps", None)
    rounds = stands["rounds"]
    told_for = None
    if gaps is not None:
        pairs = zip(stands["plays"], gaps, strict=True)
        told_for = sum(plays * gap for plays, gap in pairs if gap is not None)
    value = rates["value"]
    promised = None if value is None else value * math.log(max(rounds, 1))
    return {
        **stands,
        "leader": leader,
        "rates": rates,
        "stop": campaign.stop(delta),
        "exploration": {"regret": told_for, "bound": promised, "gaps": gaps},
    }


def timeline(campaign: Campaign, gaps: list[float | None] | None) -> dict[str, Any]:
    """Phases and estimated regret over the decisions, in a few bins."""
    return campaign.timeline(BINS, gaps)


def listed(names: Iterable[str], open_: Callable[[str], Campaign]) -> list[dict[str, Any]]:
    """Campaigns in short; a damaged one says so, and keeps nobody from the others."""
    entries = []
    for name in names:
        try:
            entries.append(short(open_(name)))
        except Corrupt as error:
            entries.append({**DAMAGED, "name": name, "error": str(error)})
    return entries


def short(campaign: Campaign) -> dict[str, Any]:
    """A campaign in a list of them."""
    stands = campaign.describe()
    entry = {key: stands[key] for key in SHORT}
    entry["structure"] = stands["instance"]["structure"]
    entry["leader"] = campaign.best() if stands["rounds"] else None
    return entry
