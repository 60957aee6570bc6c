"""``ossb suite`` as somebody uses it."""

import json
import os
import sys

import pytest

from cli_runner import Runner
from ossb.suite import frozen, suite


@pytest.fixture
def ossb(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return Runner(monkeypatch, capsys)


def test_instances_are_listed(ossb):
    assert ossb("suite", "list") == 0
    assert len(ossb.out.splitlines()) == len(suite().instances)
    assert ossb("suite", "list", "--json") == 0
    entries = json.loads(ossb.out)["instances"]
    assert [entry["name"] for entry in entries] == [one.name for one in suite().instances]
    assert entries[0]["bound"] == frozen().bounds[entries[0]["name"]]


def test_frozen_rows_are_shown(ossb):
    assert ossb("suite", "show", "finite") == 0
    assert len(ossb.out.splitlines()) == 1 + len(frozen().of("finite"))
    assert ossb("suite", "show", "finite", "--json") == 0
    found = json.loads(ossb.out)
    assert found["instance"]["structure"] == "finite"
    assert [row["policy"] for row in found["rows"]] == [r.policy for r in frozen().of("finite")]
    assert ossb("suite", "show", "fnite") == 2
    assert "did you mean" in ossb.err


def test_rows_of_older_code_are_marked(ossb, monkeypatch):
    now, changed = frozen(), ("finite", "imed")
    lines = tuple(
        line._replace(digest="0" * 16) if (line.instance, line.policy) == changed else line
        for line in now.lines
    )
    module = sys.modules["ossb.suite.frozen"]  # the package has a function of that name
    monkeypatch.setattr(module, "frozen", lambda version: now._replace(lines=lines))
    assert ossb("suite", "show", "finite") == 0
    (marked,) = [line for line in ossb.out.splitlines() if "0000000000000000" in line]
    assert marked.startswith("imed")
    assert marked.endswith("(older code)")
    assert ossb("suite", "show", "finite", "--json") == 0
    rows = json.loads(ossb.out)["rows"]
    assert "imed" in [row["policy"] for row in rows if row["of_older_code"]]


def test_a_policy_of_ones_own_gets_a_card_and_a_row_and_goes_on(ossb, tmp_path):
    words = ("suite", "run", "own_policies:Counting", "--share", "0.1", "--workers", "1")
    assert ossb(*words, "--only", "finite", "--only", "duels-cyclic", "--json") == 0
    found = json.loads(ossb.out)
    folder = tmp_path / "results" / "suite-1" / "own_policies-Counting"
    assert json.loads((folder / "row.json").read_text()) == found
    assert "`own_policies:Counting` on ossb-suite 1" in (folder / "card.md").read_text()
    assert [entry["instance"] for entry in found["instances"]] == [
        "duels-cyclic", "finite", "finite-2",
    ]  # fmt: skip
    assert len(found["rows"][0]["regret"]) == found["trials"] == 10
    parts = {path: os.stat(path).st_mtime_ns for path in folder.rglob("*.parquet")}
    assert ossb(*words, "--only", "finite") == 0
    assert "less regret than hgl with chance" in ossb.out
    assert {path: os.stat(path).st_mtime_ns for path in folder.rglob("*.parquet")} == parts


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "hgll"), "did you mean"),
        (("run", "own_policies:Missing"), "importable module:Class"),
        (("run", "hgl", "--share", "2"), "`share` must lie in (0, 1]"),
        (("run", "hgl", "--only", "lniear"), "`only` must be one of classical, combinatorial, "),
        (("run", "escb", "--only", "linear"), "`policy` must fit an instance"),
        (("list", "--version", "7"), "`version` must be one of 1, got 7"),
    ],
)
def test_what_is_wrong_is_one_line(ossb, words, said, tmp_path):
    assert ossb("suite", *words) == 2
    assert said in ossb.err
    assert len(ossb.err.splitlines()) == 1
    assert not (tmp_path / "results").exists()
