"""Every structure over HTTP, from its creation to a restart."""

import json

import pytest

from campaign_instances import PLAYED, shown_by
from ossb.campaigns import Unavailable, open_storage
from ossb.service.app import Service
from service_calls import BODY, Local

HERE = "/v1/campaigns/here"
ROUNDS = 6


def good(answer, status=200):
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.parametrize("label", PLAYED)
def test_from_creation_to_a_restart(http, storage_url, label):
    instance, policy = PLAYED[label]
    body = {"name": "here", "instance": instance, "policy": {"name": policy}}
    good(http.post("/v1/campaigns", body), 201)
    good(http.post("/v1/campaigns", body))
    for _ in range(ROUNDS):
        (decision,) = good(http.post(f"{HERE}/ask", {}))["decisions"]
        told = {
            "id": decision["id"],
            "observation": shown_by(http.service.registry.campaign("here"), decision),
        }
        assert good(http.post(f"{HERE}/tell", told))["results"][0]["status"] == "recorded"
        assert good(http.post(f"{HERE}/tell", told))["results"][0]["status"] == "same"
    stands = good(http.get(HERE))
    assert stands["rounds"] == ROUNDS
    assert stands["rates"]["rates"] is not None or stands["rates"]["reason"]
    assert set(stands["stop"]) >= {"delta", "statistic", "threshold", "met"}
    for query in ("", "?brief=true"):
        (entry,) = good(http.get(f"/v1/campaigns{query}"))["campaigns"]
        assert "error" not in entry
    history = good(http.get(f"{HERE}/decisions"))["decisions"]
    assert len(history) == ROUNDS
    good(http.post(f"{HERE}/close", {}))
    http.service.close()
    later = Local(Service(open_storage(storage_url)))
    try:
        again = good(later.get(HERE))
        assert again["components"] == stands["components"]
        assert again["closed"] is True
        assert good(later.get(f"{HERE}/decisions"))["decisions"] == history
    finally:
        later.close()


def test_one_that_cannot_be_shown_keeps_nobody_from_the_others(campaign, monkeypatch, caplog):
    campaign.post("/v1/campaigns", {**BODY, "name": "second"})
    registry = campaign.service.registry
    whole = type(registry).document

    def failing(self, name, *confidence):
        if name == "first":
            raise IndexError("index 3 is out of bounds")
        return whole(self, name, *confidence)

    monkeypatch.setattr(type(registry), "document", failing)
    entries = good(campaign.get("/v1/campaigns"))["campaigns"]
    assert [entry["name"] for entry in entries] == ["first", "second"]
    assert "log" in entries[0]["error"]
    assert "error" not in entries[1]
    assert "index 3" in caplog.text

    def away(self, name, *confidence):
        raise Unavailable("the store is away")

    monkeypatch.setattr(type(registry), "document", away)
    assert campaign.get("/v1/campaigns").status_code == 503


def test_a_create_that_fails_leaves_nothing_behind(http, monkeypatch):
    def failing(*arguments):
        raise IndexError("of no use")

    with monkeypatch.context() as patch:
        patch.setattr("ossb.campaigns.rehearsal.choose", failing)
        assert http.post("/v1/campaigns", BODY).status_code == 500
    assert json.loads(http.get("/v1/campaigns").content) == {"campaigns": []}
    assert http.post("/v1/campaigns", BODY).status_code == 201
