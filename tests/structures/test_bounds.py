"""Bounds of many instances: the same as one by one, in their order, with errors that say where."""

import numpy as np
import pytest

import ossb
from ossb.errors import CertificationError, InputError
from ossb.graves_lai.linear import many
from ossb.structures import bound, bounds
from ossb.structures.classical import Classical
from ossb.structures.finite import Finite
from ossb.structures.linear import Linear
from ossb.structures.polytope import Polytope


def linear(seed, n_arms=10, dimension=3, **keys):
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(n_arms, dimension))
    return Linear(arms=arms, phi=rng.normal(size=dimension), **keys)


def same(one, other):
    assert one.instance is other.instance
    assert (one.lower, one.upper, one.status) == (other.lower, other.upper, other.status)
    assert (one.best_arm, one.support) == (other.best_arm, other.support)
    for left, right in zip(one.alternatives, other.alternatives, strict=True):
        assert (left.arm, left.weight) == (right.arm, right.weight)
        assert np.array_equal(left.parameter, right.parameter)
        assert np.array_equal(left.witness, right.witness)


def mixed():
    dependent = Linear(arms=[[1, 0, 0], [0.5, 1, 0], [0.2, 0.3, 0]], phi=[1, 0, 0])
    return [
        linear(1),
        Classical(theta=[0.5, 0.2], observation="bernoulli"),
        linear(2, goal="minimize", sigma=0.3),
        linear(3, n_arms=6, dimension=2),
        dependent,  # not proved in doubles
        Finite(theta=[0.5, 0.2], parameters=[[0.5, 0.2], [0.5, 0.9]]),
        linear(1),
    ]


def test_they_are_those_of_bound_in_the_order_of_the_list():
    instances = mixed()
    answers = bounds(instances)
    assert len(answers) == len(instances)
    for instance, answer in zip(instances, answers, strict=True):
        same(answer, bound(instance))
        assert answer.verify().valid
        assert answer.seconds > 0.0
    assert [answer.proved for answer in answers if answer.instance.kind == "linear"] == [
        True, True, True, False, True
    ]  # fmt: skip


def test_compiled_and_in_threads_they_are_the_same(monkeypatch):
    instances = [linear(seed) for seed in range(12)]
    one_by_one = [bound(instance) for instance in instances]
    monkeypatch.setattr(many, "CHUNK", 2)
    monkeypatch.setattr(many, "PATIENCE", -1.0)  # compiled from the first
    for answer, expected in zip(bounds(instances), one_by_one, strict=True):
        same(answer, expected)


def test_any_iterable_will_do_and_none_is_an_answer():
    assert [answer.instance.kind for answer in bounds(iter(mixed()[:2]))] == ["linear", "classical"]
    assert bounds([]) == []
    assert ossb.bounds is bounds


def test_the_gap_is_that_of_all():
    for answer in bounds([linear(1), linear(2)], gap=1e-9):
        assert answer.gap <= 1e-9
        assert answer.verify().valid
    for gap in (0.0, 1.0, -1e-3, float("nan"), "small"):
        with pytest.raises(InputError) as error:
            bounds([linear(1)], gap=gap)
        assert error.value.field == "gap"


@pytest.mark.parametrize(
    ("wrong", "must"),
    [
        (Linear(arms=[[1.0, 0.0], [0.0, 1.0]], phi=[1.0, 1.0]), "both best"),
        (Linear(arms=[[1.0, 0.0], [0.0, 1.0]]), "`phi` must be given"),
        (Classical(theta=[0.5, 0.5]), "both best"),
        ({"structure": "linear"}, "be a structure"),
        (None, "be a structure"),
    ],
)
def test_an_instance_without_a_bound_is_named(wrong, must):
    with pytest.raises(InputError, match=must) as error:
        bounds([linear(1), wrong, linear(2)])
    assert error.value.field == "instances[1]"


def test_what_cannot_be_certified_is_named():
    hardly = Polytope(A=[[0, 1]], b=[0.5 + 2**-53], theta=[0.5, 0.2])
    with pytest.raises(
        CertificationError, match=r"^instances\[2\]: the answer does not pass its own"
    ):
        bounds([linear(1), linear(2), hardly])


@pytest.mark.parametrize("wrong", [None, 3, "linear", {"structure": "linear"}, linear(1)])
def test_what_is_no_list_is_refused(wrong):
    with pytest.raises(InputError) as error:
        bounds(wrong)
    assert error.value.field == "instances"
