"""The programming interface, described for machines (OpenAPI 3.1)."""

from functools import cache
from importlib.metadata import version
from typing import Any

from ossb.service import examples

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
OBSERVATION = {
    "description": "A number; a list, one entry per item of the arm in their order, for "
    "semi-bandit feedback; for a duel 1 if the first item won, else 0; null for an arm that "
    "shows nothing.",
    "anyOf": [
        {"type": "number"},
        {"type": "array", "items": {"type": "number"}},
        {"type": "null"},
    ],
}
UNITS = "Arms by number; items, where arms are pairs of items or those of a set."
ARM = {
    "description": "A number; for a duel its two items; for a set of arms the sorted list of its "
    "items.",
    "anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}],
}


def _object(needed: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**needed, **(optional or {})},
        "required": list(needed),
        "additionalProperties": False,
    }


DECISION = {
    "type": "object",
    "properties": {
        "id": ID,
        "arm": ARM,
        "arm_name": {"type": "string"},
        "phase": {"enum": ["exploit", "estimate", "explore"]},
    },
}
TELL = _object({"id": ID, "observation": OBSERVATION})
ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "field": {"type": ["string", "null"]},
            },
        }
    },
}
CREATED = {
    "name": "headlines",
    "instance": {"structure": "classical", "observation": "bernoulli", "n_arms": 3},
    "policy": {"name": "hgl"},
    "seed": 1,
}
TOKEN = {key: value for key, value in examples.TOKEN.items() if key != "token"}
LASTS = {
    "type": "number",
    "exclusiveMinimum": 0,
    "description": "Seconds from now after which it is good no more.",
}
RATE = {
    "per_second": {"type": "number", "exclusiveMinimum": 0, "description": "Calls a second."},
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
        **_object(
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
    "description": "Stop at confidence 1 − delta.",
    "schema": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.05},
    "example": 0.05,
}
AFTER = {
    "name": "after",
    "in": "query",
    "description": "Events numbered above this one, where no Last-Event-ID is sent.",
    "schema": {"type": "integer", "minimum": 0},
    "example": 17,
}


def _answer(description: str, example: Any = None) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": {"type": "object"}}
    if example is not None:
        content["example"] = example
    return {"description": description, "content": {"application/json": content}}


def _text(description: str, kind: str, example: str) -> dict[str, Any]:
    content = {"schema": {"type": "string"}, "example": example}
    return {"description": description, "content": {kind: content}}


def _call(
    summary: str,
    answers: dict[str, Any],
    body: dict[str, Any] | None = None,
    example: Any = None,
    parameters: tuple[dict[str, Any], ...] = (),
) -> dict[str, Any]:
    call: dict[str, Any] = {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {
            **answers,
            "4XX": {"$ref": "#/components/responses/Error"},
            "503": {"$ref": "#/components/responses/Later"},
        },
    }
    if body is not None:
        content = {"application/json": {"schema": body, "example": example}}
        call["requestBody"] = {"required": True, "content": content}
    return call


