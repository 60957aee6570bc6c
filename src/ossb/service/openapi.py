"""The programming interface, described for machines (OpenAPI 3.1)."""

from functools import cache
from importlib.metadata import version
from typing import Any

from ossb.service import examples, schemas
from ossb.service.schemas import record

NAME = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "The campaign, percent-encoded.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    "example": "headlines",
}
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Asking again with the same key returns the same decisions.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    "example": "5f1c0c3e",
}
ID = {"type": "string", "description": "The id of a decision."}
UNITS = "Arms by number; items, where arms are pairs of items or those of a set."
TELL = record({"id": ID, "observation": schemas.OBSERVATION})
# what every call may be answered besides; some have more
REFUSALS = {
    "400": "Bad input: the field and what it must be are named, nothing has changed",
    "401": "No token, or none that is good",
    "403": "The token, or the page that calls, may not do this",
    "413": "The body is too large",
    "429": "The token has made as many calls as it may",
    "500": "The journal is not what was written, or an error of ours",
    "503": "Not now",
}
OPEN = {"400", "503"}  # of a call that anybody may make
OF_CAMPAIGN = {"404": "There is no such campaign, decision or path"}
SENT = {"408": "The body came too slowly"}
CONFLICT = {"409": "Something else is there, or came first"}
CLOSED = {"410": "The campaign is closed"}
LATER = ("429", "503")
WAIT = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
REQUEST = {"description": "The request, in logs and events too.", "schema": {"type": "string"}}
CREATED = {
    "name": "headlines",
    "instance": {"structure": "classical", "observation": "bernoulli", "n_arms": 3},
    "policy": {"name": "hgl"},
    "seed": 1,
}
TOKEN = {key: value for key, value in examples.TOKEN.items() if key != "token"}
LASTS = {
    "type": "number",
    "minimum": 1,
    "maximum": 315_360_000,
    "description": "Seconds from now after which it is good no more.",
}
RATE = {
    "per_second": {
        "type": "number",
        "minimum": 0.001,
        "maximum": 1_000_000,
        "description": "Calls a second.",
    },
    "per_day": {"type": "integer", "minimum": 1, "description": "Calls a day (UTC)."},
}
RESULTS = {"results": [{"id": "0-9f86d081", "status": "recorded"}]}
VOIDED = {"results": [{"id": "0-9f86d081", "status": "voided"}]}
IMPORT = {
    "source": {"type": "string"},
    "once": {
        "type": "boolean",
        "description": "Nothing where the newest event took in as many rows of the same source.",
    },
    "part": {
        **record(
            {
                "upload": {"type": "string", "minLength": 1, "maxLength": 100},
                "number": {"type": "integer", "minimum": 0},
                "last": {"type": "boolean"},
            }
        ),
        "description": "Where the rows come in several calls: which one this is, from 0 on. None "
        "counts before the last is there; errors count rows over all of them.",
    },
}
SWITCHED = record({"policy": schemas.DEFINED["policy"], "status": {"const": "switched"}})
ADDED_CONTEXT = record({"context": schemas.COUNT})
NEXT_CONTEXT = {
    "type": "integer",
    "minimum": 0,
    "description": "The number that it shall have: 409 where that is another's already.",
}
RETIRED = record({"arm": schemas.COUNT, "status": {"const": "retired"}})
TAKEN = record({"rows": schemas.COUNT, "events": schemas.COUNT})
REVOKED = record({"id": schemas.TEXT, "status": {"const": "revoked"}})
ALIVE = record({"status": {"const": "ok"}})
BRIEF = {
    "name": "brief",
    "in": "query",
    "description": "Without rates and stop, which take time to work out.",
    "schema": {"type": "boolean", "default": False},
    "example": True,
}
DELTA = {
    "name": "delta",
    "in": "query",
    "description": "Stop at confidence 1 − delta; by default that of the policy, where it is to "
    "end, else 0.05.",
    "schema": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "example": 0.05,
}
EPSILON = {
    "name": "epsilon",
    "in": "query",
    "description": "Stop at an arm within epsilon of the best; by default that of the policy, "
    "where it is to end, else 0.",
    "schema": {"type": "number", "minimum": 0},
    "example": 0.01,
}
AFTER = {
    "name": "after",
    "in": "query",
    "description": "Events numbered above this one, where no Last-Event-ID is sent.",
    "schema": {"type": "integer", "minimum": 0},
    "example": 17,
}

