"""A proof that holds passes; one that was touched anywhere does not."""

import dataclasses
import math

import numpy as np
import pytest
from flint import arb

from ossb.errors import InputError
from ossb.graves_lai.proof import Alternative, Report, check
from ossb.structures import bound
from ossb.structures.classical import Classical
from ossb.structures.dueling import Dueling
from ossb.structures.finite import Finite
from ossb.structures.lipschitz import Lipschitz
from ossb.structures.polytope import Polytope
from ossb.structures.unimodal import Unimodal

INSTANCES = {
    "classical": Classical(observation="bernoulli", theta=[0.9, 0.5, 0.3]),
    "classical, to minimise": Classical(theta=[2.0, 1.0, 3.0], goal="minimize"),
    "unimodal": Unimodal(observation="poisson", theta=[1.0, 4.0, 2.0, 0.5]),
    "dueling": Dueling(preferences=[[0.5, 0.6, 0.7], [0.4, 0.5, 0.9], [0.3, 0.1, 0.5]]),
}
each_instance = pytest.mark.parametrize("instance", INSTANCES.values(), ids=list(INSTANCES))


@each_instance
def test_a_proof_gives_what_is_claimed(instance):
    answer = bound(instance)
    report = answer.verify()
    assert report.valid
    assert report.problems == ()
    assert report.lower == answer.lower
    assert report.upper <= answer.upper
    assert answer.gap <= 1e-14
    assert report.information == pytest.approx(1.0, rel=1e-12)
    assert report.cost == pytest.approx(answer.upper, rel=1e-12)


def first(answer, **changes):
    """The bound with its first alternative changed."""
    changed = dataclasses.replace(answer.alternatives[0], **changes)
    return {"alternatives": [changed, *answer.alternatives[1:]]}


CORRUPTIONS = {
    "weight negative": lambda a: first(a, weight=-a.alternatives[0].weight),
    "weight scaled up": lambda a: first(a, weight=2 * a.alternatives[0].weight),
    "weight scaled down": lambda a: first(a, weight=0.5 * a.alternatives[0].weight),
    "weight not a number": lambda a: first(a, weight=math.nan),
    "weight infinite": lambda a: first(a, weight=math.inf),
    "parameter not a number": lambda a: first(a, parameter=a.alternatives[0].parameter * math.nan),
    "parameter infinite": lambda a: first(a, parameter=a.alternatives[0].parameter + math.inf),
    "parameter moved": lambda a: first(a, parameter=a.alternatives[0].parameter + 1e-3),
    "parameter of another shape": lambda a: first(a, parameter=np.zeros(1)),
    "parameter empty": lambda a: first(a, parameter=np.zeros(0)),
    "witness not strict": lambda a: first(a, witness=a.alternatives[0].parameter),
    "witness moved": lambda a: first(a, witness=a.alternatives[0].witness + 1e-3),
    "witness not a number": lambda a: first(a, witness=a.alternatives[0].witness * math.nan),
    "the best arm as its own rival": lambda a: first(a, arm=a.best_arm),
    "another arm's parameter": lambda a: first(a, arm=a.alternatives[1].arm),
    "an arm that does not exist": lambda a: first(a, arm=99),
    "no alternatives": lambda a: {"alternatives": []},
    "an alternative left out": lambda a: {"alternatives": a.alternatives[1:]},
    "rate lowered": lambda a: {"support": [(x, 0.999 * c) for x, c in a.support]},
    "one rate lowered": lambda a: {
        "support": [(a.support[0][0], 0.5 * a.support[0][1]), *a.support[1:]]
    },
    "rate negative": lambda a: {"support": [(x, -c) for x, c in a.support]},
    "rate not a number": lambda a: {"support": [(x, math.nan) for x, c in a.support]},
    "rate infinite": lambda a: {"support": [(x, math.inf) for x, c in a.support]},
    "no rates": lambda a: {"support": []},
    "rate of an arm that does not exist": lambda a: {"support": [*a.support, (77, 1.0)]},
    "a rate left out": lambda a: {"support": a.support[1:]},
    "upper lowered": lambda a: {"upper": 0.999 * a.upper},
    "upper raised": lambda a: {"upper": 1.001 * a.upper},
    "upper far above": lambda a: {"upper": 1e308},
    "lower negative": lambda a: {"lower": -7.0},
    "parameter near the end of doubles": lambda a: first(
        a, parameter=np.full_like(a.alternatives[0].parameter, 1e308)
    ),
    "witness near the end of doubles": lambda a: first(
        a, witness=np.full_like(a.alternatives[0].witness, 1e308)
    ),
    "lower raised": lambda a: {"lower": 1.001 * a.lower},
    "upper not a number": lambda a: {"upper": math.nan},
    "lower not a number": lambda a: {"lower": math.nan},
    "upper infinite, lower raised": lambda a: {"upper": math.inf, "lower": 10 * a.lower},
    "lower infinite, upper lowered": lambda a: {"lower": -math.inf, "upper": 0.1 * a.upper},
    "lower far below, upper lowered": lambda a: {"lower": -1e30, "upper": 0.1 * a.upper},
}


