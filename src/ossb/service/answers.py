"""What goes back: documents, and errors as ``{"error": {"code", "message", "field"}}``."""

import re
from typing import Any, TypeVar

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


def ending() -> Refusal:
    """The answer to who calls while the server goes."""
    message = "the server is ending"
    return Refusal(503, "stopping", message, None, {"Retry-After": RETRY_AFTER})


def document(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON document."""
    text = msgspec.json.encode(content, enc_hook=_plain)
    return Response(text, status, headers, media_type="application/json")


def _plain(value: Any) -> Any:
    """What a number of numpy stands for."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def refusal(error: OssbError, whole: bool = False) -> Response:
    """The answer to what could not be done.

    Parameters
    ----------
    whole
        With what a campaign raised, for clients that raise it again.
    """
    known = as_refusal(error)
    content: dict[str, Any] = {"code": known.code, "message": str(known), "field": known.field}
    raised = error if known is not error else getattr(error, "raised", None)
    if raised is not None and whole:
        content["raised"] = as_raised(getattr(raised, "raised", raised))
    return document({"error": content}, known.status, known.headers)


def as_raised(error: OssbError) -> dict[str, Any]:
    """An error as a campaign raised it."""
    kinds = [kind.__name__ for kind in type(error).__mro__ if issubclass(kind, OssbError)]
    held = {key: value for key, value in vars(error).items() if isinstance(value, str | int)}
    return {"kinds": kinds, "message": str(error), "held": held}


Named = TypeVar("Named", bound=OssbError)


def for_caller(named: Named, error: OssbError) -> Named:
    """An error in the words of a call, standing for what a campaign raised."""
    named.__dict__["raised"] = error.__dict__.get("raised", error)
    return named


def within(where: str, error: InputError) -> InputError:
    """An error about something that stands within something else, named so."""
    message = str(error).replace(f"`{error.field}`", f"`{where}{error.field}`", 1)
    named = InputError(where + error.field, error.must)
    named.args = (message,)
    return for_caller(named, error)


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
