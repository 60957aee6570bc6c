"""Plans: against simulation, against formulas, and what cannot be planned."""

import json
import math
from statistics import NormalDist

import numpy as np
import pytest

import ossb
from cli_runner import Runner
from ossb.errors import InputError
from ossb.families.bernoulli import bernoulli_kl
from ossb.instances import from_dict

ARMS = {"structure": "classical", "observation": "bernoulli", "theta": [0.5, 0.6, 0.7]}
LINEAR = {
    "structure": "linear",
    "sigma": 0.5,
    "arms": [[1, 0.1], [0.1, 0.9], [0.6, 0.7], [-0.5, 0.4]],
    "phi": [0.83, 0.31],
}
LINE = {"structure": "unimodal", "sigma": 0.5, "theta": [0.3, 0.5, 0.8, 0.6, 0.2]}
DUELS = {
    "structure": "dueling",
    "preferences": [
        [0.5, 0.6, 0.67, 0.71],
        [0.4, 0.5, 0.57, 0.62],
        [0.33, 0.43, 0.5, 0.55],
        [0.29, 0.38, 0.45, 0.5],
    ],
}
CHAIN = {
    "structure": "polytope",
    "observation": "bernoulli",
    "theta": [0.7, 0.5, 0.3],
    "A": [[1, -1, 0], [0, 1, -1], [-1, 1, 0]],
    "b": [0.4, 0.4, 0.0],
}


@pytest.mark.parametrize("content", [ARMS, LINEAR, LINE, DUELS], ids=lambda c: c["structure"])
def test_a_plan_is_near_what_happens(content):
    found = ossb.plan(from_dict(content), simulate=60)
    assert found.rounds == pytest.approx(np.median(found.simulated.rounds), rel=0.2)


def test_its_parts_say_the_same():
    found = ossb.plan(from_dict(ARMS), 0.05, per_day=500)
    time = ossb.bound(from_dict(ARMS), cost="samples").value
    document = found.to_dict()
    assert document["characteristic_time"] == pytest.approx(time, rel=1e-9)
    assert document["lower_bound"] == pytest.approx(time * bernoulli_kl(0.05, 0.95), rel=1e-9)
    assert document["days"] == pytest.approx(document["rounds"] / 500)
    plays = [entry["plays"] for entry in document["plays"]]
    assert sum(plays) == pytest.approx(document["rounds"])
    assert document["regret"] == pytest.approx(0.2 * plays[0] + 0.1 * plays[1])
    assert document["without_structure"]["rounds"] == document["rounds"]
    assert document["frontier"][0]["rounds"] == document["rounds"]


def test_the_frontier_falls_and_is_convex():
    points = ossb.plan(from_dict(ARMS)).frontier
    rounds, regret = zip(*points, strict=True)
    assert list(rounds) == sorted(rounds)
    assert list(regret) == sorted(regret, reverse=True)
    slopes = np.diff(regret) / np.diff(rounds)
    assert (np.diff(slopes) > -1e-3 * np.abs(slopes[:-1])).all()


def test_the_fixed_sample_is_the_textbooks():
    """Two arms: n = (z_{1 − δ} + z_power)² (v_1 + v_2) / Δ² plays of each."""
    found = ossb.plan(from_dict({**ARMS, "theta": [0.4, 0.5]}))
    normal = NormalDist()
    each = (normal.inv_cdf(0.95) + normal.inv_cdf(0.8)) ** 2 * (0.24 + 0.25) / 0.01
    assert found.fixed_sample[0.8] == 2 * math.ceil(each)


def test_structure_saves_rounds():
    found = ossb.plan(from_dict(LINEAR))
    assert found.rounds < found.without_structure


def test_polytopes_are_compared_with_independent_arms():
    found = ossb.plan(from_dict(CHAIN))
    alone = ossb.plan(from_dict({**ARMS, "theta": CHAIN["theta"]}))
    assert found.without_structure == alone.rounds
    assert found.fixed_sample == alone.fixed_sample


def test_epsilon_and_delta_ask_for_less():
    lengths = [ossb.plan(from_dict(ARMS), 0.05, epsilon).rounds for epsilon in (0.0, 0.05, 0.2)]
    assert lengths == sorted(lengths, reverse=True)
    lengths = [ossb.plan(from_dict(ARMS), delta).rounds for delta in (0.2, 0.05, 0.001)]
    assert lengths == sorted(lengths)


def test_a_plan_with_epsilon_looks_at_every_arm_that_its_stop_needs():
    """Best means have neighbours to be told from; ε-good ones all others, w* or not."""
    means = [0.2, 0.27, 0.33, 0.22, 0.1]
    lined = ossb.Unimodal(observation="bernoulli", theta=means)
    found = ossb.plan(lined, 0.1, 0.05)
    assert found.rounds == pytest.approx(found.without_structure, rel=0.05)
    assert found.rounds < 0.5 * ossb.plan(lined, 0.1).rounds
    played = ossb.simulate(
        lined, ["top-two:epsilon=0.05"], 20 * found.rounds, 60, 1, until=0.1, epsilon=0.05
    )
    assert played.policies[0].stops.rounds.mean() == pytest.approx(found.rounds, rel=0.2)


def test_a_plan_with_epsilon_is_near_what_happens():
    """Of one peak too, where arms that the bound leaves out count once ε > 0."""
    for content in (LINE, ARMS):
        found = ossb.plan(from_dict(content), epsilon=0.05, simulate=60)
        assert found.lower_bound is None
        assert found.rounds == pytest.approx(np.median(found.simulated.rounds), rel=0.3)
        assert (found.plays > 0).all()
        rounds, regret = zip(*found.frontier, strict=True)
        assert list(rounds) == sorted(rounds)
        assert list(regret) == sorted(regret, reverse=True)


def test_what_cannot_be_planned_is_said():
    with pytest.raises(InputError, match="theta"):
        ossb.plan(from_dict({"structure": "classical", "observation": "bernoulli", "n_arms": 2}))
    with pytest.raises(InputError, match="delta"):
        ossb.plan(from_dict(ARMS), 0.0)
    with pytest.raises(InputError, match="per_day"):
        ossb.plan(from_dict(ARMS), per_day=0)
    contexts = [{"name": name, "arms": [[1.0, 0.0], [0.2, 0.9]]} for name in ("here", "there")]
    with pytest.raises(InputError, match="`instance` must have a test that ends: arms in contexts"):
        ossb.plan(ossb.Linear(contexts=contexts, phi=[1.0, 0.0]))
    for epsilon in (0.0, 0.1):  # one arm
        with pytest.raises(InputError, match="leave something to find out"):
            ossb.plan(ossb.Classical(observation="bernoulli", theta=[0.5]), epsilon=epsilon)


def test_the_command_plans_one_and_several(tmp_path, monkeypatch, capsys):
    run = Runner(monkeypatch, capsys)
    monkeypatch.chdir(tmp_path)
    for name, top in (("a", 0.7), ("b", 0.65)):
        content = {**ARMS, "theta": [0.5, 0.6, top], "name": name}
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    assert run("plan", "a.json", "--per-day", "100", "--json") == 0
    document = json.loads(run.out)
    assert set(document) >= {"characteristic_time", "lower_bound", "rounds", "days", "plays"}
    assert set(document) >= {"regret", "frontier", "without_structure", "fixed_sample"}
    assert run("plan", "a.json", "b.json", "--plot", "f.png") == 0
    assert "over 2 beliefs" in run.out
    assert (tmp_path / "f.png").stat().st_size > 0
    assert run("plan", "a.json", "--delta", "2") == 2
    assert "delta" in run.err


RANGES = {**ARMS, "theta": [[0.4, 0.5], [0.45, 0.6], 0.7]}


def test_beliefs_are_drawn_from_ranges():
    found = ossb.plans(RANGES, gap=0.12, per_day=100)
    assert len(found) == 21
    for one in found:
        theta = np.array(one.instance.theta)
        assert 0.4 <= theta[0] <= 0.5
        assert 0.45 <= theta[1] <= 0.7 - 0.12
        assert theta[2] == 0.7
    assert found.median.rounds == sorted(one.rounds for one in found)[10]
    assert found.worst.rounds == max(one.rounds for one in found)
    assert "over 21 beliefs: median " in found.table()
    html = found._repr_html_()
    assert "planned under 21 beliefs" in html
    assert "<svg" in html


def test_beliefs_are_parameters_of_the_structure():
    ranges = [[0.1, 0.2], [0.15, 0.3], [0.25, 0.5], [0.45, 0.6], [0.3, 0.5], [0.1, 0.4]]
    found = ossb.plans({**LINE, "theta": ranges})
    assert all(one.instance.kind == "unimodal" for one in found)


@pytest.mark.parametrize(
    ("changes", "keys", "said"),
    [
        ({"theta": [[0.4, 0.3], 0.5]}, {}, r"`theta\[0\]` must have its lower end first"),
        ({"theta": [[0.4], 0.5]}, {}, r"`theta\[0\]` must be a number or a range"),
        ({"theta": [[0.4, "x"], 0.5]}, {}, r"`theta\[0\]` must be a number"),
        ({"theta": [[1.4, 1.5], 0.5]}, {}, "`theta` must be ranges in which there are parameters"),
        ({}, {"gap": 0.5}, "`gap` must leave a best arm that is ahead by 0.5"),
        ({"theta": [0.4, 0.5]}, {}, "`instance` must hold ranges"),
    ],
)
def test_ranges_that_hold_nothing_are_said(changes, keys, said):
    with pytest.raises(InputError, match=said):
        ossb.plans({**RANGES, **changes}, **keys)


def test_a_plan_is_a_card_in_a_notebook():
    html = ossb.plan(from_dict(ARMS), per_day=500)._repr_html_()
    assert html.startswith("<table><caption>a test, planned</caption>")
    assert "rounds, about" in html or "days at 500" in html


def test_the_command_plans_ranges(tmp_path, monkeypatch, capsys):
    run = Runner(monkeypatch, capsys)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.json").write_text(json.dumps(RANGES))
    (tmp_path / "a.json").write_text(json.dumps(ARMS))
    assert run("plan", "r.json", "--gap", "0.12", "--per-day", "100", "--plot", "f.png") == 0
    assert "at worst:\n" in run.out
    assert (tmp_path / "f.png").stat().st_size > 0
    assert run("plan", "r.json", "--json") == 0
    assert len(json.loads(run.out)) == 21
    assert run("plan", "a.json", "--gap", "0.1") == 2
    assert "`gap` must be used with" in run.err


TIED = {"structure": "classical", "observation": "bernoulli"}


def test_of_several_best_arms_any_will_do_where_epsilon_lets_it():
    """There is no T*, and a plan all the same; without ε no test of them ends."""
    tied = from_dict({**TIED, "theta": [0.5, 0.8, 0.8]})
    found = ossb.plan(tied, 0.1, epsilon=0.2)
    assert found.characteristic_time is None
    assert found.lower_bound is None
    assert "T*" not in found.table()
    assert found.to_dict()["characteristic_time"] is None
    close = ossb.plan(from_dict({**TIED, "theta": [0.5, 0.8, 0.799]}), 0.1, epsilon=0.2)
    assert found.rounds == pytest.approx(close.rounds, rel=0.05)
    with pytest.raises(InputError, match="both best"):
        ossb.plan(tied, 0.1)
