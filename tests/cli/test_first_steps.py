"""What a newcomer gets wrong: the answer says what to do instead."""

import pytest

from ossb import Classical, simulate
from ossb.structures import STRUCTURES

INSTANCE = 'structure = "classical"\ntheta = [1.0, 0.0]\n'
EXPERIMENT = f'name = "e"\nhorizon = 9\ntrials = 1\npolicies = ["hgl"]\n[[instances]]\n{INSTANCE}'


@pytest.mark.parametrize("words", [[], ["campaign"], ["token"]])
def test_no_command_prints_the_help_on_lines_of_its_own(ossb, words):
    ossb(*words)
    shown = (ossb.out + ossb.err).splitlines()
    assert shown[0].startswith("Usage: ")
    assert "Commands:" in shown


def test_a_file_for_another_command(ossb, tmp_path):
    instance, experiment, proof = (tmp_path / name for name in ("i.toml", "e.toml", "p.json"))
    instance.write_text(INSTANCE)
    experiment.write_text(EXPERIMENT)
    assert ossb("bound", instance, "--certificate", proof) == 0
    assert ossb("bound", experiment) == 2
    assert "for `ossb run`" in ossb.err
    assert ossb("bound", proof) == 2
    assert "for `ossb verify`" in ossb.err
    assert ossb("run", instance) == 2
    assert "`structure` must stand under [[instances]]" in ossb.err


@pytest.mark.parametrize("command", ["structures", "policies"])
def test_lists_cut_no_word_short(ossb, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    assert ossb(command) == 0
    assert "…" not in ossb.out
    table = ossb.out[: ossb.out.rindex("┘") + 1]
    assert {len(line) for line in table.splitlines()} <= {80, 79, 78}  # whole, to its right edge
    assert all(line[-1] in "┓┃┩│┘┤" for line in table.splitlines())
    if command == "structures":
        assert all(name in ossb.out for name in STRUCTURES)
        assert "lipschitz_constant" in ossb.out


def test_a_campaign_that_is_elsewhere(ossb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OSSB_STORAGE", raising=False)
    assert ossb("campaign", "ask", "headlines") == 2
    assert "there is no campaign 'headlines' in sqlite:///ossb.db" in ossb.err
    assert ossb("campaign", "list", "--json") == 0
    assert ossb.out.strip() == "[]"
    assert list(tmp_path.iterdir()) == []  # what is not there is not made by asking for it


def test_one_policy_needs_no_list():
    instance = Classical(observation="bernoulli", theta=[0.2, 0.8])
    tables = [
        simulate(instance, policies, horizon=20, trials=2, compiled=False).table()
        for policies in ("ucb1", {"name": "ucb1"}, ["ucb1"])
    ]
    assert len(set(tables)) == 1
    assert tables[0].count("ucb1") == 1
