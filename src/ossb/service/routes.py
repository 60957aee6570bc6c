"""What each call of the programming interface does."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from starlette.responses import PlainTextResponse, Response

from ossb import deadlines
from ossb.campaigns import Campaign, Conflict, Told, Unknown
from ossb.campaigns.deciding import confidence
from ossb.campaigns.definition import NoSigma
from ossb.campaigns.document import judged, short, unjudged
from ossb.deadlines import OutOfTime
from ossb.errors import InputError
from ossb.fields import integer, number, text
from ossb.instances import from_dict
from ossb.service import sizes, strict
from ossb.service.answers import RETRY_AFTER, Refusal, as_refusal, document, for_caller, within
from ossb.service.call import BATCH, BODY, Call, decoded, too_large
from ossb.service.entries import UNSEEN, entry_of
from ossb.service.imports import read_part
from ossb.service.openapi import schema
from ossb.service.readiness import as_document
from ossb.service.registry import LATER
from ossb.service.stream import events

MOST_DECISIONS = 1000
SAYING = 0.1  # of the time of a creation, to say that the campaign is there
RESERVE = 0.25  # of the time of a document, for one without rates and stop
LIMITS = ("expires_in", "per_second", "per_day")  # of a token
ROTATION = ("overlap", "expires_in")
CREATING = "\x1fcreating"  # whose work it is before there is a campaign


class Route(NamedTuple):
    """A call, and the scope that it needs; None where anybody may."""

    handler: Callable[[Call], Awaitable[Response]]
    scope: str | None


async def create(call: Call) -> Response:
    body = await call.json()
    strict.keys(body, ("name", "instance", "policy"), ("seed",))
    name = text(body["name"], "name")
    call.service.check_campaign(call.grant, name)
    instance, policy = body["instance"], body["policy"]
    if not isinstance(instance, dict):
        raise InputError("instance", "be an object", instance)
    if isinstance(policy, dict) and "name" not in policy:
        raise InputError("policy.name", "be given")
    chosen = policy["name"] if isinstance(policy, dict) else policy
    text(chosen, "policy.name" if isinstance(policy, dict) else "policy")
    sizes.check(instance)
    registry = call.service.registry
    known = await call.wait_for(call.run(CREATING, _instance, instance))
    seed = body.get("seed", 0)
    with _naming_parameters(), call.leaving(SAYING):
        campaign, made = await call.wait_for(
            call.run(CREATING, registry.create, name, known, policy, seed)
        )
    return document(await _standing(call, campaign), 201 if made else 200)


async def list_all(call: Call) -> Response:
    registry = call.service.registry
    brief = _choice(call.query("brief").get("brief", "false"), "brief")

    def one(name: str) -> dict[str, Any]:
        campaign = registry.campaign(name)
        if brief:
            return short(campaign)
        try:
            with deadlines.no_longer(LATER):
                return judged(registry.document(name))
        except OutOfTime:
            return judged(unjudged(campaign, None))

    names = await call.work(registry.names)
    if call.grant.campaign is not None:
        names = [name for name in names if name == call.grant.campaign]

    async def look(name: str) -> dict[str, Any]:
        found: dict[str, Any] = await call.service.lanes.run(name, entry_of, name, one)
        return found

    kind = "brief" if brief else "judged"
    found = await call.service.lists.of(kind, names, look, UNSEEN)
    return document({"campaigns": found})


async def show(call: Call) -> Response:
    query = call.query("delta", "epsilon")
    asked = {key: _float(value, key) for key, value in query.items()}
    registry = call.service.registry
    campaign = await call.work(registry.campaign, call.name)
    confidence({"name": ""}, **asked)  # refused before anything is worked out
    return document(await _standing(call, campaign, **asked))


async def _standing(
    call: Call, campaign: Campaign, delta: float | None = None, epsilon: float | None = None
) -> dict[str, Any]:
    """Where a campaign stands; without rates and stop where these take too long."""
    registry, name = call.service.registry, campaign.name

    async def look() -> dict[str, Any]:
        async with registry.turn(name):
            found: dict[str, Any] = await call.run(name, registry.document, name, delta, epsilon)
            return found

    try:
        with call.leaving(RESERVE):
            return await call.wait_for(look())
    except OutOfTime:
        call.service.work_out(name, delta, epsilon)
        return await call.work(unjudged, campaign, delta, epsilon)


async def ask(call: Call) -> Response:
    raw = await call.body(BATCH)
    if len(raw) > BODY and b'"features"' not in raw:
        raise too_large(BODY)
    body = await call.read(raw, decoded)
    strict.keys(body, (), ("n", "lease_seconds", "available", "context", "features"))
    wanted: dict[str, Any] = {"key": call.header("idempotency-key")}
    if "lease_seconds" in body:
        wanted["lease"] = body["lease_seconds"]
    if "available" in body:
        if not isinstance(body["available"], list):
            raise InputError("available", "be a list of arms", body["available"])
        wanted["available"] = body["available"]
    if "context" in body:
        if body["context"] is None:
            raise InputError("context", "be a number or a name", None)
        wanted["context"] = body["context"]
    if "features" in body:
        if not isinstance(body["features"], list):
            raise InputError("features", "be a list of rows", body["features"])
        wanted["features"] = body["features"]

    def decide() -> list[dict[str, Any]]:
        campaign = call.service.registry.campaign(call.name)
        return [d._asdict() for d in campaign.ask(body.get("n", 1), **wanted)]

    try:
        decisions = await call.change(decide)
    except InputError as error:
        if error.field == "key":
            raise for_caller(InputError("Idempotency-Key", error.must), error) from None
        raise
    call.service.registry.changed(call.name)
    return document({"decisions": decisions})


async def tell(call: Call) -> Response:
    batch, tells = await call.read(await call.body(BATCH), _told)

    def record() -> list[str]:
        return call.service.registry.campaign(call.name).tell_many(tells)

    try:
        statuses = await call.change(record)
    except Told as error:
        field = f"tells[{error.place}].observation" if batch else "observation"
        raise for_caller(Refusal(409, "told", str(error), field), error) from None
    except Exception as error:
        if batch and len(tells) == 1:  # the campaign names the fields of a single tell plainly
            _rename(error)
        raise
    call.service.registry.changed(call.name)
    pairs = zip(tells, statuses, strict=True)
    return document({"results": [{"id": id_, "status": status} for (id_, _), status in pairs]})


async def void(call: Call) -> Response:
    body = await call.json()
    strict.keys(body, ("id",))
    id_ = text(body["id"], "id")

    status = await call.work(lambda: call.service.registry.campaign(call.name).void(id_))
    call.service.registry.changed(call.name)
    return document({"results": [{"id": id_, "status": status}]})


async def close(call: Call) -> Response:
    strict.keys(await call.json(), ())

    def shut() -> dict[str, Any]:
        campaign = call.service.registry.campaign(call.name)
        campaign.close()
        return short(campaign)

    stands = await call.work(shut)
    call.service.registry.changed(call.name)
    return document(stands)


async def add_arm(call: Call) -> Response:
    body = await call.json()
    strict.keys(body, ("arm",), ("number",))
    arm = body["arm"]
    if not isinstance(arm, dict):
        raise InputError("arm", "be an object", arm)
    wanted = integer(body["number"], "number") if "number" in body else None

    def add() -> int:
        made: int = call.service.registry.campaign(call.name).add_arm(
            arm, wanted, sizes.check_grown
        )
        return made

    with _naming("number"):
        made = await call.work(add)
    call.service.registry.changed(call.name)
    return document({"arm": made}, 201)


async def add_context(call: Call) -> Response:
    body = await call.json()
    strict.keys(body, ("context",), ("number",))
    context = body["context"]
    if not isinstance(context, dict):
        raise InputError("context", "be an object", context)
    wanted = integer(body["number"], "number") if "number" in body else None

    def add() -> int:
        made: int = call.service.registry.campaign(call.name).add_context(
            context, wanted, sizes.check_grown
        )
        return made

    with _naming("number"):
        made = await call.work(add)
    call.service.registry.changed(call.name)
    return document({"context": made}, 201)


async def retire_arm(call: Call) -> Response:
    body = await call.json()
    strict.keys(body, ("arm",))
    arm = integer(body["arm"], "arm")
    await call.work(lambda: call.service.registry.campaign(call.name).retire_arm(arm))
    call.service.registry.changed(call.name)
    return document({"arm": arm, "status": "retired"})


async def contrasts(call: Call) -> Response:
    body = await call.json()
    strict.keys(body, ("contrasts",), ("delta",))
    delta = number(body["delta"], "delta") if "delta" in body else None

    def judge() -> dict[str, Any]:
        campaign = call.service.registry.campaign(call.name)
        found: dict[str, Any] = campaign.contrasts(body["contrasts"], delta)
        return found

    return document({"contrasts": await call.work(judge)})


async def switch(call: Call) -> Response:
    body = await call.json()
    strict.keys(body, ("policy",))

    def play_by() -> dict[str, Any]:
        chosen: dict[str, Any] = call.service.registry.campaign(call.name).switch(body["policy"])
        return chosen

    with _naming_parameters():
        chosen = await call.work(play_by)
    call.service.registry.changed(call.name)
    return document({"policy": chosen, "status": "switched"})


async def import_rows(call: Call) -> Response:
    body = await call.read(await call.body(BATCH), _rows)
    rows, after = body["rows"], integer(body["after"], "after")
    source, once = text(body.get("source", ""), "source"), body.get("once", False)
    if not isinstance(once, bool):
        raise InputError("once", "be true or false", once)
    part = read_part(body["part"]) if "part" in body else None

    def take_in() -> dict[str, int]:
        campaign = call.service.registry.campaign(call.name)
        if part is not None:
            taken: dict[str, int] = call.service.imports.take(
                campaign, part, rows, after, source, once
            )
            return taken
        count = campaign.import_rows(rows, source, after, once)
        return {"rows": count, "events": campaign.number}

    with _naming("after"):
        taken = await call.work(take_in)
    call.service.registry.changed(call.name)
    return document(taken)


async def decisions(call: Call) -> Response:
    query = call.query("start", "limit")
    start = _int(query.get("start", "0"), "start")
    limit = _int(query.get("limit", "100"), "limit")
    if not 0 < limit <= MOST_DECISIONS:
        raise InputError("limit", f"lie in 1 to {MOST_DECISIONS}", limit)

    def look() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = call.service.registry.campaign(call.name).history(
            start, limit
        )
        return found

    return document({"decisions": await call.work(look)})


async def create_token(call: Call) -> Response:
    body = await call.json()
    strict.keys(body, ("scope",), ("campaign", *LIMITS))
    campaign = call.grant.campaign
    if "campaign" in body:
        campaign = text(body["campaign"], "campaign")
        call.service.check_campaign(call.grant, campaign)
    scope, limits = text(body["scope"], "scope"), _limits(body, LIMITS)
    tokens = call.service.tokens
    token = await call.work(lambda: tokens.create(scope, campaign, **limits))
    return document(_shown(call, token), 201)


async def rotate_token(call: Call) -> Response:
    body = await call.json()
    strict.keys(body, ("id",), ROTATION)
    id_, limits = text(body["id"], "id"), _limits(body, ROTATION)
    tokens, own = call.service.tokens, call.grant.campaign
    token = await call.work(lambda: tokens.rotate(id_, own, **limits))
    call.service.registry.wake_all()  # streams that the token before opened end now
    return document(_shown(call, token), 201)


def _limits(body: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """What a body says of a token's limits; what it does not say is left out."""
    given = {key: body[key] for key in keys if key in body}
    for key, value in given.items():
        if value is None:
            raise InputError(key, "be a number", value)
    return given


