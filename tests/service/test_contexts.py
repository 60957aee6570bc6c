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


def test_segments_are_refused_as_bad_input(http):
    for segments in ([{"n_arms": 2}], [{"n_arms": 2}, {"n_arms": 3}]):
        keys = {"structure": "classical", "observation": "bernoulli", "segments": segments}
        answer = http.post(
            "/v1/campaigns", {"name": "s", "instance": keys, "policy": {"name": "hgl"}}
        )
        assert answer.status_code in (400, 422)
        assert "segments" in answer.json()["error"]["field"]
