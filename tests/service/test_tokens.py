"""Who may call what: every route with every kind of token."""

import pytest

from ossb.campaigns import open_storage
from ossb.errors import InputError
from ossb.service import page
from ossb.service.routes import OF_CAMPAIGN, PLAIN
from ossb.service.tokens import Tokens
from service_calls import BODY

OPEN, READ, WRITE, ADMIN = "open", "read", "write", "admin"
RANK = {"none": 0, "wrong": 0, READ: 1, WRITE: 2, ADMIN: 3}
# what each call needs, and whether a token of another campaign may make it
DECLARED = {
    ("POST", "/v1/campaigns"): ADMIN,
    ("GET", "/v1/campaigns"): READ,
    ("GET", "/v1/campaigns/first"): READ,
    ("POST", "/v1/campaigns/first/ask"): WRITE,
    ("POST", "/v1/campaigns/first/tell"): WRITE,
    ("POST", "/v1/campaigns/first/void"): WRITE,
    ("POST", "/v1/campaigns/first/close"): ADMIN,
    ("POST", "/v1/campaigns/first/arms"): ADMIN,
    ("POST", "/v1/campaigns/first/retire"): ADMIN,
    ("POST", "/v1/campaigns/first/contrasts"): READ,
    ("POST", "/v1/campaigns/first/contexts"): ADMIN,
    ("POST", "/v1/campaigns/first/switch"): ADMIN,
    ("POST", "/v1/campaigns/first/import"): ADMIN,
    ("GET", "/v1/campaigns/first/events"): READ,
    ("GET", "/v1/campaigns/first/decisions"): READ,
    ("POST", "/v1/tokens"): ADMIN,
    ("GET", "/v1/tokens"): ADMIN,
    ("POST", "/v1/tokens/revoke"): ADMIN,
    ("POST", "/v1/tokens/rotate"): ADMIN,
    ("GET", "/metrics"): READ,
    ("GET", "/healthz"): OPEN,
    ("GET", "/readyz"): OPEN,
    ("GET", "/openapi.json"): OPEN,
    ("GET", "/"): OPEN,
    ("GET", "/campaigns/first"): OPEN,
    ("GET", "/login"): OPEN,
    ("POST", "/login"): OPEN,
    ("POST", "/logout"): OPEN,
    ("GET", "/page/app.js"): OPEN,
    ("GET", "/page/charts.js"): OPEN,
    ("GET", "/page/style.css"): OPEN,
    ("GET", "/page/icon.svg"): OPEN,
    ("GET", "/page/tips.js"): OPEN,
    ("GET", "/page/files.js"): OPEN,
    ("GET", "/page/shown.js"): OPEN,
}
BODIES = {"/v1/campaigns": BODY, "/v1/tokens": {"scope": "read", "campaign": "first"}}
# a token of one campaign sees and changes its own part only
OWN_PART = {
    ("GET", "/v1/campaigns"),
    ("GET", "/v1/tokens"),
    ("POST", "/v1/tokens/revoke"),
    ("POST", "/v1/tokens/rotate"),
}
KINDS = ("none", "wrong", "read", "write", "admin")


@pytest.fixture
def tokens(campaign):
    """A token of each kind; the service is closed to all others from now on."""
    return issue(campaign)


def issue(campaign):
    made = {"none": None, "wrong": "ossb_wrong"}
    for scope in (READ, WRITE, ADMIN):
        made[scope] = campaign.service.tokens.create(scope)
        made[f"{scope}, own"] = campaign.service.tokens.create(scope, "first")
        made[f"{scope}, other"] = campaign.service.tokens.create(scope, "other")
    return made


def call(local, method, path, token):
    if path.endswith("/events"):
        path += "?after=x"  # a stream has no end: the answer to a bad number is enough
    if method == "GET":
        return local.get(path, token=token).status_code
    return local.post(path, BODIES.get(path, {"none": 0}), token=token).status_code


def allowed(method, path, kind):
    """The statuses that a kind of token may be answered with."""
    needed = DECLARED[method, path]
    scope, _, limited = kind.partition(", ")
    if (method, path) == ("POST", "/login"):
        return {401}  # open to all: the token that counts is the one in the form, and none is here
    if (method, path) == ("POST", "/logout"):
        return {303}
    if needed == OPEN:
        return {200}
    if RANK[scope] == 0:
        return {401}
    if (
        RANK[scope] < RANK[needed]
        or (limited and path == "/metrics")
        or (limited == "other" and (method, path) not in OWN_PART)
    ):
        return {403}
    return {200, 201, 400}  # let in: these bodies are not always good


