"""Independent segments: bounds that add up, their proofs, files, and what is refused."""

import json
import pickle
from fractions import Fraction

import pytest

from cli_runner import Runner
from ossb import certificates
from ossb.campaigns import Campaign
from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.simulation.planning import plan
from ossb.structures import bound, bounds
from ossb.structures.classical import Classical
from ossb.structures.linear import Linear

DUELS = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.6], [0.3, 0.4, 0.5]]
SETS = {"feedback": "semi_bandit", "arm_set": "m_sets", "n_items": 4, "size": 2}
KEYS = {
    "classical": {"segments": [{"theta": [0.3, 0.5]}, {"name": "b", "theta": [0.6, 0.2, 0.1]}]},
    "unimodal": {"sigma": 2.0, "segments": [{"theta": [0.3, 0.5, 0.2]}, {"theta": [0.6, 0.2]}]},
    "lipschitz": {
        "points": [0.0, 0.5, 1.0],
        "lipschitz_constant": 0.5,
        "observation": "bernoulli",
        "segments": [{"theta": [0.3, 0.45, 0.5]}, {"theta": [0.4, 0.3, 0.2]}],
    },
    "dueling": {
        "observation": "bernoulli",
        "segments": [{"preferences": DUELS}, {"preferences": [[0.5, 0.2], [0.8, 0.5]]}],
    },
    "combinatorial": {
        **SETS,
        "observation": "bernoulli",
        "segments": [{"phi": [0.1, 0.2, 0.3, 0.4]}, {"phi": [0.5, 0.3, 0.2]} | {"n_items": 3}],
    },
    "finite": {
        "parameters": [[0.0, 1.0], [1.0, 0.0]],
        "segments": [{"theta": [0.0, 1.0]}, {"theta": [1.0, 0.0]}],
    },
    "polytope": {
        "A": [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]],
        "b": [1.0, 1.0, 0.0, 0.0],
        "goal": "minimize",
        "segments": [{"theta": [0.2, 0.4]}, {"theta": [0.5, 0.4]}],
    },
    "linear": {
        "arms": [[1.0, 0.0], [0.0, 1.0], [0.9, 0.2]],
        "segments": [{"phi": [1.0, 0.0]}, {"phi": [0.0, 1.0], "arms": [[1.0, 0.0], [0.0, 1.0]]}],
    },
}
THETAS = [{"theta": [0.3, 0.5]}, {"name": "b", "theta": [0.6, 0.2, 0.1], "weight": 3.0}]


@pytest.mark.parametrize("cost", ["regret", "samples", 0.2])
@pytest.mark.parametrize("kind", KEYS)
def test_bounds_add_up_and_their_file_proves_them(kind, cost, tmp_path):
    instance = from_dict({"structure": kind, **KEYS[kind]})
    answer = bound(instance, cost=cost)
    parts = bounds([instance.alone(0), instance.alone(1)], cost=cost)
    assert Fraction(answer.lower) <= sum(Fraction(part.lower) for part in parts)
    assert Fraction(answer.upper) >= sum(Fraction(part.upper) for part in parts)
    assert answer.upper == pytest.approx(parts[0].upper + parts[1].upper, rel=1e-15)
    assert answer.best_arm == tuple((z, part.best_arm) for z, part in enumerate(parts))
    certificates.write([answer], tmp_path / "proof.json")
    ((read, report),) = certificates.verify(tmp_path / "proof.json")
    assert report.valid
    assert read.to_dict() | {"seconds": 0} == answer.to_dict() | {"seconds": 0}


@pytest.mark.parametrize("kind", KEYS)
def test_files_hold_segments_as_they_were(kind):
    content = {"structure": kind, "name": "all", **KEYS[kind]}
    instance = from_dict(content)
    plain = json.loads(json.dumps(instance.to_dict()))
    assert plain == {"observation": "gaussian", **content}
    assert from_dict(plain).to_dict() == plain
    assert pickle.loads(pickle.dumps(instance)).to_dict() == plain


def test_rates_name_their_segment():
    content = bound(Classical(segments=THETAS)).to_dict()
    assert [(item["arm"], item["context"]) for item in content["rates"]] == [
        ([0, 0], "0"),
        ([1, 1], "b"),
        ([1, 2], "b"),
    ]
    assert content["best_arm"] == [[0, 1], [1, 0]]


def test_prices_are_those_of_each_segments_arms():
    instance = Classical(segments=THETAS)
    answer = bound(instance, cost=[1.0, 0.0, 2.0, 3.0, 4.0])
    alone = bound(instance.alone(0), cost=[1.0, 0.0]), bound(instance.alone("b"), cost=[2, 3, 4])
    assert answer.value == pytest.approx(sum(one.value for one in alone), rel=1e-15)
    with pytest.raises(InputError, match=r"`cost` must hold 5 numbers, got 3"):
        bound(instance, cost=[1.0, 2.0, 3.0])


def test_one_segment_is_its_arms_alone_to_the_bit():
    answer = bound(Classical(segments=THETAS[:1]))
    plain = bound(Classical(theta=THETAS[0]["theta"]))
    assert (answer.lower, answer.upper) == (plain.lower, plain.upper)


