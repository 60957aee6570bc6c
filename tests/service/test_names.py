"""Names show what they hold, everywhere they are taken."""

import json

import pytest

from ossb.campaigns import Campaign, open_storage
from ossb.campaigns.events import GENESIS, chained
from ossb.errors import InputError
from ossb.fields import seen
from ossb.instances import load
from service_calls import BODY, INSTANCE

HIDDEN = [
    "a\u2028b", "a\u2029b", "a\u202eb", "a\u2066b", "\u200fa", "a\u200bb", "\ufeffa", "a\x00b",
    "a\nb", "a\x85b", "a\x1b[2Jb", "a\u061cb", "a\u00adb", "a\U000e0041b", "\ud800", " ", "\u3000",
    "\u3164", "\u2800",
]  # fmt: skip
SEEN = ["a b", "naïve", "价格", "é", "a\u0301", "<b>", "-1", "😀", "\u05d0", "x" * 200]


@pytest.mark.parametrize("name", HIDDEN, ids=ascii)
def test_hidden_ones_are_refused(campaign, tmp_path, name):
    if "\ud800" in name:  # no text that could be sent
        with pytest.raises(InputError):
            seen(name, "name")
        return
    named = {**INSTANCE, "arm_names": ["a", name, "c"]}
    for body, field in (
        ({**BODY, "name": name}, "name"),
        ({**BODY, "name": "second", "instance": named}, "instance.arm_names[1]"),
        ({**BODY, "name": "second", "instance": {**INSTANCE, "name": name}}, "instance.name"),
    ):
        answer = campaign.post("/v1/campaigns", body)
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)
    rows = {"rows": [[0, 1]], "after": 1, "source": name}
    answer = campaign.post("/v1/campaigns/first/import", rows)
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "source")
    file = tmp_path / "instance.json"
    file.write_text(json.dumps({**named, "theta": [0.1, 0.2, 0.3]} | {"n_arms": 3}))
    with pytest.raises(InputError, match="arm_names"):
        load(file)


@pytest.mark.parametrize("name", SEEN, ids=ascii)
def test_others_are_not(campaign, name):
    instance = {**INSTANCE, "arm_names": ["first", name, "third"], "name": name}
    made = campaign.post("/v1/campaigns", {**BODY, "name": name, "instance": instance})
    assert made.status_code == 201


def test_new_arms_have_names_that_show_what_they_hold(campaign):
    named = {**INSTANCE, "arm_names": ["a", "b", "c"]}
    campaign.post("/v1/campaigns", {**BODY, "name": "named", "instance": named})
    for name in [*(name for name in HIDDEN if name != "\ud800"), "x" * 201, ""]:
        answer = campaign.post("/v1/campaigns/named/arms", {"arm": {"name": name}})
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, "arm.name")
    assert campaign.post("/v1/campaigns/named/arms", {"arm": {"name": "d"}}).status_code == 201


def test_a_campaign_of_before_with_such_names_opens():
    store = open_storage("memory://")
    Campaign.open(store, "c", instance={**INSTANCE, "arm_names": ["a", "b", "c"]}, policy="ucb1")
    content = next(store.read("c")).content
    old = {**content, "name": "a\u2028", "instance": {**content["instance"], "name": "\u202e"}}
    old["instance"]["arm_names"] = ["a", "b\u2028", "c"]
    store.append("a\u2028", [chained(GENESIS, 1, "created", 1e9, old)]).result()
    again = Campaign.open(store, "a\u2028", instance=old["instance"], policy="ucb1")
    assert again.ask(3)[1].arm_name == "b\u2028"


def test_arms_that_are_added_keep_to_the_limits(campaign, monkeypatch):
    monkeypatch.setattr("ossb.service.sizes.MOST_ARMS", 4)
    assert campaign.post("/v1/campaigns/first/arms", {"arm": {}}).status_code == 201
    answer = campaign.post("/v1/campaigns/first/arms", {"arm": {}})
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "arm")
    assert "at most 4" in answer.json()["error"]["message"]
    assert len(campaign.get("/v1/campaigns/first").json()["arms"]) == 4