@pytest.mark.parametrize(("method", "path"), DECLARED, ids=lambda value: str(value))
def test_every_route_with_every_token(campaign, tokens, method, path):
    for kind, token in tokens.items():
        assert call(campaign, method, path, token) in allowed(method, path, kind), kind


def test_the_table_has_every_route():
    routes = {(method, f"/v1/campaigns/first/{rest}".rstrip("/")) for method, rest in OF_CAMPAIGN}
    routes |= PLAIN.keys()
    routes |= {(method, path.replace("{name}", "first")) for method, path in page.ROUTES}
    assert routes == DECLARED.keys()


def test_a_token_of_one_campaign_sees_that_one_only(campaign, tokens):
    campaign.post("/v1/campaigns", {**BODY, "name": "other"}, token=tokens[ADMIN])
    seen = campaign.get("/v1/campaigns", token=tokens["read, other"]).json()["campaigns"]
    assert [entry["name"] for entry in seen] == ["other"]


def test_a_token_of_one_campaign_learns_no_other_name(campaign, tokens):
    campaign.post("/v1/campaigns", {**BODY, "name": "secret-prices"}, token=tokens[ADMIN])
    near = "/v1/campaigns/secret-price"
    told = campaign.get(near, token=tokens[READ]).json()["error"]
    assert "secret-prices" in told["message"]
    own = campaign.service.tokens.create(ADMIN, "secret-price")
    for method, path in OF_CAMPAIGN:
        body = {"json": {"id": "0", "observation": 1}} if path == "tell" else {}
        call = f"{near}/{path}" if path else near
        refused = campaign(method, call, token=own, **body)
        assert 400 <= refused.status_code < 500
        assert "secret-prices" not in refused.text
    error = campaign.get(near, token=own).json()["error"]
    assert (error["code"], error["field"]) == ("unknown_campaign", "name")
    assert error["message"] == "there is no campaign 'secret-price'"


def test_a_token_can_only_make_tokens_for_its_campaign(campaign, tokens):
    own = tokens["admin, own"]
    made = campaign.post("/v1/tokens", {"scope": "read"}, token=own)
    assert made.status_code == 201
    assert made.json()["campaign"] == "first"
    for body in ({"scope": "read", "campaign": "other"}, {"scope": "read", "campaign": ""}):
        assert campaign.post("/v1/tokens", body, token=own).status_code == 403
    null = campaign.post("/v1/tokens", {"scope": "read", "campaign": None}, token=own)
    assert null.status_code == 400


def test_tokens_are_hashed_at_rest_and_survive_a_restart(campaign, tokens, tmp_path):
    campaign.service.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("campaigns.db*"))
    for token in tokens.values():
        assert token is None or token.encode() not in stored
    store = open_storage(f"sqlite:///{tmp_path / 'campaigns.db'}")
    again = Tokens(store)
    assert again.grant_of(tokens["write, own"])[:2] == ("write", "first")
    assert again.grant_of("é") is None
    store.close()


def test_comparison_takes_all_tokens_and_constant_time(campaign, tokens, monkeypatch):
    import hmac

    seen = []
    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: seen.append(a) or real(a, b))
    assert campaign.service.tokens.grant_of(tokens[READ]) is not None
    assert len(seen) == len(campaign.service.tokens)


def test_a_revoked_token_is_good_no_more(campaign, tokens):
    admin = tokens[ADMIN]
    listed = campaign.get("/v1/tokens", token=admin).json()["tokens"]
    assert len(listed) == 9
    assert not any(token and token in str(listed) for token in tokens.values())
    (found,) = (t["id"] for t in listed if (t["scope"], t["campaign"]) == ("write", "first"))
    ask = "/v1/campaigns/first/ask"
    assert campaign.post(ask, {}, token=tokens["write, own"]).status_code == 200
    other = tokens["admin, other"]
    refused = campaign.post("/v1/tokens/revoke", {"id": found}, token=other)
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "id")
    assert campaign.post("/v1/tokens/revoke", {"id": found}, token=admin).status_code == 200
    assert campaign.post(ask, {}, token=tokens["write, own"]).status_code == 401
    assert campaign.post(ask, {}, token=tokens["write"]).status_code == 200
    assert campaign.post("/v1/tokens/revoke", {"id": found}, token=admin).status_code == 400
    own = campaign.get("/v1/tokens", token=tokens["admin, own"]).json()["tokens"]
    assert {token["campaign"] for token in own} == {"first"}


