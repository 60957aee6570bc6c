"""Every call as the contract states it."""

import asyncio
import json
import threading
from urllib.parse import quote

import pytest

from service_calls import BODY, INSTANCE

FIRST = "/v1/campaigns/first"


def test_create_twice_and_with_another_definition(http):
    made = http.post("/v1/campaigns", BODY)
    assert made.status_code == 201
    assert made.json()["name"] == "first"
    assert http.post("/v1/campaigns", BODY).status_code == 200
    other = http.post("/v1/campaigns", {**BODY, "seed": 2})
    assert other.status_code == 409
    assert other.json()["error"]["code"] == "conflict"


def test_ask_and_tell(campaign):
    decision = campaign.post(f"{FIRST}/ask", {}).json()["decisions"][0]
    assert set(decision) == {"id", "arm", "arm_name", "phase"}
    told = {"id": decision["id"], "observation": 1}
    first = campaign.post(f"{FIRST}/tell", told)
    assert first.json() == {"results": [{"id": decision["id"], "status": "recorded"}]}
    assert campaign.post(f"{FIRST}/tell", told).json()["results"][0]["status"] == "same"
    other = campaign.post(f"{FIRST}/tell", {**told, "observation": 0})
    assert other.status_code == 409
    assert other.json()["error"]["field"] == "observation"
    shown = campaign.get(FIRST).json()
    assert shown["plays"][decision["arm"]] == 1
    assert shown["means"][decision["arm"]] == 1.0


def test_ask_with_no_body_at_all(campaign):
    assert len(campaign.post(f"{FIRST}/ask").json()["decisions"]) == 1


def test_show_has_what_the_contract_names(campaign):
    asked = campaign.post(f"{FIRST}/ask", {"n": 9}).json()["decisions"]
    tells = [{"id": d["id"], "observation": i % 2} for i, d in enumerate(asked[:6])]
    assert campaign.post(f"{FIRST}/tell", {"tells": tells}).status_code == 200
    shown = campaign.get(FIRST).json()
    for key in ("instance", "policy", "seed", "plays", "means", "components", "phases"):
        assert key in shown
    assert shown["pending"] == 3
    assert sum(shown["plays"]) == 6
    assert set(shown["components"]) == {"counts", "means"}
    assert set(shown["stop"]) >= {"delta", "statistic", "threshold", "met"}
    assert shown["rates"].get("certificate") or shown["rates"]["reason"]
    assert shown["leader"] in (0, 1, 2)
    assert sum(map(sum, shown["timeline"]["phases"].values())) == 9


@pytest.mark.parametrize("closed", [False, True])
def test_leases_end_while_nobody_asks(campaign, closed):
    opened, now = campaign.service.registry.campaign("first"), [1e9]
    opened._clock = lambda: now[0]
    campaign.post(f"{FIRST}/ask", {"n": 2, "lease_seconds": 10})
    if closed:
        campaign.post(f"{FIRST}/close", {})
    assert campaign.get(FIRST).json()["pending"] == 2
    now[0] += 10
    shown = campaign.get(FIRST).json()
    assert shown["pending"] == 0
    assert shown["decisions"]["expired"] == 2
    for query in ("", "?brief=true"):
        (entry,) = campaign.get(f"/v1/campaigns{query}").json()["campaigns"]
        assert entry["pending"] == 0
    told = campaign.get(f"{FIRST}/decisions").json()["decisions"]
    assert [decision["status"] for decision in told] == ["expired"] * 2


def test_delta_of_the_stopping_rule(campaign):
    assert campaign.get(f"{FIRST}?delta=0.01").json()["stop"]["delta"] == 0.01
    assert campaign.get(f"{FIRST}?delta=2").json()["error"]["field"] == "delta"
    assert campaign.get(f"{FIRST}?delta=x").status_code == 400
    assert campaign.get(f"{FIRST}?delta=nan").status_code == 400
    assert campaign.get(f"{FIRST}?unknown=1").json()["error"]["field"] == "unknown"


