"""What goes back: documents, and errors as ``{"error": {"code", "message", "field"}}``."""

import re
from typing import Any

import msgspec
import numpy as np
from starlette.responses import Response

from ossb.campaigns import Closed, Conflict, Corrupt, Told, Unavailable, Unknown
from ossb.deadlines import OutOfTime
from ossb.errors import InputError, OssbError

RETRY_AFTER = "1"
_FIELD = re.compile(r"^`([^`]+)` must")


class Refusal(OssbError):
    """An answer other than the one asked for."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        field: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.field = status, code, field
        self.headers = headers or {}


def document(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON document."""
    text = msgspec.json.encode(content, enc_hook=_plain)
    return Response(text, status, headers, media_type="application/json")


def _plain(value: Any) -> Any:
    """What a number of numpy stands for."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def refusal(error: OssbError) -> Response:
    """The answer to what could not be done."""
    known = as_refusal(error)
    content = {"error": {"code": known.code, "message": str(known), "field": known.field}}
    return document(content, known.status, known.headers)


def within(where: str, error: InputError) -> InputError:
    """An error about something that stands within something else, named so."""
    message = str(error).replace(f"`{error.field}`", f"`{where}{error.field}`", 1)
    named = InputError(where + error.field, error.must)
    named.args = (message,)
    return named


def as_refusal(error: OssbError) -> Refusal:
    """Which status an error has."""
    message = str(error)
    if isinstance(error, Refusal):
        return error
    if isinstance(error, InputError):
        return Refusal(400, "bad_input", message, error.field)
    if isinstance(error, Unknown):
        named = _FIELD.match(message)
        if named:
            return Refusal(404, "unknown_decision", message, named.group(1))
        return Refusal(404, "unknown_campaign", message, "name")
    if isinstance(error, Told):
        return Refusal(409, "told", message, "observation")
    if isinstance(error, Conflict):
        return Refusal(409, "conflict", message, "name")
    if isinstance(error, Closed):
        return Refusal(410, "closed", message, "name")
    if isinstance(error, Unavailable):
        return Refusal(503, "unavailable", message, None, {"Retry-After": RETRY_AFTER})
    if isinstance(error, OutOfTime):
        return Refusal(503, "late", message, None, {"Retry-After": RETRY_AFTER})
    if isinstance(error, Corrupt):
        return Refusal(500, "corrupt", message)
    return Refusal(500, "failed", message)