@each_instance
@pytest.mark.parametrize("name", CORRUPTIONS)
def test_every_corruption_fails(instance, name):
    answer = bound(instance)
    report = dataclasses.replace(answer, **CORRUPTIONS[name](answer)).verify()
    assert not report.valid
    assert all(isinstance(problem, str) for problem in report.problems)


def test_the_best_arms_own_mean_must_stay():
    instance = INSTANCES["classical"]
    answer = bound(instance)
    parameter = np.array(answer.alternatives[0].parameter)
    parameter[0] -= 1e-6
    report = dataclasses.replace(answer, **first(answer, parameter=parameter)).verify()
    assert any("differs in what the best arm reveals" in problem for problem in report.problems)


def test_a_parameter_outside_is_named():
    instance = INSTANCES["unimodal"]
    answer = bound(instance)
    parameter = np.array(answer.alternatives[0].parameter)
    parameter[3] = 3.0  # a second peak
    report = dataclasses.replace(answer, **first(answer, parameter=parameter)).verify()
    assert any("outside the parameter set" in problem for problem in report.problems)


def test_a_witness_that_is_better_by_rounding_alone_is_none():
    """Just outside the set, an arm can be better that never is inside it."""
    instance = INSTANCES["unimodal"]
    answer = bound(instance)
    witness = np.array(answer.alternatives[0].parameter)
    witness[0] += 1e-10
    witness[1] += 5e-11  # the best arm would show it, if only in the end
    report = dataclasses.replace(answer, **first(answer, witness=witness)).verify()
    assert any("witness: differs in what the best arm" in problem for problem in report.problems)


def test_an_empty_proof_proves_zero_only():
    certain = Classical(observation="bernoulli", theta=[1.0, 0.5])
    assert check(certain, [], [], None, 0.0, 0.0).valid
    assert not check(certain, [], [], None, 0.1, 0.1).valid
    assert not check(INSTANCES["classical"], [], [], None, 0.0, 0.0).valid


def test_parameters_that_differ_nowhere_prove_nothing():
    class Blind(Classical):
        def exact_heaviest(self, confusing, weights):
            return arb(0)

    instance = Blind(observation="bernoulli", theta=[0.9, 0.5])
    answer = bound(Classical(observation="bernoulli", theta=[0.9, 0.5]))
    report = check(instance, answer.support, answer.alternatives, None, answer.lower, answer.upper)
    assert not report.valid


def test_a_report_is_valid_without_problems():
    assert Report(0.0, 1.0, 1.0, 1.0).valid
    assert not Report(0.0, 1.0, 1.0, 1.0, ("something",)).valid


def test_an_entry_that_nothing_shows_excuses_no_other():
    """λ₁ = λ₂ is forced; a huge fourth entry must not make room for parameters without it."""
    keys = {"A": [[0, 1, -1, 0], [0, -1, 1, 0]], "b": [0, 0], "theta": [1, 0, 0, 0]}
    instance = Polytope(means=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], **keys)
    honest = bound(instance)
    assert honest.value == pytest.approx(2.0)
    witness = np.array([1.0, 2.0, 2.0, 0.0])
    for huge in (0.0, 2e9, 1e15):
        forged = [
            Alternative(1, np.array([1.0, 1.0, 0.0, huge]), witness, 2.0),
            Alternative(2, np.array([1.0, 0.0, 1.0, huge]), witness, 2.0),
        ]
        rates = [(1, 2.0), (2, 2.0)]
        report = check(instance, rates, forged, honest.multipliers, 4.0, 4.0)
        assert any("outside the parameter set" in problem for problem in report.problems)


@pytest.mark.parametrize("scale", [1e-9, 1e-7, 1.0, 1e6])
def test_small_problems_are_checked_as_large_ones(scale):
    """Half of an alternative's advantage is no alternative, however little that is."""
    finite = Finite(parameters=[[scale, 0.0], [scale, 2 * scale]], theta=[scale, 0.0], sigma=scale)
    assert bound(finite).value == pytest.approx(0.5 * scale)
    tie, far = np.array([scale, scale]), np.array([scale, 2 * scale])
    forged = [Alternative(1, tie, far, 1.0, 1)]
    assert not check(finite, [(1, 2.0)], forged, None, 2 * scale, 2 * scale).valid
    metric = scale * np.array([[0.0, 2.0, 2.0], [2.0, 0.0, 0.1], [2.0, 0.1, 0.0]])
    near = Lipschitz(theta=[scale, 0.0, 0.0], distances=metric.tolist(), sigma=scale)
    assert bound(near).value < 3.0 * scale
    forged = [
        Alternative(arm, np.array(values) * scale, np.array([1.0, 2.0, 2.0]) * scale, 2.0)
        for arm, values in ((1, [1.0, 1.0, 0.0]), (2, [1.0, 0.0, 1.0]))
    ]
    assert not check(near, [(1, 2.0), (2, 2.0)], forged, None, 4 * scale, 4 * scale).valid


def test_a_parameter_outside_by_its_whole_size_is_no_true_one():
    with pytest.raises(InputError, match="theta"):
        Finite(parameters=[[1e-9, 0.0], [1e-9, 2e-9]], theta=[1e-10, 0.0], sigma=1e-9)