OF = "/v1/campaigns/{name}"
CREATES = record(
    {"name": {"type": "string"}, "instance": {"type": "object"}, "policy": {"type": "object"}},
    {"seed": {"type": "integer", "minimum": 0}},
)
ASKS = record(
    {},
    {
        "n": {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 1},
        "lease_seconds": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 315_360_000,
            "default": 3600,
        },
        "available": {
            "type": "array",
            "items": {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]},
            "description": f"{UNITS} Where there are contexts, numbers or names there.",
        },
        "context": {
            "oneOf": [{"type": "integer", "minimum": 0}, {"type": "string"}],
            "description": "Who asks, by number or name, where the instance has contexts.",
        },
        "features": {
            "type": "array",
            "minItems": 1,
            "maxItems": 10_000,
            "items": schemas.lists(schemas.NUMBER),
            "description": "Rows to choose from, in the place of the instance's; linear and "
            "generalised linear arms. A decision's arm is the place of its row.",
        },
    },
)
TELLS = {"oneOf": [TELL, record({"tells": {"type": "array", "items": TELL, "minItems": 1}})]}
DECIDED = {"decisions": [{"id": "0-9f86d081", "arm": 2, "arm_name": "2", "phase": "estimate"}]}
LAST_EVENT = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "integer"}, "example": 17}


def _answer(description: str, schema: dict[str, Any], example: Any = None) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": schema}
    if example is not None:
        content["example"] = example
    return _headed({"description": description, "content": {"application/json": content}})


def _text(description: str, kind: str, example: str) -> dict[str, Any]:
    content = {"schema": {"type": "string"}, "example": example}
    return _headed({"description": description, "content": {kind: content}})


def _headed(answer: dict[str, Any], *more: str) -> dict[str, Any]:
    return {**answer, "headers": {"X-Request-Id": REQUEST, **dict.fromkeys(more, WAIT)}}


def _refused(status: str, description: str) -> dict[str, Any]:
    refused = {"error": {"code": "bad_input", "message": "`n` must be at least 1", "field": "n"}}
    content = {"application/json": {"schema": schemas.ERROR, "example": refused}}
    answer = {"description": description, "content": content}
    return _headed(answer, "Retry-After") if status in LATER else _headed(answer)


def _call(
    summary: str,
    answers: dict[str, Any],
    body: dict[str, Any] | None = None,
    example: Any = None,
    parameters: tuple[dict[str, Any], ...] = (),
    *,
    more: dict[str, str] | None = None,
    anybody: bool = False,
) -> dict[str, Any]:
    """A call; ``more`` statuses than all calls have, and whether anybody may make it."""
    known = {**REFUSALS, **(more or {})}
    if any(parameter is NAME for parameter in parameters):
        known |= OF_CAMPAIGN
    if body is not None:
        known |= SENT
    call: dict[str, Any] = {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {
            **answers,
            **{
                status: _refused(status, known[status])
                for status in sorted(known)
                if status not in answers and (not anybody or status in OPEN)
            },
        },
    }
    if anybody:
        call["security"] = []
    if body is not None:
        content = {"application/json": {"schema": body, "example": example}}
        # where no key is needed, no body is needed
        needed = bool(body.get("required")) or "oneOf" in body
        call["requestBody"] = {"required": needed, "content": content}
    return call


def _campaigns() -> dict[str, Any]:
    """All campaigns."""
    return {
        "/v1/campaigns": {
            "get": _call(
                "All campaigns",
                {"200": _answer("Campaigns", schemas.LIST, {"campaigns": [examples.LISTED]})},
                parameters=(BRIEF,),
            ),
            "post": _call(
                "Create a campaign (scope admin)",
                {
                    "201": _answer("Created", schemas.CAMPAIGN, examples.CAMPAIGN),
                    "200": _answer(
                        "There was one with the same definition",
                        schemas.CAMPAIGN,
                        examples.CAMPAIGN,
                    ),
                },
                CREATES,
                CREATED,
                more=CONFLICT,
            ),
        },
    }


