"""Numbers whose products leave the doubles are not checked, and it says so."""

import json
import re
from dataclasses import replace

import pytest

import ossb
from ossb.certificates import read, to_certificate, verify
from ossb.errors import InputError
from ossb.graves_lai.answers import read_answer
from ossb.instances import from_dict
from ossb.structures.base import cost_of

# each was accepted with an interval that does not hold C: squares underflow or overflow in them
LIPSCHITZ = {
    "structure": "lipschitz",
    "observation": "gaussian",
    "theta": [2.0, 0.0, 0.0],
    "points": [0.0, 6e-162, 7.6e-162],
    "lipschitz_constant": 1e162,
}
PATHS = {
    "structure": "combinatorial",
    "feedback": "semi_bandit",
    "arm_set": "paths",
    "edges": [[0, 1], [1, 2], [0, 2]],
    "source": 0,
    "target": 2,
    "phi": [1.59e-162, 0.0, 0.0],
    "sigma": 1e-162,
}
SETS = {
    "structure": "combinatorial",
    "feedback": "semi_bandit",
    "arm_set": "m_sets",
    "n_items": 3,
    "size": 2,
    "phi": [1.7e308, 1.7e308, 0.0],
}


@pytest.mark.parametrize(
    ("instance", "field"), [(LIPSCHITZ, "points[1]"), (PATHS, "phi[0]"), (SETS, "phi[0]")]
)
def test_numbers_beyond_the_range_are_refused(tmp_path, instance, field):
    honest = ossb.bound(ossb.Classical(theta=[1.0, 0.5]))
    content = to_certificate([honest])
    content["bounds"][0]["instance"] = instance
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"in size, to be checked") as refused:
        read(path)
    assert refused.value.field == f"bounds[0].instance.{field}"


@pytest.mark.parametrize("instance", [LIPSCHITZ, PATHS, SETS])
def test_in_python_they_are_refused_too(instance):
    """By ``bound``, and by ``verify`` of a bound however it was made."""
    instance = from_dict(instance)
    honest = ossb.bound(ossb.Classical(theta=[1.0, 0.5]))
    problem = replace(honest, instance=instance).verify().problems[0]
    assert re.match(r"instance\.\S+: must be 0, or from 1e-100 to 1e\+100 in size", problem)
    with pytest.raises(InputError, match="in size, to be checked"):
        ossb.bound(instance)


@pytest.mark.parametrize(
    ("instance", "field"),
    [
        (ossb.Classical(theta=[1e-120, 0.0]), "theta[0]"),
        (ossb.Linear(arms=[[1, 0], [0.5, 1], [1e-150, 0.2]], phi=[1, 0.2]), "arms[2][0]"),
        (ossb.Classical(theta=[2e100, 1e100], sigma=1e100), "theta[0]"),
        (ossb.Polytope(A=[[1e-110, 1.0]], b=[0.9], theta=[1.0, 0.5]), "A[0][0]"),
        (
            ossb.Union(pieces=[{"A": [[0, 1.0]], "b": [1e-110]}], theta=[1.0, 0.0]),
            "pieces[0].b[0]",
        ),
    ],
)
def test_an_answer_is_not_given_where_it_is_not_checked(instance, field):
    for answer in (lambda: ossb.bound(instance), lambda: ossb.bounds([instance])):
        with pytest.raises(InputError, match="in size, to be checked") as refused:
            answer()
        assert field in str(refused.value)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"cost": 1e-120}, "cost"),
        ({"cost": [1.0, 1e120]}, "cost[1]"),
        ({"cost": 1.0, "answer": {"above": 1e-120}}, "answer.above"),
        ({"cost": 1.0, "answer": {"above": -3e100}}, "answer.above"),
    ],
)
def test_prices_and_levels_have_the_same_range(asked, field):
    instance = ossb.Classical(theta=[1.0, 0.5])
    for answer in (lambda: ossb.bound(instance, **asked), lambda: ossb.bounds([instance], **asked)):
        with pytest.raises(InputError, match="in size, to be checked") as refused:
            answer()
        assert field in str(refused.value)
    known = replace(
        ossb.bound(instance, cost=1.0),
        cost=cost_of(instance, asked["cost"]),
        answer=read_answer(asked.get("answer"), 2),
    )
    assert f"instance.{field}: must be 0, or from" in known.verify().problems[0]


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_numbers_within_it_are_checked(tmp_path, scale):
    bound = ossb.bound(ossb.Classical(theta=[scale, 0.5 * scale], sigma=scale))
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(to_certificate([bound])))
    assert [report.valid for _, report in verify(path)] == [True]
