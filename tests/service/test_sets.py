"""Sets of arms that are not listed, over HTTP."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campaign_instances import ROUTES
from ossb.arm_sets import Paths
from ossb.campaigns import document
from ossb.campaigns.snapshots import fingerprint
from ossb.client import Client
from service_process import Server

ROADS = ["bridge", "tunnel", "ring", "park", "mall"]
INSTANCE = {**ROUTES, "arm_names": ROADS}
BODY = {"name": "vans", "instance": INSTANCE, "policy": {"name": "hgl"}, "seed": 1}
VANS = "/v1/campaigns/vans"


NUMBERS = st.integers(-2, 7) | st.floats(-2, 2) | st.none() | st.booleans() | st.text(max_size=2)
LISTS = st.lists(NUMBERS, max_size=4)
VALUES = NUMBERS | LISTS | st.lists(LISTS, max_size=3)
# by call: what its body may hold, near enough to be understood now and then
CALLS = {
    "ask": st.fixed_dictionaries({}, optional={"n": NUMBERS, "available": VALUES}),
    "tell": st.fixed_dictionaries({"id": st.just("0"), "observation": VALUES}),
    "retire": st.fixed_dictionaries({"arm": VALUES}),
    "arms": st.fixed_dictionaries({"arm": st.just({}) | VALUES}, optional={"number": NUMBERS}),
    "import": st.fixed_dictionaries(
        {"rows": st.lists(st.tuples(VALUES, VALUES), max_size=3), "after": st.just(0)}
    ),
}
KEYS = [*INSTANCE, "n_items", "size", "n_left", "n_right", "n_nodes", "phi", "observation"]
SETS = {
    "m_sets": {"n_items": 4, "size": 2},
    "paths": {key: ROUTES[key] for key in ("edges", "source", "target")},
    "matchings": {"n_left": 2, "n_right": 3, "edges": [[0, 0], [0, 1], [1, 1], [1, 2], [0, 2]]},
    "spanning_trees": {"n_nodes": 4, "edges": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]},
}


@pytest.fixture
def vans(http):
    made = http.post("/v1/campaigns", BODY)
    assert made.status_code == 201
    assert made.json()["arms"] == []
    assert made.json()["components"] == {"counts": [0] * 5, "means": [None] * 5}
    return http


def play(http, rounds):
    for k in range(rounds):
        (decision,) = http.post(f"{VANS}/ask", {}).json()["decisions"]
        seen = [10.0 + item + 0.1 * (k % 3) for item in decision["arm"]]
        told = http.post(f"{VANS}/tell", {"id": decision["id"], "observation": seen})
        assert told.json()["results"] == [{"id": decision["id"], "status": "recorded"}]


def test_ask_tell_show(vans):
    decisions = vans.post(f"{VANS}/ask", {"n": 3}).json()["decisions"]
    for decision in decisions:
        assert decision["arm_name"] == ", ".join(ROADS[item] for item in decision["arm"])
    tells = [{"id": one["id"], "observation": [1.0] * len(one["arm"])} for one in decisions]
    assert vans.post(f"{VANS}/tell", {"tells": tells}).status_code == 200
    play(vans, 20)
    found = vans.get(VANS).json()
    assert found["rounds"] == sum(found["plays"]) == 23
    assert found["plays"] == sorted(found["plays"], reverse=True)
    assert len(found["arms"]) == len(found["means"]) == found["arms_played"]
    assert len(found["exploration"]["gaps"]) == found["arms_played"]
    assert found["exploration"]["regret"] == pytest.approx(found["timeline"]["regret"][-1])
    assert found["leader"] in [arm["arm"] for arm in found["arms"]]
    assert all(isinstance(entry["arm"], list) for entry in found["rates"]["rates"])
    assert found["stop"]["threshold"] > found["stop"]["statistic"] > 0
    (listed,) = vans.get("/v1/campaigns").json()["campaigns"]
    same = ("arms", "arms_played", "retired", "plays", "means", "components", "leader")
    for key in (*same, "rates", "stop"):
        assert listed[key] == found[key]
    history = vans.get(f"{VANS}/decisions?start=3&limit=20").json()["decisions"]
    assert all(len(entry["observation"]) == len(entry["arm"]) for entry in history)


@pytest.mark.parametrize("kind", SETS)
def test_every_set_can_be_shown(http, kind):
    instance = {
        "structure": "combinatorial",
        "sigma": 1.0,
        "feedback": "semi_bandit",
        "arm_set": kind,
    }
    http.post("/v1/campaigns", {**BODY, "instance": {**instance, **SETS[kind]}})
    for _ in range(4):
        play(http, 4)
        shown = http.get(VANS)
        assert shown.status_code == 200, shown.text
        listed = http.get("/v1/campaigns")
        assert listed.status_code == 200, listed.text
        assert listed.json()["campaigns"][0]["rates"] == shown.json()["rates"]
    rates = shown.json()["rates"]
    assert rates["lower"] <= rates["value"] <= rates["upper"]
    assert rates["rates"]


def test_of_many_arms_the_most_played_are_shown(vans, monkeypatch):
    play(vans, 12)
    whole = vans.get(VANS).json()
    monkeypatch.setattr(document, "MOST_MET", 1)
    play(vans, 1)
    found = vans.get(VANS).json()
    assert found["arms_played"] >= whole["arms_played"] > 1
    assert len(found["arms"]) == len(found["plays"]) == len(found["exploration"]["gaps"]) == 1
    assert found["arms"][0] == whole["arms"][0]


@pytest.mark.parametrize(
    ("observation", "field"),
    [
        (1.0, "observation"),
        ([1.0], "observation"),
        ([1.0] * 9, "observation"),
        ([], "observation"),
        ("x", "observation"),
        (None, "observation"),
        ({"0": 1.0}, "observation"),
        ([1.0, "1", 1.0], "observation[1]"),
        ([1.0, None, 1.0], "observation[1]"),
        ([1.0, 1.0, True], "observation[2]"),
        ([[1.0], 1.0, 1.0], "observation[0]"),
    ],
)
def test_a_tell_that_is_not_one_number_an_item(vans, observation, field):
    (decision,) = vans.post(f"{VANS}/ask", {}).json()["decisions"]
    assert len(decision["arm"]) == 3
    before = vans.get(VANS).json()
    answer = vans.post(f"{VANS}/tell", {"id": decision["id"], "observation": observation})
    assert answer.status_code == 400
    assert answer.json()["error"]["field"] == field
    batch = {"tells": [{"id": decision["id"], "observation": observation}]}
    answer = vans.post(f"{VANS}/tell", batch)
    assert answer.json()["error"]["field"] == f"tells[0].{field}"
    assert vans.get(VANS).json() == before


def test_items_come_no_more_and_go(vans):
    play(vans, 8)
    (decision,) = vans.post(f"{VANS}/ask", {"available": [0, 3]}).json()["decisions"]
    assert decision["arm"] == [0, 3]
    refused = vans.post(f"{VANS}/ask", {"available": [0, 1]})
    assert refused.status_code == 400
    assert refused.json()["error"]["field"] == "available"
    assert vans.post(f"{VANS}/retire", {"arm": 3}).status_code == 200
    play(vans, 4)
    assert vans.get(VANS).json()["retired"] == [3]
    assert 3 not in vans.get(VANS).json()["leader"]
    for body in ({"arm": {}}, {"arm": {}, "number": 5}, {"arm": {}, "number": 1}):
        added = vans.post(f"{VANS}/arms", body)
        assert added.status_code == 400
        assert added.json()["error"]["field"] == "arm"
    assert vans.post(f"{VANS}/retire", {"arm": 5}).json()["error"]["field"] == "arm"


def test_data_from_before(vans):
    rows = [[[0, 3], [1.0, 2.0]], [[1, 4], [3.0, 4.0]]]
    taken = vans.post(f"{VANS}/import", {"rows": rows, "after": 1})
    assert taken.json() == {"rows": 2, "events": 2}
    assert vans.get(VANS).json()["components"]["counts"] == [1, 1, 0, 1, 1]
    for arm in (0, [3, 0], [0, 4], [0, 9], "bridge", []):
        answer = vans.post(f"{VANS}/import", {"rows": [[arm, [1.0, 2.0]]], "after": 2})
        assert answer.status_code == 400
        assert answer.json()["error"]["field"].startswith("rows[0].arm")


def test_rates_that_take_long_are_rough_or_left_out(vans, monkeypatch):
    play(vans, 10)
    rates = vans.get(VANS).json()["rates"]
    assert rates["upper"] - rates["lower"] <= document.ROUGH * rates["upper"]
    monkeypatch.setattr(Paths, "slow_items", 4)
    play(vans, 1)
    found = vans.get(VANS).json()
    assert found["rates"]["rates"] is None
    assert "more than 4 items" in found["rates"]["reason"]
    assert found["exploration"]["regret"] is None
    assert found["timeline"]["regret"] is None
    assert found["stop"]["statistic"] > 0


def state_of(http):
    with http.service.registry.campaign("vans")._journal.look() as state:
        return state.number, fingerprint(state)


@given(st.data())
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_generated_bodies_change_nothing_or_count(vans, data):
    """One campaign for all of them: what is understood counts, the rest changes nothing."""
    call = data.draw(st.sampled_from(sorted(CALLS)))
    body, (number, before) = data.draw(CALLS[call]), state_of(vans)
    if call == "import":
        body["after"] = number
    if call == "tell":
        decisions = vans.get(f"{VANS}/decisions?start=-1&limit=1").json()["decisions"]
        body["id"] = decisions[0]["id"] if decisions else "0"
    answer = vans.post(f"{VANS}/{call}", json.dumps(body).encode())
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.json()["error"]["field"]
        assert state_of(vans) == (number, before)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_generated_instances_are_refused_or_other_ones(vans, keys):
    """Under a name that is taken."""
    if not keys:
        return
    before = state_of(vans)
    body = {**BODY, "instance": {**INSTANCE, **keys}}
    answer = vans.post("/v1/campaigns", json.dumps(body).encode())
    assert answer.status_code < 500, answer.text
    assert answer.status_code == 200 or answer.json()["error"]["field"]
    assert state_of(vans) == before


def test_sums_alone_are_refused(http):
    instance = {**INSTANCE, "feedback": "bandit"}
    answer = http.post("/v1/campaigns", {**BODY, "instance": instance})
    assert answer.status_code == 400
    assert answer.json()["error"]["field"] == "instance"


def test_a_killed_server_goes_on_where_it_was(tmp_path):
    """The client, a real server, and its end by signal 9."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    server = Server(url, tmp_path / "log").start()
    try:
        with Client(server.url) as client:
            client.create("vans", INSTANCE, "combinatorial-thompson", 4)
            for _ in range(6):
                (decision,) = client.ask("vans")
                client.tell("vans", decision.id, [float(item) for item in decision.arm])
            before = client.campaign("vans")
            server.kill()
            server.start()
            assert client.campaign("vans") == before
            (decision,) = client.ask("vans", available=[0, 3])
            assert decision.arm == [0, 3]
    finally:
        server.stop()
