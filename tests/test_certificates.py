"""Certificate files: what they hold, and every way to break one."""

import copy
import io
import json

import numpy as np
import pytest

from ossb import certificates
from ossb.errors import InputError
from ossb.structures import bound
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.dueling import Dueling

ANSWERS = [
    bound(Classical(observation="bernoulli", theta=[0.9, 0.5, 0.3], name="three")),
    bound(Dueling(preferences=[[0.5, 0.6, 0.7], [0.4, 0.5, 0.9], [0.3, 0.1, 0.5]])),
]


@pytest.fixture
def content():
    return json.loads(json.dumps(certificates.to_certificate(ANSWERS)))


def outcome(content, folder):
    path = folder / "proof.json"
    path.write_text(json.dumps(content))
    return certificates.verify(path)


def test_what_is_written_is_what_is_read(tmp_path):
    path = tmp_path / "proof.json"
    certificates.write(ANSWERS, path)
    for claimed, answer in zip(certificates.read(path), ANSWERS, strict=True):
        assert (claimed.lower, claimed.upper) == (answer.lower, answer.upper)
        assert claimed.support == answer.support
        assert claimed.instance.to_dict() == answer.instance.to_dict()
        assert claimed.best_arm == answer.best_arm
        for mine, theirs in zip(claimed.alternatives, answer.alternatives, strict=True):
            assert (mine.arm, mine.weight, mine.piece) == (theirs.arm, theirs.weight, theirs.piece)
            assert np.array_equal(mine.parameter, theirs.parameter)
            assert np.array_equal(mine.witness, theirs.witness)
    assert all(report.valid for _, report in certificates.verify(path))


def test_a_certificate_says_what_it_is(content):
    assert (content["format"], content["version"]) == ("ossb certificate", 1)
    assert set(content["bounds"][0]) == {
        "instance",
        "cost",
        "lower",
        "upper",
        "status",
        "gap",
        "best_arm",
        "rates",
        "alternatives",
        "multipliers",
    }


NUMBERS = [
    ("lower", lambda b: b.update(lower=1.01 * b["lower"])),
    ("upper", lambda b: b.update(upper=0.99 * b["upper"])),
    ("a rate", lambda b: b["rates"][0].update(rate=0.9 * b["rates"][0]["rate"])),
    ("rates left out", lambda b: b.update(rates=[])),
    ("alternatives left out", lambda b: b.update(alternatives=[])),
    ("a weight", lambda b: b["alternatives"][0].update(weight=9 * b["alternatives"][0]["weight"])),
    ("a witness", lambda b: b["alternatives"][0].update(witness=b["alternatives"][0]["parameter"])),
    ("an arm", lambda b: b["alternatives"][0].update(arm=b["alternatives"][1]["arm"])),
]


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(("name", "corrupt"), NUMBERS, ids=[name for name, _ in NUMBERS])
def test_false_claims_are_read_and_found_out(name, corrupt, place, content, tmp_path):
    corrupt(content["bounds"][place])
    reports = [report.valid for _, report in outcome(content, tmp_path)]
    assert reports == [place != 0, place != 1]


def test_an_instance_swapped_for_an_easier_one(content, tmp_path):
    content["bounds"][0]["instance"]["theta"] = [0.9, 0.6, 0.3]
    assert [report.valid for _, report in outcome(content, tmp_path)] == [False, True]


def damaged(change):
    def apply(content):
        damage = copy.deepcopy(content)
        change(damage["bounds"][0])
        return damage

    return apply


