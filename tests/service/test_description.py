"""The OpenAPI document is exact: what the server answers is what stands there."""

import pytest

import described_answers as described
from campaign_instances import ROUTES
from ossb.campaigns import open_storage
from ossb.service.app import CallLimits, Service
from service_calls import BODY, INSTANCE, Local

OF = "/v1/campaigns/{name}"
SEMI = {
    "structure": "combinatorial",
    "feedback": "semi_bandit",
    "arms": [[1, 1, 0], [0, 1, 1], [1, 0, 1]],
    "observation": "bernoulli",
}
DUELS = {"structure": "dueling", "n_items": 3}
OTHERS = {
    "semi": (SEMI, "hgl", lambda arm, i: [i % 2, (i + 1) % 2]),
    "duels": (DUELS, "rmed1", lambda arm, i: i % 2 if arm[0] != arm[1] else None),
    "routes": (ROUTES, "cucb", lambda arm, i: [1.0 + item + 0.1 * (i % 3) for item in arm]),
    "line": (
        {"structure": "unimodal", "observation": "bernoulli", "n_arms": 4},
        "osub",
        lambda arm, i: ((7 * i + arm) % 10 < 3 + arm and 1) or 0,
    ),
}


class Checked:
    """Calls a service, and holds every answer against the description."""

    def __init__(self, local):
        self.local, self.statuses = local, set()
        self.description = local.get("/openapi.json").json()

    def __call__(self, method, path, name="", query="", **more):
        answer = self.local(method, path.replace("{name}", name) + query, **more)
        described.check(self.description, method, path, answer)
        self.statuses.add((method, path, answer.status_code))
        return answer

    def post(self, path, body, name="", **more):
        return self("POST", path, name, json=body, **more)


@pytest.fixture
def checked(http):
    return Checked(http)


def test_answers_of_a_campaign(checked):
    assert checked.post("/v1/campaigns", BODY).status_code == 201
    assert checked.post("/v1/campaigns", BODY).status_code == 200
    assert checked.post("/v1/campaigns", {**BODY, "seed": 9}).status_code == 409
    assert checked.post("/v1/campaigns", {}).status_code == 400
    for told in range(9):
        checked("GET", OF, "first")
        (decision,) = checked.post(f"{OF}/ask", {}, "first").json()["decisions"]
        tell = {"id": decision["id"], "observation": told % 2}
        checked.post(f"{OF}/tell", tell, "first")
    checked.post(f"{OF}/tell", tell, "first")
    for body, status in (
        ({**tell, "observation": 1 - told % 2}, 409),
        ({"id": "9-x", "observation": 1}, 404),
        ({"id": 1, "observation": 1}, 400),
    ):
        assert checked.post(f"{OF}/tell", body, "first").status_code == status
    checked.post(f"{OF}/void", {"id": decision["id"]}, "first")
    checked("GET", f"{OF}/decisions", "first", "?limit=5")
    checked("GET", f"{OF}/decisions", "first", "?limit=0")
    checked.post(f"{OF}/arms", {"arm": {}, "number": 3}, "first")
    checked.post(f"{OF}/arms", {"arm": {}, "number": 3}, "first")
    checked.post(f"{OF}/retire", {"arm": 1}, "first")
    assert checked.post(f"{OF}/switch", {"policy": "top-two"}, "first").status_code == 200
    assert checked.post(f"{OF}/switch", {"policy": "best"}, "first").status_code == 400
    checked.post(f"{OF}/ask", {}, "first")
    checked("GET", OF, "first")
    after = checked("GET", OF, "first").json()["events"]
    checked.post(f"{OF}/import", {"rows": [[0, 1]], "after": after}, "first")
    checked.post(f"{OF}/import", {"rows": [[0, 1]], "after": after}, "first")
    checked.post(f"{OF}/close", {}, "first")
    for rest, body in (
        ("ask", {}),
        ("arms", {"arm": {}}),
        ("import", {"rows": [], "after": 1}),
        ("switch", {"policy": "hgl"}),
    ):
        assert checked.post(f"{OF}/{rest}", body, "first").status_code == 410
    checked("GET", "/v1/campaigns")
    checked("GET", "/v1/campaigns", query="?brief=true")
    for method, path in checked.description["paths"].items():
        for verb in path:
            if "{name}" in method and verb == "post":
                assert checked.post(method, {}, "none").status_code in (400, 404)
    assert checked("GET", OF, "none").status_code == 404
    assert checked("GET", OF, "first", "?delta=7").status_code == 400


