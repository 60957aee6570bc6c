"""Every reference value: C(θ), the rates and duels where they are known, and the certificate."""

import pytest

import golden
from ossb import certificates
from ossb.instances import from_dict
from ossb.structures import bound


@pytest.mark.parametrize(("instance", "expected"), golden.parameters())
def test_reference_value(instance, expected, tmp_path):
    answer = bound(from_dict(instance))
    assert answer.value == pytest.approx(expected["value"], rel=1e-5, abs=1e-9)
    assert answer.status == "certified"
    assert answer.lower <= answer.upper
    assert answer.gap <= 1e-6
    check_rates(answer, expected)
    check_duels(answer, expected)
    report = answer.verify()
    assert report.valid, report.problems
    certificates.write([answer], tmp_path / "proof.json")
    ((claimed, outcome),) = certificates.verify(tmp_path / "proof.json")
    assert outcome.valid, outcome.problems
    assert (claimed.lower, claimed.upper) == (answer.lower, answer.upper)


def check_rates(answer, expected):
    if "rates" not in expected:
        return
    wanted = {entry["arm"]: entry["rate"] for entry in expected["rates"]}
    found = dict(answer.support)
    heaviest = max(wanted.values(), default=0.0)
    for arm in sorted(set(wanted) | set(found)):
        got, rate = found.get(arm, 0.0), wanted.get(arm, 0.0)
        assert got == pytest.approx(rate, rel=1e-4, abs=1e-6 * heaviest), arm


def check_duels(answer, expected):
    if "duels" not in expected:
        return
    winner = expected["condorcet_winner"]
    assert answer.best_arm == (winner, winner)
    wanted = {tuple(sorted((int(i), j))) for i, j in expected["duels"].items()}
    assert {arm for arm, _ in answer.support} == wanted


def test_the_whole_list_is_read():
    assert sorted(path.name for path in golden.FOLDER.glob("*.json")) == sorted(golden.FILES)