def _playing() -> dict[str, Any]:
    """What plays: who decides, and what was seen."""
    return {
        f"{OF}/ask": {
            "post": _call(
                "The next decisions (scope write)",
                {"200": _answer("Decisions, on disk", schemas.DECISIONS, DECIDED)},
                ASKS,
                {"n": 1, "lease_seconds": 600},
                (NAME, KEY),
                more=CLOSED,
            )
        },
        f"{OF}/tell": {
            "post": _call(
                "What decisions showed, all or nothing (scope write)",
                {"200": _answer("Recorded, on disk", schemas.RESULTS, RESULTS)},
                TELLS,
                {"id": "0-9f86d081", "observation": 1},
                (NAME,),
                more=CONFLICT,
            )
        },
        f"{OF}/void": {
            "post": _call(
                "Take a wrong tell back (scope write)",
                {"200": _answer("Taken back", schemas.RESULTS, VOIDED)},
                record({"id": ID}),
                {"id": "0-9f86d081"},
                (NAME,),
            )
        },
        f"{OF}/close": {
            "post": _call(
                "Take no more asks (scope admin)",
                {"200": _answer("Closed", schemas.SHORT, {**examples.SHORT, "closed": True})},
                record({}),
                {},
                (NAME,),
            )
        },
    }


def _changing() -> dict[str, Any]:
    """What changes a campaign."""
    return {
        f"{OF}/arms": {
            "post": _call(
                "Add an arm; with `number` never twice (scope admin)",
                {"201": _answer("Its number", record({"arm": schemas.COUNT}), {"arm": 3})},
                record({"arm": {"type": "object"}}, {"number": {"type": "integer"}}),
                {"arm": {"name": "new"}, "number": 3},
                (NAME,),
                more=CONFLICT | CLOSED,
            )
        },
        f"{OF}/contexts": {
            "post": _call(
                "A context, or a segment, more; what was learnt is kept (scope admin)",
                {"201": _answer("Added", ADDED_CONTEXT, {"context": 2})},
                record({"context": {"type": "object"}}, {"number": NEXT_CONTEXT}),
                {"context": {"name": "tablet", "arms": [[1.0, 0.5]]}, "number": 2},
                (NAME,),
                more=CONFLICT | CLOSED,
            )
        },
        f"{OF}/retire": {
            "post": _call(
                "Play an arm, or an item, no more (scope admin)",
                {"200": _answer("Retired", RETIRED, {"arm": 1, "status": "retired"})},
                record({"arm": {"type": "integer"}}),
                {"arm": 1},
                (NAME,),
            )
        },
        f"{OF}/switch": {
            "post": _call(
                "Play by another policy from here on; what was learnt is kept (scope admin)",
                {
                    "200": _answer(
                        "Switched", SWITCHED, {"policy": {"name": "hgl"}, "status": "switched"}
                    )
                },
                record({"policy": {"type": ["string", "object"]}}),
                {"policy": "hgl"},
                (NAME,),
                more=CLOSED,
            )
        },
        f"{OF}/import": {
            "post": _call(
                "Data from before, all or nothing, if event `after` is the newest (scope admin)",
                {"200": _answer("Taken in", TAKEN, {"rows": 2, "events": 2})},
                record({"rows": {"type": "array"}, "after": {"type": "integer"}}, IMPORT),
                {"rows": [[0, 1], [2, 0]], "after": 1, "source": "log.csv"},
                (NAME,),
                more=CONFLICT | CLOSED,
            )
        },
    }


