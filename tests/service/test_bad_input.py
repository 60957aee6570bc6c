"""Bad input: 4xx, the field named, and nothing changed."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ossb.campaigns.snapshots import fingerprint
from service_calls import BODY, INSTANCE

FIRST = "/v1/campaigns/first"
DEEP = b"[" * 100_000 + b"]" * 100_000
HUGE = 10**400


def raw(key, text, **more):
    """A JSON body with one value written as is."""
    rest = "".join(f", {json.dumps(k)}: {json.dumps(v)}" for k, v in more.items())
    return f'{{"{key}": {text}{rest}}}'.encode()


# values that are no number at all, or none that is finite
NO_NUMBERS = (
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "-1e999",
    str(HUGE),
    f"-{HUGE}",
    '"0.5"',
    '""',
    "true",
    "false",
    "null",
    "[]",
    "[0.5]",
    "{}",
    '{"a": 1}',
    "0x10",
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "'1'",
    "undefined",
    "nan",
    "1" * 5000,
)
WHOLE_BODIES = (
    b"[]",
    b"null",
    b"1",
    b'"text"',
    b"{",
    b"}",
    b"{}}",
    b'{"a"}',
    b"{'a': 1}",
    b"\xff\xfe{\x00}\x00",
    b'{"n": "\xff"}',
    b"\xef\xbb\xbf{}",
    b"\x00",
    b'{"n": 1} {"n": 2}',
    b'{"n": 1,}',
    b"<xml/>",
    b"n=1",
    DEEP[:20_000],
    b'{"n": ' + b"[" * 9 + b"]" * 9 + b"}",
    b'{"n": ' * 20 + b"1" + b"}" * 20,
    b'{"n": 1, "n": 1}',
    b'{"unknown": 1}',
    b'{"\\u0000": 1}',
    b'{"<script>": 1}',
    b'{"' + b"k" * 10_000 + b'": 1}',
    b'{"\\ud800": 1}',
    b" ",
    b"nul",
    b'{"n": 1}\x00',
)
NAMES = ("", "\x00", "a\x00b", "n" * 10_240, "‏rtl", "a‮b", "line\nbreak", "\ud800", ".", "..")
PLAIN = {"name": "new", "instance": INSTANCE, "policy": {"name": "ucb1"}}

ASK = [
    *[(f"n={v[:20]}", raw("n", v), ("n", "body")) for v in NO_NUMBERS],
    *[(f"n={v}", raw("n", v), "n") for v in ("-1", "0", "1000000000", "1.5", "1e3", "-0.0")],
    *[(f"lease={v[:20]}", raw("lease_seconds", v), ("lease_seconds", "body")) for v in NO_NUMBERS],
    *[(f"lease={v}", raw("lease_seconds", v), "lease_seconds") for v in ("0", "-1", "1e300")],
    *[
        (f"available={v}", raw("available", v), "available")
        for v in ("null", "1", '"0"', "{}", "[]", "true", "[3]", "[-1]", "[null]", "[true]")
    ],
    *[(f"available={v}", raw("available", v), "available") for v in ('["0"]', "[0.5]", "[[0]]")],
    *[(f"whole={v[:20]!r}", v, None) for v in WHOLE_BODIES],
]
OBSERVATIONS = [
    *[(f"observation={v[:20]}", v, ("observation", "body")) for v in NO_NUMBERS],
    *[(f"observation={v}", v, "observation") for v in ("2", "-1", "0.5", "1e-300", "-1e-9")],
]
TELL = [
    *[("whole=" + repr(v[:20]), v, None) for v in WHOLE_BODIES if v != b"{}"],
    ("empty", b"", ("body", "id")),
    ("nothing", b"{}", "id"),
    ("no id", b'{"observation": 1}', "id"),
    ("extra", b'{"id": "0-x", "observation": 1, "arm": 1}', "arm"),
    ("twice", b'{"id": "0-x", "id": "0-x", "observation": 1}', "id"),
    *[
        (f"id={v[:20]}", raw("id", v, observation=1), ("id", "body"))
        for v in ("null", "1", "true", "[]", "{}", '""', '"0"', '"0-x"', '"-1"', '"99-abcdef12"')
    ],
    *[
        (f"id={v[:20]!r}", raw("id", json.dumps(v), observation=1), "id")
        for v in ("9" * 5000, "\x00", "<script>", "../", "‏", "\ud800", "٣-x", "0" * 12 + "-")
    ],
    *[
        (f"tells={v}", raw("tells", v), "tells")
        for v in ("null", "[]", "{}", "1", '"x"', "[1]", "[null]", "[[]]", "[{}]", "[true]")
    ],
    ("both", b'{"tells": [{"id": "a", "observation": 1}], "id": "0-x"}', "id"),
    ("extra in one", b'{"tells": [{"id": "0", "observation": 1, "x": 1}]}', "tells[0].x"),
]
CREATE = [
    *[("whole=" + repr(v[:20]), v, None) for v in WHOLE_BODIES],
    *[(f"name={n[:10]!r}", json.dumps({**PLAIN, "name": n}).encode(), "name") for n in NAMES],
    *[
        (f"name={v}", json.dumps({**PLAIN, "name": v}).encode(), "name")
        for v in (None, 1, True, [], {})
    ],
    *[
        (f"seed={v[:20]}", raw("seed", v, **PLAIN), ("seed", "body"))
        for v in (*NO_NUMBERS, "-1", "1.5", "9223372036854775807")
    ],
    *[
        (f"instance={v}", json.dumps({**PLAIN, "instance": v}).encode(), None)
        for v in (
            None,
            1,
            "x",
            [],
            {},
            {"structure": "none", "sigma": 1.0},
            {"structure": 1, "sigma": 1.0},
            {"structure": ["classical"], "sigma": 1.0},
            {**INSTANCE, "n_arms": 0},
            {**INSTANCE, "n_arms": -1},
            {**INSTANCE, "n_arms": 10**9},
            {**INSTANCE, "n_arms": "3"},
            {**INSTANCE, "n_arms": 2.5},
            {**INSTANCE, "n_arms": True},
            {**INSTANCE, "n_arms": None},
            {**INSTANCE, "unknown": 1},
            {**INSTANCE, "observation": "cauchy"},
            {**INSTANCE, "observation": ["bernoulli"]},
            {**INSTANCE, "goal": "win"},
            {**INSTANCE, "arm_names": ["a"]},
            {**INSTANCE, "arm_names": ["a", "a", "b"]},
            {**INSTANCE, "arm_names": "abc"},
            {**INSTANCE, "arm_names": ["\ud800", "b", "c"]},
            {"structure": "linear", "sigma": 1.0, "arms": []},
            {"structure": "linear", "sigma": 1.0, "arms": [[1, 2], [3]]},
            {"structure": "linear", "sigma": 1.0, "arms": [["1"]]},
            {"structure": "linear", "sigma": 1.0, "arms": 3},
            {"structure": "linear", "sigma": 1.0, "arms": [[]]},
            {"structure": "linear", "sigma": 1.0},
            {"structure": "dueling", "n_items": 10**5, "observation": "bernoulli"},
            {"structure": "dueling", "n_items": -1, "observation": "bernoulli"},
            {"structure": "lipschitz", "sigma": 1.0, "points": [0, 1]},
            {"structure": "unimodal", "sigma": 1.0, "n_arms": 3, "edges": [[0, 5]]},
            {"structure": "unimodal", "sigma": 1.0, "n_arms": 4, "edges": [[0, 1], [2, 3]]},
            {"structure": "polytope", "sigma": 1.0, "A": [[1.0], [-1.0]], "b": [0.0, -1.0]},
        )
    ],
    *[
        (f"policy={v}", json.dumps({**PLAIN, "policy": v}).encode(), None)
        for v in (
            None,
            1,
            [],
            {},
            "none",
            {"name": "none"},
            {"name": 1},
            {"name": ["ucb1"]},
            {"name": None},
            {"name": "ucb1", "unknown": 1},
            {"name": "ossb", "epsilon": 2},
            {"name": "ossb", "epsilon": "x"},
            {"name": "ossb", "epsilon": [1]},
            {"name": "ossb", "epsilon": {"a": 1}},
            {"name": "oful"},
            {"name": "<script>"},
        )
    ],
    ("no name", json.dumps({"instance": INSTANCE, "policy": {"name": "ucb1"}}).encode(), "name"),
    ("no instance", json.dumps({"name": "x", "policy": {"name": "ucb1"}}).encode(), "instance"),
    ("no policy", json.dumps({"name": "x", "instance": INSTANCE}).encode(), "policy"),
]
NO_POLICIES = [
    (None, "policy"),
    (7, "policy"),
    ([], "policy"),
    ("", "policy"),
    ("best", "policy"),
    ({}, "policy.name"),
    ({"name": 7}, "policy"),
    ({"name": "rmed1"}, "policy"),
    ({"name": "hgl", "speed": 1}, "policy.speed"),
    ({"name": "top-two", "delta": 1}, "policy.delta"),
    ({"name": "ossb", "epsilon": "x"}, "policy.epsilon"),
]
TABLE = (
    [("/ask", *entry) for entry in ASK if entry[1] != b"{}"]
    + [("/tell", *entry) for entry in TELL]
    + [("/void", *entry) for entry in TELL[:-2] if b"observation" not in entry[1]]
    + [("", *entry) for entry in CREATE]
    + [
        (rest, f"whole={v[:20]!r}", v, None)
        for rest in ("/arms", "/retire", "/switch", "/import")
        for v in WHOLE_BODIES
    ]
    + [("/retire", f"arm={v[:20]}", raw("arm", v), ("arm", "body")) for v in NO_NUMBERS]
    + [
        ("/switch", f"policy={json.dumps(v)[:30]}", json.dumps({"policy": v}).encode(), field)
        for v, field in NO_POLICIES
    ]
    + [
        ("/import", f"after={v[:20]}", raw("after", v, rows=[[0, 1]]), ("after", "body"))
        for v in NO_NUMBERS
    ]
)


def test_the_table_is_long_enough():
    assert len(TABLE) + len(OBSERVATIONS) >= 300


@pytest.fixture(scope="module")
def fixed(tmp_path_factory):
    """One service for all of the table: nothing in it may change anything."""
    from ossb.campaigns import open_storage
    from ossb.service.app import Service
    from service_calls import Local

    folder = tmp_path_factory.mktemp("bad")
    local = Local(Service(open_storage(f"sqlite:///{folder / 'campaigns.db'}")))
    assert local.post("/v1/campaigns", BODY).status_code == 201
    local.decision = local.post(f"{FIRST}/ask", {}).json()["decisions"][0]
    yield local
    local.close()


def state(local):
    campaign = local.service.registry.campaign("first")
    with campaign._journal.look() as found:
        return fingerprint(found), local.service.registry.names()


def check(local, path, body, field):
    before = state(local)
    answer = local.post(path, body)
    assert 400 <= answer.status_code < 500, answer.text
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "field"}
    assert error["field"], error
    wanted = (field,) if isinstance(field, str) else field
    if wanted:
        assert any(name in error["field"] for name in wanted), error
    assert len(answer.content) < 2000
    assert state(local) == before


@pytest.mark.parametrize(
    ("rest", "body", "field"),
    [pytest.param(rest, body, field, id=f"{rest} {name}") for rest, name, body, field in TABLE],
)
def test_bad_bodies(fixed, rest, body, field):
    check(fixed, FIRST + rest if rest else "/v1/campaigns", body, field)


@pytest.mark.parametrize(("name", "text", "field"), OBSERVATIONS)
def test_bad_observations(fixed, name, text, field):
    check(fixed, f"{FIRST}/tell", raw("observation", text, id=fixed.decision["id"]), field)


@pytest.mark.parametrize("size", [64 * 1024 + 1, 1024 * 1024 + 1, 5_000_000])
def test_bodies_that_are_too_long(fixed, size):
    body = b'{"n": 1' + b" " * size + b"}"
    for path in (f"{FIRST}/ask", f"{FIRST}/tell", f"{FIRST}/void", "/v1/campaigns"):
        if path.endswith("tell"):
            body = body.replace(b'"n": 1', b'"id": "0-x", "observation": 1')
        before = state(fixed)
        answer = fixed.post(path, body)
        assert answer.status_code == 413
        assert answer.json()["error"]["field"] == "body"
        assert state(fixed) == before


def test_a_batch_may_be_longer(fixed):
    tells = [{"id": "0-x" + "y" * 100, "observation": 1}] * 1000
    answer = fixed.post(f"{FIRST}/tell", {"tells": tells})
    assert (answer.status_code, answer.json()["error"]["field"]) == (404, "tells[0].id")


def test_minus_zero_is_zero(fixed):
    decision = fixed.post(f"{FIRST}/ask", {}).json()["decisions"][0]
    body = {"id": decision["id"], "observation": 0}
    assert fixed.post(f"{FIRST}/tell", body).json()["results"][0]["status"] == "recorded"
    again = fixed.post(f"{FIRST}/tell", raw("observation", "-0.0", id=decision["id"]))
    assert again.json()["results"][0]["status"] == "same"


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "../", "a/b", "é ü 中", "a?b#c%20"])
def test_odd_names_are_names(fixed, name):
    from urllib.parse import quote

    made = fixed.post("/v1/campaigns", {**BODY, "name": name})
    assert made.status_code == 201
    shown = fixed.get(f"/v1/campaigns/{quote(name, safe='')}")
    assert shown.json()["name"] == name


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
KEYS = ["n", "lease_seconds", "available", "id", "observation", "tells", "name", "instance"]
KEYS += [
    "number",
    "source",
    "arm",
    "rows",
    "after",
    "policy",
    "seed",
    "structure",
    "n_arms",
    "arms",
    "points",
    "theta",
    "edges",
]
OBJECTS = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), VALUES, max_size=5)
INSTANCES = st.builds(
    lambda kind, keys: {"structure": kind, **keys},
    st.sampled_from(["classical", "linear", "unimodal", "dueling", "lipschitz", "finite"]),
    st.dictionaries(
        st.sampled_from([*KEYS, "n_items", "observation", "sigma", "goal", "link", "parameters"]),
        VALUES | st.integers(0, 5) | st.lists(st.lists(st.floats(-2, 2), max_size=3), max_size=3),
        max_size=4,
    ),
)


# what a new arm may bring, and what an ask may be restricted to: parts that are nearly right
NEARLY = VALUES | st.integers(-1, 5) | st.lists(st.integers(-1, 5) | VALUES, max_size=4)
BROUGHT = {  # by the campaigns below
    "unimodal": ["neighbours", "between"],
    "linear": ["features"],
    "lipschitz": ["point"],
    "distances": ["distances"],
    "dueling": ["name"],
}
NEW_ARMS = st.sampled_from(sorted(BROUGHT)).flatmap(
    lambda name: st.tuples(
        st.just(name),
        st.dictionaries(st.sampled_from([*BROUGHT[name], "other"]), NEARLY, max_size=2) | VALUES,
    )
)
GROWING = {
    "unimodal": {"structure": "unimodal", "sigma": 1.0, "n_arms": 3},
    "linear": {"structure": "linear", "sigma": 1.0, "arms": [[1, 0], [0, 1]]},
    "lipschitz": {
        "structure": "lipschitz",
        "sigma": 1.0,
        "points": [0, 1],
        "lipschitz_constant": 1,
    },
    "distances": {"structure": "lipschitz", "sigma": 1.0, "distances": [[0, 1], [1, 0]]},
    "dueling": {"structure": "dueling", "n_items": 3},
}

RESTS = ("ask", "tell", "void", "arms", "retire", "switch", "import", "contrasts")
PATHS = st.sampled_from([*(f"{FIRST}/{rest}" for rest in RESTS), "/v1/campaigns"])
BODIES = st.binary(max_size=60) | OBJECTS.map(lambda keys: json.dumps(keys).encode())
POLICY_NAMES = st.sampled_from(["ucb1", "hgl", "ossb", "thompson"])


def check_body(local, path, body):
    """No 5xx; an error names its field and changes nothing."""
    before = state(local)
    answer = local.post(path, body)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.json()["error"]["field"]
        assert state(local) == before


def check_instance(local, instance, policy):
    """A campaign that is there already, with another definition or a bad one."""
    before = state(local)
    body = json.dumps({"name": "first", "instance": instance, "policy": {"name": policy}})
    answer = local.post("/v1/campaigns", body.encode())
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.json()["error"]["field"]
    assert state(local) == before


@given(PATHS, BODIES)
@settings(max_examples=120)
def test_generated_bodies(fixed, path, body):
    check_body(fixed, path, body)


@given(INSTANCES, POLICY_NAMES)
@settings(max_examples=60)
def test_generated_instances(fixed, instance, policy):
    check_instance(fixed, instance, policy)


def check_restriction(local, available, more):
    """An ask with a key that was used: the same answer again, or an error that names the field."""
    used = {"idempotency-key": "used"}
    assert local.post(f"{FIRST}/ask", {}, headers=used).status_code == 200
    before = state(local)
    body = json.dumps({"available": available, **more}).encode()
    answer = local.post(f"{FIRST}/ask", body, headers=used)
    assert answer.status_code in (200, 400), answer.text
    if answer.status_code == 400:
        field = answer.json()["error"]["field"]
        assert field.startswith("available") or field == "body"
    else:
        assert all(arm in (0, 1, 2) for arm in available)
    assert state(local) == before


def check_arm(local, new, turn):
    """A new arm is added, or its field named and nothing changed; ``turn`` is a whole number."""
    kind, arm = new
    name = f"{kind} {turn}"
    body = {"name": name, "instance": GROWING[kind], "policy": {"name": "hgl"}}
    assert local.post("/v1/campaigns", body).status_code in (200, 201)
    campaign = local.service.registry.campaign(name)
    before = campaign.number
    answer = local.post(f"/v1/campaigns/{name}/arms", json.dumps({"arm": arm}).encode())
    assert answer.status_code in (201, 400), answer.text
    if answer.status_code == 400:
        assert answer.json()["error"]["field"]
    assert campaign.number == before + (answer.status_code == 201)


MORE = st.sampled_from([{}, {"n": 1}])
TURNS = st.integers(0, 99)  # so that no campaign grows large


@given(NEARLY, MORE)
@settings(max_examples=80)
def test_generated_restrictions_of_a_key_that_was_used(fixed, available, more):
    check_restriction(fixed, available, more)


@given(NEW_ARMS, TURNS)
@settings(max_examples=150)
def test_generated_arms(fixed, new, turn):
    check_arm(fixed, new, turn)


@pytest.mark.parametrize("near", [5, None, "01", {}, [], [3], [-1], [[0]], [0, None]])
def test_neighbours_are_checked(http, near):
    body = {"name": "line", "instance": GROWING["unimodal"], "policy": {"name": "hgl"}}
    assert http.post("/v1/campaigns", body).status_code == 201
    answer = http.post("/v1/campaigns/line/arms", {"arm": {"neighbours": near}})
    assert answer.status_code == 400
    assert answer.json()["error"]["field"].startswith("arm.neighbours")


@pytest.mark.parametrize("text", ["[[0]]", "[{}]", "[99, 0, 1, 2]", "[null]", "null", "7"])
def test_the_restriction_of_a_used_key_is_checked(fixed, text):
    used = {"idempotency-key": "checked"}
    assert fixed.post(f"{FIRST}/ask", {}, headers=used).status_code == 200
    answer = fixed.post(f"{FIRST}/ask", raw("available", text), headers=used)
    assert answer.status_code == 400
    assert answer.json()["error"]["field"].startswith("available")
