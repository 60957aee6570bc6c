"""Answers of the programming interface, as its description shows them."""

from typing import Any

MADE = 1794762841.6
CAMPAIGN: dict[str, Any] = {
    "name": "headlines",
    "instance": {"structure": "classical", "observation": "bernoulli", "n_arms": 3},
    "policy": {"name": "hgl"},
    "seed": 1,
    "created": MADE,
    "closed": False,
    "events": 7,
    "arms": [{"arm": arm, "arm_name": str(arm)} for arm in range(3)],
    "retired": [],
    "plays": [1, 1, 1],
    "means": [1.0, 0.0, 0.0],
    "components": {"counts": [1, 1, 1], "means": [1.0, 0.0, 0.0]},
    "rounds": 3,
    "phases": {"exploit": 0, "estimate": 3, "explore": 1},
    "pending": 1,
    "decisions": {"pending": 1, "told": 3, "expired": 0, "voided": 0},
    "leader": 0,
    "rates": {"value": None, "rates": None, "reason": "`theta` must have one best arm"},
    "stop": {
        "delta": 0.05,
        "epsilon": 0.0,
        "statistic": 0.69,
        "threshold": 5.08,
        "met": False,
        "arm": 0,
        "runner_up": 1,
        "left": None,
        "sentence": "Not sure to 95% yet: 14% of the evidence that is needed. …",
    },
    "headline": "0 leads; not 95% sure yet.",
    "intervals": {
        "components": [[0.02, 1.0], [0.0, 0.98], [0.0, 0.98]],
        "arms": [[0.02, 1.0], [0.0, 0.98], [0.0, 0.98]],
        "differences": [None, [-1.0, 0.94], [-1.0, 0.94]],
    },
    "exploration": {"regret": None, "bound": None, "gaps": None},
    "timeline": {
        "ends": [1, 2, 3],
        "rounds": [1, 1, 1],
        "asked": [MADE + 1, MADE + 2, MADE + 3],
        "phases": {"exploit": [0, 0, 0], "estimate": [1, 1, 1], "explore": [0, 0, 0]},
        "regret": None,
    },
}
SHORT: dict[str, Any] = {
    key: CAMPAIGN[key]
    for key in (
        *("name", "instance", "policy", "seed", "created", "closed", "rounds", "pending"),
        *("events", "phases", "arms", "retired", "plays", "means", "components", "leader"),
    )
} | {"structure": "classical"}
LISTED: dict[str, Any] = SHORT | {
    "rates": CAMPAIGN["rates"],
    "stop": CAMPAIGN["stop"],
    "as_of": MADE + 90,
}
DECISION: dict[str, Any] = {
    "id": "0-9f86d081",
    "arm": 0,
    "arm_name": "0",
    "phase": "estimate",
    "status": "told",
    "observation": 1.0,
    "asked": MADE,
    "told": MADE + 60,
}
TOKEN: dict[str, Any] = {
    "token": "ossb_…",
    "id": "9f86d081884c",
    "scope": "write",
    "campaign": "headlines",
    "created": MADE,
    "expires": MADE + 90 * 86400,
    "per_second": None,
    "per_day": None,
}
EVENT = (
    "id: 3\nevent: told\ndata: "
    '{"number": 3, "kind": "told", "time": 1794762901.6, "tells": [[0, 1.0]]}\n\n'
)
METRICS = "# TYPE ossb_campaigns gauge\nossb_campaigns 1\n"

CONTRASTS = {
    "contrasts": {
        "news over sport": {
            "delta": 0.05,
            "estimate": 0.31,
            "low": 0.12,
            "high": 0.5,
            "statistic": 5.2,
            "threshold": 2.995732273553991,
            "met": True,
        }
    }
}