@pytest.mark.parametrize("name", OTHERS)
def test_answers_of_other_structures(checked, name):
    instance, policy, shows = OTHERS[name]
    body = {"name": name, "instance": instance, "policy": {"name": policy}}
    assert checked.post("/v1/campaigns", body).status_code == 201
    for i in range(12):
        for decision in checked.post(f"{OF}/ask", {"n": 2}, name).json()["decisions"]:
            tell = {"id": decision["id"], "observation": shows(decision["arm"], i)}
            assert checked.post(f"{OF}/tell", tell, name).status_code == 200
        checked("GET", OF, name)
    checked("GET", "/v1/campaigns")
    checked("GET", f"{OF}/decisions", name)


def test_answers_about_tokens(checked):
    made = checked.post("/v1/tokens", {"scope": "admin"}).json()
    headers = {"headers": {"authorization": f"Bearer {made['token']}"}}
    limits = {"scope": "read", "expires_in": 60, "per_second": 0.001, "per_day": 2}
    other = checked.post("/v1/tokens", limits, **headers).json()
    own = {"headers": {"authorization": f"Bearer {other['token']}"}}
    statuses = [checked("GET", "/v1/campaigns", **own).status_code for _ in range(3)]
    assert statuses == [200, 429, 429]
    checked("GET", "/v1/tokens", **headers)
    checked.post("/v1/tokens/rotate", {"id": other["id"], "overlap": 5}, **headers)
    checked.post("/v1/tokens/revoke", {"id": other["id"]}, **headers)
    checked.post("/v1/tokens/revoke", {"id": "x"}, **headers)
    writer = checked.post("/v1/tokens", {"scope": "write"}, **headers).json()
    weak = {"headers": {"authorization": f"Bearer {writer['token']}"}}
    assert checked("GET", "/v1/tokens", **weak).status_code == 403
    assert checked("GET", "/v1/tokens").status_code == 401
    for path in ("/healthz", "/readyz", "/openapi.json"):
        assert checked("GET", path).status_code == 200
    assert checked("GET", "/metrics", **headers).status_code == 200


def test_answers_when_something_is_wrong(checked, monkeypatch):
    checked.post("/v1/campaigns", BODY)
    large = checked(
        "POST", f"{OF}/ask", "first", content=b"x" * 70_000, headers={"content-length": "70000"}
    )
    assert large.status_code == 413
    monkeypatch.setattr(checked.local.service.registry, "document", lambda *_: 1 / 0)
    assert checked("GET", OF, "first").status_code == 500
    checked("GET", "/v1/campaigns")
    checked.local.service.registry.storage.close()
    assert checked.post(f"{OF}/ask", {}, "first").status_code == 503
    assert checked("GET", "/readyz").status_code == 503


def test_a_document_without_rates_is_whole(storage_url, monkeypatch):
    import threading

    local = Local(Service(open_storage(storage_url), limits=CallLimits(0.2, 0.3)))
    late = Checked(local)
    late.post("/v1/campaigns", BODY)
    gate = threading.Event()
    monkeypatch.setattr(local.service.registry, "document", lambda *_: gate.wait(60))
    found = late("GET", OF, "first").json()
    gate.set()
    assert found["timeline"]["regret"] is None
    assert found["instance"] == {**INSTANCE}
    local.close()


def test_the_checker_finds_what_is_wrong():
    from ossb.service import schemas

    assert described.wrong({"rows": 1}, schemas.TOKENS)
    assert described.wrong({"status": "ok", "problems": []}, schemas.READINESS)
    assert described.wrong({"status": "ready", "problems": [1]}, schemas.READINESS)
    assert described.wrong({"status": "ready", "problems": [], "more": 1}, schemas.READINESS)
    assert described.wrong({"status": "ready", "problems": []}, schemas.READINESS) is None