def test_list(campaign):
    second = {**BODY, "name": "second / with <b>everything</b> é"}
    assert campaign.post("/v1/campaigns", second).status_code == 201
    found = campaign.get("/v1/campaigns").json()["campaigns"]
    assert [entry["name"] for entry in found] == ["first", second["name"]]
    for entry in found:  # as in the document of each
        whole = campaign.get(f"/v1/campaigns/{quote(entry['name'], safe='')}").json()
        assert "stop" in entry
        assert entry.pop("as_of") > 1e9
        assert {key: whole[key] for key in entry if key != "structure"} == {
            key: value for key, value in entry.items() if key != "structure"
        }
    brief = campaign.get("/v1/campaigns?brief=true").json()["campaigns"]
    judged = ("rates", "stop")
    assert all(entry.pop("as_of") for entry in brief)
    assert brief == [{k: v for k, v in entry.items() if k not in judged} for entry in found]
    assert campaign.get("/v1/campaigns?brief=1").json()["error"]["field"] == "brief"
    shown = campaign.get("/v1/campaigns/second%20%2F%20with%20%3Cb%3Eeverything%3C%2Fb%3E%20%C3%A9")
    assert shown.json()["name"] == second["name"]


def test_idempotency_key(campaign):
    headers = {"idempotency-key": "k1"}
    first = campaign.post(f"{FIRST}/ask", {"n": 2}, headers=headers).json()
    assert campaign.post(f"{FIRST}/ask", {"n": 2}, headers=headers).json() == first
    assert campaign.post(f"{FIRST}/ask", {"n": 2}).json() != first
    assert campaign.post(f"{FIRST}/ask", {"n": 3}, headers=headers).status_code == 400
    long = campaign.post(f"{FIRST}/ask", {}, headers={"idempotency-key": "k" * 201})
    assert long.json()["error"]["field"] == "Idempotency-Key"


def test_a_batch_is_all_or_nothing(campaign):
    a, b = campaign.post(f"{FIRST}/ask", {"n": 2}).json()["decisions"]
    tells = [{"id": a["id"], "observation": 1}, {"id": b["id"], "observation": 2}]
    refused = campaign.post(f"{FIRST}/tell", {"tells": tells})
    assert refused.status_code == 400
    assert refused.json()["error"]["field"] == "tells[1].observation"
    assert campaign.get(FIRST).json()["pending"] == 2
    single = campaign.post(f"{FIRST}/tell", {"tells": tells[1:]})
    assert single.json()["error"]["field"] == "tells[0].observation"
    unknown = campaign.post(f"{FIRST}/tell", {"tells": [{"id": "77-x", "observation": 1}]})
    assert (unknown.status_code, unknown.json()["error"]["field"]) == (404, "tells[0].id")
    tells[1]["observation"] = 0
    assert campaign.post(f"{FIRST}/tell", {"tells": tells}).status_code == 200
    tells[1]["observation"] = 1
    conflict = campaign.post(f"{FIRST}/tell", {"tells": tells})
    assert (conflict.status_code, conflict.json()["error"]["field"]) == (
        409,
        "tells[1].observation",
    )


def test_void(campaign):
    decision = campaign.post(f"{FIRST}/ask", {}).json()["decisions"][0]
    body = {"id": decision["id"]}
    assert campaign.post(f"{FIRST}/void", body).status_code == 400
    campaign.post(f"{FIRST}/tell", {**body, "observation": 1})
    assert campaign.post(f"{FIRST}/void", body).json()["results"][0]["status"] == "voided"
    assert campaign.post(f"{FIRST}/void", body).json()["results"][0]["status"] == "same"
    assert sum(campaign.get(FIRST).json()["plays"]) == 0
    again = campaign.post(f"{FIRST}/tell", {**body, "observation": 0})
    assert again.json()["results"][0]["status"] == "recorded"


def test_close(campaign):
    decision = campaign.post(f"{FIRST}/ask", {}).json()["decisions"][0]
    assert campaign.post(f"{FIRST}/close", {}).json()["closed"] is True
    assert campaign.post(f"{FIRST}/close").status_code == 200
    assert campaign.post(f"{FIRST}/ask", {}).status_code == 410
    late = campaign.post(f"{FIRST}/tell", {"id": decision["id"], "observation": 1})
    assert late.json()["results"][0]["status"] == "recorded"


def test_decisions(campaign):
    campaign.post(f"{FIRST}/ask", {"n": 5})
    found = campaign.get(f"{FIRST}/decisions?start=-2&limit=10").json()["decisions"]
    assert [entry["status"] for entry in found] == ["pending", "pending"]
    for query in ("limit=0", "limit=1001", "start=x", "start=1&start=2", "start=" + "9" * 20):
        assert campaign.get(f"{FIRST}/decisions?{query}").status_code == 400


