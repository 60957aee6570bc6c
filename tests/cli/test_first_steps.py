"""What a newcomer gets wrong: the answer says what to do instead."""

import json
import re

import pytest

from ossb import Classical, InputError, Linear, policy, simulate
from ossb.policies import POLICIES
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


@pytest.mark.parametrize("width", [60, 80, 200, None])
@pytest.mark.parametrize("command", ["structures", "policies"])
def test_lists_break_no_name(ossb, monkeypatch, command, width):
    if width is None:
        monkeypatch.delenv("COLUMNS", raising=False)  # as into a pipe
    else:
        monkeypatch.setenv("COLUMNS", str(width))
    assert ossb(command) == 0
    assert "…" not in ossb.out
    table = ossb.out[: ossb.out.rindex("┘") + 1].splitlines()
    assert len({len(line) for line in table}) == 1  # whole, to its right edge
    assert len(table[0]) <= (width or 80)
    words = set(re.findall(r"[^\s│,]+", ossb.out))
    assert words >= set(STRUCTURES)
    if command == "structures":
        assert {"lipschitz_constant", "exponential"} <= words
    else:
        assert words >= set(POLICIES)
        parameters = (kind.parameters.items() for kind in POLICIES.values())
        assert words >= {f"{key}={value}" for items in parameters for key, value in items}


def test_all_that_is_missing_is_said_at_once(ossb):
    assert ossb("simulate") == 2
    assert "`instance`, `--policy`, `--horizon` must be given" in ossb.err
    assert ossb("simulate", "x.toml", "--horizon", 9) == 2
    assert "`--policy` must be given: see ossb simulate --help" in ossb.err
    assert "--horizon" not in ossb.err
    assert ossb("campaign", "tell", "headlines") == 2
    assert "`id`, `observation` must be given: see ossb campaign tell --help" in ossb.err
    assert len(ossb.err.splitlines()) == 1


@pytest.mark.parametrize("several", ["hgl,ucb1", "hgl,ossb:epsilon=0.1", "ossb:epsilon=0.1,hgl"])
def test_several_policies_are_named_one_by_one(ossb, several):
    assert ossb("simulate", "-", "--policy", several, "--horizon", 9, stdin=INSTANCE) == 2
    assert "--policy hgl --policy ucb1" in ossb.err


def test_files_are_announced(ossb, tmp_path):
    proof, rates, regret = (tmp_path / name for name in ("proof.json", "rates.png", "regret.png"))
    bound = ("bound", "-", "--certificate", proof, "--plot", rates)
    simulate = ("simulate", "-", "--policy", "ucb1", "--horizon", 9, "--trials", 2, "--interpreted")
    for command, files in ((bound, (proof, rates)), ((*simulate, "--plot", regret), (regret,))):
        said = [f"wrote {file}" for file in files]
        assert ossb(*command, stdin=INSTANCE) == 0
        assert ossb.out.splitlines()[-len(said) :] == said
        assert ossb(*command, "--json", stdin=INSTANCE) == 0
        json.loads(ossb.out)
        assert ossb.err.splitlines() == said


def test_the_bound_names_its_noise(ossb):
    assert ossb("bound", "-", stdin=INSTANCE) == 0
    assert "classical, gaussian with σ = 1" in ossb.out
    assert ossb("bound", "-", stdin=INSTANCE + "sigma = 0.5\n") == 0
    assert "σ = 0.5" in ossb.out
    bernoulli = 'structure = "classical"\nobservation = "bernoulli"\ntheta = [0.5, 0.2]\n'
    assert ossb("bound", "-", stdin=bernoulli) == 0
    assert "classical, bernoulli" in ossb.out
    assert "σ" not in ossb.out


@pytest.mark.parametrize("command", [("campaign", "list"), ("token", "list"), ("serve",)])
def test_storage_is_refused_in_the_words_of_the_help(ossb, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "200")
    assert ossb(*command, "--storage", "ossb.db") == 2
    forms = re.search(r"`storage` must be (.*), got ossb.db", ossb.err)[1]
    assert ossb(*command, "--help") == 0
    assert forms in ossb.out


def test_one_of_a_thing_is_not_several(ossb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OSSB_STORAGE", raising=False)
    alone = 'structure = "classical"\nobservation = "bernoulli"\nn_arms = 1\n'
    assert ossb("campaign", "create", "alone", "-", stdin=alone) == 0
    assert "1 arm," in ossb.out
    assert ossb("campaign", "ask", "alone") == 0
    assert ossb("campaign", "show", "alone") == 0
    assert "0 told, 1 pending, open" in ossb.out
    assert ossb("campaign", "export", "alone") == 0
    assert ossb.err == "1 decision\n"
    assert ossb("experiments") == 0
    assert not re.search(r"\b1 (instances|trials|policies)", ossb.out)


def test_a_misspelt_key_in_python():
    for structure, key, near in ((Classical, "teta", "theta"), (Linear, "arm", "arms")):
        with pytest.raises(InputError, match=f"did you mean '{near}'.* `{key}` must be a key of "):
            structure(**{key: [1.0]})
    with pytest.raises(InputError, match="by name, such as theta=…"):
        Classical([0.2, 0.8])
    instance = Classical(theta=[0.2, 0.8])
    with pytest.raises(InputError, match="did you mean 'epsilon'"):
        policy("ossb", instance, epsilom=0.1)
    with pytest.raises(InputError, match="did you mean 'epsilon'"):
        simulate(instance, {"name": "ossb", "epsilom": 0.1}, horizon=9)


def test_a_campaign_that_is_elsewhere(ossb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OSSB_STORAGE", raising=False)
    assert ossb("campaign", "ask", "headlines") == 2
    said = "there is no campaign 'headlines' in sqlite:///ossb.db; see ossb campaign create --help"
    assert said in ossb.err
    assert ossb("campaign", "list", "--json") == 0
    assert ossb.out.strip() == "[]"
    assert list(tmp_path.iterdir()) == []  # what is not there is not made by asking for it
    (tmp_path / "three.toml").write_text('structure = "classical"\nsigma = 1\nn_arms = 3\n')
    assert ossb("campaign", "create", "headlines", "three.toml") == 0
    assert ossb("campaign", "show", "headline") == 2
    said = "there is no campaign 'headline' in sqlite:///ossb.db: did you mean 'headlines'?"
    assert ossb.err == f"ossb: {said}\n"


def test_one_policy_needs_no_list():
    instance = Classical(observation="bernoulli", theta=[0.2, 0.8])
    tables = [
        simulate(instance, policies, horizon=20, trials=2, compiled=False).table()
        for policies in ("ucb1", {"name": "ucb1"}, ["ucb1"])
    ]
    assert len(set(tables)) == 1
    assert tables[0].count("ucb1") == 1