@cache
def schema() -> dict[str, Any]:
    """The whole description."""
    of = "/v1/campaigns/{name}"
    created = _object(
        {"name": {"type": "string"}, "instance": {"type": "object"}, "policy": {"type": "object"}},
        {"seed": {"type": "integer", "minimum": 0}},
    )
    asked = _object(
        {},
        {
            "n": {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 1},
            "lease_seconds": {"type": "number", "exclusiveMinimum": 0, "default": 3600},
            "available": {
                "type": "array",
                "items": {"type": "integer"},
                "description": UNITS,
            },
        },
    )
    told = {"oneOf": [TELL, _object({"tells": {"type": "array", "items": TELL, "minItems": 1}})]}
    decision = {"id": "0-9f86d081", "arm": 2, "arm_name": "2", "phase": "estimate"}
    after = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "integer"}, "example": 17}
    paths: dict[str, Any] = {
        "/v1/campaigns": {
            "get": _call(
                "All campaigns",
                {"200": _answer("Campaigns", {"campaigns": [examples.LISTED]})},
                parameters=(BRIEF,),
            ),
            "post": _call(
                "Create a campaign (scope admin)",
                {
                    "201": _answer("Created", examples.CAMPAIGN),
                    "200": _answer("There was one with the same definition", examples.CAMPAIGN),
                },
                created,
                CREATED,
            ),
        },
        of: {
            "get": _call(
                "Where it stands; of a set of arms the most played ones",
                {"200": _answer("Campaign", examples.CAMPAIGN)},
                parameters=(NAME, DELTA),
            ),
        },
        f"{of}/ask": {
            "post": _call(
                "The next decisions (scope write)",
                {"200": _answer("Decisions, on disk", {"decisions": [decision]})},
                asked,
                {"n": 1, "lease_seconds": 600},
                (NAME, KEY),
            )
        },
        f"{of}/tell": {
            "post": _call(
                "What decisions showed, all or nothing (scope write)",
                {"200": _answer("Recorded, on disk", RESULTS)},
                told,
                {"id": "0-9f86d081", "observation": 1},
                (NAME,),
            )
        },
        f"{of}/void": {
            "post": _call(
                "Take a wrong tell back (scope write)",
                {"200": _answer("Taken back", VOIDED)},
                _object({"id": ID}),
                {"id": "0-9f86d081"},
                (NAME,),
            )
        },
        f"{of}/close": {
            "post": _call(
                "Take no more asks (scope admin)",
                {"200": _answer("Closed", {**examples.SHORT, "closed": True})},
                parameters=(NAME,),
            )
        },
        f"{of}/arms": {
            "post": _call(
                "Add an arm; with `number` never twice (scope admin)",
                {"201": _answer("Its number", {"arm": 3})},
                _object({"arm": {"type": "object"}}, {"number": {"type": "integer"}}),
                {"arm": {"name": "new"}, "number": 3},
                (NAME,),
            )
        },
        f"{of}/retire": {
            "post": _call(
                "Play an arm, or an item, no more (scope admin)",
                {"200": _answer("Retired", {"arm": 1, "status": "retired"})},
                _object({"arm": {"type": "integer"}}),
                {"arm": 1},
                (NAME,),
            )
        },
        f"{of}/import": {
            "post": _call(
                "Data from before, all or nothing, if event `after` is the newest (scope admin)",
                {"200": _answer("Taken in", {"rows": 2, "events": 2})},
                _object({"rows": {"type": "array"}, "after": {"type": "integer"}}, IMPORT),
                {"rows": [[0, 1], [2, 0]], "after": 1, "source": "log.csv"},
                (NAME,),
            )
        },
        f"{of}/decisions": {
            "get": _call(
                "Decisions with what was told",
                {"200": _answer("Decisions", {"decisions": [examples.DECISION]})},
                parameters=(
                    NAME,
                    {"name": "start", "in": "query", "schema": {"type": "integer"}},
                    {"name": "limit", "in": "query", "schema": {"type": "integer"}},
                ),
            )
        },
        f"{of}/events": {
            "get": _call(
                "The journal as server-sent events",
                {"200": _text("Events", "text/event-stream", examples.EVENT)},
                parameters=(NAME, after, AFTER),
            )
        },
        "/v1/tokens": {
            "get": _call(
                "Tokens that are good, without themselves (scope admin)",
                {"200": _answer("Tokens", {"tokens": [TOKEN]})},
            ),
            "post": _call(
                "Make a token (scope admin)",
                {"201": _answer("The token, seen once", examples.TOKEN)},
                _object(
                    {"scope": {"enum": ["read", "write", "admin"]}},
                    {"campaign": {"type": "string"}, "expires_in": LASTS, **RATE},
                ),
                {"scope": "write", "campaign": "headlines"},
            ),
        },
        "/v1/tokens/revoke": {
            "post": _call(
                "Take a token back, at once (scope admin)",
                {"200": _answer("Revoked", {"id": TOKEN["id"], "status": "revoked"})},
                _object({"id": {"type": "string", "description": "As listed."}}),
                {"id": TOKEN["id"]},
            )
        },
        "/v1/tokens/rotate": {
            "post": _call(
                "A token in the place of another, which ends (scope admin)",
                {"201": _answer("The token, seen once", examples.TOKEN)},
                _object(
                    {"id": {"type": "string", "description": "As listed."}},
                    {
                        "overlap": {
                            "type": "number",
                            "minimum": 0,
                            "description": "Seconds for which the one before is still good.",
                        },
                        "expires_in": LASTS,
                    },
                ),
                {"id": TOKEN["id"], "overlap": 60},
            )
        },
        "/healthz": {"get": _call("Liveness", {"200": _answer("Alive", {"status": "ok"})})},
        "/readyz": {
            "get": _call(
                "Readiness: whether the store can be read and written, every campaign opened, and "
                "a thread is free",
                {
                    "200": _answer("Ready", {"status": "ready", "problems": []}),
                    "503": _answer(
                        "Not ready, and why",
                        {"status": "not ready", "problems": ["the disk of the store is full: 0"]},
                    ),
                },
            )
        },
        "/metrics": {
            "get": _call(
                "Prometheus text (scope read)",
                {"200": _text("Metrics", "text/plain", examples.METRICS)},
            )
        },
        "/openapi.json": {"get": _call("This description", {"200": _answer("OpenAPI 3.1")})},
    }
    refused = {"error": {"code": "bad_input", "message": "`n` must be at least 1", "field": "n"}}
    content = {"application/json": {"schema": ERROR, "example": refused}}
    error = {"description": "Refused", "content": content}
    wait = {"description": "Seconds to wait.", "schema": {"type": "integer"}, "example": 1}
    later = {**error, "description": "Not now", "headers": {"Retry-After": wait}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "ossb campaigns", "version": version("ossb")},
        "paths": paths,
        "components": {
            "responses": {"Error": error, "Later": later},
            "schemas": {"Decision": DECISION},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }
