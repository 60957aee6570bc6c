"""``ossb storage``."""

import json
import shutil

import pytest

from ossb import Campaign, Classical
from ossb.campaigns import open_storage

INSTANCE = Classical(observation="bernoulli", n_arms=2)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "campaigns.db"
    with Campaign.open(f"sqlite:///{found}", "a", instance=INSTANCE) as campaign:
        campaign.tell(campaign.ask()[0].id, 1)
    return found


def test_backup_of_a_store_in_use(ossb, path, tmp_path):
    store = open_storage(f"sqlite:///{path}")
    copy, where = tmp_path / "monday.db", ("--storage", f"sqlite:///{path}")
    assert ossb("storage", "backup", copy, *where, "--json") == 0
    assert json.loads(ossb.out) == {"file": str(copy), "events": 3}
    assert sorted(one.name for one in tmp_path.glob("monday*")) == ["monday.db"]
    assert ossb("storage", "backup", copy, *where) == 2
    assert "`file` must be new" in ossb.err
    assert ossb("storage", "check", "--storage", f"sqlite:///{copy}", "--json") == 0
    assert json.loads(ossb.out) == {"campaigns": 1, "events": 3, "problems": []}
    store.close()


def test_a_cut_copy_exits_with_1(ossb, path, tmp_path):
    store = open_storage(f"sqlite:///{path}")
    shutil.copy(path, tmp_path / "plain.db")
    store.close()
    assert ossb("storage", "check", "--storage", f"sqlite:///{tmp_path / 'plain.db'}") == 1
    assert "plain copy of one that was in use" in ossb.out


def test_copy_adds_what_is_new(ossb, path, tmp_path):
    target = f"sqlite:///{tmp_path / 'other.db'}"
    for expected in (3, 0):
        assert ossb("storage", "copy", f"sqlite:///{path}", target, "--json") == 0
        assert json.loads(ossb.out) == {"events": expected}


def test_compact_forgets_what_was_closed(ossb, path):
    compact = ("storage", "compact", "--closed-for", "0", "--storage", f"sqlite:///{path}")
    assert ossb(*compact) == 0
    assert ossb.out == "compacted\n"
    with Campaign.open(f"sqlite:///{path}", "a") as campaign:
        campaign.close()
    assert ossb(*compact) == 0
    assert ossb.out == "forgotten: a\n"
    store = open_storage(f"sqlite:///{path}")
    assert store.names() == []
    store.close()


def test_a_store_in_use_is_not_compacted(ossb, path):
    store = open_storage(f"sqlite:///{path}")
    assert ossb("storage", "compact", "--storage", f"sqlite:///{path}") == 4
    store.close()


@pytest.mark.parametrize("command", [["check"], ["compact"], ["backup", "new.db"]])
def test_a_store_that_is_not_there(ossb, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    assert ossb("storage", *command, "--storage", "sqlite:///none.db") == 2
    assert "`storage` must be a store that is there" in ossb.err
    assert not list(tmp_path.iterdir())
