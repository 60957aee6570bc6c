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
    ("POST", "/v1/campaigns/first/import"): ADMIN,
    ("GET", "/v1/campaigns/first/events"): READ,
    ("GET", "/v1/campaigns/first/decisions"): READ,
    ("POST", "/v1/tokens"): ADMIN,
    ("GET", "/v1/tokens"): ADMIN,
    ("POST", "/v1/tokens/revoke"): ADMIN,
    ("GET", "/metrics"): READ,
    ("GET", "/healthz"): OPEN,
    ("GET", "/readyz"): OPEN,
    ("GET", "/openapi.json"): OPEN,
    ("GET", "/"): OPEN,
    ("GET", "/campaigns/first"): OPEN,
    ("GET", "/login"): OPEN,
    ("POST", "/login"): OPEN,
    ("GET", "/page/app.js"): OPEN,
    ("GET", "/page/charts.js"): OPEN,
    ("GET", "/page/style.css"): OPEN,
    ("GET", "/page/icon.svg"): OPEN,
}
BODIES = {"/v1/campaigns": BODY, "/v1/tokens": {"scope": "read", "campaign": "first"}}
# a token of one campaign sees and changes its own part only
OWN_PART = {
    ("GET", "/v1/campaigns"),
    ("GET", "/v1/tokens"),
    ("POST", "/v1/tokens/revoke"),
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
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    headers = {"cookie": cookie.partition(";")[0]}
    assert campaign.get("/v1/campaigns", headers=headers).status_code == 200
    # a cookie only lets one look
    assert campaign.post("/v1/campaigns/first/ask", {}, headers=headers).status_code == 401


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
        tokens._record("suspended", content)
    with pytest.raises(InputError, match="suspended"):
        Tokens(store)