def _shown(call: Call, token: str) -> dict[str, Any]:
    """A token that was just made: this is the only time it is seen."""
    return {"token": token, **call.service.tokens.shown(token)}


async def list_tokens(call: Call) -> Response:
    await call.work(call.service.tokens.refresh)
    own = call.grant.campaign
    found = call.service.tokens.listed()
    return document({"tokens": [one for one in found if own in (None, one["campaign"])]})


async def revoke_token(call: Call) -> Response:
    body = await call.json()
    strict.keys(body, ("id",))
    id_ = text(body["id"], "id")
    await call.work(call.service.tokens.revoke, id_, call.grant.campaign)
    call.service.registry.wake_all()  # streams that the token opened end now
    return document({"id": id_, "status": "revoked"})


async def health(call: Call) -> Response:
    return document({"status": "ok"})


async def ready(call: Call) -> Response:
    found = await call.service.problems(call.request)
    headers = {"Retry-After": RETRY_AFTER} if found else None
    return document(as_document(found), 503 if found else 200, headers)


async def metrics(call: Call) -> Response:
    count = len(await call.service.aside.run(call.service.registry.names))
    return PlainTextResponse(
        call.service.metrics.text(count), media_type="text/plain; version=0.0.4"
    )


async def openapi(call: Call) -> Response:
    return document(schema())