def test_revoking_the_last_token_opens_no_door(campaign):
    campaign.service.tokens.create("admin")
    (only,) = campaign.service.tokens.listed()
    campaign.service.tokens.revoke(only["id"])
    assert len(campaign.service.tokens) == 0
    assert campaign.get("/v1/campaigns").status_code == 401


def test_other_servers_see_what_was_revoked(campaign, tokens):
    other = Tokens(campaign.service.registry.storage)
    grant = other.grant_of(tokens[READ])
    assert other.holds(grant)
    campaign.service.tokens.revoke(grant.id)
    other.refresh()
    assert other.grant_of(tokens[READ]) is None
    assert not other.holds(grant)
    assert other.create("read")  # its own next event follows the other's


def test_damaged_tokens_are_found(campaign, tokens, tmp_path):
    import sqlite3

    from ossb.campaigns import Corrupt

    campaign.service.close()
    with sqlite3.connect(tmp_path / "campaigns.db") as store:
        store.execute(
            "UPDATE events SET body = replace(body, 'read', 'admin') "
            "WHERE campaign LIKE '%tokens' AND number = 1"
        )
    store.close()
    damaged = open_storage(f"sqlite:///{tmp_path / 'campaigns.db'}")
    with pytest.raises(Corrupt, match="event 1 "):
        Tokens(damaged)
    damaged.close()


def test_the_page_signs_in_with_a_cookie(campaign, tokens):
    form = {"content-type": "application/x-www-form-urlencoded"}
    wrong = campaign.post("/login", b"token=ossb_wrong", headers=form)
    assert wrong.status_code == 401
    assert "This token is not known here" in wrong.text  # with the form to try again
    assert 'action="/login"' in wrong.text
    assert "<title>Token not known" in wrong.text
    assert "not known" not in campaign.get("/login").text
    assert "set-cookie" not in wrong.headers
    answer = campaign.post("/login", f"token={tokens[ADMIN]}".encode(), headers=form)
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert "Secure" not in cookie
    proxied = {**form, "x-forwarded-proto": "https"}
    behind = campaign.post("/login", f"token={tokens[ADMIN]}".encode(), headers=proxied)
    assert "Secure" in behind.headers["set-cookie"]
    assert tokens[ADMIN] not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    headers = {"cookie": cookie.partition(";")[0]}
    assert campaign.get("/v1/campaigns", headers=headers).status_code == 200
    # a cookie only lets one look, and is no token
    assert campaign.post("/v1/campaigns/first/ask", {}, headers=headers).status_code == 401
    session = headers["cookie"].partition("=")[2]
    assert campaign.get("/v1/campaigns", token=session).status_code == 401
    token = {"cookie": f"ossb_session={tokens[ADMIN]}"}
    assert campaign.get("/v1/campaigns", headers=token).status_code == 401


def signed_in(campaign, token):
    form = {"content-type": "application/x-www-form-urlencoded"}
    answer = campaign.post("/login", f"token={token}".encode(), headers=form)
    return {"cookie": answer.headers["set-cookie"].partition(";")[0]}


def test_who_signs_out_is_out(campaign, tokens, tmp_path):
    one, other = signed_in(campaign, tokens[READ]), signed_in(campaign, tokens[READ])
    assert "Sign out" in campaign.get("/", headers=one).text
    assert "Sign out" not in campaign.get("/").text
    elsewhere = {**one, "origin": "http://evil.example"}
    assert campaign.post("/logout", headers=elsewhere).status_code == 403
    answer = campaign.post("/logout", headers=one)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert 'ossb_session=""' in answer.headers["set-cookie"]
    assert campaign.get("/v1/campaigns", headers=one).status_code == 401
    assert campaign.get("/v1/campaigns", headers=other).status_code == 200
    campaign.service.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("campaigns.db*"))
    assert other["cookie"].partition("=")[2].encode() not in stored


def test_a_session_ends_with_its_token_and_after_its_time(campaign, tokens):
    held = campaign.service.tokens
    now = [held._clock()]
    held._clock = lambda: now[0]
    one, other = signed_in(campaign, tokens[READ]), signed_in(campaign, tokens[WRITE])
    held.revoke(held.grant_of(tokens[READ]).id)
    assert campaign.get("/v1/campaigns", headers=one).status_code == 401
    assert campaign.get("/v1/campaigns", headers=other).status_code == 200
    now[0] += 12 * 3600
    assert campaign.get("/v1/campaigns", headers=other).status_code == 401


def test_sessions_of_a_token_are_few_and_seen_by_other_servers(campaign, tokens):
    held = campaign.service.tokens
    grant = held.grant_of(tokens[READ])
    sessions = [held.sign_in(grant) for _ in range(22)]
    other = Tokens(campaign.service.registry.storage)
    for seen in (held, other):
        alive = [seen.session_grant(session) is not None for session in sessions]
        assert alive == [False] * 2 + [True] * 20


def test_tokens_end_when_they_should():
    store, now = open_storage("memory://"), [1e9]
    tokens = Tokens(store, lambda: now[0])
    short, long = tokens.create("read", expires_in=60), tokens.create("read")
    grant = tokens.grant_of(short)
    assert tokens.holds(grant)
    assert [one["expires"] for one in tokens.listed()] == [1e9 + 60, None]
    now[0] += 60
    assert tokens.grant_of(short) is None
    assert not tokens.holds(grant)
    assert tokens.grant_of(long) is not None
    assert len(tokens) == len(tokens.listed()) == 1
    with pytest.raises(InputError, match="ossb token list"):
        tokens.rotate(grant.id)
    assert Tokens(store, lambda: 1e9).grant_of(short) == grant  # by the clock, after a restart too


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "60", 1e99])
@pytest.mark.parametrize("key", ["expires_in", "per_second"])
def test_limits_that_cannot_be_meant_are_refused(key, value):
    tokens = Tokens(open_storage("memory://"))
    with pytest.raises(InputError) as caught:
        tokens.create("read", **{key: value})
    assert caught.value.field == key
    assert not tokens.ever


def test_a_rotated_token_is_replaced_by_one_that_may_do_the_same():
    store, now = open_storage("memory://"), [1e9]
    tokens = Tokens(store, lambda: now[0])
    old = tokens.create("write", "first", expires_in=100, per_day=7)
    before = tokens.grant_of(old)
    now[0] += 50
    new = tokens.rotate(before.id, overlap=10)
    after = tokens.grant_of(new)
    assert (after.scope, after.campaign) == ("write", "first")
    assert tokens.limits_of(after) == (now[0] + 100, None, 7)  # as long as the one before had
    assert tokens.grant_of(old) == before
    now[0] += 10
    assert tokens.grant_of(old) is None
    newest = tokens.rotate(after.id)
    assert tokens.grant_of(new) is None
    again = Tokens(store, lambda: now[0])
    assert again.grant_of(newest) == tokens.grant_of(newest)
    with pytest.raises(InputError):
        again.rotate(again.grant_of(newest).id, "other")


def test_an_overlap_makes_no_token_last_longer():
    tokens = Tokens(open_storage("memory://"), lambda: 1e9)
    old = tokens.create("read", expires_in=5)
    tokens.rotate(tokens.grant_of(old).id, overlap=1000)
    assert [one["expires"] for one in tokens.listed()] == [1e9 + 5, 1e9 + 5]


def test_tokens_over_http_have_limits(campaign, tokens):
    admin = tokens[ADMIN]
    made = campaign.post("/v1/tokens", {"scope": "write", "per_second": 1}, token=admin)
    assert made.status_code == 201
    ask = "/v1/campaigns/first/ask"
    new = made.json()
    answers = [campaign.post(ask, {}, token=new["token"]) for _ in range(8)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert refused[0].json()["error"]["code"] == "too_many"
    assert int(refused[0].headers["retry-after"]) == 1
    assert campaign.post(ask, {}, token=tokens[WRITE]).status_code == 200
    daily = campaign.post("/v1/tokens", {"scope": "write", "per_day": 1}, token=admin).json()
    assert campaign.post(ask, {}, token=daily["token"]).status_code == 200
    over = campaign.post(ask, {}, token=daily["token"])
    assert over.status_code == 429
    assert 0 < int(over.headers["retry-after"]) <= 86400
    rotated = campaign.post("/v1/tokens/rotate", {"id": new["id"]}, token=admin)
    assert (rotated.status_code, rotated.json()["per_second"]) == (201, 1)
    assert campaign.post(ask, {}, token=new["token"]).status_code == 401
    for body, field in (
        ({"scope": "read", "expires_in": None}, "expires_in"),
        ({"scope": "read", "per_day": 0}, "per_day"),
        ({"scope": "read", "until": 1}, "until"),
    ):
        answer = campaign.post("/v1/tokens", body, token=admin)
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)


def test_a_stream_ends_with_its_token(campaign, monkeypatch):
    """By itself, though nothing happens that would wake it."""
    monkeypatch.setattr("ossb.service.stream.QUIET", 1e6)
    monkeypatch.setattr("ossb.service.stream.POLL", 1e6)
    token = campaign.service.tokens.create("read", expires_in=1.5)
    answer = campaign.get("/v1/campaigns/first/events", token=token)
    assert answer.status_code == 200
    assert b"created" in answer.content
    assert campaign.get("/v1/campaigns/first", token=token).status_code == 401


def test_tokens_that_ended_are_kept_by_nobody():
    """They may come and go for years: what is held against each call are those that are good."""
    now = [1e9]
    tokens = Tokens(open_storage("memory://"), lambda: now[0])
    for _ in range(5):
        tokens.create("read", expires_in=10)
        now[0] += 100
    last = tokens.create("read")
    assert len(tokens._known.issued) == 1
    assert tokens.grant_of(last) is not None


def test_there_are_not_more_tokens_than_calls_can_be_held_against(monkeypatch):
    monkeypatch.setattr("ossb.service.tokens.MOST_TOKENS", 2)
    tokens = Tokens(open_storage("memory://"))
    tokens.create("read")
    tokens.create("read")
    with pytest.raises(InputError, match="revoke some"):
        tokens.create("read")


def test_events_say_who_did_it_and_in_which_request(campaign):
    store = campaign.service.registry.storage
    made = next(store.read("first")).content
    assert made["by"].startswith("user:")
    token = campaign.service.tokens.create(WRITE)
    own = campaign.service.tokens.grant_of(token).id
    ask = "/v1/campaigns/first/ask"
    answer = campaign.post(ask, {}, token=token, headers={"x-request-id": "nightly-7"})
    assert answer.headers["x-request-id"] == "nightly-7"
    told = {"id": answer.json()["decisions"][0]["id"], "observation": 1}
    tell = campaign.post("/v1/campaigns/first/tell", told, token=token)
    asked, told = list(store.read("first"))[-2:]
    assert (asked.content["by"], asked.content["request"]) == (f"token:{own}", "nightly-7")
    assert told.content["request"] == tell.headers["x-request-id"]
    assert len(told.content["request"]) == 16
    for forged in ("a b", "x" * 65, "é", "a,b", ""):
        answer = campaign.get("/healthz", headers={"x-request-id": forged.encode()})
        assert answer.headers["x-request-id"] != forged
    for path in ("/nothing", "/v1/campaigns/none", "/login", "/page/app.js"):
        assert campaign.get(path, token=token).headers["x-request-id"]


def test_logs_name_the_request_and_the_token(campaign, tokens, caplog, monkeypatch):
    import logging

    monkeypatch.setattr(logging.getLogger("ossb.service"), "propagate", True)
    with caplog.at_level(logging.INFO, "ossb.service"):
        campaign.get("/v1/campaigns", token=tokens[READ], headers={"x-request-id": "r1"})
    said = [record.fields for record in caplog.records if hasattr(record, "fields")]
    (fields,) = [fields for fields in said if fields.get("request") == "r1"][-1:]
    assert fields["token"] == campaign.service.tokens.grant_of(tokens[READ]).id


def test_other_sites_and_other_hosts_are_refused(campaign):
    evil = {"origin": "http://evil.example"}
    refused = campaign.post("/v1/campaigns/first/ask", {}, headers=evil)
    assert (refused.status_code, refused.json()["error"]["field"]) == (403, "Origin")
    own = {"origin": "http://127.0.0.1:8090"}
    assert campaign.post("/v1/campaigns/first/ask", {}, headers=own).status_code == 200
    for host in ("evil.example", "evil.example:8090", "127.0.0.1.evil.example:8090"):
        assert campaign.get("/v1/campaigns", host=host).status_code == 403
    for host in ("localhost:8090", "127.0.0.1", "[::1]:8090", "[::1]"):
        assert campaign.get("/v1/campaigns", host=host).status_code == 200


def test_a_server_that_strangers_reach_is_never_open(campaign):
    campaign.service._local = False
    assert campaign.get("/v1/campaigns").status_code == 401


def test_a_kind_of_event_of_a_newer_version_grants_nothing():
    store = open_storage("memory://")
    tokens = Tokens(store)
    tokens.create("read")
    content = {"hash": "0" * 64, "scope": "admin", "campaign": None}
    with pytest.raises(InputError, match="newer ossb"):
        tokens._record(lambda: (None, [("suspended", content)]))
    with pytest.raises(InputError, match="suspended"):
        Tokens(store)