def _reading() -> dict[str, Any]:
    """What a campaign says."""
    return {
        OF: {
            "get": _call(
                "Where it stands; of a set of arms the most played ones",
                {"200": _answer("Campaign", schemas.CAMPAIGN, examples.CAMPAIGN)},
                parameters=(NAME, DELTA, EPSILON),
            ),
        },
        f"{OF}/contrasts": {
            "post": _call(
                "What is sure of contrasts of features, all together (scope read)",
                {"200": _answer("Contrasts", schemas.CONTRASTS, examples.CONTRASTS)},
                record(
                    {
                        "contrasts": {
                            "type": "object",
                            "additionalProperties": schemas.lists(schemas.NUMBER),
                        }
                    },
                    {"delta": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}},
                ),
                {"contrasts": {"news over sport": [1.0, -1.0]}, "delta": 0.05},
                (NAME,),
            )
        },
        f"{OF}/decisions": {
            "get": _call(
                "Decisions with what was told",
                {"200": _answer("Decisions", schemas.HISTORY, {"decisions": [examples.DECISION]})},
                parameters=(
                    NAME,
                    {
                        "name": "start",
                        "in": "query",
                        "description": "A number; from the end where it is negative.",
                        "schema": {"type": "integer", "default": 0},
                    },
                    {
                        "name": "limit",
                        "in": "query",
                        "schema": {
                            "type": "integer",
                            "minimum": 1,
                            "maximum": 1000,
                            "default": 100,
                        },
                    },
                ),
            )
        },
        f"{OF}/events": {
            "get": _call(
                "The journal as server-sent events",
                {"200": _text("Events", "text/event-stream", examples.EVENT)},
                parameters=(NAME, LAST_EVENT, AFTER),
            )
        },
    }


def _tokens() -> dict[str, Any]:
    """Who may call."""
    return {
        "/v1/tokens": {
            "get": _call(
                "Tokens that are good, without themselves (scope admin)",
                {"200": _answer("Tokens", schemas.TOKENS, {"tokens": [TOKEN]})},
            ),
            "post": _call(
                "Make a token (scope admin)",
                {"201": _answer("The token, seen once", schemas.TOKEN, examples.TOKEN)},
                record(
                    {"scope": {"enum": ["read", "write", "admin"]}},
                    {"campaign": {"type": "string"}, "expires_in": LASTS, **RATE},
                ),
                {"scope": "write", "campaign": "headlines"},
            ),
        },
        "/v1/tokens/revoke": {
            "post": _call(
                "Take a token back, at once (scope admin)",
                {"200": _answer("Revoked", REVOKED, {"id": TOKEN["id"], "status": "revoked"})},
                record({"id": {"type": "string", "description": "As listed."}}),
                {"id": TOKEN["id"]},
            )
        },
        "/v1/tokens/rotate": {
            "post": _call(
                "A token in the place of another, which ends (scope admin)",
                {"201": _answer("The token, seen once", schemas.TOKEN, examples.TOKEN)},
                record(
                    {"id": {"type": "string", "description": "As listed."}},
                    {
                        "overlap": {
                            "type": "number",
                            "minimum": 0,
                            "maximum": 315_360_000,
                            "description": "Seconds for which the one before is still good.",
                        },
                        "expires_in": LASTS,
                    },
                ),
                {"id": TOKEN["id"], "overlap": 60},
            )
        },
    }


def _service() -> dict[str, Any]:
    """The service itself."""
    return {
        "/healthz": {
            "get": _call(
                "Liveness",
                {"200": _answer("Alive", ALIVE, {"status": "ok"})},
                anybody=True,
            )
        },
        "/readyz": {
            "get": _call(
                "Readiness: whether the store can be read and written, every campaign opened, and "
                "a thread is free",
                {
                    "200": _answer("Ready", schemas.READINESS, {"status": "ready", "problems": []}),
                    "503": _answer(
                        "Not ready, and why",
                        schemas.READINESS,
                        {"status": "not ready", "problems": ["the disk of the store is full: 0"]},
                    ),
                },
                anybody=True,
            )
        },
        "/metrics": {
            "get": _call(
                "Prometheus text (scope read)",
                {"200": _text("Metrics", "text/plain", examples.METRICS)},
            )
        },
        "/openapi.json": {
            "get": _call(
                "This description",
                {"200": _answer("OpenAPI 3.1", {"type": "object"})},
                anybody=True,
            )
        },
    }


@cache
def schema() -> dict[str, Any]:
    """The whole description."""
    parts = (_campaigns, _reading, _playing, _changing, _tokens, _service)
    return {
        "openapi": "3.1.0",
        "info": {"title": "ossb campaigns", "version": version("ossb")},
        "paths": {path: calls for part in parts for path, calls in part().items()},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }
