"""A user's own policies, beside ours."""

from types import SimpleNamespace

import numpy as np
import pytest

from experiment_cases import CLASSICAL, contents, experiment
from ossb.errors import InputError
from ossb.experiments.cells import cells
from ossb.experiments.definition import parse, read
from ossb.experiments.results import Results
from ossb.experiments.run import run
from ossb.policies.own import policy_of, source_of
from ossb.structures.classical import Classical
from ossb.structures.unimodal import Unimodal

OWN = [
    {"name": "own_policies:Sometimes", "chance": 0.2},
    {"name": "own_policies:RoundRobin", "step": 2},
    "own_policies:Hopeful",
    "ucb1",
]


def test_records_and_plain_classes_run_beside_ours(tmp_path):
    found = experiment(policies=OWN, instances=[CLASSICAL])
    run(found, tmp_path / "compiled")
    run(found, tmp_path / "interpreted", compiled=False)
    assert contents(tmp_path / "compiled") == contents(tmp_path / "interpreted")
    results = Results(tmp_path / "compiled")
    assert results.policies == [
        "own_policies:Sometimes:chance=0.2",
        "own_policies:RoundRobin:step=2",
        "own_policies:Hopeful",
        "ucb1",
    ]
    rows = results.trials.filter(results.trials["policy"] == "own_policies:RoundRobin:step=2")
    assert np.array_equal(np.array(rows["plays"].to_list()), np.full((4, 3), 20))


def test_a_label_is_what_a_policy_is_called_and_changes_no_number(tmp_path):
    named = [{**OWN[1], "label": "in turn"}, {"name": "ucb1", "label": "UCB1"}]
    found = experiment(policies=named, instances=[CLASSICAL])
    plain = experiment(policies=[OWN[1], "ucb1"], instances=[CLASSICAL])
    assert [cell.key for cell in cells(found)] == [cell.key for cell in cells(plain)]
    run(found, tmp_path)
    results = Results(tmp_path)
    assert results.policies == ["in turn", "UCB1"]
    assert parse(results.experiment.to_dict()).labels == ("in turn", "UCB1")
    with pytest.raises(InputError, match=r"policies\[1\].label"):
        experiment(policies=[named[0], {"name": "ucb1", "label": "in turn"}])


def test_plain_objects_run_beside_ours(tmp_path):
    found = experiment(policies=["plain_policies:Turns", "ucb1"], instances=[CLASSICAL])
    run(found, tmp_path)
    assert Results(tmp_path).policies == ["plain_policies:Turns", "ucb1"]


def test_a_file_beside_the_experiment(tmp_path):
    (tmp_path / "mine_alone.py").write_text(
        "import own_policies\nclass Mine(own_policies.RoundRobin): pass\n"
    )
    path = tmp_path / "e.toml"
    path.write_text(
        'name = "e"\nhorizon = 5\ntrials = 1\npolicies = ["mine_alone:Mine:step=1"]\n'
        '[[instances]]\nstructure = "classical"\ntheta = [0.1, 0.2]\n'
    )
    run(read(str(path)), tmp_path / "out")
    assert Results(tmp_path / "out").policies == ["mine_alone:Mine:step=1"]


def test_editing_a_policy_changes_its_key(monkeypatch):
    before = next(cells(experiment(policies=[OWN[1]]))).key
    edited = SimpleNamespace(getsource=lambda thing: "edited")
    monkeypatch.setattr("ossb.policies.own.inspect", edited)
    assert next(cells(experiment(policies=[OWN[1]]))).key != before
    assert source_of("ucb1") == ""


def test_parameters_that_a_class_does_not_take():
    found = experiment(policies=[{"name": "own_policies:RoundRobin", "stop": 2}])
    with pytest.raises(InputError, match=r"`policy` must be made from its parameters: .*stop"):
        list(cells(found))


def test_a_class_is_given_what_it_takes_of_the_instance(tmp_path):
    """By the names of its arguments, where no parameter says otherwise."""
    found = policy_of("own_policies:Counting", Classical(theta=[0.1, 0.2, 0.3]), {})
    assert found.start().n_arms == 3
    found = policy_of("own_policies:Counting", Classical(theta=[0.1, 0.2, 0.3]), {"n_arms": 2})
    assert found.start().n_arms == 2
    with pytest.raises(ValueError, match="only for classical arms"):
        policy_of("own_policies:Picky", Unimodal(theta=[0.1, 0.2, 0.1]), {})