def test_restriction_to_available_arms(campaign):
    found = campaign.post(f"{FIRST}/ask", {"n": 4, "available": [2]}).json()["decisions"]
    assert {decision["arm"] for decision in found} == {2}


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/openapi.json", "/", "/campaigns/first"])
def test_plain_pages(campaign, path):
    answer = campaign.get(path)
    assert answer.status_code == 200
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_metrics_count_requests(campaign):
    campaign.post(f"{FIRST}/ask", {})
    text = campaign.get("/metrics").text
    label = 'method="POST",route="/v1/campaigns/{name}/ask",status="200"'
    assert f"ossb_requests_total{{{label}}} 1\n" in text
    assert "ossb_campaigns 1\n" in text


def test_the_description_names_every_route(campaign):
    from ossb.service.routes import OF_CAMPAIGN, PLAIN

    paths = campaign.get("/openapi.json").json()["paths"]
    known = {(method.upper(), path) for path, calls in paths.items() for method in calls}
    ours = set(PLAIN)
    for method, rest in OF_CAMPAIGN:
        ours.add((method, "/v1/campaigns/{name}" + (f"/{rest}" if rest else "")))
    assert known == ours


def shape(value):
    """The keys of an answer, all through."""
    if isinstance(value, dict):
        return {key: shape(entry) for key, entry in value.items()}
    return None


def test_examples_have_the_keys_of_real_answers(campaign):
    paths = campaign.get("/openapi.json").json()["paths"]

    def example(path, method, status):
        content = paths[path][method]["responses"][status]["content"]
        return content["application/json"]["example"]

    of = "/v1/campaigns/{name}"
    decisions = campaign.post(f"{FIRST}/ask", {"n": 3}).json()["decisions"]
    for decision in decisions:
        campaign.post(f"{FIRST}/tell", {"id": decision["id"], "observation": 1})
    found = campaign.get(FIRST).json()
    same = ("reason" in found["rates"]) == ("reason" in example(of, "get", "200")["rates"])
    expected = example(of, "get", "200")
    if not same:
        found["rates"] = expected["rates"]
    assert shape(found) == shape(expected)
    (listed,) = campaign.get("/v1/campaigns").json()["campaigns"]
    listed["rates"] = found["rates"]  # of the example's kind, see above
    assert shape(listed) == shape(example("/v1/campaigns", "get", "200")["campaigns"][0])
    entry = campaign.get(f"{FIRST}/decisions?limit=1").json()["decisions"][0]
    assert shape(entry) == shape(example(f"{of}/decisions", "get", "200")["decisions"][0])
    voided = campaign.post(f"{FIRST}/void", {"id": decisions[0]["id"]}).json()
    assert shape(voided["results"][0]) == shape(example(f"{of}/void", "post", "200")["results"][0])
    closed = campaign.post(f"{FIRST}/close", {}).json()
    assert shape(closed) == shape(example(f"{of}/close", "post", "200"))
    made = campaign.post("/v1/tokens", {"scope": "read", "campaign": "first"}).json()
    assert shape(made) == shape(example("/v1/tokens", "post", "201"))


def test_every_call_has_examples_and_says_when_to_come_back(campaign):
    for path, calls in campaign.get("/openapi.json").json()["paths"].items():
        for method, call in calls.items():
            assert "503" in call["responses"], (method, path)
            first = next(iter(call["responses"].values()))
            contents = [*first["content"].values()]
            contents += call.get("requestBody", {}).get("content", {}).values()
            if path != "/openapi.json":
                assert all("example" in content for content in contents), (method, path)


def test_wrong_method_and_path(campaign):
    wrong = campaign("DELETE", FIRST)
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET")
    assert campaign.get("/nothing").json()["error"]["code"] == "unknown_path"
    assert campaign.get("/v1/campaigns/%ff").status_code == 404
    assert campaign.get("/v1/campaigns/none").json()["error"]["code"] == "unknown_campaign"
    assert campaign.post("/v1/campaigns/none/ask", {}).status_code == 404
    assert (
        campaign.post("/v1/campaigns/none/tell", {"id": "1", "observation": 1}).status_code == 404
    )


def test_semi_bandit_observations_are_lists(http):
    instance = {
        "structure": "combinatorial",
        "feedback": "semi_bandit",
        "arms": [[1, 1, 0], [0, 1, 1], [1, 0, 1]],
        "observation": "bernoulli",
    }
    body = {"name": "lists", "instance": instance, "policy": {"name": "hgl"}}
    assert http.post("/v1/campaigns", body).status_code == 201
    decision = http.post("/v1/campaigns/lists/ask", {}).json()["decisions"][0]
    tell = {"id": decision["id"], "observation": [1, 0, 1]}
    refused = http.post("/v1/campaigns/lists/tell", tell)
    assert refused.json()["error"]["field"] == "observation"
    assert http.post("/v1/campaigns/lists/tell", {**tell, "observation": [1, 0]}).is_success


