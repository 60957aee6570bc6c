"""Campaigns from the command line."""

import json

import polars
import pytest

from service_process import Server

INSTANCE = 'structure = "classical"\nobservation = "bernoulli"\nn_arms = 3\n'


@pytest.fixture
def campaign(ossb, tmp_path, monkeypatch):
    """``ossb campaign …`` in a store with one campaign."""
    monkeypatch.setenv("OSSB_STORAGE", f"sqlite:///{tmp_path / 'store.db'}")
    path = tmp_path / "instance.toml"
    path.write_text(INSTANCE)

    def call(*arguments):
        code = ossb("campaign", *arguments)
        call.out, call.err = ossb.out, ossb.err
        return code

    assert call("create", "first", path, "--policy", "ucb1", "--seed", 4) == 0
    call.instance = path
    return call


def test_create_again(campaign):
    assert campaign("create", "first", campaign.instance, "--policy", "ucb1", "--seed", 4) == 0
    assert campaign("create", "first", campaign.instance, "--policy", "kl-ucb", "--seed", 4) == 2
    assert "another policy" in campaign.err
    assert campaign("create", "second", campaign.instance, "--policy", "ucb1:x") == 2
    parameters = "ossb:epsilon=0.1"
    assert campaign("create", "third", campaign.instance, "--policy", parameters, "--json") == 0
    assert json.loads(campaign.out)["policy"] == {"name": "ossb", "epsilon": 0.1}


def test_ask_tell_show(campaign):
    assert campaign("ask", "first", "-n", 2, "--key", "k", "--json") == 0
    decisions = json.loads(campaign.out)["decisions"]
    campaign("ask", "first", "-n", 2, "--key", "k", "--json")
    assert json.loads(campaign.out)["decisions"] == decisions
    id_ = decisions[0]["id"]
    assert campaign("tell", "first", id_, 1) == 0
    assert campaign.out == "recorded\n"
    assert campaign("tell", "first", id_, 1, "--json") == 0
    assert json.loads(campaign.out)["results"] == [{"id": id_, "status": "same"}]
    assert campaign("tell", "first", id_, 0) == 2
    assert campaign("tell", "first", id_, "x") == 2
    assert campaign("tell", "first", id_, "-1") == 2
    assert "observation" in campaign.err
    for said in ("voided", "same"):
        assert campaign("void", "first", id_) == 0
        assert campaign.out == f"{said}\n"
    assert campaign("show", "first", "--json") == 0
    assert json.loads(campaign.out)["decisions"]["voided"] == 1
    assert campaign("show", "first") == 0
    assert "first: classical, ucb1" in campaign.out
    assert campaign("ask", "first") == 0
    assert "arm " in campaign.out