# by method and what stands after the campaign's name
OF_CAMPAIGN = {
    ("GET", ""): Route(show, "read"),
    ("POST", "ask"): Route(ask, "write"),
    ("POST", "tell"): Route(tell, "write"),
    ("POST", "void"): Route(void, "write"),
    ("POST", "close"): Route(close, "admin"),
    ("POST", "arms"): Route(add_arm, "admin"),
    ("POST", "contexts"): Route(add_context, "admin"),
    ("POST", "retire"): Route(retire_arm, "admin"),
    ("POST", "contrasts"): Route(contrasts, "read"),
    ("POST", "switch"): Route(switch, "admin"),
    ("POST", "import"): Route(import_rows, "admin"),
    ("GET", "events"): Route(events, "read"),
    ("GET", "decisions"): Route(decisions, "read"),
}
PLAIN = {
    ("POST", "/v1/campaigns"): Route(create, "admin"),
    ("GET", "/v1/campaigns"): Route(list_all, "read"),
    ("GET", "/v1/tokens"): Route(list_tokens, "admin"),
    ("POST", "/v1/tokens"): Route(create_token, "admin"),
    ("POST", "/v1/tokens/revoke"): Route(revoke_token, "admin"),
    ("POST", "/v1/tokens/rotate"): Route(rotate_token, "admin"),
    ("GET", "/healthz"): Route(health, None),
    ("GET", "/readyz"): Route(ready, None),
    ("GET", "/metrics"): Route(metrics, "read"),
    ("GET", "/openapi.json"): Route(openapi, None),
}