def test_all_survives_a_restart(http, storage_url):
    from ossb.campaigns import open_storage
    from ossb.service.app import Service
    from service_calls import Local

    http.post("/v1/campaigns", BODY)
    decision = http.post(f"{FIRST}/ask", {}).json()["decisions"][0]
    http.post(f"{FIRST}/tell", {"id": decision["id"], "observation": 1})
    before = http.get(FIRST).json()
    http.service.close()
    again = Local(Service(open_storage(storage_url)))
    assert again.get(FIRST).json() == before
    again.close()


def test_a_store_that_fails_is_503(campaign):
    campaign.service.registry.storage.close()
    answer = campaign.post(f"{FIRST}/ask", {})
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["error"]["code"] == "unavailable"


def test_arms_come_and_go(campaign):
    added = campaign.post(f"{FIRST}/arms", {"arm": {}, "number": 3})
    assert (added.status_code, added.json()) == (201, {"arm": 3})
    again = campaign.post(f"{FIRST}/arms", {"arm": {}, "number": 3})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "conflict")
    retired = campaign.post(f"{FIRST}/retire", {"arm": 0})
    assert retired.json() == {"arm": 0, "status": "retired"}
    stands = campaign.get(FIRST).json()
    assert (len(stands["arms"]), stands["retired"]) == (4, [0])
    for rest, body, field in (
        ("arms", {"arm": 1}, "arm"),
        ("arms", {"arm": {"features": [1]}}, "arm.features"),
        ("arms", {"arm": {}, "number": "4"}, "number"),
        ("retire", {"arm": 9}, "arm"),
        ("retire", {"arm": None}, "arm"),
    ):
        refused = campaign.post(f"{FIRST}/{rest}", body)
        assert (refused.status_code, refused.json()["error"]["field"]) == (400, field)
    assert campaign.get(FIRST).json() == stands


def test_a_batch_that_contradicts_itself_names_the_later_tell(campaign):
    ids = [d["id"] for d in campaign.post(f"{FIRST}/ask", {"n": 2}).json()["decisions"]]
    told = [(ids[1], 0), (ids[0], 0), (ids[0], 1)]
    tells = [{"id": id_, "observation": value} for id_, value in told]
    refused = campaign.post(f"{FIRST}/tell", {"tells": tells})
    assert (refused.status_code, refused.json()["error"]["field"]) == (409, "tells[2].observation")
    assert sum(campaign.get(FIRST).json()["plays"]) == 0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"instance": {"structure": "classical", "sigma": 1.0}}, "instance.theta"),
        ({"instance": {**INSTANCE, "name": 1}}, "instance.name"),
        ({"instance": {**INSTANCE, "n_arms": -1}}, "instance.n_arms"),
        ({"policy": {"name": "ossb", "epsilon": -1}}, "policy.epsilon"),
        ({"policy": {"name": "ossb", "eps": 1}}, "policy.eps"),
        ({"policy": {"name": "osub"}}, "policy"),
        ({"seed": -1}, "seed"),
        ({"name": ""}, "name"),
    ],
)
def test_what_is_wrong_with_a_definition_is_named(http, change, field):
    refused = http.post("/v1/campaigns", {**BODY, **change})
    error = refused.json()["error"]
    assert (refused.status_code, error["field"]) == (400, field)
    assert f"`{field}` must" in error["message"]


def test_data_from_before(campaign):
    rows = [[0, 1], [0, 0], [2, 1]]
    taken = campaign.post(f"{FIRST}/import", {"rows": rows, "after": 1, "source": "log.csv"})
    assert taken.json() == {"rows": 3, "events": 2}
    again = campaign.post(f"{FIRST}/import", {"rows": rows, "after": 1, "source": "log.csv"})
    assert again.status_code == 409
    stands = campaign.get(FIRST).json()
    assert (stands["plays"], stands["means"]) == ([2, 0, 1], [0.5, None, 1.0])
    for body, field in (
        ({"rows": [[0, 1]]}, "after"),
        ({"rows": 1, "after": 2}, "rows"),
        ({"rows": [[0]], "after": 2}, "rows[0]"),
        ({"rows": [[0, 1], [0, 2]], "after": 2}, "rows[1].observation"),
        ({"rows": [[3, 1]], "after": 2}, "rows[0].arm"),
    ):
        refused = campaign.post(f"{FIRST}/import", body)
        assert (refused.status_code, refused.json()["error"]["field"]) == (400, field)
    assert campaign.get(FIRST).json() == stands