def forged(change):
    content = json.loads(
        json.dumps(certificates.to_certificate([bound(Classical(segments=THETAS))]))
    )
    change(content["bounds"][0])
    return content


def more(entry):
    entry["lower"] *= 1.0 + 1e-12


def less(entry):
    entry["upper"] *= 1.0 - 1e-12
    entry["lower"] = min(entry["lower"], entry["upper"])


def fewer_rates(entry):
    entry["segments"][1]["rates"].pop()


@pytest.mark.parametrize("change", [more, less, fewer_rates])
def test_what_is_forged_is_not_proved(change, tmp_path):
    (tmp_path / "proof.json").write_text(json.dumps(forged(change)))
    ((_, report),) = certificates.verify(tmp_path / "proof.json")
    assert not report.valid


def no_segment(entry):
    entry["segments"].pop()


def other_cost(entry):
    entry["segments"][0]["cost"] = "samples"


def other_question(entry):
    """Which arms exceed 100 takes fewer rounds to say than which is the best."""
    content = certificates.claims(
        bound(Classical(theta=THETAS[0]["theta"]), cost="samples", answer={"above": 100.0})
    )
    whole = certificates.to_certificate([bound(Classical(segments=THETAS), cost="samples")])
    entry.update(json.loads(json.dumps(whole["bounds"][0])))
    entry["segments"][0] = content


def other_best(entry):
    entry["segments"][0]["best_arm"] = 0


def stray_key(entry):
    entry["segments"][1]["value"] = 0.0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (no_segment, r"`bounds\[0\].segments` must be 2, got 1"),
        (other_cost, r"`bounds\[0\].segments\[0\].cost` must be that of all, regret"),
        (other_best, r"`bounds\[0\].segments\[0\].best_arm` must be the best arm"),
        (other_question, r"`bounds\[0\].segments\[0\].answer` must be best"),
        (stray_key, r"`value` must be a key of bounds\[0\].segments\[1\]"),
    ],
)
def test_files_of_other_segments_are_refused(change, field, tmp_path):
    (tmp_path / "proof.json").write_text(json.dumps(forged(change)))
    with pytest.raises(InputError, match=field):
        certificates.verify(tmp_path / "proof.json")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"segments": []}, "`segments` must be a list of at least one table"),
        ({"segments": [3]}, r"`segments\[0\]` must be a table of keys, got 3"),
        ({"segments": [{}]}, r"`segments\[0\]` must be valid: `theta` must be given"),
        ({"segments": [{"thet": [1.0]}]}, r"did you mean 'theta'\? `thet` must be a key of seg"),
        ({"segments": THETAS, "thet": 1}, "did you mean 'theta'"),
        ({"segments": [{"theta": [1.0], "sigma": 2.0}]}, "`sigma` must be a key of segments"),
        ({"segments": [THETAS[1], THETAS[1]]}, r"`segments\[1\].name` must be distinct, got b"),
        ({"segments": [{"theta": [1.0], "weight": 0}]}, r"`segments\[0\].weight` must be positive"),
        ({"segments": [THETAS[0], {"theta": [float("nan")]}]}, r"`segments\[1\]` .*must be finite"),
    ],
)
def test_what_is_wrong_is_named(keys, said):
    with pytest.raises(InputError, match=said):
        Classical(**keys)


def test_segments_share_no_parameter():
    with pytest.raises(InputError, match="`contexts` must be left out"):
        Linear(segments=[{"phi": [1.0]}], contexts=[{"arms": [[1.0]]}])


def test_an_error_of_a_bound_says_in_which_segment():
    with pytest.raises(InputError, match=r"`segments\[1\]` must be valid: `theta` must have one"):
        bound(Classical(segments=[THETAS[0], {"theta": [1.0, 1.0]}]))
    with pytest.raises(InputError, match=r"`segments\[1\].theta` must be given"):
        bound(Classical(segments=[THETAS[0], {"n_arms": 2}]))


def test_there_is_no_one_stop():
    with pytest.raises(InputError, match="no one stop"):
        plan(Classical(segments=THETAS), delta=0.1)


@pytest.mark.parametrize("segments", [[{"n_arms": 2}], [{"n_arms": 2}, {"n_arms": 3}]])
def test_one_segment_alone_is_a_campaign_like_any(segments):
    keys = {"structure": "classical", "observation": "bernoulli", "segments": segments}
    alone = Campaign.open("memory://", "a", instance=from_dict(keys).alone(0))
    same = {"structure": "classical", "observation": "bernoulli", **segments[0]}
    plain = Campaign.open("memory://", "a", instance=same)
    assert [alone.ask()[0].arm for _ in range(4)] == [plain.ask()[0].arm for _ in range(4)]


def test_the_command_line(tmp_path, monkeypatch, capsys):
    file = tmp_path / "i.json"
    file.write_text(json.dumps({"structure": "classical", "segments": THETAS}))
    run = Runner(monkeypatch, capsys)
    assert run("bound", str(file)) == 0
    assert "b: 1" in run.out
    assert "best arm 0: 1, b: 0" in run.out
    assert run("structures") == 0
    assert "segments" in run.out
    assert run("structures", "--json") == 0
    assert all("segments" in row["parameters"] for row in json.loads(run.out))
