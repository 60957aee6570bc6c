"""Experiments whose trials end, or are asked for their answer after a number of rounds."""

import csv
import io

import numpy as np
import pytest

from experiment_cases import CLASSICAL, contents, experiment, tiny
from ossb.errors import InputError
from ossb.experiments import ends
from ossb.experiments.cells import cells
from ossb.experiments.definition import parse
from ossb.experiments.results import Results
from ossb.experiments.run import run
from ossb.families.bernoulli import bernoulli_kl
from ossb.figures.experiment import draw_experiment
from ossb.instances import from_dict
from ossb.report_tests import tests_of as sections
from ossb.simulation import simulate
from ossb.structures import bound

FAR = {**CLASSICAL, "theta": [0.1, 0.5, 0.9]}
KEYS = {
    "horizon": 400,
    "policies": ["top-two", "uniform", "sequential-halving"],
    "instances": [{"group": "far", **FAR}, {"group": "near", **CLASSICAL}],
    "until": 0.1,
    "budgets": [200, 10, 40],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ends") / "out"
    run(experiment(**KEYS), folder, compiled=False)
    return Results(folder)


def test_the_definition_survives_the_folder(results):
    found = results.experiment
    assert (found.until, found.budgets) == (0.1, (10, 40, 200))
    assert found.to_dict() == parse(found.to_dict()).to_dict()
    assert "until" not in experiment().to_dict()


def test_engines_and_interruptions_give_the_same_bytes(results, tmp_path):
    run(experiment(**KEYS), tmp_path, compiled=True)
    whole = contents(tmp_path)
    assert {n: b for n, b in contents(results.ledger.folder).items() if n in whole} == whole
    for path in sorted((tmp_path / "parts").iterdir())[::2]:
        path.unlink()
    run(experiment(**KEYS), tmp_path, compiled=False)
    assert contents(tmp_path) == whole


def test_stops_are_those_of_the_simulator(results):
    rounds, stopped = ends.stopping_times(results)["near", "top-two"]
    said = simulate(from_dict(CLASSICAL), "top-two", 400, 4, 3, until=0.1, compiled=False)
    stops = said["top-two"].stops
    assert np.array_equal(rounds, stops.rounds)
    assert np.array_equal(stopped, ~stops.unfinished)
    regret = results.curves["near", "top-two"][1][:, -1]
    assert np.array_equal(regret, said["top-two"].regret)


def test_looking_changes_nothing_that_is_played(tmp_path):
    keys = {k: v for k, v in KEYS.items() if k not in ("until", "budgets")}
    keys["policies"] = ["top-two", "ucb1"]
    run(experiment(**keys), tmp_path / "plain", compiled=False)
    run(experiment(**keys, budgets=[7, 400]), tmp_path / "asked", compiled=False)
    plain, asked = Results(tmp_path / "plain"), Results(tmp_path / "asked")
    for key, (_, regret) in plain.curves.items():
        assert np.array_equal(regret, asked.curves[key][1])
    assert not asked.trials["stopped"].any()


def test_rows_hold_what_no_test_stays_below(results):
    rows = ends.stop_rows(results)
    assert {row.policy for row in rows if row.group == "far"} == {"top-two", "uniform"}
    assert [row.mean for row in rows[:2]] == sorted(row.mean for row in rows[:2])
    quantity = bernoulli_kl(0.1, 0.9)
    instance = from_dict(FAR)
    for row in rows[:2]:
        time = bound(instance, cost="samples").value
        assert row.least_rounds == pytest.approx(time * quantity)
        assert row.least_regret == pytest.approx(bound(instance).value * quantity)
        assert row.mean > row.least_rounds
        assert row.unfinished == 0.0
    read = list(csv.DictReader(io.StringIO(ends.as_csv(rows))))
    assert [float(line["mean"]) for line in read] == [row.mean for row in rows]
    assert "far, 4 trials, T* kl(δ, 1 − δ) = " in ends.stops_as_text(
        rows, 0.1, "the leader is best"
    )


def test_a_policy_that_plans_is_played_for_each_budget(results):
    series = ends.answers(results)
    assert series["far", "sequential-halving"].looked.tolist() == [10, 40, 200]
    assert {policy for _, policy in series} == {"top-two", "uniform", "sequential-halving"}
    rows = ends.answer_rows(results)
    assert len(rows) == 2 * 3 * 3
    last = [row for row in rows if row.group == "far" and row.t == 200]
    assert all(row.errors == 0.0 and row.simple_regret == 0.0 for row in last)


def test_the_usual_horizon_is_a_budget_too(tmp_path):
    keys = {"instances": [{"group": "g", **FAR}], "trials": 1, "policies": ["sequential-halving"]}
    run(experiment(**keys, horizon=10_000, budgets=[30, 10_000]), tmp_path, compiled=True)
    assert ends.answers(Results(tmp_path))["g", "sequential-halving"].looked.tolist() == [
        30,
        10_000,
    ]


def test_answers_are_the_leaders_of_shorter_runs(tmp_path):
    """What is answered after 30 of 60 rounds is what a run of 30 rounds ends with."""
    keys = {"policies": ["uniform"], "instances": [{"group": "g", **CLASSICAL}], "trials": 12}
    long, short = experiment(**keys, budgets=[30]), experiment(**keys, horizon=30, budgets=[30])
    gaps = []
    for name, one in (("long", long), ("short", short)):
        run(one, tmp_path / name, compiled=False)
        gaps.append(ends.answers(Results(tmp_path / name))["g", "uniform"].gaps[:, 0])
    assert np.array_equal(*gaps)
    assert gaps[0].max() > 0.0


def test_keys_say_what_is_asked():
    plain, ended, asked = (
        {cell.key for cell in cells(experiment(policies=["ucb1"], **keys))}
        for keys in ({}, {"until": 0.1}, {"until": 0.1, "budgets": [5]})
    )
    assert not plain & ended
    assert not ended & asked


def test_everything_is_drawn_and_reported(results, tmp_path):
    names = {path.name for path in draw_experiment(results, tmp_path / "e.pdf")}
    assert {"e-stops.png", "e-errors.png"} <= names
    page = "".join(sections(results))
    assert page.count("<svg") == 2
    assert "sequential-halving" in page


WRONG = [
    ({"until": 1.0}, r"`until` must lie in \(0, 1\), got 1.0"),
    ({"until": 0.1, "epsilon": -1}, "`epsilon` must be non-negative"),
    ({"epsilon": 0.1}, "`epsilon` must stand beside until or budgets"),
    ({"budgets": [0]}, r"`budgets\[0\]` must be at least 1"),
    ({"budgets": [61]}, r"`budgets\[0\]` must be at most the horizon, 60"),
    ({"budgets": 5}, "`budgets` must be a list of rounds"),
]


@pytest.mark.parametrize(("changes", "said"), WRONG)
def test_mistakes_are_said(changes, said):
    with pytest.raises(InputError, match=said):
        parse(tiny(**changes))


def test_what_cannot_be_asked_is_refused():
    paths = {
        "structure": "combinatorial", "feedback": "semi_bandit", "observation": "gaussian",
        "arm_set": "m_sets", "n_items": 4, "size": 2, "phi": [0.9, 0.5, 0.3, 0.1],
    }  # fmt: skip
    asked = experiment(policies=["hgl"], instances=[paths], until=0.1)
    with pytest.raises(InputError, match="`until` must be left out: the arms of this set"):
        list(cells(asked))
