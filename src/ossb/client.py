"""A client of ``ossb serve`` that retries safely; it needs the standard library only.

What may have happened although the answer was lost is repeated under the same idempotency key
or decision id, so that nothing happens twice.  What a campaign refuses is raised here as the
campaign raises it in process: the same class, with the same fields and the same text.
"""

import http.client
import json
import math
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import quote, urlsplit

from . import errors  # relative: `ossb-client` ships these files under its own name
from .errors import InputError, OssbError, Unavailable
from .pairs import as_pairs, as_rows, id_of

AGAIN = (408, 429, 502, 503, 504)  # statuses after which the same call may succeed
ROWS, PART = 10_000, 900_000  # rows and bytes of data from before, in one call
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0

JITTER = random.Random()  # a stream of its own: the caller's seeds are the caller's


class Decision(NamedTuple):
    """What to do next."""

    id: str
    arm: int | list[int]
    arm_name: str
    phase: str


class ServiceError(OssbError):
    """The service refused what no campaign would: ``status``, ``code``, ``field``, its message.

    A token that is missing or may not do this, a limit of the service, an answer of something
    else.
    """

    def __init__(self, status: int, code: str, message: str, field: str | None) -> None:
        super().__init__(message)
        self.status, self.code, self.field = status, code, field


class Unreachable(Unavailable):
    """The service did not answer for as long as was allowed."""


