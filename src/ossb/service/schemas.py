"""What answers hold, for the description of the programming interface (JSON Schema)."""

from typing import Any

Schema = dict[str, Any]


def record(needed: Schema, optional: Schema | None = None, more: bool = False) -> Schema:
    """An object with these keys, and others only where there may be ``more``."""
    return {
        "type": "object",
        "properties": {**needed, **(optional or {})},
        "required": list(needed),
        "additionalProperties": more,
    }


def lists(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def or_none(known: Schema) -> Schema:
    """The schema of something known, or null."""
    return {"anyOf": [known, {"type": "null"}]}


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
TRUTH: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
MOMENT: Schema = {"type": "number", "description": "Seconds since the epoch, by the server."}
ARM: Schema = {
    "description": "A number; for a duel its two items; for a set of arms the sorted list of its "
    "items; where there are contexts its context and its number there.",
    "anyOf": [COUNT, lists(COUNT)],
}
LEADER: Schema = {
    "description": "An arm; where there are contexts the arm of each.",
    "anyOf": [*ARM["anyOf"], lists(lists(COUNT))],
}
PHASE: Schema = {"enum": ["exploit", "estimate", "explore"]}
STATUS: Schema = {"enum": ["pending", "told", "expired", "voided"]}
OBSERVATION: Schema = {
    "description": "A number; a list, one entry per item of the arm in their order, for "
    "semi-bandit feedback; for a duel 1 if the first item won, else 0; null for an arm that "
    "shows nothing.",
    "anyOf": [NUMBER, lists(NUMBER), {"type": "null"}],
}
MADE = {"id": TEXT, "arm": ARM, "arm_name": TEXT, "phase": PHASE}
DECISIONS = record({"decisions": lists(record(MADE))})
TOLD = {
    "status": STATUS,
    "observation": OBSERVATION,
    "asked": MOMENT,
    "told": or_none(MOMENT),
}
BROUGHT = {
    "features": {**lists(NUMBER), "description": "The row chosen, where the ask brought rows."}
}
HISTORY = record({"decisions": lists(record({**MADE, **TOLD}, BROUGHT))})
RESULTS = record(
    {"results": lists(record({"id": TEXT, "status": {"enum": ["recorded", "voided", "same"]}}))}
)
PHASES = record(dict.fromkeys(PHASE["enum"], COUNT))
DEFINED = {
    "name": TEXT,
    "instance": {"type": "object", "description": "The keys of an instance file."},
    "policy": record({"name": TEXT}, more=True),
    "seed": COUNT,
    "created": MOMENT,
    "closed": TRUTH,
}
COUNTED = {
    "events": COUNT,
    "arms": lists(record({"arm": ARM, "arm_name": TEXT})),
    "retired": lists(COUNT),
    "plays": lists(COUNT),
    "means": lists(or_none(NUMBER)),
    "components": record({"counts": lists(COUNT), "means": lists(or_none(NUMBER))}),
    "rounds": COUNT,
    "phases": PHASES,
    "pending": COUNT,
    "leader": or_none(LEADER),
}
OF_SETS = {"arms_played": {**COUNT, "description": "Of a set of arms: how many were played."}}
RATES = record(
    {
        "value": or_none(NUMBER),
        "rates": or_none(lists(record({"arm": ARM, "rate": NUMBER}))),
    },
    {
        "reason": {"type": "string", "description": "Why there are none."},
        "lower": NUMBER,
        "upper": NUMBER,
        "best_arm": LEADER,
        "status": {"enum": ["certified", "heuristic"]},
        "certificate": or_none({"type": "object"}),
    },
)
STOP = record(
    {
        "delta": NUMBER,
        "epsilon": NUMBER,
        "statistic": or_none(NUMBER),
        "threshold": or_none(NUMBER),
        "met": TRUTH,
        "arm": or_none(ARM),
        "runner_up": or_none(ARM),
    },
    {
        "reason": TEXT,
        "answer": {
            "description": "What is asked for where it is not the best arm.",
            "anyOf": [record({"top": COUNT}), record({"above": NUMBER})],
        },
        "chosen": or_none(lists(ARM)),
        "left": or_none(record({"rounds": COUNT, "low": COUNT, "high": COUNT})),
        "sentence": {
            **TEXT,
            "description": "Which arm and how sure, or how long still.",
        },
    },
)
CONTRASTS = record(
    {
        "contrasts": {
            "type": "object",
            "additionalProperties": record(
                {
                    "delta": NUMBER,
                    "estimate": or_none(NUMBER),
                    "low": or_none(NUMBER),
                    "high": or_none(NUMBER),
                    "statistic": NUMBER,
                    "threshold": NUMBER,
                    "met": TRUTH,
                },
                {"reason": TEXT},
            ),
        }
    }
)
ENDS: Schema = or_none({"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2})
INTERVALS = or_none(
    record(
        {
            "components": lists(ENDS),
            "arms": or_none(lists(ENDS)),
            "differences": {
                **or_none(lists(ENDS)),
                "description": "Every arm less the leader; all right together, at all times.",
            },
        }
    )
)
CAMPAIGN = record(
    {
        **DEFINED,
        **COUNTED,
        "decisions": record(dict.fromkeys(STATUS["enum"], COUNT)),
        "rates": RATES,
        "stop": STOP,
        "headline": {**TEXT, "description": "All of it in one plain sentence."},
        "intervals": INTERVALS,
        "exploration": record(
            {
                "regret": or_none(NUMBER),
                "bound": or_none(NUMBER),
                "gaps": or_none(lists(or_none(NUMBER))),
            }
        ),
        "timeline": record(
            {
                "ends": lists(COUNT),
                "rounds": lists(COUNT),
                "asked": lists(MOMENT),
                "phases": record(dict.fromkeys(PHASE["enum"], lists(COUNT))),
                "regret": or_none(lists(NUMBER)),
            }
        ),
    },
    OF_SETS,
)
SHORT = record({**DEFINED, **COUNTED, "structure": TEXT}, OF_SETS)
# in a list, of one that is damaged, or busy and never seen, only these are known
KNOWN = ("name", "policy", "closed", "events", "rounds", "pending")
ENTRY = record(
    {
        **{
            key: known if key in KNOWN else or_none(known)
            for key, known in {**DEFINED, **COUNTED}.items()
        },
        "structure": TEXT,
        "as_of": or_none(MOMENT),
    },
    {**OF_SETS, "rates": or_none(RATES), "stop": or_none(STOP), "error": TEXT},
)
LIST = record({"campaigns": lists(ENTRY)})
LISTED_TOKEN = {
    "id": TEXT,
    "scope": {"enum": ["read", "write", "admin"]},
    "campaign": or_none(TEXT),
    "created": MOMENT,
    "expires": or_none(MOMENT),
    "per_second": or_none(NUMBER),
    "per_day": or_none(COUNT),
}
TOKEN = record({"token": TEXT, **LISTED_TOKEN})
TOKENS = record({"tokens": lists(record(LISTED_TOKEN))})
READINESS = record({"status": {"enum": ["ready", "not ready"]}, "problems": lists(TEXT)})
ERROR = record(
    {
        "error": record(
            {"code": TEXT, "message": TEXT, "field": or_none(TEXT)},
            {
                "raised": {
                    **record({"kinds": lists(TEXT), "message": TEXT, "held": {"type": "object"}}),
                    "description": "What a campaign raised; where `Prefer: errors=raised` is sent.",
                }
            },
        )
    }
)
