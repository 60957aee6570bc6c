"""Certificates written to deceive: what passes the check is true, whoever wrote it."""

import importlib
import json
import pkgutil

import numpy as np
import pytest

import forging
import ossb.structures
from ossb import certificates
from ossb.arm_sets import ARM_SETS
from ossb.errors import CertificationError
from ossb.structures import STRUCTURES, bound
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.finite import Finite
from ossb.structures.unimodal import Unimodal


def report_on(content):
    """What the check says of one forged bound, through the text of a file."""
    entry = json.loads(json.dumps(content, allow_nan=False))
    return certificates._bound(entry, "bounds[0]").verify()


def honest(instance, gap=1e-6):
    """A right certificate of an instance, to be forged."""
    (entry,) = certificates.to_certificate([bound(instance, gap)])["bounds"]
    return json.loads(json.dumps(entry))


def test_proofs_that_contradict_each_other():
    """λ differs from θ by 1e-10 on the best arm: nothing is confusing, and C = 0."""
    parameters = [[0.5, 0.2], [0.5000000001, 0.8]]
    forged = {
        "instance": {"structure": "finite", "theta": [0.5, 0.2], "parameters": parameters},
        "lower": 1.6667,
        "upper": 1.6667,
        "status": "certified",
        "best_arm": 0,
        "rates": [{"arm": 1, "rate": 5.5556}],
        "alternatives": [
            {"arm": 1, "parameter": parameters[1], "witness": parameters[1], "weight": 1.6667,
             "piece": 1}
        ],
        "multipliers": None,
    }  # fmt: skip
    report = report_on(forged)
    assert "alternatives[0].parameter: differs in what the best arm reveals" in report.problems
    assert (report.lower, report.upper) == (0.0, 0.0)
    assert bound(Finite(theta=[0.5, 0.2], parameters=parameters)).value == 0.0


@pytest.mark.parametrize("lower", [0.0, 0.5, 0.999])
def test_a_gap_wider_than_certified_stands_for(lower):
    content = honest(Classical(observation="bernoulli", theta=[0.9, 0.5, 0.3]))
    content["lower"] *= lower
    report = report_on(content)
    assert [problem.split(":")[0] for problem in report.problems] == ["status"]
    assert report_on({**content, "gap": 0.9999}).valid == (lower > 0.0)
    assert report_on({**content, "status": "heuristic"}).valid


@pytest.mark.parametrize("gap", [0.0, 1.0, -1e-6, 7.0])
def test_a_gap_out_of_range_is_no_promise(gap):
    content = honest(Unimodal(theta=[0.1, 0.9, 0.5]))
    assert not report_on({**content, "gap": gap}).valid


def test_an_interval_below_zero_is_refused():
    content = honest(Classical(theta=[1.0, 0.5]))
    for lower, upper in ((-1.0, 0.0), (-2.0, -1.0), (-5e-324, 0.0)):
        report = report_on({**content, "lower": lower, "upper": upper})
        assert any("no cost is negative" in problem for problem in report.problems)


def test_old_certificates_promise_what_the_default_is():
    content = honest(Classical(theta=[1.0, 0.5]))
    assert content.pop("gap") == 1e-6
    assert report_on(content).valid
    assert not report_on({**content, "lower": 0.99 * content["lower"]}).valid


def test_an_item_near_the_end_of_its_means_is_not_left_out():
    """Single items, to minimise: the least mean is 1e-16 of the largest, and not 0 for that.

    C = 0.0738, where 0 was certified; the solver still finds no more, and that is no answer.
    """
    keys = {"feedback": "semi_bandit", "observation": "poisson", "goal": "minimize"}
    instance = Combinatorial(arms=np.eye(3).tolist(), phi=[3.09e-8, 1.76e8, 299.67], **keys)
    with pytest.raises(CertificationError, match="does not pass its own check"):
        bound(instance)
    forged = {
        "instance": instance.to_dict(), "lower": 0.0, "upper": 0.0, "status": "certified",
        "best_arm": 0, "rates": [], "alternatives": [], "multipliers": None,
    }  # fmt: skip
    assert not report_on(forged).valid


def test_no_kind_of_certificate_is_left_out():
    """Every class that proves has cases, and every structure with every family that it takes."""
    instances = [case.instance for case in forging.EVERY.values()]
    proving = [case.problem() for case in forging.EVERY.values()]
    proving += [one.case for one in instances if isinstance(one, Combinatorial)]
    attacked = {kind for one in proving for kind in type(one).__mro__}
    for module in pkgutil.walk_packages(ossb.structures.__path__, "ossb.structures."):
        for found in vars(importlib.import_module(module.name)).values():
            if isinstance(found, type) and "exact_information" in vars(found):
                assert found in attacked or getattr(found, "_is_protocol", False), found
    met = {(one.kind, one.observation) for one in instances}
    held = {k: s.observations for k, s in STRUCTURES.items() if k not in ("convex", "oracle")}
    assert met >= {(kind, family) for kind, families in held.items() for family in families}
    assert {one.arm_set for one in instances if isinstance(one, Combinatorial)} >= set(ARM_SETS)


@pytest.mark.sampled(of=10)
@pytest.mark.parametrize("name", forging.EVERY)
def test_what_is_proved_from_a_forgery_is_true(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    tally = forging.attack(name, 40, rng)
    forging.climb(name, 10, rng, tally)
    assert tally.tried == 60
    assert tally.false == []


@pytest.mark.slow
@pytest.mark.parametrize("name", forging.EVERY)
def test_what_is_proved_from_many_forgeries_is_true(name):
    rng = np.random.default_rng(1 + sum(map(ord, name)))
    tally = forging.attack(name, 10_000, rng)
    forging.climb(name, 2_000, rng, tally)
    assert tally.false == []


def test_forgeries_find_a_check_that_is_wrong(monkeypatch):
    """One that takes rates to tell twice what they do."""
    right, low, high = forging.honest("classical gaussian")
    exact = Classical.exact_information

    def careless(self, support, multipliers):
        return 2 * exact(self, support, multipliers)

    monkeypatch.setattr(Classical, "exact_information", careless)
    tally = forging.Tally()
    tally.take(right, low, high)
    assert tally.false
    assert tally.below == pytest.approx(0.5)