def test_ask_from_a_context_among_some_by_name(campaign, tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(
        'structure = "linear"\nsigma = 1.0\narms = [[1, 0], [0, 1], [1, 1]]\n'
        'arm_names = ["news", "sport", "weather"]\n'
        '[[contexts]]\nname = "phone"\n[[contexts]]\nname = "desk"\navailable = [0, 2]\n'
    )
    assert campaign("create", "front", file) == 0
    command = ("ask", "front", "--context", "desk", "--available")
    assert campaign(*command, "weather", "--json") == 0
    assert json.loads(campaign.out)["decisions"][0]["arm"] == [1, 2]
    assert campaign(*command, "0", "--json") == 0
    assert json.loads(campaign.out)["decisions"][0]["arm"] == [1, 0]
    assert campaign(*command, "sport") == 2
    assert "`available[0]` must be the number or the name of an arm of context desk" in campaign.err


@pytest.mark.parametrize("depth", [21, 970, 3000])
def test_what_is_nested_too_deeply(campaign, depth):
    campaign("ask", "first", "--json")
    id_ = json.loads(campaign.out)["decisions"][0]["id"]
    deep = "[" * depth + "]" * depth
    for command, field in (
        (("tell", "first", id_, deep), "observation"),
        (("tell", "first", id_, "[" * depth), "observation"),
        (("add-arm", "first", f'{{"name": {deep}}}'), "arm"),
        (("create", "deep", campaign.instance, "--policy", f"hgl:front={deep}"), "front"),
    ):
        assert campaign(*command) == 2
        assert campaign.err.startswith(f"ossb: `{field}` must be ")
        assert campaign.err.count("\n") == 1


def test_ask_among_some(campaign):
    assert campaign("ask", "first", "-n", 3, "--available", "1", "--json") == 0
    assert {entry["arm"] for entry in json.loads(campaign.out)["decisions"]} == {1}
    assert campaign("ask", "first", "--available", "1,x") == 2
    assert "`available` must be numbers of arms" in campaign.err
    assert campaign("ask", "first", "--available", "0", "--key", "k") == 0
    assert campaign("ask", "first", "--available", "1", "--key", "k") == 2
    assert "which this key was answered with before" in campaign.err
    assert campaign("ask", "first", "--available", "0,1", "--key", "k") == 0


def test_every_answer_as_json(campaign, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("arm,observation\n0,1\n")
    campaign("ask", "first", "--json")
    id_ = json.loads(campaign.out)["decisions"][0]["id"]
    campaign("tell", "first", id_, 1)
    for words, answer in (
        (["void", "first", id_], {"id": id_, "status": "voided"}),
        (["import", "first", log], {"rows": 1}),
        (["add-arm", "first"], {"arm": 3}),
        (["retire-arm", "first", 0], {"arm": 0, "status": "retired"}),
        (["close", "first"], {"name": "first", "status": "closed"}),
    ):
        assert campaign(*words, "--json") == 0, campaign.err
        assert json.loads(campaign.out) == answer


def test_arms_and_data_from_before(campaign, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("arm,observation\n0,1\n1,0\n1,1\n")
    assert campaign("import", "first", log) == 0
    assert campaign.out == "3 rows taken in by campaign first\n"
    assert campaign("retire-arm", "first", 0) == 0
    assert campaign("show", "first", "--json") == 0
    stands = json.loads(campaign.out)
    assert (stands["plays"][:2], stands["retired"]) == ([1, 2], [0])
    assert campaign("import", "first", tmp_path / "none.csv") == 2
    assert campaign("retire-arm", "first", 99) == 2


def test_the_same_file_again_counts_once(campaign, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("arm,observation\n0,1\n1,0\n")
    assert campaign("import", "first", log) == 0
    assert campaign("import", "first", log) == 0
    assert "0 rows taken in by campaign first: it took in the 2 rows" in campaign.out
    log.write_text("arm,observation\n0,1\n1,1\n")  # other contents
    assert campaign("import", "first", log, "--json") == 0
    assert json.loads(campaign.out) == {"rows": 2}
    assert campaign("show", "first", "--json") == 0
    assert json.loads(campaign.out)["plays"] == [2, 2, 0]


def test_data_from_standard_input(campaign, ossb):
    log = "arm,observation\n0,1\n1,0\n"
    assert ossb("campaign", "import", "first", "-", stdin=log) == 0
    assert ossb.out == "2 rows taken in by campaign first\n"
    assert ossb("campaign", "import", "first", "-", stdin="") == 2


def test_list_and_close(campaign):
    assert campaign("list", "--json") == 0
    assert [entry["name"] for entry in json.loads(campaign.out)] == ["first"]
    assert campaign("close", "first") == 0
    assert campaign("list") == 0
    assert "closed" in campaign.out
    assert campaign("ask", "first") == 2
    assert campaign.err == "ossb: campaign 'first' is closed\n"
    assert campaign("show", "none") == 2


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_export(campaign, tmp_path, suffix):
    campaign("ask", "first", "-n", 3, "--json")
    ids = [decision["id"] for decision in json.loads(campaign.out)["decisions"]]
    campaign("tell", "first", ids[0], 1)
    out = tmp_path / f"rows.{suffix}"
    assert campaign("export", "first", "--out", out) == 0
    read = {"csv": polars.read_csv, "parquet": polars.read_parquet, "jsonl": polars.read_ndjson}
    table = read[suffix](out)
    assert table["id"].to_list() == ids
    assert table["observation"].to_list() == [1.0, None, None]
    assert table["status"].to_list() == ["told", "pending", "pending"]
    assert campaign("export", "first") == 0
    assert len(campaign.out.splitlines()) == 3
    assert campaign("export", "first", "--out", tmp_path / "x.txt") == 2


def test_export_as_json(campaign, tmp_path):
    campaign("ask", "first", "-n", 2)
    out = tmp_path / "rows.csv"
    assert campaign("export", "first", "--out", out, "--json") == 0
    assert json.loads(campaign.out) == {"file": str(out), "rows": 2}
    assert campaign.err == ""
    assert campaign("export", "first", "--json") == 0
    assert len(json.loads(campaign.out)["decisions"]) == 2


def test_how_sure_to_be(campaign, tmp_path):
    (tmp_path / "log.csv").write_text("arm,observation\n0,1\n1,0\n2,0\n")
    assert campaign("import", "first", tmp_path / "log.csv") == 0
    assert campaign("show", "first", "--delta", "0.001", "--json") == 0
    assert json.loads(campaign.out)["stop"]["delta"] == 0.001
    assert campaign("show", "first", "--delta", "0.001") == 0
    assert "to 99.9%" in campaign.out
    for delta in ("0", "1", "nan"):
        assert campaign("show", "first", "--delta", delta) == 2
        assert "`delta` must " in campaign.err


def test_a_store_in_use(campaign, tmp_path, ossb):
    from ossb.campaigns import open_storage

    store = open_storage(f"sqlite:///{tmp_path / 'store.db'}")
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "store.db")
    for command in (["campaign", "list"], ["token", "create", "--scope", "read"], ["serve"]):
        for storage in ([], ["--storage", f"sqlite:///{link}"]):
            assert ossb(*command, *storage) == 4
            assert "is in use by another process" in ossb.err
    store.close()


def test_tokens(campaign, ossb, tmp_path):
    assert ossb("token", "create", "--scope", "admin", "--campaign", "first", "--json") == 0
    made = json.loads(ossb.out)
    assert made["token"].startswith("ossb_")
    assert made["token"].encode() not in b"".join(
        path.read_bytes() for path in tmp_path.glob("store.db*")
    )
    assert ossb("token", "create", "--scope", "none") == 2
    assert ossb("campaign", "list", "--json") == 0
    assert len(json.loads(ossb.out)) == 1


def test_a_file_that_is_not_there_is_said_and_not_made(campaign, ossb, tmp_path):
    mistyped = tmp_path / "stroe.db"
    for command in (
        ("campaign", "list"),
        ("campaign", "show", "first"),
        ("token", "list"),
        ("token", "revoke", "x"),
    ):
        assert ossb(*command, "--storage", f"sqlite:///{mistyped}") == 2
        said = f"ossb: `storage` must be a file that is there, got sqlite:///{mistyped}"
        assert ossb.err.startswith(said[:80])
        assert ossb.out == ""
    assert not list(tmp_path.glob("stroe*"))


def test_tokens_are_listed_and_revoked(campaign, ossb):
    for scope in ("admin", "read"):
        assert ossb("token", "create", "--scope", scope) == 0
    assert ossb("token", "list") == 0
    assert "read" in ossb.out
    assert ossb("token", "list", "--json") == 0
    listed = json.loads(ossb.out)
    assert [entry["scope"] for entry in listed] == ["admin", "read"]
    assert ossb("token", "revoke", listed[1]["id"]) == 0
    assert ossb("token", "revoke", listed[1]["id"]) == 2
    assert "id" in ossb.err
    assert ossb("token", "list", "--json") == 0
    assert [entry["scope"] for entry in json.loads(ossb.out)] == ["admin"]


def test_serving_strangers_needs_a_token(campaign, ossb):
    assert ossb("serve", "--host", "0.0.0.0", "--port", "18097") == 2
    assert "token" in ossb.err
    assert ossb("serve", "--log-level", "loud") == 2


def test_all_of_it_through_a_service(ossb, tmp_path, monkeypatch):
    server = Server(f"sqlite:///{tmp_path / 'store.db'}", tmp_path / "log").start()
    monkeypatch.setenv("OSSB_STORAGE", server.url)
    path = tmp_path / "instance.toml"
    path.write_text(INSTANCE)
    try:
        assert ossb("campaign", "create", "é", path, "--policy", "ucb1") == 0
        assert ossb("campaign", "ask", "é", "-n", 3, "--lease", 60, "--json") == 0
        ids = [decision["id"] for decision in json.loads(ossb.out)["decisions"]]
        assert ossb("campaign", "tell", "é", ids[0], 1) == 0
        assert ossb("campaign", "tell", "é", ids[0], 0) == 2
        assert ossb.err == f"ossb: decision {ids[0]} was told another value; nothing was changed\n"
        assert ossb("campaign", "void", "é", ids[0]) == 0
        assert ossb("campaign", "tell", "é", ids[1], 0) == 0
        assert ossb("campaign", "show", "é", "--delta", 0.001) == 0
        assert "to 99.9%" in ossb.out
        assert ossb("campaign", "export", "é") == 0
        assert [json.loads(line)["id"] for line in ossb.out.splitlines()] == ids
        log = tmp_path / "log.csv"
        log.write_text("arm,observation\n0,1\n1,0\n")
        assert ossb("campaign", "import", "é", log) == 0
        assert ossb("campaign", "import", "é", log) == 0
        assert ossb.out.startswith("0 rows taken in")
        half = tmp_path / "half.csv"
        half.write_text("arm,observation\n" + "0,1\n" * 12_399 + "0,7\n" + "0,1\n" * 100)
        assert ossb("campaign", "import", "é", half) == 2
        assert "`rows[12399].observation` must be a possible bernoulli observation" in ossb.err
        assert ossb("campaign", "show", "é", "--json") == 0
        assert sum(json.loads(ossb.out)["plays"]) == 3  # one told, two taken in
        keep = tmp_path / "keep.csv"
        keep.write_text("precious")
        assert ossb("campaign", "export", "none", "--out", keep) == 2
        assert keep.read_text() == "precious"
        assert ossb("campaign", "add-arm", "é") == 0
        assert ossb("campaign", "add-arm", "é", "[]") == 2
        assert ossb("campaign", "retire-arm", "é", 0) == 0
        assert ossb("campaign", "show", "é", "--json") == 0
        assert json.loads(ossb.out)["retired"] == [0]
        assert ossb("campaign", "close", "é") == 0
        assert ossb("campaign", "ask", "é") == 2
        assert ossb("campaign", "list", "--json") == 0
        assert json.loads(ossb.out)[0]["closed"] is True
        assert ossb("token", "create", "--scope", "admin") == 0
        monkeypatch.setenv("OSSB_TOKEN", ossb.out.strip())
        assert ossb("token", "create", "--scope", "read") == 0
        monkeypatch.setenv("OSSB_TOKEN", ossb.out.strip())
        assert ossb("campaign", "list") == 0
        assert ossb("campaign", "close", "é") == 2
        assert "scope admin" in ossb.err
        monkeypatch.delenv("OSSB_TOKEN")
        assert ossb("campaign", "list") == 2
    finally:
        assert server.stop() == 0


ROUTES = """
structure = "combinatorial"
feedback = "semi_bandit"
goal = "minimize"
sigma = 1.0
arm_set = "paths"
edges = [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]
source = 0
target = 3
arm_names = ["bridge", "tunnel", "ring", "park", "mall"]
"""


def test_a_set_of_arms(campaign, tmp_path):
    routes, log = tmp_path / "routes.toml", tmp_path / "log.csv"
    routes.write_text(ROUTES)
    assert campaign("create", "vans", routes) == 0
    assert campaign.out == "campaign vans: combinatorial, paths of 5 items, hgl\n"
    log.write_text('arm,observation\n"[0, 3]","[1.5, 2]"\n"[1, 4]","[4, 4.5]"\n')
    assert campaign("import", "vans", log) == 0
    for _ in range(3):
        assert campaign("ask", "vans", "--json") == 0
        (decision,) = json.loads(campaign.out)["decisions"]
        assert (
            campaign("tell", "vans", decision["id"], json.dumps([2.5] * len(decision["arm"]))) == 0
        )
    assert campaign("tell", "vans", decision["id"], "[2.5]") == 2
    assert "one for each item" in campaign.err
    assert campaign("show", "vans") == 0
    for words in ("bridge, park", "ring", "seen", "to 95%"):
        assert words in campaign.out
    assert campaign("show", "vans", "--json") == 0
    found = json.loads(campaign.out)
    assert found["rounds"] == 5
    assert [0, 3] in [arm["arm"] for arm in found["arms"]]
    assert campaign("ask", "vans", "--available", "1,4") == 0
    assert "tunnel, mall" in campaign.out
    assert campaign("ask", "vans", "--available", "1,3") == 2
    assert "`available` must leave an arm" in campaign.err
    assert campaign("retire-arm", "vans", 2) == 0
    assert campaign("add-arm", "vans") == 2
    assert "must not be added" in campaign.err
    assert campaign("show", "vans") == 0
    assert "ring (retired)" in campaign.out
    assert campaign("list") == 0
    assert "vans" in campaign.out
    for name in ("out.csv", "out.parquet", "out.jsonl"):
        assert campaign("export", "vans", "--out", tmp_path / name) == 0
    assert polars.read_parquet(tmp_path / "out.parquet")["arm"][3] == "[1, 4]"


def test_of_many_arms_the_most_played_are_shown(campaign, tmp_path):
    subsets = tmp_path / "subsets.toml"
    subsets.write_text(
        'structure = "combinatorial"\nfeedback = "semi_bandit"\narm_set = "m_sets"\n'
        "n_items = 8\nsize = 2\nsigma = 1\n"
    )
    assert campaign("create", "pairs", subsets) == 0
    pairs = [[i, j] for j in range(8) for i in range(j)]
    log = tmp_path / "log.csv"
    log.write_text("arm,observation\n" + "".join(f'"{pair}","[0, 1]"\n' for pair in pairs))
    assert campaign("import", "pairs", log) == 0
    assert campaign("show", "pairs") == 0
    assert "and 8 arms played less" in campaign.out


def test_a_file_of_gaussian_observations_says_their_noise(campaign, tmp_path):
    file = tmp_path / "euros.toml"
    file.write_text('structure = "classical"\nobservation = "gaussian"\nn_arms = 2\n')
    assert campaign("create", "euros", file) == 2
    (line,) = campaign.err.splitlines()
    assert line.startswith("ossb: `sigma` must be given for gaussian observations: ")
    assert campaign("show", "euros") == 2
    file.write_text(file.read_text() + "sigma = 15.0\n")
    assert campaign("create", "euros", file) == 0


def test_a_policy_of_ones_own_is_told_where_to_stand(campaign, tmp_path):
    (tmp_path / "arms.toml").write_text(
        'structure = "classical"\nobservation = "bernoulli"\nn_arms = 2\n'
    )
    assert campaign("create", "second", tmp_path / "arms.toml", "--policy", "mine:Policy") == 2
    assert "found by its entry point" in campaign.err