def test_events_are_resumed(campaign):
    decision = campaign.post(f"{FIRST}/ask", {}).json()["decisions"][0]
    campaign.post(f"{FIRST}/tell", {"id": decision["id"], "observation": 1})
    everything = _events(campaign, 3)
    assert [event["kind"] for event in everything] == ["created", "asked", "told"]
    asked = {"id": decision["id"], "position": decision["arm"], "phase": decision["phase"]}
    assert everything[1]["decisions"] == [asked]
    assert everything[2]["tells"] == [{"id": decision["id"], "observation": 1.0}]
    assert "memory" not in everything[0]
    resumed = _events(campaign, 1, headers={"last-event-id": "2"})
    assert resumed == everything[2:]
    bad = campaign.get(f"{FIRST}/events", headers={"last-event-id": "x"})
    assert bad.json()["error"]["field"] == "Last-Event-ID"


def test_events_name_the_decisions_they_are_about(campaign):
    several = campaign.post(f"{FIRST}/ask", {"n": 3, "lease_seconds": 1e-6}).json()["decisions"]
    other = campaign.post(f"{FIRST}/ask", {}).json()["decisions"][0]
    late = {"id": several[2]["id"], "observation": 0}
    campaign.post(f"{FIRST}/tell", late)
    campaign.post(f"{FIRST}/void", {"id": late["id"]})
    found = {event["kind"]: event for event in _events(campaign, 6)}
    ids = [decision["id"] for decision in several]
    assert found["expired"]["ids"] == ids
    assert [decision["id"] for decision in found["asked"]["decisions"]] == [other["id"]]
    assert found["told"]["tells"][0]["id"] == found["voided"]["id"] == ids[2]
    resumed = _events(campaign, 1, headers={"last-event-id": "1"})[0]
    assert [decision["id"] for decision in resumed["decisions"]] == ids


def test_a_stream_ends_when_its_token_is_revoked(campaign):
    tokens = campaign.service.tokens
    tokens.create("admin")
    grant = tokens.grant_of(token := tokens.create("read"))
    revoking = threading.Timer(0.2, lambda: (tokens.revoke(grant.id), wake()))

    def wake():
        campaign.loop.call_soon_threadsafe(campaign.service.registry.wake_all)

    revoking.start()
    headers = {"authorization": f"Bearer {token}"}
    assert len(_events(campaign, 10**9, headers=headers)) == 1  # it ended by itself
    revoking.join()


def _events(local, count, headers=None):
    """The first events of a stream, which is then left."""

    async def listen():
        found, arrived = [], asyncio.Event()
        pairs = [(k.encode(), v.encode()) for k, v in (headers or {}).items()]
        scope = {
            "type": "http",
            "method": "GET",
            "path": f"{FIRST}/events",
            "headers": [(b"host", b"127.0.0.1"), *pairs],
            "query_string": b"",
        }

        async def receive():
            await arrived.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            for line in message.get("body", b"").decode().splitlines():
                if line.startswith("data: "):
                    found.append(json.loads(line.removeprefix("data: ")))
            if len(found) >= count:
                arrived.set()

        await asyncio.wait_for(local.service(scope, receive, send), 20)
        return found

    return local.loop.run_until_complete(listen())


def test_instances_too_large_for_a_stranger(http):
    subsets = {"feedback": "semi_bandit", "arm_set": "m_sets", "size": 2}
    for keys in (
        {"n_arms": 10**9},
        {"structure": "dueling", "n_items": 10**5},
        {"structure": "combinatorial", "n_items": 1001, **subsets},
        {"structure": "unimodal", "sigma": 1.0, "edges": [[0, 1], [1, 10**12]]},
    ):
        instance = {**INSTANCE, **keys}
        if "structure" in keys:
            del instance["n_arms"]
        answer = http.post("/v1/campaigns", {**BODY, "instance": instance})
        assert answer.status_code == 400
        field = "edges" if "edges" in keys else "n_"
        assert answer.json()["error"]["field"].startswith(f"instance.{field}")