class Client:
    """Calls a service; one connection, not to be shared between threads.

    Parameters
    ----------
    url
        As in ``http://127.0.0.1:8090``.
    token
        Sent as ``Authorization: Bearer``.
    timeout
        Seconds to wait for one answer.
    patience
        Seconds to go on retrying for; a service that restarts is back within a few.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError("storage", "be http://HOST:PORT", url)
        self._kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._token = token
        self._timeout, self._patience, self._sleep = timeout, patience, sleep
        self._connection: http.client.HTTPConnection | None = None
        self._repeats = 0  # calls made again, their answer being lost

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def create(
        self,
        name: str,
        instance: Mapping[str, Any],
        policy: str | Mapping[str, Any] = "hgl",
        seed: int = 0,
    ) -> dict[str, Any]:
        """Create a campaign; one with the same definition may be there already."""
        chosen = {"name": policy} if isinstance(policy, str) else dict(policy)
        body = {"name": name, "instance": dict(instance), "policy": chosen, "seed": seed}
        return self._call("POST", "/v1/campaigns", body)

    def campaigns(self, brief: bool = False) -> list[dict[str, Any]]:
        """All campaigns; ``brief`` leaves out rates and whether one may stop."""
        path = f"/v1/campaigns?brief={str(brief).lower()}"
        found: list[dict[str, Any]] = self._call("GET", path)["campaigns"]
        return found

    def campaign(
        self, name: str, delta: float | None = None, epsilon: float | None = None
    ) -> dict[str, Any]:
        """Where a campaign stands; whether to stop at δ and ε, else at those of its own."""
        given = {"delta": delta, "epsilon": epsilon}
        asked = [f"{key}={float(value)!r}" for key, value in given.items() if value is not None]
        return self._call("GET", _path(name) + ("?" + "&".join(asked) if asked else ""))

    def ask(
        self,
        name: str,
        n: int = 1,
        *,
        lease_seconds: float | None = None,
        available: Iterable[int] | None = None,
        context: int | str | None = None,
        features: Any = None,
        key: str | None = None,
    ) -> list[Decision]:
        """The next decisions; a repeated call under the same key returns the same."""
        body: dict[str, Any] = {"n": n}
        if lease_seconds is not None:
            body["lease_seconds"] = lease_seconds
        if available is not None:
            whole = isinstance(available, str | bytes | Mapping)
            lists = isinstance(available, Iterable) and not whole
            body["available"] = list(available) if lists else available
        if context is not None:
            body["context"] = context
        if features is not None:
            body["features"] = _plain_rows(features)
        answer = self._call("POST", _path(name, "ask"), body, key or uuid.uuid4().hex)
        return [Decision(**decision) for decision in answer["decisions"]]

    def tell(self, name: str, id: Any, observation: Any) -> str:
        """Tell what a decision showed: ``recorded``, or ``same`` if it was told already.

        The decision is given by its id, or as ``ask`` answered it.
        """
        body = {"id": id_of(id), "observation": observation}
        answer = self._call("POST", _path(name, "tell"), body)
        return str(answer["results"][0]["status"])

    def tell_many(self, name: str, tells: Iterable[tuple[str, Any]]) -> list[str]:
        """Tell several, all or nothing."""
        pairs = as_pairs(tells, "tells", "an id and an observation")
        if not pairs:
            return []
        told = [{"id": id_of(id_), "observation": value} for id_, value in pairs]
        body: dict[str, Any] = told[0] if len(told) == 1 else {"tells": told}
        answer = self._call("POST", _path(name, "tell"), body)
        return [result["status"] for result in answer["results"]]

    def void(self, name: str, id: str) -> str:
        """Take a wrong tell back: ``voided``, or ``same`` if it was taken back already."""
        answer = self._call("POST", _path(name, "void"), {"id": id})
        return str(answer["results"][0]["status"])

    def close_campaign(self, name: str) -> None:
        """Take no more asks, for good."""
        self._call("POST", _path(name, "close"), {})

    def add_arm(self, name: str, arm: Mapping[str, Any] | None = None) -> int:
        """Add an arm; ``Conflict`` where another was added meanwhile, or this one was."""
        stands = self.campaign(name)
        arms = [entry["arm"] for entry in stands["arms"]]
        pairs = [arm for arm in arms if isinstance(arm, list)]  # of items, where arms are duels
        number = 1 + max(max(pair) for pair in pairs) if pairs else len(arms)
        body = {"arm": dict(arm or {}), "number": number}
        return int(self._call("POST", _path(name, "arms"), body)["arm"])

    def add_context(self, name: str, context: Mapping[str, Any]) -> int:
        """Add a context, or a segment; ``Conflict`` where another was added meanwhile."""
        instance = self.campaign(name)["instance"]
        number = len(instance.get("contexts", instance.get("segments", ())))
        body = {"context": dict(context), "number": number}
        return int(self._call("POST", _path(name, "contexts"), body)["context"])

    def retire_arm(self, name: str, arm: int) -> None:
        """Play an arm no more; what it showed is kept."""
        self._call("POST", _path(name, "retire"), {"arm": arm})

    def contrasts(
        self, name: str, named: Mapping[str, Any], delta: float | None = None
    ) -> dict[str, dict[str, Any]]:
        """What is sure of ⟨φ, c⟩ for rows c that you name, all of them together."""
        rows = {called: _plain_rows(row) for called, row in named.items()}
        body: dict[str, Any] = {"contrasts": rows}
        if delta is not None:
            body["delta"] = delta
        found: dict[str, Any] = self._call("POST", _path(name, "contrasts"), body)
        return dict(found["contrasts"])

    def switch(self, name: str, policy: str | Mapping[str, Any]) -> dict[str, Any]:
        """Play by another policy from here on; returns it."""
        wanted = policy if isinstance(policy, str) else dict(policy)
        found: dict[str, Any] = self._call("POST", _path(name, "switch"), {"policy": wanted})
        return dict(found["policy"])

    def import_rows(
        self, name: str, rows: Iterable[tuple[Any, Any]], source: str = "", once: bool = False
    ) -> int:
        """Take in data from before, all or nothing; returns how many rows.

        ``Conflict`` where the campaign moves meanwhile.  With ``once``, none where the
        newest event took in as many rows from the same ``source``.
        """
        parts = _parts(as_rows(rows))
        taken, upload = 0, uuid.uuid4().hex
        after = self.campaign(name)["events"]
        for number, pairs in enumerate(parts):
            part = {"upload": upload, "number": number, "last": number == len(parts) - 1}
            body = {"rows": pairs, "after": after, "source": source, "once": once, "part": part}
            taken = int(self._call("POST", _path(name, "import"), body)["rows"])
        return taken

    def history(self, name: str, start: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """Decisions with what was told, from number ``start`` on."""
        path = f"{_path(name, 'decisions')}?start={start}&limit={limit}"
        found: list[dict[str, Any]] = self._call("GET", path)["decisions"]
        return found

    def create_token(
        self,
        scope: str,
        campaign: str | None = None,
        *,
        expires_in: float | None = None,
        per_second: float | None = None,
        per_day: int | None = None,
    ) -> str:
        """A new token.  Not asked for again if the answer is lost: that would make a second one.

        Parameters
        ----------
        expires_in
            Seconds after which it is good no more.
        per_second, per_day
            Calls that it may make.
        """
        limits = {"expires_in": expires_in, "per_second": per_second, "per_day": per_day}
        given = {"scope": scope, "campaign": campaign, **limits}
        body = {key: value for key, value in given.items() if value is not None}
        return str(self._call("POST", "/v1/tokens", body, once=True)["token"])

    def rotate_token(
        self, id: str, *, overlap: float | None = None, expires_in: float | None = None
    ) -> str:
        """A new token in the place of another; not asked for again, as for a new one.

        Parameters
        ----------
        overlap
            Seconds for which the one before is still good.
        expires_in
            As of a new token; by default as long as the one before had.
        """
        given = {"id": id, "overlap": overlap, "expires_in": expires_in}
        body = {key: value for key, value in given.items() if value is not None}
        return str(self._call("POST", "/v1/tokens/rotate", body, once=True)["token"])

    def tokens(self) -> list[dict[str, Any]]:
        """The tokens that are good: id, scope, campaign, when each was made and when it ends."""
        found: list[dict[str, Any]] = self._call("GET", "/v1/tokens")["tokens"]
        return found

    def revoke_token(self, id: str) -> None:
        """Take a token back, by its id in the list; one that is not there any more is no error."""
        repeats = self._repeats
        try:
            self._call("POST", "/v1/tokens/revoke", {"id": id})
        except (InputError, ServiceError) as error:
            other = isinstance(error, ServiceError) and error.status != 400
            if other or self._repeats == repeats:
                raise  # else an earlier attempt, whose answer was lost, has done it

    def _call(
        self, method: str, path: str, body: Any = None, key: str | None = None, once: bool = False
    ) -> dict[str, Any]:
        headers = {"Accept": "application/json", "Prefer": "errors=raised"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        if key is not None:
            headers["Idempotency-Key"] = key
        content = None
        if body is not None:
            content = _written(body)
            headers["Content-Type"] = "application/json"
        deadline = time.monotonic() + self._patience
        pause = FIRST_PAUSE
        while True:
            try:
                status, answer, wait = self._once(method, self._prefix + path, content, headers)
                if status not in AGAIN:
                    return _read(status, answer)
                failure, refused = f"status {status}", _refused(status, answer)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                failure, wait = f"{type(error).__name__}: {error}", 0.0
                refused = None
            if once or time.monotonic() + max(pause, wait) > deadline:
                if refused is not None:
                    raise refused
                where = f"{self._host}:{self._port}"
                raise Unreachable(f"the service at {where} does not answer: {failure}")
            self._repeats += 1
            # spread out, so that many clients do not come back all at once
            self._sleep(max(wait, pause * (0.5 + JITTER.random() / 2)))
            pause = min(2 * pause, LONGEST_PAUSE)

    def _once(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes, float]:
        if self._connection is None:
            self._connection = self._kind(self._host, self._port, timeout=self._timeout)
        self._connection.request(method, path, content, headers)
        response = self._connection.getresponse()
        answer = response.read()
        if response.will_close:
            self.close()
        wait = response.getheader("Retry-After", "0")
        return response.status, answer, float(wait) if wait.isdigit() else 0.0


def _written(body: Any) -> bytes:
    """A body as JSON; numbers of numpy count as what they are."""
    try:
        return json.dumps(body, allow_nan=False, default=lambda value: value.tolist()).encode()
    except ValueError:
        where, value = next(_endless(body, ""))
        raise InputError(where, "be finite", value) from None
    except (AttributeError, TypeError) as error:
        raise InputError("observation", f"be a number or a list of numbers: {error}") from None


def _endless(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """What JSON cannot say, with its place."""
    if isinstance(value, Mapping):
        for key, inside in value.items():
            yield from _endless(inside, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list | tuple):
        for i, inside in enumerate(value):
            yield from _endless(inside, f"{where}[{i}]")
    elif hasattr(value, "tolist"):
        yield from _endless(value.tolist(), where)
    elif isinstance(value, float) and not math.isfinite(value):
        yield where, value


def _parts(rows: Iterable[tuple[Any, Any]]) -> list[list[list[Any]]]:
    """Rows in the pieces that one call each may have."""
    parts: list[list[list[Any]]] = []
    room = 0
    for i, (arm, observation) in enumerate(rows):
        pair = [arm, observation]
        for where, value in _endless({"arm": arm, "observation": observation}, f"rows[{i}]"):
            raise InputError(where, "be finite", value)
        try:
            size = len(_written(pair)) + 2
        except InputError as error:
            raise InputError(f"rows[{i}].{error.field}", error.must) from None
        if not parts or size > room or len(parts[-1]) == ROWS:
            parts.append([])
            room = PART
        parts[-1].append(pair)
        room -= size
    return parts


def _plain_rows(rows: Any) -> Any:
    """Rows as JSON has them: of arrays the lists."""
    if hasattr(rows, "tolist"):
        return rows.tolist()
    return [_plain_rows(row) for row in rows] if isinstance(rows, list | tuple) else rows


def _path(name: str, rest: str = "") -> str:
    return f"/v1/campaigns/{quote(name, safe='')}" + (f"/{rest}" if rest else "")


def _read(status: int, answer: bytes) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(answer)
    except ValueError:
        raise ServiceError(status, "not_json", "the service did not answer in JSON", None) from None
    if status >= 400:
        raise _error(status, found.get("error", {}))
    return found


def _refused(status: int, answer: bytes) -> OssbError | None:
    """The error of an answer after which one may try again, where it says more than that."""
    try:
        found = _error(status, json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return None if isinstance(found, ServiceError) and found.status != 429 else found


def _error(status: int, error: Mapping[str, Any]) -> OssbError:
    """What a campaign raised, as it raised it; else what the service says."""
    code, message = error.get("code", ""), error.get("message", f"status {status}")
    raised: Mapping[str, Any] = error.get("raised", {"kinds": ()})
    for name in raised["kinds"]:
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, OssbError):
            found = kind.__new__(kind)
            found.args = (raised["message"],)
            found.__dict__.update(raised["held"])
            return found
    return ServiceError(status, code, message, error.get("field"))
