"""Contexts over HTTP."""

from contextual_instances import EXAMPLE

BODY = {
    "name": "two",
    "instance": {"structure": "linear", "sigma": 1.0, "contexts": EXAMPLE["contexts"]},
    "policy": {"name": "hgl"},
}
ASK = "/v1/campaigns/two/ask"


def test_who_asks_is_in_the_body(http):
    assert http.post("/v1/campaigns", BODY).status_code == 201
    for context, number in (("b", 1), (0, 0)):
        answer = http.post(ASK, {"context": context})
        assert answer.status_code == 200
        (decision,) = answer.json()["decisions"]
        assert decision["arm"][0] == number
        assert http.post("/v1/campaigns/two/tell", {"id": decision["id"], "observation": 1.0})
    answer = http.post(ASK, {"context": "a", "available": [2, "1"]})
    assert answer.json()["decisions"][0]["arm"][1] in (1, 2)
    answer = http.post(ASK, {"context": "b", "available": [2]})
    assert answer.status_code == 400
    assert answer.json()["error"]["field"] == "available[0]"
    stands = http.get("/v1/campaigns/two").json()
    assert len(stands["leader"]) == 2
    assert stands["stop"]["met"] is False
    assert http.get("/v1/campaigns").status_code == 200
    assert http.get("/campaigns/two").status_code == 200


def test_bad_contexts_are_refused(http):
    assert http.post("/v1/campaigns", BODY).status_code == 201
    for body in ({}, {"context": "c"}, {"context": 7}, {"context": [0]}, {"context": True}):
        answer = http.post(ASK, body)
        assert answer.status_code == 422 or answer.status_code == 400
        assert answer.json()["error"]["field"] == "context"


def test_segments_are_asked_one_by_one(http):
    keys = {"structure": "classical", "observation": "bernoulli"}
    segments = [{"n_arms": 2, "name": "phone"}, {"n_arms": 3}]
    body = {"name": "two", "instance": {**keys, "segments": segments}, "policy": {"name": "hgl"}}
    assert http.post("/v1/campaigns", body).status_code == 201
    for t, context in enumerate(["phone", 1, "1", 0] * 3):
        (decision,) = http.post(ASK, {"context": context}).json()["decisions"]
        assert decision["arm"][0] == int(context != "phone" and context != 0)
        told = {"id": decision["id"], "observation": t % 2}
        assert http.post("/v1/campaigns/two/tell", told).status_code == 200
    stands = http.get("/v1/campaigns/two").json()
    assert len(stands["leader"]) == 2
    assert stands["rounds"] == sum(stands["plays"]) == 12
    assert http.get("/v1/campaigns").status_code == 200
    assert http.get("/campaigns/two").status_code == 200


def test_bad_segments_are_refused(http):
    keys = {"structure": "classical", "observation": "bernoulli"}
    for segments in ([], [{"n_arms": 0}], [{"name": "a", "n_arms": 2}, {"name": "a", "n_arms": 2}]):
        body = {"name": "s", "instance": {**keys, "segments": segments}, "policy": {"name": "hgl"}}
        answer = http.post("/v1/campaigns", body)
        assert answer.status_code in (400, 422)
        assert "segments" in answer.json()["error"]["field"]


FEATURES = {
    "name": "rows",
    "instance": {
        "structure": "linear",
        "sigma": 1.0,
        "arms": [[1.0, 0.0], [0.0, 1.0]],
        "feature_norm": 2.0,
    },
    "policy": {"name": "hgl"},
}


def test_rows_are_in_the_body(http):
    assert http.post("/v1/campaigns", FEATURES).status_code == 201
    rows = [[1.0, 0.5], [0.5, -1.0], [0.0, 0.3]]
    for t in range(6):
        answer = http.post("/v1/campaigns/rows/ask", {"features": rows})
        assert answer.status_code == 200
        (decision,) = answer.json()["decisions"]
        assert decision["arm"] in (0, 1, 2)
        told = {"id": decision["id"], "observation": 0.1 * t}
        assert http.post("/v1/campaigns/rows/tell", told).status_code == 200
    stands = http.get("/v1/campaigns/rows").json()
    assert "no bound is known" in stands["rates"]["reason"]
    shown = http.get("/v1/campaigns/rows/decisions").json()["decisions"]
    assert shown[0]["features"] in rows
    asked = {"contrasts": {"first over second": [1.0, -1.0]}, "delta": 0.1}
    sure = http.post("/v1/campaigns/rows/contrasts", asked).json()["contrasts"]
    assert set(sure["first over second"]) >= {"estimate", "low", "high", "met"}
    assert http.get("/campaigns/rows").status_code == 200


def test_bad_rows_are_refused(http):
    assert http.post("/v1/campaigns", FEATURES).status_code == 201
    for rows in ([[1.0]], [[3.0, 0.0]], [], "x", [[None, 1.0]], 7):
        answer = http.post("/v1/campaigns/rows/ask", {"features": rows})
        assert answer.status_code in (400, 422)
        assert answer.json()["error"]["field"].startswith("features")
    answer = http.post("/v1/campaigns/rows/ask", {"context": None})
    assert answer.json()["error"]["field"] == "context"
    answer = http.post("/v1/campaigns/rows/contrasts", {"contrasts": {"a": [0, 0]}})
    assert answer.json()["error"]["field"] == "contrasts.a"
    answer = http.post("/v1/campaigns/rows/contrasts", {"contrasts": {"a": [1, 0]}, "delta": None})
    assert answer.json()["error"]["field"] == "delta"


def test_a_context_is_added(http):
    assert http.post("/v1/campaigns", BODY).status_code == 201
    more = {"context": {"name": "c", "arms": [[1.0, 1.0]]}, "number": 2}
    answer = http.post("/v1/campaigns/two/contexts", more)
    assert (answer.status_code, answer.json()) == (201, {"context": 2})
    assert http.post("/v1/campaigns/two/contexts", more).status_code == 409
    assert http.post(ASK, {"context": "c"}).status_code == 200
    bad = http.post("/v1/campaigns/two/contexts", {"context": {"arms": [[1.0]]}})
    assert bad.json()["error"]["field"].startswith("context")