@contextmanager
def _naming(field: str) -> Iterator[None]:
    """Name the field by which a call said where it stands, where the campaign stands elsewhere."""
    try:
        yield
    except Conflict as error:
        raise for_caller(Refusal(409, "conflict", str(error), field), error) from None


@contextmanager
def _naming_parameters() -> Iterator[None]:
    """Say of a parameter that it is the policy's, and of an instance's key that it is one."""
    try:
        yield
    except NoSigma as error:
        raise within("instance.", error) from None
    except InputError as error:
        if error.field.partition(".")[0] in ("name", "instance", "policy", "seed"):
            raise
        raise within("policy.", error) from None


def _instance(keys: dict[str, Any]) -> Any:
    try:
        return from_dict(keys)
    except InputError as error:
        raise within("instance.", error) from None


def _told(raw: bytes) -> tuple[bool, list[tuple[str, Any]]]:
    """Whether a body holds a batch, and what it tells."""
    body = strict.decode(raw)
    if "tells" in body:
        return True, _tells(body)
    if len(raw) > BODY:
        raise too_large(BODY)
    return False, [_one(body, "")]


def _tells(body: dict[str, Any]) -> list[tuple[str, Any]]:
    strict.keys(body, ("tells",))
    tells = body["tells"]
    if not isinstance(tells, list) or not tells:
        raise InputError("tells", "be a list of at least one tell", tells)
    for i, entry in enumerate(tells):
        if not isinstance(entry, dict):
            raise InputError(f"tells[{i}]", "be an object", entry)
    return [_one(entry, f"tells[{i}].") for i, entry in enumerate(tells)]


def _rows(raw: bytes) -> dict[str, Any]:
    """A body with data from before."""
    body = decoded(raw)
    strict.keys(body, ("rows", "after"), ("source", "once", "part"))
    integer(body["after"], "after")
    rows = body["rows"]
    if not isinstance(rows, list):
        raise InputError("rows", "be a list of pairs", rows)
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != 2:
            raise InputError(f"rows[{i}]", "be an arm and an observation", row)
    return body


def _one(entry: dict[str, Any], where: str) -> tuple[str, Any]:
    strict.keys(entry, ("id", "observation"), where=where)
    return text(entry["id"], f"{where}id"), entry["observation"]


def _rename(error: Exception) -> None:
    if isinstance(error, InputError):
        raise within("tells[0].", error) from None
    if isinstance(error, Unknown) and as_refusal(error).code == "unknown_decision":
        named = Refusal(404, "unknown_decision", str(error), "tells[0].id")
        raise for_caller(named, error) from None


def _float(value: str, field: str) -> float:
    try:
        return number(float(value), field)
    except ValueError:
        raise InputError(field, "be a number", value) from None


def _choice(value: str, field: str) -> bool:
    if value not in ("true", "false"):
        raise InputError(field, "be true or false", value)
    return value == "true"


def _int(value: str, field: str) -> int:
    try:
        if len(value) > 15:
            raise ValueError
        return int(value)
    except ValueError:
        raise InputError(field, "be a whole number", value) from None