DAMAGES = [
    (lambda c: [c], "`format` must be 'ossb certificate'"),
    (lambda c: {}, "`format` must be 'ossb certificate'"),
    (lambda c: {**c, "format": "x"}, "`format` must be 'ossb certificate'"),
    (lambda c: {**c, "version": 2}, "`version` must be 1, got 2"),
    (lambda c: {**c, "version": True}, "`version` must be 1, got True"),
    (lambda c: {**c, "bounds": {}}, r"`bounds` must be a list, got \{\}"),
    (lambda c: {**c, "bounds": [3]}, r"`bounds\[0\]` must be a table of keys, got 3"),
    (damaged(lambda b: b.pop("instance")), r"`bounds\[0\].instance` must be valid: `instance`"),
    (damaged(lambda b: b["instance"].pop("theta")), r"`bounds\[0\].instance.theta` must be given"),
    (damaged(lambda b: b["instance"].update(theta=[2])), r"`bounds\[0\].instance` must be valid"),
    (
        damaged(lambda b: b.update(best_arm=1)),
        r"`bounds\[0\].best_arm` must be the best arm, got 1",
    ),
    (damaged(lambda b: b.update(best_arm="x")), r"`bounds\[0\].best_arm` must be a whole number"),
    (damaged(lambda b: b.pop("lower")), r"`bounds\[0\].lower` must be a number, got None"),
    (damaged(lambda b: b.update(upper=1e999)), r"`bounds\[0\].upper` must be finite"),
    (damaged(lambda b: b.update(upper="1")), r"`bounds\[0\].upper` must be a number"),
    (damaged(lambda b: b.update(status="sure")), r"`bounds\[0\].status` must be one of certified"),
    (damaged(lambda b: b.update(rates=3)), r"`bounds\[0\].rates` must be a list"),
    (damaged(lambda b: b.update(rates=[3])), r"`bounds\[0\].rates` must hold tables"),
    (
        damaged(lambda b: b["rates"][0].pop("rate")),
        r"`bounds\[0\].rates\[0\].rate` must be a number",
    ),
    (damaged(lambda b: b["rates"][0].update(arm=-1)), r"`bounds\[0\].rates\[0\].arm` must be at"),
    (
        damaged(lambda b: b["rates"][0].update(context="a")),
        r"`bounds\[0\].rates\[0\].context` must be left out: there are no contexts",
    ),
    (
        damaged(lambda b: b["rates"][0].update(share=0.5)),
        r"`share` must be a key of bounds\[0\].rates\[0\]: arm, rate, context",
    ),
    (
        damaged(lambda b: b["alternatives"][0].update(wittness=[1])),
        r"`wittness` must be a key of bounds\[0\].alternatives\[0\]",
    ),
    (damaged(lambda b: b.update(value=0.0)), r"`value` must be a key of bounds\[0\]"),
    (
        damaged(lambda b: b["alternatives"][0].update(parameter=[1, 2])),
        r"`bounds\[0\].alternatives\[0\].parameter` must have the shape \[3\], got \[2\]",
    ),
    (
        damaged(lambda b: b["alternatives"][0].update(witness=None)),
        r"`bounds\[0\].alternatives\[0\].witness` must be a list",
    ),
    (
        damaged(lambda b: b["alternatives"][0].update(witness=["0.5", 1, 1])),
        r"`bounds\[0\].alternatives\[0\].witness\[0\]` must be a number, got '0.5'",
    ),
    (
        damaged(lambda b: b["alternatives"][0].update(piece=0.5)),
        r"`bounds\[0\].alternatives\[0\].piece` must be a whole number",
    ),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_what_is_no_certificate_is_refused(damage, message, content, tmp_path):
    with pytest.raises(InputError, match=message):
        outcome(damage(content), tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "not json"])
def test_what_is_no_json_is_refused(text, tmp_path):
    path = tmp_path / "proof.json"
    path.write_text(text)
    with pytest.raises(InputError, match="`certificate` must be a file that"):
        certificates.read(path)


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(InputError, match="`certificate` must be a readable file"):
        certificates.read(tmp_path / "none.json")
    with pytest.raises(InputError, match="`certificate` must be a readable file"):
        certificates.read(tmp_path)
    with pytest.raises(InputError, match="`certificate` must be a writable file"):
        certificates.write(ANSWERS, tmp_path)


def test_a_certificate_on_standard_input(content, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(content)))
    assert [report.valid for _, report in certificates.verify("-")] == [True, True]


def test_a_certificate_of_nothing_is_refused(content, tmp_path):
    content["bounds"] = []
    with pytest.raises(InputError, match="`bounds` must hold at least one bound"):
        outcome(content, tmp_path)


def test_weights_that_overflow_prove_nothing(tmp_path):
    edges = [[i, j] for i in range(2) for j in range(3)]
    phi = [0.9, 0.2, 0.1, 0.3, 0.7, 0.2]
    shape = {"arm_set": "matchings", "n_left": 2, "n_right": 3, "edges": edges}
    answer = bound(Combinatorial(feedback="semi_bandit", phi=phi, **shape))
    forged = json.loads(json.dumps(certificates.to_certificate([answer])))
    item = next(i for i in range(6) if i not in forged["bounds"][0]["best_arm"])
    for alternative in forged["bounds"][0]["alternatives"]:
        alternative["parameter"][item] = 1e300
    ((_, report),) = outcome(forged, tmp_path)
    assert not report.valid
