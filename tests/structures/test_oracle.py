import dataclasses

import numpy as np
import pytest

from ossb.errors import CertificationError, InputError
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.structures.oracle import Oracle

THETA = [0.9, 0.5, 0.2, 0.6]


def classical(theta, rates, further=1e-9):
    """The most confusing parameter where arms tell nothing of one another."""
    best = int(np.argmax(theta))
    others = [x for x in range(len(theta)) if x != best]
    arm = min(others, key=lambda x: rates[x] * (theta[best] - theta[x]) ** 2)
    parameter = np.array(theta)
    parameter[arm] = theta[best] + further
    return parameter


@pytest.mark.parametrize("exact", [True, False])
def test_an_oracle_for_the_classical_bandit(exact):
    answer = bound(Oracle(oracle=classical, theta=THETA, exact=exact))
    reference = bound(Classical(theta=THETA))
    assert answer.value == pytest.approx(reference.value, rel=1e-5)
    assert answer.rates == pytest.approx(reference.rates, rel=1e-3)
    assert answer.status == ("certified" if exact else "heuristic")
    assert answer.gap <= 1e-6
    report = answer.verify()
    assert report.valid, report.problems


def test_an_oracle_may_answer_with_a_tie():
    answer = bound(Oracle(oracle=lambda t, r: classical(t, r, 0.0), theta=THETA, exact=True))
    assert answer.value == pytest.approx(bound(Classical(theta=THETA)).value, rel=1e-6)
    report = answer.verify()
    assert report.valid, report.problems
    first = answer.alternatives[0]
    worse = dataclasses.replace(first, parameter=np.array(THETA), witness=np.array(THETA))
    report = dataclasses.replace(answer, alternatives=[worse]).verify()
    assert any("its arm is worse" in problem for problem in report.problems)


def test_a_bound_of_its_own_makes_the_upper_side_safe():
    def careful(theta, rates):
        parameter = classical(theta, rates)
        value = 0.5 * (rates * (parameter - theta) ** 2).sum()
        return parameter, value * (1 - 1e-7)

    answer = bound(Oracle(oracle=careful, theta=THETA, exact=True))
    assert answer.value == pytest.approx(bound(Classical(theta=THETA)).value, rel=1e-5)
    assert answer.verify().valid


def test_corrupted_proofs_fail():
    answer = bound(Oracle(oracle=classical, theta=THETA, exact=True))
    fewer = [(arm, 0.5 * rate) for arm, rate in answer.support]
    assert not dataclasses.replace(answer, support=fewer).verify().valid
    first = answer.alternatives[0]
    bad = [dataclasses.replace(first, parameter=first.parameter - 0.1), *answer.alternatives[1:]]
    assert not dataclasses.replace(answer, alternatives=bad).verify().valid


def test_nothing_to_confuse_and_one_arm():
    for instance in (
        Oracle(oracle=lambda theta, rates: None, theta=THETA),
        Oracle(oracle=classical, theta=[0.3]),
    ):
        answer = bound(instance)
        assert (answer.value, list(answer.support)) == (0.0, [])
        assert answer.verify().valid


def test_minimising():
    def oracle(theta, rates):
        return -classical(-np.array(theta), rates)

    costs = [-t for t in THETA]
    answer = bound(Oracle(oracle=oracle, theta=costs, goal="minimize", exact=True))
    assert answer.value == pytest.approx(bound(Classical(theta=THETA)).value, rel=1e-5)


def test_rates_follow_the_estimate():
    follower = Oracle(oracle=classical, theta=THETA, exact=True).follow(kappa=1e-2, gap=1e-3)
    rng = np.random.default_rng(2)
    for step in (0.0, 0.0, 1e-3, 1e-2):
        theta = np.array(THETA) * (1 + step * rng.normal(size=4))
        held = follower.rates(theta)
        reference = bound(Classical(theta=theta))
        assert held.upper == pytest.approx(reference.value, rel=1.1e-2)
        assert held.rates[held.best] == 0.0
    assert np.isfinite(follower.rates(np.full(4, 0.5)).rates).all()
    assert follower.rates(np.array([0.1, 0.2, 0.7, 0.3])).best == 2


@pytest.mark.parametrize(
    ("oracle", "message"),
    [
        (lambda theta, rates: theta + 0.1, "agree with theta on the best arm"),
        (lambda theta, rates: theta, "make another arm as good"),
        (lambda theta, rates: [1.0], "hold 4 numbers"),
        (lambda theta, rates: (classical(theta, rates), "much"), "be a number"),
        (7, "be a function"),
    ],
)
def test_refusals(oracle, message):
    with pytest.raises(InputError, match=message):
        bound(Oracle(oracle=oracle, theta=THETA))


def test_an_oracle_that_raises_is_named():
    with pytest.raises(InputError, match=r"`oracle` must answer .* ZeroDivisionError") as caught:
        bound(Oracle(oracle=lambda theta, rates: 1 / 0, theta=THETA))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_oracles_that_contradict_themselves():
    with pytest.raises(InputError, match="be given"):
        Oracle(oracle=classical, theta=None)
    with pytest.raises(InputError, match="a file can hold"):
        Oracle(oracle=classical, theta=THETA).to_dict()
    with pytest.raises(InputError, match="finite divergence"):
        bound(
            Oracle(
                oracle=lambda theta, rates: [0.9, 1.0, 0.2, 0.6],
                theta=THETA,
                observation="bernoulli",
            )
        )
    turns = iter([True])
    with pytest.raises(InputError, match="at all rates or at none"):
        bound(
            Oracle(oracle=lambda t, r: classical(t, r) if next(turns, False) else None, theta=THETA)
        )
    with pytest.raises(CertificationError, match="rounds"):
        bound(Oracle(oracle=lambda t, r: (classical(t, r), 1e-3), theta=THETA, exact=True))
